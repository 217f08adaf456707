"""The reference reader: pyelftools' layouts, each table read on its own.

Its `ELFFile` gives a file up when one table is damaged; here every table that lies within the file
is read, so that segments stand in for sections and the reverse.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from elftools.construct import ConstructError
from elftools.elf.structs import ELFStructs

from kernelinfo.errors import ReadError
from kernelinfo.reading.code_object.elf.container import Header, Section, Segment, Tables, string_at
from kernelinfo.reading.facts import Remark


def read_tables(data: memoryview, remarks: list[Remark]) -> Tables:
    """The header and both tables; what is wrong with a table is added to `remarks`.

    Raises `ReadError` where not even the header can be read.
    """
    layouts = _layouts()
    if len(data) < layouts.Elf_Ehdr.sizeof():
        raise ReadError(f"ELF file cut off after {len(data)} bytes, within its header; rebuild it")
    try:
        header = layouts.Elf_Ehdr.parse(bytes(data[: layouts.Elf_Ehdr.sizeof()]))
    except ConstructError as error:
        raise ReadError(f"damaged ELF header ({error}); rebuild the file") from error
    return Tables(
        Header(header.e_type, header.e_machine, header.e_flags),
        _sections(data, header, remarks),
        _segments(data, header, remarks),
    )


@cache
def _layouts() -> Any:
    layouts = ELFStructs(little_endian=True, elfclass=64)
    layouts.create_basic_structs()
    layouts.create_advanced_structs()
    return layouts


def _rows(
    data: memoryview, layout: Any, offset: int, size: int, count: int, remarks: list[Remark]
) -> list[Any]:
    """The rows of a header table; none where it does not lie within the file."""
    if size != layout.sizeof() or offset + size * count > len(data):
        message = f"{count} headers of {size} bytes at {offset}, in a file of {len(data)} bytes"
        remarks.append(Remark(f"{message}: not read", offset=offset))
        return []
    starts = range(offset, offset + size * count, size)
    return [layout.parse(bytes(data[start : start + size])) for start in starts]


def _segments(data: memoryview, header: Any, remarks: list[Remark]) -> tuple[Segment, ...]:
    offset, size, count = header.e_phoff, header.e_phentsize, header.e_phnum
    if not offset:
        return ()
    rows = _rows(data, _layouts().Elf_Phdr, offset, size, count, remarks)
    return tuple(Segment(row.p_type, row.p_vaddr, row.p_offset, row.p_filesz) for row in rows)


def _sections(data: memoryview, header: Any, remarks: list[Remark]) -> tuple[Section, ...]:
    offset, count, names_at = header.e_shoff, header.e_shnum, header.e_shstrndx
    if not offset:
        return ()
    layout, size = _layouts().Elf_Shdr, header.e_shentsize
    if not count:
        # More sections than 16 bits can count: the first, which is none, holds the numbers.
        for row in _rows(data, layout, offset, size, 1, remarks):
            count, names_at = row.sh_size, row.sh_link
    headers = _rows(data, layout, offset, size, count, remarks)
    names = b""
    for row in headers[names_at : names_at + 1]:
        if row.sh_offset + row.sh_size <= len(data):
            names = bytes(data[row.sh_offset : row.sh_offset + row.sh_size])
    if headers and not names:
        remarks.append(Remark("section names cannot be read", offset=offset))
    return tuple(
        Section(
            name=string_at(names, row.sh_name) or "",
            type=row.sh_type,
            address=row.sh_addr,
            offset=row.sh_offset,
            size=row.sh_size,
            link=row.sh_link,
            entry_size=row.sh_entsize,
        )
        for row in headers
    )
