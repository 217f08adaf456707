"""Numbers in the text forms of kernel descriptors: `.amdhsa_kernel` and `.amd_kernel_code_t`."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import NamedTuple

from kernelinfo.hardware.targets import Target, align, extra_sgprs
from kernelinfo.reading.assembly.scan import SourceFiles, code_of
from kernelinfo.reading.data import Text, decode, integer
from kernelinfo.reading.facts import DebugEntry, DebugUnit, StatedValue
from kernelinfo.reading.metadata import NAMED_BARRIERS

Readings = dict[str, tuple[str, Callable[[int], int | None]]]
"""Field of a block → name in `Numbers`, and a function from the field's value to the number or
None."""
PlacedNumbers = dict[str, tuple[int, int]]
"""Name in `Numbers` → number, and its line counted from the block's first."""

_FIELDS: Readings = {
    "group_segment_fixed_size": ("lds_bytes", int),
    "private_segment_fixed_size": ("scratch_bytes_per_lane", int),
    "accum_offset": ("accum_offset", int),
    "workgroup_processor_mode": ("wgp_mode", bool),
    "tg_split": ("tg_split", bool),
    "uses_dynamic_stack": ("dynamic_stack", bool),
    "wavefront_size32": ("wave_size", lambda wave32: 32 if wave32 else 64),
}
"""`.amdhsa_*` directives (AMDGPUUsage, "AMDHSA Kernel Assembler Directives")."""

_CODE_T_FIELDS: Readings = {
    "workitem_vgpr_count": ("vgprs", int),
    "wavefront_sgpr_count": ("sgprs", int),
    "workgroup_group_segment_byte_size": ("lds_bytes", int),
    "workitem_private_segment_byte_size": ("scratch_bytes_per_lane", int),
    "is_dynamic_callstack": ("dynamic_stack", bool),
    "wavefront_size": ("wave_size", {5: 32, 6: 64}.get),
}
"""Fields of `.amd_kernel_code_t` (AMDGPUUsage, "amd_kernel_code_t"), code object v2 and mesa3d."""

_ZERO_BY_DEFAULT = ("group_segment_fixed_size", "private_segment_fixed_size")
"""Fields that are 0 if omitted (AMDGPUUsage, "AMDHSA Kernel Assembler Directives", "Default")."""

# A block has some 50 lines. A block without an end must not swallow the rest of the file.
_USUAL_BYTES = 1 << 12
_MOST_BYTES = 1 << 16
_SHORT = 512
_PATTERNS = {
    "amdhsa_kernel": rb"\.amdhsa_(\w+)[ \t]+([^\r\n]*)",
    "amdgpu_info": rb"\.amdgpu_(\w+)[ \t]+([^\r\n]*)",
    "amd_kernel_code_t": rb"(?m)^[ \t]*(\w+)[ \t]*=[ \t]*([^\r\n]*)",
}


TextBlock = tuple[StatedValue, ...]
"""Statements of a block, in its order; blocks of equal text share them."""
Fields = Mapping[str, StatedValue]
"""Statement by field; the last one is used."""
Evaluate = Callable[[StatedValue], int | None]
"""Value of a statement; None, after a warning, if it has none."""


def by_field(block: TextBlock) -> Fields:
    """The statements of a block by field."""
    return {statement.name: statement for statement in block}


def read_block(text: Text, offset: int, kind: str) -> tuple[TextBlock, bool]:
    """Statements of the block of the directive `kind` at `offset`, and True if it has an end.

    A block without an end stops at the next directive of that `kind`, or after 64 KiB. In a
    complete `.amdhsa_kernel`, the omitted fields of `_ZERO_BY_DEFAULT` are 0, located at the
    block's first line.
    """
    start, end = b"." + kind.encode(), b".end_" + kind.encode()
    for size in (_USUAL_BYTES, _MOST_BYTES):
        part = text[offset : offset + size]
        stop = part.find(end)
        ended = stop >= 0
        again = part.find(start, len(start), stop if ended else size)
        if again >= 0:
            stop, ended = again, False
        if stop >= 0:
            break
    # The block's first line holds the kernel's name only.
    body = part[part.find(b"\n") : stop if stop >= 0 else size]
    # Many blocks of a file are equal, and most of its lines are. Only short ones are cached, so
    # that a hostile text cannot fill the memory.
    read = _block if len(body) < _USUAL_BYTES else _block.__wrapped__
    return read(body, kind, ended), ended


@lru_cache(maxsize=1 << 12)
def _block(body: bytes, kind: str, ended: bool) -> TextBlock:
    cached, uncached = _stated, _stated.__wrapped__
    statements = [
        StatedValue(name, value, number)
        for number, written in enumerate(body.split(b"\n"))
        for name, value in (cached if len(written) < _SHORT else uncached)(written, kind)
    ]
    if ended and kind == "amdhsa_kernel":
        stated = {statement.name for statement in statements}
        left_out = (field for field in _ZERO_BY_DEFAULT if field not in stated)
        statements += [StatedValue(field, "0", 0) for field in left_out]
    return tuple(statements)


@lru_cache(maxsize=1 << 14)
def _stated(line: bytes, kind: str) -> tuple[tuple[str, str], ...]:
    """Fields and values in one line of a block of that kind."""
    return tuple(
        (match[1].decode(), decode(match[2]))
        for match in re.finditer(_PATTERNS[kind], line)
        if match.start() < len(code_of(line))
    )


def vgpr_granule(target: Target | None, wave_size: int | None) -> int:
    """Granule of VGPRs in a descriptor, in VGPRs per lane; 0 if unknown.

    A `wave_size` of None stands for the target's default.
    """
    if target is None:
        return 0
    lanes = wave_size or target.waves.default_size
    return next((file.encoding_granule for file in target.vgprs if file.wave_size == lanes), 0)


def encoded(granule: int, count: int) -> int | None:
    """Registers that a descriptor reserves for `count`: at least one granule.

    None if the granule is 0, which means unknown. Source: LLVM IsaInfo::getEncodedNumVGPRBlocks and
    getNumSGPRBlocks.
    """
    return align(max(count, 1), granule) if granule else None


def read_numbers(readings: Readings, stated: Fields, value: Evaluate) -> PlacedNumbers:
    """Numbers in `stated`, by `readings`; if two fields state one number, the last is used."""
    numbers: PlacedNumbers = {}
    for field, statement in stated.items():
        if field in readings and (count := value(statement)) is not None:
            name, convert = readings[field]
            if (converted := convert(count)) is not None:
                numbers[name] = converted, statement.line
    return numbers


def wave_size_in(numbers: PlacedNumbers) -> int | None:
    """Lanes in a wave; None if the block does not state them."""
    return numbers["wave_size"][0] if "wave_size" in numbers else None


def directive_numbers(
    stated: Fields, value: Evaluate, target: Target | None, xnack: bool
) -> PlacedNumbers:
    """Numbers in `.amdhsa_*` directives; reserved registers only for a known target.

    `xnack`, the default of `.amdhsa_reserve_xnack_mask`, is True if code for the module's target id
    may run with XNACK on.
    """
    numbers = read_numbers(_FIELDS, stated, value)
    vgprs = vgpr_granule(target, wave_size_in(numbers))
    readings: Readings = {"next_free_vgpr": ("reserved_vgprs", partial(encoded, vgprs))}
    barriers = stated.get("named_barrier_count")
    # LLVM 24 packs the size of the code into this value, then masks it out again. The text does not
    # give that size; `; NamedBarCnt:` states the same number plainly.
    if barriers and "instprefsize" not in barriers.value:
        readings["named_barrier_count"] = "named_barriers", lambda count: count * NAMED_BARRIERS
    if target and target.sgprs.encoding_granule and "next_free_sgpr" in stated:
        extra = _extra_sgprs(target, stated, value, xnack=xnack)
        if extra is not None:
            readings["next_free_sgpr"] = "reserved_sgprs", partial(_reserved_sgprs, target, extra)
    return numbers | read_numbers(readings, stated, value)


def _extra_sgprs(target: Target, stated: Fields, value: Evaluate, *, xnack: bool) -> int | None:
    """SGPRs for VCC, flat scratch and XNACK; None if a directive has no value."""
    # The defaults are the assembler's (LLVM AMDGPUAsmParser::ParseDirectiveAMDHSAKernel).
    # With architected flat scratch there is no directive, and its SGPRs are taken. Only a
    # disassembler writes one there: 0, with all SGPRs counted in next_free_sgpr.
    reserves = {"reserve_vcc": True, "reserve_flat_scratch": True, "reserve_xnack_mask": xnack}
    for field in reserves:
        if statement := stated.get(field):
            flag = value(statement)
            if flag is None:
                return None
            reserves[field] = bool(flag)
    vcc, flat_scratch, xnack = reserves.values()
    return extra_sgprs(target, vcc=vcc, flat_scratch=flat_scratch, xnack=xnack)


def _reserved_sgprs(target: Target, extra: int, numbered: int) -> int | None:
    sgprs = target.sgprs
    return sgprs.fixed_allocation or encoded(sgprs.encoding_granule, numbered + extra)


def code_t_numbers(stated: Fields, value: Evaluate, target: Target | None) -> PlacedNumbers:
    """Numbers in the fields of `.amd_kernel_code_t`; reserved registers only for a known target."""
    numbers = read_numbers(_CODE_T_FIELDS, stated, value)
    readings: Readings = {}
    if target and len(target.domains) > 1:
        readings["enable_wgp_mode"] = "wgp_mode", bool
    if vgprs := vgpr_granule(target, wave_size_in(numbers)):
        readings["granulated_workitem_vgpr_count"] = "reserved_vgprs", lambda n: (n + 1) * vgprs
    if target and (sgprs := target.sgprs.encoding_granule):
        readings["granulated_wavefront_sgpr_count"] = "reserved_sgprs", lambda n: (n + 1) * sgprs
    return numbers | read_numbers(readings, stated, value)


# Parts of an assembly text that only an assembler expands: macros, repetitions, conditions, files.
#
# Source: LLVM AsmParser.cpp, parseDirectiveMacro, parseDirectiveIf, parseDirectiveRept,
# parseDirectiveInclude.

_SIGNS = (b".macro", b".include", b".if", b".rep", b".irp")
# Not compiled at import: few texts need it.
_STATEMENT = (
    rb"(?m)^[ \t]*+(?:[\w.$]++:[ \t]++)*+(?:"
    rb"\.(?:macro[ \t]++([^\s,]++)|(include|if\w*+|endif|rept?|irpc?|endr|endm(?:acro)?)\b"
    rb"|(?:set|equ|equiv)[ \t]++([^\s,]++))|([\w.$\\]++)[ \t]*+=(?!=))"
)
_FIRST_WORD = rb"(?m)^[ \t]*+(?:[\w.$]++:[ \t]++)*+([\w.$]++)"
_ENDS = {"endif": "if", "endr": "rep", "endm": "macro", "endmacro": "macro"}


class Expansion(NamedTuple):
    """What an assembler would expand before it reads the code."""

    macros: frozenset[str] = frozenset()
    """Names that the text defines as macros."""
    includes: tuple[int, ...] = ()
    """Byte offset of each `.include`."""
    ranges: tuple[tuple[int, int, str], ...] = ()
    """Byte offsets of the begin and the end of each outermost macro, repetition or condition, and
    its directive."""
    symbols: frozenset[str] = frozenset()
    """Symbols that may be set inside these ranges."""
    any_symbol: bool = False
    """True if a called macro, or a repetition, sets a symbol whose name comes from an argument."""

    def before(self, offset: int) -> dict[str, int]:
        """Directive → number of its uses that make the code at `offset` depend on other text."""
        included = bisect_left(self.includes, offset)
        counts = {".include": included} if included else {}
        index = bisect_left(self.ranges, (offset, 0, "")) - 1
        if index >= 0 and offset < self.ranges[index][1]:
            counts[f".{self.ranges[index][2]}"] = 1
        return counts


def read_expansion(text: bytes) -> Expansion:
    """The macros, repetitions, conditions and included files of a text without comments."""
    if not any(sign in text for sign in _SIGNS):
        return Expansion()
    macros, symbols, setting = set[str](), set[str](), set[str]()
    includes, ranges = list[int](), list[tuple[int, int, str]]()
    open_kinds: list[str] = []
    opened = Counter[str]()
    first, last_macro = (0, ""), ""
    for statement in re.finditer(_STATEMENT, text):
        macro, directive, *names = (decode(part) if part else "" for part in statement.groups())
        if kind := _ENDS.get(directive):
            while opened[kind]:
                closed = open_kinds.pop()
                opened[closed] -= 1
                if closed == kind:
                    break
            else:
                continue
            if not open_kinds:
                ranges.append((first[0], statement.end(), first[1]))
        elif directive == "include":
            includes.append(statement.start())
        elif macro or directive:
            kind = "macro" if macro else "if" if directive.startswith("if") else "rep"
            if macro:
                macros.add(macro)
                last_macro = macro
            if not open_kinds:
                first = statement.start(), directive or kind
            open_kinds.append(kind)
            opened[kind] += 1
        elif open_kinds:
            symbols.update(filter(None, names))
            if any("\\" in name for name in names):
                setting.add(last_macro if opened["macro"] else "")
    if open_kinds:
        ranges.append((first[0], len(text), first[1]))
    called = (decode(word[1]) for word in re.finditer(_FIRST_WORD, text)) if setting else ()
    return Expansion(
        frozenset(macros),
        tuple(includes),
        tuple(ranges),
        frozenset(symbols),
        any_symbol="" in setting or any(word in setting for word in called),
    )


# Debug information entries of assembly text, as far as LLVM's comments name them.
#
# .byte 3                     ; Abbrev [3] 0x31:0xe DW_TAG_variable
# .byte 6                     ; DW_AT_name
# .long 138                   ; DW_AT_type
# .byte 5                     ; DW_AT_location
# .byte 161

DEBUG_INFO = re.compile(rb"\.section[ \t]+\.debug_info\b")
_ENTRY = re.compile(rb"; Abbrev \[\d+\] 0x([0-9a-f]+):0x([0-9a-f]+) (DW_TAG_\w+)\n")
_ATTRIBUTE = re.compile(
    rb"(?m)^[ \t]*\.(?:byte|short|long|quad)[ \t]++([^;\n]++); (DW_AT_\w+)"
    rb"(?:\n[ \t]*\.byte[ \t]+(\d+)[ \t]*$)?"
)
_FLAG = re.compile(rb"(?m)^[ \t]*; (DW_AT_\w+)[ \t]*$")
"""An attribute that is present without a value."""
_STRING = re.compile(rb"(\.Linfo_string\d+):\s*\.asciz[ \t]+\"((?:\\.|[^\"\\])*)\"")
_OFFSET = re.compile(rb"(?m)^[ \t]*\.long[ \t]+(\.Linfo_string\d+)[ \t]*$")
_ADDRESSES = (b"3", b"161")
"""DW_OP_addr and DW_OP_addrx."""
_DIGITS = re.compile(r"[0-9]{1,19}")

_Strings = dict[str, str]
"""Strings by label (DWARF 4), and by number in the table of offsets (DWARF 5)."""


def read_units(text: bytes, start: int, files: SourceFiles) -> Iterator[DebugUnit]:
    """The compilation units of the first `.debug_info` section after the byte offset `start`."""
    section = DEBUG_INFO.search(text, start)
    if section is None:
        return
    end = text.find(b"\t.section", section.end())
    information = text[section.end() : end if end >= 0 else len(text)]
    labels = dict(_STRING.findall(text, section.end()))
    order = enumerate(_OFFSET.findall(text, section.end()))
    strings = {decode(label): decode(string) for label, string in labels.items()}
    strings |= {str(number): decode(labels[label]) for number, label in order if label in labels}
    unit: dict[int, DebugEntry] = {}
    open_until: list[tuple[int, DebugEntry]] = []
    for begin, entry, size in _entries(information, strings, files):
        if entry.tag == "DW_TAG_compile_unit":
            if unit:
                yield unit
            unit, open_until = {}, []
        while open_until and open_until[-1][0] <= begin:
            open_until.pop()
        if open_until:
            open_until[-1][1].children.append(entry)
        open_until.append((begin + size, entry))
        unit[begin] = entry
    if unit:
        yield unit


def _entries(
    information: bytes, strings: _Strings, files: SourceFiles
) -> Iterator[tuple[int, DebugEntry, int]]:
    """For each entry: its start in bytes of the unit, the entry itself without children, and its
    size."""
    marks = list(_ENTRY.finditer(information))
    ends = [mark.start() for mark in marks[1:]] + [len(information)]
    for mark, end in zip(marks, ends, strict=True):
        flags = _FLAG.findall(information, mark.end(), end)
        texts = dict.fromkeys(map(decode, flags), "1")
        is_static = True
        for value, name, operation in _ATTRIBUTE.findall(information, mark.end(), end):
            texts[decode(name)] = decode(value).rstrip()
            if name in (b"DW_AT_location", b"DW_AT_const_value"):
                is_static = operation in _ADDRESSES
        entry = _entry(decode(mark[3]), texts, strings, is_static, files)
        yield integer(mark[1], 16), entry, integer(mark[2], 16)


def _entry(
    tag: str, texts: dict[str, str], strings: _Strings, is_static: bool, files: SourceFiles
) -> DebugEntry:
    numbers = {name: integer(value) for name, value in texts.items() if _DIGITS.fullmatch(value)}
    if "DW_AT_high_pc" in texts:
        numbers["DW_AT_high_pc"] = 0
    name, linkage = (strings.get(texts.get(f"DW_AT_{it}", "")) for it in ("name", "linkage_name"))
    file, line = (numbers.get(f"DW_AT_decl_{it}") for it in ("file", "line"))
    source = files.source_line(file, line) if file is not None and line else None
    return DebugEntry(tag, name, linkage, numbers, is_static, source, [])
