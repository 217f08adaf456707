"""Relocations of debug sections in an object before linking."""

from __future__ import annotations

import struct

import pytest

from kernelinfo.reading.code_object.relocation import relocated
from kernelinfo.reading.data import Data
from kernelinfo.reading.elf import read_elf

from ...conftest import FIXTURES

LINKED = (FIXTURES / "lines" / "attention-clang22-gfx942.co").read_bytes()
HEADER = struct.Struct("<IIQQQQIIQQ")
RELA, SYMBOL_BYTES, ABS64 = 4, 24, 3


def unlinked(offset: int, behind: int) -> bytes:
    """The object as before linking, with a relocation that sets 8 bytes of its `.debug_info`.

    A negative `offset` counts from the end of the section; the symbol is so many behind the last.
    """
    (table,) = struct.unpack_from("<Q", LINKED, 0x28)
    count, names = struct.unpack_from("<HH", LINKED, 0x3C)
    headers = [HEADER.unpack_from(LINKED, table + 64 * number) for number in range(count)]
    titles = LINKED[headers[names][4] :][: headers[names][5]]
    called = [titles[header[0] :].partition(b"\0")[0] for header in headers]
    info, symbols = called.index(b".debug_info"), called.index(b".symtab")
    offset += headers[info][5] if offset < 0 else 0
    symbol = headers[symbols][5] // SYMBOL_BYTES - 1 + behind
    row = struct.pack("<QQq", offset, symbol << 32 | ABS64, 0)
    end = len(LINKED)
    renamed = titles + b".rela.debug_info\0"
    headers[names] = (*headers[names][:4], end + len(row), len(renamed), *headers[names][6:])
    headers.append((len(titles), RELA, 0, 0, end, len(row), symbols, info, 8, 24))
    data = bytearray(LINKED + row + renamed)
    struct.pack_into("<H", data, 0x10, 1)  # ET_REL
    struct.pack_into("<Q", data, 0x28, len(data))
    struct.pack_into("<H", data, 0x3C, len(headers))
    return bytes(data) + b"".join(HEADER.pack(*header) for header in headers)


@pytest.mark.parametrize(
    ("offset", "behind"),
    [(-7, 0), (-1, 0), (1 << 40, 0), (0, 1), (0, 2), (0, 1 << 30)],
)
def test_what_leaves_its_section_or_the_symbols_is_skipped(offset: int, behind: int) -> None:
    data = unlinked(offset, behind)
    assert relocated(read_elf(Data.of(data), [])) == data


def test_what_is_inside_is_filled_in() -> None:
    before, after = unlinked(-8, 0), relocated(read_elf(Data.of(unlinked(-8, 0)), []))
    assert len(after) == len(before)
    assert 1 <= sum(one != other for one, other in zip(before, after, strict=True)) <= 8
