"""Machine code of functions in a code object, by address and size of their symbols."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from kernelinfo.errors import ReadError
from kernelinfo.pressure.code_file import MachineCode
from kernelinfo.pressure.messages import say
from kernelinfo.reading.code_object.descriptor import SIZE_V2
from kernelinfo.reading.code_object.symbols import (
    STT_AMDGPU_HSA_KERNEL,
    Symbol,
    kernel_symbols,
    symbols_without_type,
)
from kernelinfo.reading.data import Data
from kernelinfo.reading.elf import SHT_NOBITS, Elf, Section, read_elf

_MOST_BYTES = 1 << 23  # of one function; compilers make several times less
_MOST_COPIES = 16  # times the file's bytes: linkers fold equal functions into one


def function_code(data: Data, names: Iterable[str]) -> Iterator[MachineCode]:
    """The machine code of each named function whose bytes are in the file.

    A function ends at the size of its symbol. Without a size it ends at the next function or at the
    end of its section; zeros before that are cut off. Without a size it is empty if a symbol with a
    size begins at its address: a kernel without instructions. Functions of more than `_MOST_BYTES`
    are left out. Raises `ReadError` if functions overlap to more than `_MOST_COPIES` times the
    file.
    """
    elf = read_elf(data, [])
    names = list(names)
    labels = symbols_without_type(elf)
    wanted = set(names)
    functions = {name: one for name, one in labels if name in wanted}
    functions |= kernel_symbols(elf, []).code
    inside = sorted({(one.section, one.value): name for name, one in labels}.items())
    begins = sorted({(one.section, one.value) for one in functions.values()})
    sized = {(one.section, one.value) for one in functions.values() if one.size}
    left = _MOST_COPIES * len(data)
    for name in names:
        symbol = functions.get(name)
        if symbol is None:
            continue
        place = symbol.section, symbol.value
        start = symbol.value + (SIZE_V2 if symbol.type == STT_AMDGPU_HSA_KERNEL else 0)
        found: bytes | None = b""
        if symbol.size:
            found = _bytes(elf, symbol.section, start, symbol.value + symbol.size)
        elif place not in sized:
            end = _next_function(begins, symbol)
            found = _without_zeros(_bytes(elf, symbol.section, start, end))
        if found is None or len(found) > _MOST_BYTES:
            continue
        left -= len(found)
        if left < 0:
            raise ReadError(say("symbols-overlap"))
        first = bisect_right(inside, (place, chr(0x10FFFF)))
        last = bisect_right(inside, ((symbol.section, start + len(found)), ""))
        own = tuple((address, label) for (_, address), label in inside[first:last])
        yield MachineCode(name, start, found, own)


def _next_function(begins: Sequence[tuple[int, int]], symbol: Symbol) -> int | None:
    """The address of the next function in the symbol's section; None after the last one."""
    at = bisect_right(begins, (symbol.section, symbol.value))
    if at == len(begins) or begins[at][0] != symbol.section:
        return None
    return begins[at][1]


def _bytes(elf: Elf, section: int, start: int, end: int | None) -> bytes | None:
    """Bytes of a section between two addresses, or to its end; None if the file lacks them.

    Segments have them where the file has no sections, or the symbol names another: objcopy leaves
    the numbers of sections in `.dynsym` as they were.
    """
    for part in (*elf.sections[section : section + 1], *elf.loaded):
        if isinstance(part, Section) and part.type == SHT_NOBITS:
            return None
        limit = part.address + part.size
        if part.address <= start <= limit and (end is None or end <= limit):
            offset = part.offset + start - part.address
            found = elf.bytes_at(offset, (limit if end is None else end) - start)
            return None if found is None else bytes(found)
    return None


def _without_zeros(code: bytes | None) -> bytes | None:
    """The code without the words of zeros after its last instruction."""
    if code is None:
        return None
    length = len(code.rstrip(b"\0"))
    return code[: -(-length // 4) * 4]
