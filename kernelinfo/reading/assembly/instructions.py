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
from collections.abc import Callable

from kernelinfo.hardware.targets import REGISTER_BYTES, Target
from kernelinfo.reading.assembly.kernel_text import KernelText
from kernelinfo.reading.data import Text, before
from kernelinfo.reading.facts import Code, KernelFacts, LoopSpills, Numbers, StatedNumbers

_END = b".Lfunc_end"
_INSTRUCTION = re.compile(
    rb"\n[ \t]++(?:v_(?:mfma|wmma|s(?:mfmac|wmmac))|ds_|global_|flat_|buffer_"
    rb"|s(?:cratch_|_(?:barrier_signal|barrier(?!_)|swappc|call)))"
)
_KINDS = {
    "matrix": (b"v_mfma", b"v_smfmac", b"v_wmma", b"v_swmmac"),
    "lds": (b"ds_",),
    "memory": (b"global_", b"flat_", b"buffer_"),
    "scratch": (b"scratch_",),
    "barriers": (b"s_barrier", b"s_barrier_signal"),
    "calls": (b"s_swappc", b"s_call"),
}
_KIND = {name: kind for kind, names in _KINDS.items() for name in names}
_COMMENTED = b"%bb."
_FOLDED = b"-byte Folded "
_REUSED = b" Reload Reuse"

_SCRATCH_RESOURCE = b" s[0:3], "
# Compiled only for kernels with spills or scratch.
_MARK = (
    rb"(?m)^(?:\.L(?=BB))?(?:(BB\d+_\d+):|; ?%bb\.\d+:)(.*(?:\n[ \t]+;.*)*)"
    rb"|^[ \t]++((?:scratch_|buffer_[a-z0-9_]+ v[^\n]*, s\[0:3\], |[^;\n]*;[^;\n]*?-byte Folded )"
    rb"[^\n]*)"
)
"""A block's label, or the comment in its place, with the comments behind it; or an instruction that
spills or reaches scratch. Older targets address scratch by the buffer resource in the first SGPRs
(AMDGPUUsage, "Private Segment Buffer")."""
_SPILL = rb"(?:s_clause 0x([0-9a-f]{1,2})\b)?[^;]*;[^;]*?(\d{1,6})-byte Folded (Spill|Reload)"
_HEADER = rb"=> *This (?:Inner )?Loop Header: Depth=(\d{1,4})"
_INSIDE = rb"in Loop: Header=(BB\d+_\d+) Depth=(\d{1,4})"


def function_text(text: Text, start: int, end: int) -> bytes | None:
    """Text of the function with its label at `start`, cut at `end` or before.

    A log's prefix is removed from each line; None if the prefix differs from line to line.
    """
    code = text[start:end]
    end = code.find(_END, max(code.find(b"."), 0))  # one byte is found ten times as fast
    if end >= 0:
        code = code[:end]
    prefix = before(text, start)
    if prefix is None or not prefix.strip():
        return code
    newline = b"\n" + prefix
    return code.replace(newline, b"\n") if newline in code else None


def read_code(function: Callable[[], bytes | None]) -> Code | None:
    """Instruction counts of the text that `function` returns; None without a text."""
    return None if (code := function()) is None else count_code(code)


def count_code(code: bytes) -> Code:
    """Instruction counts of one function's text, from its label on."""
    kinds = dict.fromkeys(_KINDS, 0)
    counts = Counter(_INSTRUCTION.findall(code))
    for name, count in counts.items():
        kinds[_KIND[name.strip()]] += count
    if _COMMENTED not in code:
        return Code(**kinds, spills=None, reloads=None, agpr_moves=None, loops=None)
    # Most kernels spill nothing, and one byte is found ten times as fast as several.
    has_spills = b"F" in code and _FOLDED in code
    moves = code.count(_REUSED) if b"R" in code else 0
    buffers = any(name.endswith(b"buffer_") for name in counts)
    has_scratch = kinds["scratch"] or (buffers and _SCRATCH_RESOURCE in code)
    spills, scratch_in_loops = _by_loop(code if has_spills or has_scratch else b"")
    prefix = b".L" if b".LBB" in code else b""
    return Code(
        **kinds,
        spills=sum(count for (_, kind), count in spills.items() if kind == b"Spill"),
        reloads=sum(count for (_, kind), count in spills.items() if kind == b"Reload"),
        agpr_moves=moves,
        loops=tuple(
            LoopSpills(
                header=(prefix + loop[0]).decode(),
                depth=loop[1],
                spills=spills[loop, b"Spill"],
                reloads=spills[loop, b"Reload"],
            )
            for loop in dict.fromkeys(loop for loop, _ in spills if loop)
        ),
        scratch_in_loops=scratch_in_loops,
    )


_LoopLabel = tuple[bytes, int]
"""Label of a loop's header, and the loop's depth."""


def _by_loop(code: bytes) -> tuple[Counter[tuple[_LoopLabel | None, bytes]], int]:
    """Number of spills and reloads by loop and kind, and of other scratch accesses in loops."""
    loop: _LoopLabel | None = None
    spills: Counter[tuple[_LoopLabel | None, bytes]] = Counter()
    others = 0
    for label, comments, instruction in re.findall(_MARK, code):
        if not instruction:
            loop = _loop(label, comments)
        elif spill := re.match(_SPILL, instruction):
            clause, size, kind = spill.groups()
            # A clause has one comment for all its instructions, each of at least one register.
            count = min(int(clause, 16) + 1, int(size) // REGISTER_BYTES) if clause else 1
            spills[loop, kind] += count
        elif loop and _FOLDED not in instruction:
            others += 1
    return spills, others


def _loop(label: bytes, comments: bytes) -> _LoopLabel | None:
    """Innermost loop of a block; None outside loops."""
    if label and (header := re.search(_HEADER, comments)):
        return label, int(header[1])
    if inside := re.search(_INSIDE, comments):
        return inside[1], int(inside[2])
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
    kernel: KernelFacts, text: Text, found_in: KernelText, target: Target | None
) -> KernelFacts:
    """The kernel with the numbers that its instructions prove, from the source `code`.

    For most kernels a search for a few bytes decides, without reading instructions.
    """
    start, end = found_in.label, found_in.end
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
    if all(text.find(sign, start, end) < 0 for sign in (b"\tds_", b" ds_", b" lds", b"_lds")):
        return False
    code = function_text(text, start, end) or b""
    return any(is_lds_access(line) for line in code.split(b"\n") if b"ds" in line)


def is_lds_access(line: bytes) -> bool:
    """True for a line with an instruction that reaches LDS."""
    # `gds` is another memory. `lds` in the name or the operands: a copy between memory and LDS.
    words = line.partition(b";")[0].partition(b"//")[0].split()
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
