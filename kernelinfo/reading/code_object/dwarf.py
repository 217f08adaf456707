"""Reads DWARF of code objects: source lines of kernels, the line table, the units.

A kernel's `DW_TAG_subprogram` states its source line. -gline-tables-only writes no such entries:
then the line comes from the line table, as it does from `.loc` directives in assembly text.
"""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from io import BytesIO
from operator import attrgetter, itemgetter
from typing import Any

from elftools.elf.elffile import ELFFile

from kernelinfo.errors import ReadError
from kernelinfo.reading.assembly.scan import LONGEST_PATH, own_line
from kernelinfo.reading.code_object import kernel_symbols
from kernelinfo.reading.data import Data, decode
from kernelinfo.reading.elf import ET_REL, SHT_PROGBITS, Elf, read_elf, relocated, section_address
from kernelinfo.reading.facts import DebugEntry, DebugUnit, ReadWarning, SourceLine
from kernelinfo.reading.messages import say

_AddressRange = tuple[int, int]
"""(address of a function's first byte, address after its last byte)."""
_CompilationUnit = tuple[Any, Any, Any]
"""(compilation unit, its line table or None, its top entry)."""

_SECTIONS = (".debug_info", ".zdebug_info")
_SCOPES = ("DW_TAG_namespace", "DW_TAG_module")
_ELSEWHERE = ("DW_AT_specification", "DW_AT_abstract_origin")
_PLACES = ("DW_AT_low_pc", "DW_AT_ranges")
_ADDRESSES = ([0x03], [0xA1])
"""DW_OP_addr and DW_OP_addrx."""


@contextmanager
def _units(data: Data, elf: Elf | None = None) -> Iterator[Iterator[_CompilationUnit]]:
    """The compilation units of a file.

    A relocatable object has units only if `elf` is given, to fill in its addresses. Raises
    `ReadError` for damage that is found inside the `with` block."""

    def units() -> Iterator[_CompilationUnit]:
        file = ELFFile(BytesIO(relocated(elf) if elf else data.read()))
        is_linked = file["e_type"] != "ET_REL"
        if (elf or is_linked) and file.has_dwarf_info(strict=True):
            dwarf = file.get_dwarf_info(relocate_dwarf_sections=False)
            for unit in dwarf.iter_CUs():
                yield unit, dwarf.line_program_for_CU(unit), unit.get_top_DIE()

    try:
        yield units()
    except Exception as error:  # damage makes pyelftools raise any kind of error
        raise ReadError(say("debug-unreadable", error=error)) from error


def read_source_lines(data: Data) -> dict[str, SourceLine]:
    """Function's symbol → source line, for each function whose line the debug information states.

    Empty for a relocatable object with compressed debug sections. Takes a second per ten thousand
    entries or so. Raises `ReadError` for damaged debug information.
    """
    warnings: list[ReadWarning] = []
    elf = read_elf(data, warnings)
    debug = [s for s in elf.sections if s.name in _SECTIONS and s.type == SHT_PROGBITS]
    if not debug or (elf.type == ET_REL and any(section.is_compressed for section in debug)):
        return {}  # addresses can only be filled into sections that are not compressed
    functions = kernel_symbols(elf, warnings).code
    entries = {
        name: (address, address + symbol.size)
        for name, symbol in functions.items()
        for address in [section_address(elf, symbol.section, symbol.value)]
    }
    lines: dict[str, SourceLine] = {}
    with _units(data, elf) as all_units:
        units = [(program, top) for _, program, top in all_units if program is not None]
        for program, top in units:
            for name, (file, line) in _functions(top):
                if name in entries and name not in lines:
                    lines[name] = SourceLine(_path(program, file, top), line)
                if len(lines) == len(entries):
                    return lines
        unknown = {span: name for name, span in entries.items() if name not in lines}
        for program, top in units if unknown else ():
            for span, (file, line) in _first_lines(program, unknown):
                lines.setdefault(unknown[span], SourceLine(_path(program, file, top), line))
    return lines


def read_line_table(data: Data) -> list[tuple[int, SourceLine | None]]:
    """(address, source line) at each change of the line, ascending by address.

    The line is None where a sequence ends or no line is known. Empty without a line table. Raises
    `ReadError` for damaged debug information.
    """
    rows: list[tuple[int, SourceLine | None]] = []
    with _units(data) as units:
        for _, program, top in units:
            path = cache(partial(_path, program, top=top))
            for state in _states(program) if program else ():
                is_known = state.line and not state.end_sequence
                line = SourceLine(path(state.file), state.line) if is_known else None
                rows.append((state.address, line))
    return sorted(rows, key=itemgetter(0))


def _states(program: Any) -> Iterator[Any]:
    return (entry.state for entry in program.get_entries() if entry.state is not None)


def _functions(top: Any) -> Iterator[tuple[str, tuple[int, int]]]:
    """(linkage name, (file number, line)) of each function with code in a unit."""
    for entry in entries_below(top, _SCOPES, _has_code):
        attributes = dict(entry.attributes)
        for elsewhere in _ELSEWHERE:
            if elsewhere in entry.attributes:
                other = entry.get_DIE_from_attribute(elsewhere)
                attributes = other.attributes | attributes
        name = attributes.get("DW_AT_linkage_name") or attributes.get("DW_AT_name")
        file, line = attributes.get("DW_AT_decl_file"), attributes.get("DW_AT_decl_line")
        if name and file and line:
            yield decode(name.value), (file.value, line.value)


def _has_code(abbreviation: Any) -> bool:
    """True for an abbreviation of functions with an address; declarations have none."""
    names = {name for name, _ in abbreviation.iter_attr_specs()}
    return abbreviation["tag"] == "DW_TAG_subprogram" and not names.isdisjoint(_PLACES)


def _first_lines(
    program: Any, spans: Iterable[_AddressRange]
) -> Iterator[tuple[_AddressRange, tuple[int, int]]]:
    """(span, (file number, line)) of the first line of each span; omits spans without lines."""
    states = sorted(filter(attrgetter("line"), _states(program)), key=attrgetter("address"))
    for span in spans:
        first, end = (bisect_left(states, edge, key=attrgetter("address")) for edge in span)
        if first < end:
            rows = [(state.file, state.line, state.column) for state in states[first:end]]
            yield span, own_line(rows)


def _path(program: Any, number: int, top: Any) -> str:
    """Path of the file with this number; numbers begin at 0 since DWARF 5 and at 1 before."""
    header = program.header
    first = 0 if header.version >= 5 else 1
    file = header.file_entry[number - first]
    parts = [file.name]
    if file.dir_index:  # 0 is the compiler's working directory
        parts.insert(0, header.include_directory[file.dir_index - first])
    if "DW_AT_comp_dir" in top.attributes:
        parts.insert(0, top.attributes["DW_AT_comp_dir"].value)
    return posixpath.normpath(posixpath.join(*(decode(part)[:LONGEST_PATH] for part in parts)))


def read_units(data: Data) -> Iterator[DebugUnit]:
    """Entries of each compilation unit of a linked code object, by offset in the unit.

    Raises `ReadError` for damaged debug information."""
    with _units(data) as units:
        for _, program, top in units:
            entries: dict[int, DebugEntry] = {}
            _collect(top, top, program, entries)
            yield entries


def _collect(node: Any, top: Any, program: Any, entries: dict[int, DebugEntry]) -> DebugEntry:
    """The entry with its children; adds all of them to `entries` by offset in the unit."""
    attributes = node.attributes
    stated = ((name, attribute.value) for name, attribute in attributes.items())
    numbers = {name: value for name, value in stated if isinstance(value, int)}
    texts = [
        decode(attributes[name].value) if name in attributes else None
        for name in ("DW_AT_name", "DW_AT_linkage_name")
    ]
    where = attributes.get("DW_AT_location") or attributes.get("DW_AT_const_value")
    is_static = where is None or (isinstance(where.value, list) and where.value[:1] in _ADDRESSES)
    line = numbers.get("DW_AT_decl_line")
    source = None
    if line and program is not None and "DW_AT_decl_file" in numbers:
        source = SourceLine(_path(program, numbers["DW_AT_decl_file"], top), line)
    children = [_collect(child, top, program, entries) for child in node.iter_children()]
    entry = DebugEntry(node.tag, texts[0], texts[1], numbers, is_static, source, children)
    entries[node.offset - node.cu.cu_offset] = entry
    return entry


# Entries below a debug entry, without parsing what is below or between them.
#
# pyelftools parses all descendants to find the next child if the producer wrote no `DW_AT_sibling`,
# as LLVM does: of a kernel library 115,000 entries for 1,900 children, four fifths of the time of
# `explain`. Here the bytes of descendants and of unwanted entries are skipped by the forms of their
# attributes (DWARF 5, 7.5.6).

_Skip = Callable[[bytes, int], int]
"""(section, offset of a value) → offset after it."""

_SIZES = {
    **dict.fromkeys(("flag_present", "implicit_const"), 0),
    **dict.fromkeys(("data1", "ref1", "flag", "strx1", "addrx1"), 1),
    **dict.fromkeys(("data2", "ref2", "strx2", "addrx2"), 2),
    **dict.fromkeys(("strx3", "addrx3"), 3),
    **dict.fromkeys(("data4", "ref4", "strx4", "addrx4", "ref_sup4"), 4),
    **dict.fromkeys(("data8", "ref8", "ref_sig8", "ref_sup8"), 8),
    "data16": 16,
}
"""Form → bytes of its values."""
_OFFSETS = ("strp", "line_strp", "sec_offset", "strp_sup", "GNU_strp_alt", "GNU_ref_alt")
_NUMBERS = ("udata", "sdata", "ref_udata", "strx", "addrx", "loclistx", "rnglistx")
_BLOCKS = {"block1": 1, "block2": 2, "block4": 4}
"""Form → bytes of the length before the value."""


_EntryLayout = tuple[list[tuple[int, _Skip | None]], int, bool]
"""(bytes up to a value of no fixed size, step over it) of each such value, where None steps over a
LEB128 number; bytes after the last of them; True for entries with children."""


def _layout(unit: Any, code: int) -> _EntryLayout:
    """The layout of all entries whose abbreviation has this code."""
    abbreviation = unit.get_abbrev_table().get_abbrev(code)
    steps, size = [], 0
    for _, form in abbreviation.iter_attr_specs():
        step = _skip(form.removeprefix("DW_FORM_"), unit)
        if isinstance(step, int):
            size += step
        else:
            steps.append((size, step))
            size = 0
    return steps, size, abbreviation.has_children()


def entries_below(
    top: Any, scopes: Container[str] = (), wants: Callable[[Any], bool] = lambda _: True
) -> Iterator[Any]:
    """Children of a pyelftools entry; at any depth, also those of entries with a tag in `scopes`.

    Entries whose abbreviation `wants` refuses are omitted. Raises `ReadError` for an unknown form,
    and if the section ends inside an entry.
    """
    unit, section = top.cu, top.stream.getvalue()
    abbreviations = unit.get_abbrev_table()
    is_wanted = cache(lambda code: wants(abbreviations.get_abbrev(code)))
    layout_of = cache(partial(_layout, unit))
    offset, depth = top.offset + top.size, int(top.has_children)
    try:
        while depth:
            code, behind = _number(section, offset)
            if not code:
                offset, depth = behind, depth - 1
                continue
            if is_wanted(code):
                yield unit.get_DIE_from_refaddr(offset)
            abbreviation = abbreviations.get_abbrev(code)
            if abbreviation["tag"] in scopes:
                offset += unit.get_DIE_from_refaddr(offset).size
                depth += abbreviation.has_children()
            else:
                offset = _behind(section, offset, layout_of)
    except (IndexError, ValueError):  # no byte, or no NUL after a string
        raise ReadError(say("debug-entry-outside")) from None


def _behind(section: bytes, offset: int, layout_of: Callable[[int], _EntryLayout]) -> int:
    """Offset after an entry and its descendants.

    Numbers are skipped inline: a kernel library has half a million of them."""
    depth = 0
    while True:
        code = section[offset]
        offset += 1
        if code > 0x7F:
            code, offset = _number(section, offset - 1)
        if not code:
            depth -= 1
            if depth < 1:
                return offset
            continue
        steps, rest, has_children = layout_of(code)
        for size, skip in steps:
            offset += size
            if skip is None:
                while section[offset] > 0x7F:
                    offset += 1
                offset += 1
            else:
                offset = skip(section, offset)
        offset += rest
        if has_children:
            depth += 1
        elif not depth:
            return offset


def _skip(form: str, unit: Any) -> int | _Skip | None:
    """The size of a value in bytes, or a function that skips it; None for a LEB128 number."""
    if form in _SIZES:
        return _SIZES[form]
    if form == "addr" or (form == "ref_addr" and unit["version"] < 3):
        return int(unit["address_size"])
    if form == "ref_addr" or form in _OFFSETS:
        return int(unit.structs.dwarf_format // 8)
    if form in _NUMBERS:
        return None
    if form in ("block", "exprloc"):
        return lambda section, offset: sum(_number(section, offset))
    if size := _BLOCKS.get(form):
        return partial(_block_end, size)
    if form == "string":
        return lambda section, offset: section.index(0, offset) + 1
    raise ReadError(say("debug-form-unknown", form=form))


def _block_end(size: int, section: bytes, offset: int) -> int:
    """Offset after a block with its length in the first `size` bytes."""
    return offset + size + int.from_bytes(section[offset : offset + size], "little")


def _number(section: bytes, offset: int) -> tuple[int, int]:
    """(value of an unsigned LEB128 number, offset after it).

    Raises `ReadError` for more than 64 bits: the time to read a longer number would grow with its
    length.
    """
    value = shift = 0
    while (byte := section[offset]) > 0x7F:
        if shift > 63:
            raise ReadError(say("debug-number"))
        value |= (byte & 0x7F) << shift
        shift += 7
        offset += 1
    return value | byte << shift, offset + 1
