"""A module of LLVM IR that can be compiled again with other function attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.options import Options
from kernelinfo.errors import CompilerError, ReadError
from kernelinfo.kernel import Item, Report, Result
from kernelinfo.light_typing import NamedTuple
from kernelinfo.reading.containers import open_bytes
from kernelinfo.reading.containers.triton import read_sidecar
from kernelinfo.sweep import ir
from kernelinfo.sweep.compilers import Build, Compiler, Processes
from kernelinfo.sweep.ir import Input

_TRIPLES = ("amdgcn-amd-amdhsa", "amdgcn-amd-amdpal", "amdgcn-mesa-mesa3d")

_CLANG = ("-amdgpu-internalize-symbols",)
"""What clang's driver adds for HIP (clang HIPAMD.cpp, HIPAMDToolChain::addClangTargetOptions)."""
_HIPCC = ("-amdgpu-early-inline-all=true", "-amdgpu-function-calls=false")
"""What hipcc adds to that (hipcc.pl; hipcc's hipBin_amd.h, executeHipCCCmd)."""


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
    def symbols(self) -> tuple[str, ...]:
        """The kernels."""
        return tuple(kernel.symbol for kernel in ir.definitions(self.text))

    @property
    def drivers(self) -> dict[str, tuple[str, ...]]:
        """Compiler drivers that may have made the input, and the LLVM options that each adds."""
        if self.file.is_optimised or ir.is_opencl(self.text):
            return {"clang": ()}
        return {"clang": _CLANG, "hipcc": _CLANG + _HIPCC}

    def compile(
        self, changes: Mapping[str, Mapping[str, str]], level: str, options: tuple[str, ...]
    ) -> dict[str, Result]:
        """Each kernel by its symbol, compiled with function attributes changed. `changes` are by
        symbol and attribute name. Raises `CompilerError` or `ReadError`."""
        build = Build(self.triple, self.target_id, level, self.file.is_optimised, options)
        text = ir.with_attributes(self.text, changes)
        command = self.compiler.to_assembly(build)
        assembly = self.processes.run(command, text.encode("utf-8", "surrogateescape"))
        # Named as what the same compilation writes, so that Triton's JSON next to that is read.
        blobs = open_bytes(assembly, self.file.assembly)
        found = by_symbol(Analysis(self.reading).analyse_path(self.file.assembly, blobs))
        return {symbol: self._named(result) for symbol, result in found.items()}

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


def open_module(
    file: Input, compiler: Compiler, processes: Processes, arch: str | None, reading: Options
) -> Module:
    """The module in `file`. Raises `ReadError` if it is not one for AMD GPUs with kernels."""
    data = file.data
    triples: tuple[str, ...] = _TRIPLES
    if b"\0" not in data:
        text = data.decode("utf-8", "surrogateescape")
        stated = ir.triple(text)
        if stated is not None and not stated.startswith("amd"):
            raise ReadError(f"{file.path}: IR for {stated}, not for an AMD GPU")
        # From LLVM 24 on the triple may name the processor: amdgpu9.42-amd-amdhsa.
        triples = (stated if stated and stated.startswith("amdgcn") else _TRIPLES[0],)
        data = ir.with_triple(text, triples[0]).encode("utf-8", "surrogateescape")
    text, triple = _text(file, data, triples, compiler, processes)
    if not any(ir.definitions(text)):
        raise ReadError(f"{file.path}: no kernel in it; give the IR of a module with kernels")
    target_id = ir.target_id(text) or arch
    if target_id is None and (sidecar := read_sidecar(file.assembly)):  # Triton's JSON
        target_id = sidecar.arch
    if target_id is None:
        raise ReadError(f"{file.path}: names no target; give one by --arch")
    return Module(file, text, triple, target_id, compiler, processes, reading)


def _text(
    file: Input, data: bytes, triples: Iterable[str], compiler: Compiler, processes: Processes
) -> tuple[str, str]:
    """The module as text, and its triple."""
    for triple in triples:
        try:
            text = processes.run(compiler.to_text(triple), data)
            return text.decode("utf-8", "surrogateescape"), triple
        except CompilerError as error:
            if "overriding the module target triple" not in str(error):
                read_by = f"{compiler.path} cannot read it: {error}"
                hint = f"; made by {file.producer}" if file.producer else ""
                raise ReadError(f"{file.path}: {read_by}{hint}") from None
    raise ReadError(f"{file.path}: not for an AMD GPU; give the .bc whose name has amdgcn in it")
