"""A module of LLVM IR as text, and its compilation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.options import Options
from kernelinfo.compile import ir
from kernelinfo.compile.compilers import Compiler
from kernelinfo.compile.intermediate import drivers, text_of
from kernelinfo.compile.ir import Input
from kernelinfo.compile.processes import Processes
from kernelinfo.errors import ReadError, UnknownTargetError
from kernelinfo.hardware.targets import find
from kernelinfo.kernel import Item, Result
from kernelinfo.kernel.report import Report
from kernelinfo.reading.containers import open_bytes
from kernelinfo.reading.containers.triton import read_sidecar


class CompilerRun(NamedTuple):
    """Result of one compilation of the module."""

    results: Mapping[str, Result]  # symbol → kernel; empty if it failed
    error: str | None = None


class IrModule(NamedTuple):
    """Textual IR, and the means to compile it."""

    file: Input
    text: str
    triple: str
    target_id: str
    compiler: Compiler
    processes: Processes
    reading: Options

    @property
    def drivers(self) -> dict[str, tuple[str, ...]]:
        """Compiler driver that may have made the input → LLVM options that it adds."""
        return drivers(self.text, is_optimised=self.file.is_optimised)

    def compile(
        self, changes: Mapping[str, Mapping[str, str]], level: str, options: tuple[str, ...]
    ) -> CompilerRun:
        """The kernels, compiled with changed attributes: symbol → attribute name → value.

        `level` is `3` of -O3. Raises `CompilerError` or `ReadError`.
        """
        build = (self.triple, self.target_id, level, *options)
        command = self.compiler.to_assembly(*build, is_optimised=self.file.is_optimised)
        text = ir.with_attributes(self.text, changes)
        assembly = self.processes.run(command, text.encode("utf-8", "surrogateescape"))
        # Named like the file of the same compilation, so that Triton's JSON next to it is read.
        blobs = open_bytes(assembly, self.file.assembly)
        found = by_symbol(Analysis(self.reading).analyse_path(self.file.assembly, blobs))
        return CompilerRun({symbol: self._named(result) for symbol, result in found.items()})

    def _named(self, result: Result) -> Result:
        """The result with the path of the IR. The assembly has no file."""
        code_object = result.kernel.code_object._replace(path=self.file.path)
        return result._replace(kernel=result.kernel._replace(code_object=code_object))


def by_symbol(items: Iterable[Item]) -> dict[str, Result]:
    """Symbol → kernel. Raises `ReadError` if an item is a problem."""
    report = Report.of(items)
    for problem in report.problems:
        raise ReadError(f"{problem.path}: {problem.message}")
    return {result.kernel.symbol: result for result in report.results}


def open_module(
    file: Input, compiler: Compiler, processes: Processes, options: Options
) -> IrModule:
    """The module in `file`. `options.arch` is the target if the IR states none.

    Raises `ReadError` if it is not a module for AMD GPUs with kernels.
    """
    text, triple = text_of(file, compiler, processes)
    if not any(ir.definitions(text)):
        raise ReadError(f"{file.path}: no kernel in it; give the IR of a module with kernels")
    target_id = ir.target_id(text) or options.arch
    if target_id is None and (sidecar := read_sidecar(file.assembly)):  # Triton's JSON
        target_id = sidecar.arch
    if target_id is None:
        raise ReadError(f"{file.path}: names no target; give one by --arch")
    try:
        find(target_id.partition(":")[0])
    except UnknownTargetError as error:
        raise ReadError(f"{file.path}: {error}") from None
    reading = options._replace(arch=None)
    return IrModule(file, text, triple, target_id, compiler, processes, reading)
