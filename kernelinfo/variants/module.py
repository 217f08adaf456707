"""A module of LLVM IR as text, and its compilation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.options import Options
from kernelinfo.errors import CompilerError, ReadError, UnknownTargetError
from kernelinfo.hardware.targets import find
from kernelinfo.kernel import Item, Result
from kernelinfo.kernel.report import Report
from kernelinfo.reading.containers import open_bytes
from kernelinfo.reading.containers.triton import read_sidecar
from kernelinfo.variants import ir
from kernelinfo.variants.compilers import Compiler
from kernelinfo.variants.ir import Input
from kernelinfo.variants.processes import Processes

_CLANG = ("-amdgpu-internalize-symbols",)
"""LLVM options that clang's driver adds for HIP (HIPAMD.cpp,
HIPAMDToolChain::addClangTargetOptions)."""
_HIPCC = ("-amdgpu-early-inline-all=true", "-amdgpu-function-calls=false")
"""LLVM options that hipcc adds to `_CLANG` (hipcc.pl; hipcc's hipBin_amd.h, executeHipCCCmd)."""


class CompilerRun(NamedTuple):
    """Result of one compilation of the module."""

    results: Mapping[str, Result]  # symbol → kernel; empty if it failed
    error: str | None = None
    has_functions: bool = False  # true if it has functions that are no kernels


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
        if self.file.is_optimised or ir.is_opencl(self.text):
            return {"clang": ()}
        return {"clang": _CLANG, "hipcc": _CLANG + _HIPCC}

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
        results = {symbol: self._named(result) for symbol, result in found.items()}
        return CompilerRun(results, has_functions=assembly.count(b",@function") > len(results))

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
    text, triple = _text(file, compiler, processes)
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


def _text(file: Input, compiler: Compiler, processes: Processes) -> tuple[str, str]:
    """The module as LLVM prints it, and its triple, one of `ir.TRIPLES`."""
    if b"\0" in file.data:
        tries = [(file.data, spelling) for spelling in ir.SPELLINGS]
    else:
        text = file.data.decode("utf-8", "surrogateescape")
        stated = ir.triple(text)
        triple = ir.known_triple(stated) if stated is not None else ir.TRIPLES[0]
        if triple is None:
            raise ReadError(f"{file.path}: IR for {stated}, not for an AMD GPU")
        tries = [(ir.with_triple(text, triple).encode("utf-8", "surrogateescape"), triple)]
    for data, spelling in tries:
        try:
            printed = processes.run(compiler.to_text(spelling), data)
        except CompilerError as error:
            if "overriding the module target triple" not in str(error):
                read_by = f"{compiler.path} cannot read it: {error}"
                hint = f"; made by {file.producer}" if file.producer else ""
                raise ReadError(f"{file.path}: {read_by}{hint}") from None
            continue
        triple = ir.known_triple(spelling) or ir.TRIPLES[0]
        return ir.with_triple(printed.decode("utf-8", "surrogateescape"), triple), triple
    raise ReadError(f"{file.path}: not for an AMD GPU; give the .bc whose name has amdgcn in it")
