"""Reads DWARF of code objects: source lines of kernels, the line table, the units.

A kernel's `DW_TAG_subprogram` states its source line. -gline-tables-only writes no such entries:
then the line comes from the line table, as it does from `.loc` directives in assembly text.
"""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from io import BytesIO
from operator import attrgetter, itemgetter
from typing import Any

from elftools.elf.elffile import ELFFile

from kernelinfo.errors import ReadError
from kernelinfo.reading.assembly.scan import LONGEST_PATH, own_line
from kernelinfo.reading.code_object import relocation
from kernelinfo.reading.code_object.debug_children import entries_below
from kernelinfo.reading.code_object.symbols import kernel_symbols
from kernelinfo.reading.data import Data, decode
from kernelinfo.reading.debug_entries import DebugEntry, DebugUnit
from kernelinfo.reading.elf import ET_REL, SHT_PROGBITS, Elf, read_elf
from kernelinfo.reading.facts import ReadWarning, SourceLine
from kernelinfo.reading.messages import say

_AddressRange = tuple[int, int]
"""(address of a function's first byte, address behind its last byte)."""
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
    `ReadError` for damage that shows inside the `with`."""

    def units() -> Iterator[_CompilationUnit]:
        file = ELFFile(BytesIO(relocation.relocated(elf) if elf else data.read()))
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
    """Function's symbol → source line, for all functions in the debug information.

    Takes a second for some ten thousand entries. Raises `ReadError` for damaged debug information.
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
        for address in [relocation.address(elf, symbol.section, symbol.value)]
    }
    found: dict[str, SourceLine] = {}
    with _units(data, elf) as all_units:
        units = [(program, top) for _, program, top in all_units if program is not None]
        for program, top in units:
            for name, (file, line) in _functions(top):
                if name in entries and name not in found:
                    found[name] = SourceLine(_path(program, file, top), line)
                if len(found) == len(entries):
                    return found
        unknown = {span: name for name, span in entries.items() if name not in found}
        for program, top in units if unknown else ():
            for span, (file, line) in _first_lines(program, unknown):
                found.setdefault(unknown[span], SourceLine(_path(program, file, top), line))
    return found


def read_line_table(data: Data) -> list[tuple[int, SourceLine | None]]:
    """(address, source line) at each change of the line, ascending by address.

    The line is None where a sequence ends or no line is known. Empty without a line table. Raises
    `ReadError` for damaged debug information.
    """
    found: list[tuple[int, SourceLine | None]] = []
    with _units(data) as units:
        for _, program, top in units:
            path = cache(partial(_path, program, top=top))
            for state in _states(program) if program else ():
                is_known = state.line and not state.end_sequence
                line = SourceLine(path(state.file), state.line) if is_known else None
                found.append((state.address, line))
    return sorted(found, key=itemgetter(0))


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
    """True for functions with an address; declarations have none."""
    names = {name for name, _ in abbreviation.iter_attr_specs()}
    return abbreviation["tag"] == "DW_TAG_subprogram" and not names.isdisjoint(_PLACES)


def _first_lines(
    program: Any, spans: Iterable[_AddressRange]
) -> Iterator[tuple[_AddressRange, tuple[int, int]]]:
    """(span, (file number, line)) of the first line of each span; omits spans without lines."""
    states = sorted(filter(attrgetter("line"), _states(program)), key=attrgetter("address"))
    for span in spans:
        first, end = (bisect_left(states, at, key=attrgetter("address")) for at in span)
        if first < end:
            yield span, own_line([(at.file, at.line, at.column) for at in states[first:end]])


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


def _collect(one: Any, top: Any, program: Any, entries: dict[int, DebugEntry]) -> DebugEntry:
    """The entry with its children; adds all of them to `entries` by offset in the unit."""
    attributes = one.attributes
    numbers = {name: at.value for name, at in attributes.items() if isinstance(at.value, int)}
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
    children = [_collect(child, top, program, entries) for child in one.iter_children()]
    entry = DebugEntry(one.tag, texts[0], texts[1], numbers, is_static, source, children)
    entries[one.offset - one.cu.cu_offset] = entry
    return entry
