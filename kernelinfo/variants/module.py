"""A module of LLVM IR as text, and how a compiler is run on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.options import Options
from kernelinfo.errors import CompilerError, ReadError, UnknownTargetError
from kernelinfo.kernel import Item, Report, Result
from kernelinfo.occupancy.targets import find
from kernelinfo.reading.containers import open_bytes
from kernelinfo.reading.containers.triton import read_sidecar
from kernelinfo.variants import ir
from kernelinfo.variants.compilers import Compiler
from kernelinfo.variants.ir import Input
from kernelinfo.variants.processes import Processes

_CLANG = ("-amdgpu-internalize-symbols",)
"""Options of clang's driver for HIP (HIPAMD.cpp, HIPAMDToolChain::addClangTargetOptions)."""
_HIPCC = ("-amdgpu-early-inline-all=true", "-amdgpu-function-calls=false")
"""Options that hipcc adds to those (hipcc.pl; hipcc's hipBin_amd.h, executeHipCCCmd)."""


class Outcome(NamedTuple):
    """One compilation of the module."""

    results: Mapping[str, Result]  # kernels by symbol; none if it failed
    error: str | None = None
    has_functions: bool = False  # besides kernels, which may share them


class Module(NamedTuple):
    """Textual IR, and what compiles it."""

    file: Input
    text: str
    triple: str
    target_id: str
    compiler: Compiler
    processes: Processes
    reading: Options

    @property
    def drivers(self) -> dict[str, tuple[str, ...]]:
        """Compiler drivers that may have made the input, and the LLVM options that each adds."""
        if self.file.is_optimised or ir.is_opencl(self.text):
            return {"clang": ()}
        return {"clang": _CLANG, "hipcc": _CLANG + _HIPCC}

    def compile(
        self, changes: Mapping[str, Mapping[str, str]], level: str, options: tuple[str, ...]
    ) -> Outcome:
        """The kernels, compiled with function attributes changed. `changes` are by symbol and
        attribute name. Raises `CompilerError` or `ReadError`."""
        build = (self.triple, self.target_id, level, *options)
        command = self.compiler.to_assembly(*build, is_optimised=self.file.is_optimised)
        text = ir.with_attributes(self.text, changes)
        assembly = self.processes.run(command, text.encode("utf-8", "surrogateescape"))
        # Named as what the same compilation writes, so that Triton's JSON next to that is read.
        blobs = open_bytes(assembly, self.file.assembly)
        found = by_symbol(Analysis(self.reading).analyse_path(self.file.assembly, blobs))
        results = {symbol: self._named(result) for symbol, result in found.items()}
        return Outcome(results, has_functions=assembly.count(b",@function") > len(results))

    def _named(self, result: Result) -> Result:
        """The result with the input as its path: the assembly is nowhere on disk."""
        code_object = result.kernel.code_object._replace(path=self.file.path)
        return result._replace(kernel=result.kernel._replace(code_object=code_object))


def by_symbol(items: Iterable[Item]) -> dict[str, Result]:
    """Kernels by their symbols. Raises `ReadError` if something could not be read."""
    report = Report.of(items)
    for problem in report.problems:
        raise ReadError(f"{problem.path}: {problem.message}")
    return {result.kernel.symbol: result for result in report.results}


def open_module(file: Input, compiler: Compiler, processes: Processes, options: Options) -> Module:
    """The module in `file`; `options.arch` is the target of IR that states none. Raises `ReadError`
    if it is not a module for AMD GPUs with kernels."""
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
    return Module(file, text, triple, target_id, compiler, processes, reading)


def _text(file: Input, compiler: Compiler, processes: Processes) -> tuple[str, str]:
    """The module as LLVM prints it, and the one of `ir.TRIPLES` that it is compiled for."""
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
