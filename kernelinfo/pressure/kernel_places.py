"""What a code object says of a kernel's code: registers set at its entry, functions to call."""

from __future__ import annotations

from kernelinfo.hardware.targets import Target
from kernelinfo.kernel import Kernel
from kernelinfo.pressure.calls import CalledFunctions, Callee, FunctionPlace
from kernelinfo.pressure.disassembly import listings
from kernelinfo.pressure.registers import EVERY, from_descriptor
from kernelinfo.reading.code_object.descriptor import SIZE
from kernelinfo.reading.code_object.symbols import kernel_symbols
from kernelinfo.reading.data import Data
from kernelinfo.reading.elf import ET_REL, SHT_RELA, read_elf


def callees_of(data: Data, target: Target | None) -> CalledFunctions:
    """The functions of a code object, by address."""
    elf = read_elf(data, [])
    is_relocated = any(
        one.type == SHT_RELA and one.name.startswith(".rela.text") for one in elf.sections
    )
    names: dict[int, str | None] = {}
    for name, symbol in kernel_symbols(elf, []).code.items():
        known = symbol.value in names and elf.type == ET_REL  # in another section
        names[symbol.value] = None if known else name

    def read(place: FunctionPlace) -> Callee | None:
        name = names.get(int(place))
        found = (Callee(*one) for one in (listings(data, [name], target) if name else ()))
        return next(found, None)

    return CalledFunctions(read, {}, not is_relocated)


def entry_of(kernel: Kernel, data: Data) -> int:
    """Registers that the kernel's descriptor sets up; all if it has no readable descriptor."""
    found = (place.begin for place in kernel.places if place.source == "descriptor")
    start, version = next(found, None), kernel.code_object.code_object_version
    if start is None or version is None or version < 3:
        return EVERY
    return from_descriptor(bytes(data.read(start, SIZE)))
