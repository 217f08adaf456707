"""A kernel's instructions in assembly text: counts by kind, spills, loops, and what they prove.

    .LBB3_2:                                ; =>This Inner Loop Header: Depth=1
        buffer_load_dword v40, off, s[68:71], 0 offset:4 ; 4-byte Folded Reload
    ; %bb.3:                                ;   in Loop: Header=BB3_1 Depth=2
        v_accvgpr_read_b32 v12, a3              ;  Reload Reuse

The comments come from LLVM's AsmPrinter (emitComments, emitBasicBlockLoopComments).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import TypeVar

from kernelinfo.hardware.targets import REGISTER_BYTES, Target
from kernelinfo.reading.assembly.expressions import MOST_VGPRS, Definitions
from kernelinfo.reading.assembly.kernel_text import KernelText
from kernelinfo.reading.assembly.scan import END_OF_FUNCTION, code_of, unquoted
from kernelinfo.reading.data import Text, before, decode, integer
from kernelinfo.reading.facts import (
    Code,
    KernelFacts,
    LoopSpills,
    Numbers,
    SpillPlace,
    StatedNumbers,
)

_Counted = TypeVar("_Counted")

_INSTRUCTION = re.compile(
    rb"\n[ \t]++(?:v_(?:mfma|wmma|s(?:mfmac|wmmac))|ds_|global_|flat_|buffer_"
    rb"|s(?:cratch_|_(?:barrier_signal|barrier(?!_)|swap_?pc|call)))"
)
_KINDS = {
    "matrix": (b"v_mfma", b"v_smfmac", b"v_wmma", b"v_swmmac"),
    "lds": (b"ds_",),
    "memory": (b"global_", b"flat_", b"buffer_"),
    "scratch": (b"scratch_",),
    "barriers": (b"s_barrier", b"s_barrier_signal"),
    "calls": (b"s_swappc", b"s_swap_pc", b"s_call"),
}
_KIND = {name: kind for kind, names in _KINDS.items() for name in names}
_COMMENTED = b"%bb."
_FOLDED = b"-byte Folded "
_REUSED = b" Reload Reuse"

_SCRATCH_RESOURCE = b" s[0:3], "
# Compiled only for kernels with spills or scratch.
_MARK = (
    rb"(?m)^(?:\.L(?=BB))?(?:(BB\d+_\d+):|; ?%bb\.\d+:)(.*(?:\n[ \t]+;.*)*)"
    rb"|^[ \t]++(?:\.loc[^\n;]*+;[ \t]*+([^\n]*?:\d{1,9}):\d{1,9}\b|s_(swap_?pc|call)_)"
    rb"|^[ \t]++((?:scratch_|buffer_[a-z0-9_]+ v[^\n]*, s\[0:3\], |[^;\n]*;[^;\n]*?-byte Folded )"
    rb"[^\n]*)"
)
"""A block's label, or the comment in its place, with the comments after it; a source line; a call;
or an instruction that spills or reaches scratch. Older targets address scratch by the buffer
resource in the first SGPRs (AMDGPUUsage, "Private Segment Buffer")."""
_SPILL = rb"(?:s_clause 0x([0-9a-f]{1,2})\b)?[^;]*;[^;]*?(\d{1,6})-byte Folded (Spill|Reload)"
_HEADER = rb"=> *This (?:Inner )?Loop Header: Depth=(\d{1,4})"
_INSIDE = rb"in Loop: Header=(BB\d+_\d+) Depth=(\d{1,4})"
_NO_LINE = b":0"

# Compiled only for kernels with calls.
_TO_SGPRS = rb"(?m)^[ \t]++(\w++)[ \t]++s\[?(\d{1,3})(?::(\d{1,3})\])?,[ \t]*+([^;\n]*)"
_PAIR = rb"s\[(\d{1,3}):"
_ADDRESS = rb"(?:.*[ \t])?([^\s@]+)@(?:rel(?:32@lo|64)|(gotpcrel(?:32@lo|64)?))\b"


def function_text(text: Text, start: int, end: int) -> bytes | None:
    """Text of the function from its label at `start` to its `.Lfunc_end` label, or to `end`.

    A log's prefix before the label is removed from each line; None if no other line has
    this prefix.
    """
    code = text[start:end]
    end = code.find(END_OF_FUNCTION, max(code.find(b"."), 0))  # one byte is found ten times as fast
    if end >= 0:
        code = code[:end]
    prefix = before(text, start)
    if prefix is None or not prefix.strip():
        return code
    newline = b"\n" + prefix
    return code.replace(newline, b"\n") if newline in code else None


def read_code(
    function: Callable[[], bytes | None], definitions: Definitions | None = None
) -> Code | None:
    """Instruction counts of the text that `function` returns; None without a text.

    With the `definitions` of a module whose functions have symbols (LLVM 20 on), a callee without
    symbols counts as outside the module.
    """
    if (text := function()) is None:
        return None
    code = count_code(text)
    if not code.callees or definitions is None or MOST_VGPRS not in definitions:
        return code
    outside = [
        callee
        for callee in code.callees
        if callee in code.outside or not definitions.of_function(callee, "num_vgpr")
    ]
    return code._replace(outside=tuple(outside))


def count_code(code: bytes) -> Code:
    """Instruction counts of one function's text, from its label on."""
    kinds = dict.fromkeys(_KINDS, 0)
    counts = Counter(_INSTRUCTION.findall(code))
    for name, count in counts.items():
        kinds[_KIND[name.strip()]] += count
    called, loaded = _called(code) if kinds["calls"] else ([], set[str]())
    callees = dict.fromkeys(unquoted(symbol) for symbol in called if symbol)
    outside = tuple(symbol for symbol in callees if symbol in loaded)
    if _COMMENTED not in code:
        return Code(
            **kinds,
            spills=None,
            reloads=None,
            agpr_moves=None,
            loops=None,
            place=None,
            callees=tuple(callees),
            outside=outside,
        )
    # Most kernels spill nothing, and one byte is found ten times as fast as several.
    has_spills = b"F" in code and _FOLDED in code
    moves = code.count(_REUSED) if b"R" in code else 0
    buffers = any(name.endswith(b"buffer_") for name in counts)
    has_scratch = kinds["scratch"] or (buffers and _SCRATCH_RESOURCE in code)
    spills, places, scratch_in_loops = _by_loop(code if has_spills or has_scratch else b"", called)
    by_kind, by_place = _total(spills), _total(places)
    prefix = b".L" if b".LBB" in code else b""
    return Code(
        **kinds,
        spills=by_kind[b"Spill"],
        reloads=by_kind[b"Reload"],
        agpr_moves=moves,
        loops=tuple(
            LoopSpills(
                header=(prefix + loop[0]).decode(),
                depth=loop[1],
                spills=of_loop[b"Spill"],
                reloads=of_loop[b"Reload"],
                place=_main_place(places[loop]),
            )
            for loop, of_loop in spills.items()
            if loop
        ),
        scratch_in_loops=scratch_in_loops,
        place=_main_place(by_place),
        callees=tuple(callees),
        outside=outside,
    )


_LoopLabel = tuple[bytes, int]
"""Label of a loop's header, and the loop's depth."""

_LineAndCallee = tuple[bytes, bytes]
"""Source line of an instruction, and symbol of the function called before it in its block; each is
empty if unknown."""

_ByLoop = dict[_LoopLabel | None, Counter[_Counted]]
"""Numbers of spills and reloads in each loop, and in the code outside loops (None)."""


def _by_loop(
    code: bytes, called: Iterable[bytes]
) -> tuple[_ByLoop[bytes], _ByLoop[_LineAndCallee], int]:
    """(spills and reloads by kind, the same by place, other scratch accesses in loops).

    `called` lists the symbols that the text calls, in order; a call through a pointer is an empty
    symbol.
    """
    loop: _LoopLabel | None = None
    source = callee = b""
    symbols = iter(called)
    spills: _ByLoop[bytes] = {}
    places: _ByLoop[_LineAndCallee] = {}
    accesses = 0
    for label, comments, line, call, instruction in re.findall(_MARK, code):
        if line:
            source = b"" if line.endswith(_NO_LINE) else line
        elif call:
            callee = next(symbols, b"")
        elif not instruction:
            loop, callee = _loop(label, comments), b""
        elif spill := re.match(_SPILL, instruction):
            clause, size, kind = spill.groups()
            # A clause has one comment for all its instructions, each of at least one register.
            count = min(integer(clause, 16) + 1, integer(size) // REGISTER_BYTES) if clause else 1
            spills.setdefault(loop, Counter())[kind] += count
            places.setdefault(loop, Counter())[source, callee] += count
        elif loop and _FOLDED not in instruction:
            accesses += 1
    return spills, places, accesses


def _total(by_loop: _ByLoop[_Counted]) -> Counter[_Counted]:
    total: Counter[_Counted] = Counter()
    for of_loop in by_loop.values():
        total += of_loop
    return total


def _main_place(places: Counter[_LineAndCallee]) -> SpillPlace | None:
    """The known place with the most spills and reloads, the first if several have as many; None
    without a known place."""
    counts = {place: count for place, count in places.items() if any(place)}
    if not counts:
        return None
    (source, callee), count = max(counts.items(), key=itemgetter(1))
    return SpillPlace(decode(source) or None, unquoted(callee) or None, count)


def _called(code: bytes) -> tuple[list[bytes], set[str]]:
    """The symbol of each call, in the order of the text, empty for a call through a pointer; and
    the symbols whose addresses are loaded because they are in another module.

    s_getpc_b64 s[4:5]
    s_add_u32 s4, s4, lookup@rel32@lo+4          ; another module: @gotpcrel32
    s_addc_u32 s5, s5, lookup@rel32@hi+12        ; then s_load_dwordx2 s[4:5], s[4:5], 0x0
    s_swappc_b64 s[30:31], s[4:5]
    """
    symbols: list[bytes] = []
    loaded: set[str] = set()
    addresses: dict[int, bytes] = {}  # first SGPR of a pair with a function's address
    entries: dict[int, bytes] = {}  # first SGPR of a pair with the address of a table's entry
    for name, low, high, operands in re.findall(_TO_SGPRS, code):
        pair = re.match(_PAIR, operands)
        base = integer(pair[1]) if pair else -1
        if name.startswith(_KINDS["calls"]):
            label = b"" if pair else operands.strip()
            symbols.append(label or addresses.get(base, b""))
            continue
        address, entry, first = addresses.get(base), entries.get(base), integer(low)
        for register in range(first, integer(high or low) + 1):
            addresses.pop(register, None)
            entries.pop(register, None)
        if b"@" in operands and (stated := re.match(_ADDRESS, operands)):
            symbol = stated[1]
            if stated[2]:
                entries[first] = symbol
            else:
                addresses[first] = symbol
        elif entry and name.startswith(b"s_load_"):
            addresses[first] = entry
            loaded.add(unquoted(entry))
        elif address and name.startswith(b"s_mov_b64"):
            addresses[first] = address
    return symbols, loaded


def _loop(label: bytes, comments: bytes) -> _LoopLabel | None:
    """Innermost loop of a block; None outside loops."""
    if label and (header := re.search(_HEADER, comments)):
        return label, integer(header[1])
    if inside := re.search(_INSIDE, comments):
        return inside[1], integer(inside[2])
    return None


_NO_ACCESS = tuple(
    b"ds_" + name
    for name in (
        *(b"bpermute", b"permute", b"swizzle", b"gws_", b"nop"),
        *(b"param_load", b"direct_load"),
    )
)
"""`ds_` instructions that only exchange lanes, synchronise waves or read a graphics stage's input
(RDNA4 ISA, "Data Share Operations")."""
_MEMORY = (b"buffer_", b"global_", b"cluster_", b"tensor_")
_TAKES_VGPRS = b"s_alloc_vgpr"


def with_proven(
    kernel: KernelFacts, text: Text, extent: KernelText, target: Target | None
) -> KernelFacts:
    """The kernel; the numbers that its instructions prove are added under the source `code`. For
    most kernels it is enough to search for a few bytes instead of reading instructions."""
    start, end = extent.label, extent.end
    if start is None:
        return kernel
    has_lds = _reserves_no_lds(kernel.stated) and reaches_lds(text, start, end)
    takes_vgprs = False
    if _may_take_vgprs(target) and text.find(_TAKES_VGPRS, start, end) >= 0:
        code = function_text(text, start, end)
        takes_vgprs = code is not None and _TAKES_VGPRS in code
    if not (has_lds or takes_vgprs):
        return kernel
    proven = Numbers(dynamic_lds=has_lds or None, dynamic_vgprs=takes_vgprs or None)
    return kernel._replace(stated=(*kernel.stated, ("code", proven)))


def reaches_lds(text: Text, start: int, end: int) -> bool:
    """True if the function with its label at `start` has an instruction that reaches LDS."""
    # The part that all have is found in a quarter of the time of all.
    if text.find(b"ds", start, end) < 0:
        return False
    if all(text.find(sign, start, end) < 0 for sign in (b"\tds_", b" ds_", b" lds", b"_lds")):
        return False
    code = function_text(text, start, end) or b""
    return any(is_lds_access(line) for line in code.split(b"\n") if b"ds" in line)


def is_lds_access(line: bytes) -> bool:
    """True for a line with an instruction that reaches LDS."""
    # `gds` is another memory. `lds` in the name or the operands: a copy between memory and LDS.
    words = code_of(line).split()
    if not words or b"gds" in words:
        return False
    name = words[0]
    if name.startswith(b"ds_"):
        return not name.startswith(_NO_ACCESS)
    return name.startswith(_MEMORY) and (b"lds" in words or b"_lds" in name)


def _reserves_no_lds(stated: tuple[StatedNumbers, ...]) -> bool:
    """True if all sources that state LDS state 0 bytes, and none states LDS sized at launch.

    False for a graphics stage.
    """
    if any(numbers.dynamic_lds or numbers.graphics_stage for _, numbers in stated):
        return False
    return {numbers.lds_bytes for _, numbers in stated} - {None} == {0}


def _may_take_vgprs(target: Target | None) -> bool:
    """True for a gfx12 target: its waves may take VGPRs while they run."""
    return target is not None and (target.named_barriers or bool(target.vgprs[0].dynamic_blocks))
