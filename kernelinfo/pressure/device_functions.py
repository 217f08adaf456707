"""Functions of a file that are no kernels, as results without numbers."""

from __future__ import annotations

from collections.abc import Mapping

from kernelinfo.analysis.kernels import read_kernels
from kernelinfo.analysis.options import Options
from kernelinfo.kernel import Kernel, Result
from kernelinfo.kernel.names import demangle
from kernelinfo.kernel.pattern import matches
from kernelinfo.kernel.traits import Traits
from kernelinfo.pressure.assembly import AssemblyText
from kernelinfo.reading.blob import Blob
from kernelinfo.reading.code_object.symbols import kernel_symbols
from kernelinfo.reading.elf import read_elf
from kernelinfo.reading.facts import Numbers


def device_functions(blob: Blob, name: str) -> list[Result]:
    """The functions that `name` means, in a file with kernels: a whole name or symbol first, else
    what `pattern.matches` finds."""
    kernels = [item for item in read_kernels(blob, Options(), {}) if isinstance(item, Kernel)]
    if not kernels:
        return []
    lines: Mapping[str, int | None]
    if kernels[0].code_object.kind == "assembly":
        lines = AssemblyText(blob.data.read()).functions
    else:
        lines = dict.fromkeys(kernel_symbols(read_elf(blob.data, []), []).code)
    names = {symbol: demangle(symbol) for symbol in lines}
    for kernel in kernels:
        names.pop(kernel.symbol, None)
    chosen = [symbol for symbol, spoken in names.items() if name in (symbol, spoken)]
    chosen = chosen or [one for one, spoken in names.items() if matches(name, spoken, one)]
    target, compiled_for = kernels[0].target, kernels[0].traits.compiled_for
    traits = Traits(target, compiled_for, Numbers(), None, ())
    return [
        Result(
            Kernel(
                kernels[0].code_object,
                symbol,
                names[symbol],
                traits,
                code_bytes=None,
                places=(),
                line=lines[symbol],
                code=None,
                source=None,
            ),
            None,
        )
        for symbol in chosen
    ]
