"""Debug information entries of assembly text, as far as LLVM's comments name them.

.byte 3                     ; Abbrev [3] 0x31:0xe DW_TAG_variable
.byte 6                     ; DW_AT_name
.long 138                   ; DW_AT_type
.byte 5                     ; DW_AT_location
.byte 161
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kernelinfo.reading.assembly.scan import SourceFiles
from kernelinfo.reading.data import decode, integer
from kernelinfo.reading.debug_entries import DebugEntry, DebugUnit

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
    """Compilation units of the first `.debug_info` section behind `start`, a byte offset."""
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
    """Begin, entry and size of each entry, in bytes of the unit; the children are left empty."""
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
