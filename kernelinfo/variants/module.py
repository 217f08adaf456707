"""LLVM IR of a source or a file as text, and its compilation."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.options import Options
from kernelinfo.compile import ir
from kernelinfo.compile.compilers import Compiler
from kernelinfo.compile.intermediate import drivers, ir_flags, text_of
from kernelinfo.compile.ir import Input
from kernelinfo.compile.nouns import Settings
from kernelinfo.compile.processes import Processes
from kernelinfo.compile.sources import compile_twice
from kernelinfo.errors import CompilerError, Message, ReadError, UnknownTargetError
from kernelinfo.hardware.targets import find
from kernelinfo.kernel import Item, Result
from kernelinfo.kernel.report import Report
from kernelinfo.reading.containers import open_bytes
from kernelinfo.reading.containers.triton import read_sidecar
from kernelinfo.reading.messages import in_file
from kernelinfo.variants.messages import say
from kernelinfo.variants.nouns import Request


class CompilerRun(NamedTuple):
    """Result of one compilation of the module."""

    results: Mapping[str, Result]  # symbol → kernel; empty if it failed
    error: Message | None = None


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
        raise ReadError(problem.located)
    return {result.kernel.symbol: result for result in report.results}


def open_module(
    file: Input, compiler: Compiler, processes: Processes, options: Options
) -> IrModule:
    """The module in `file`. `options.arch` is the target if the IR states none.

    Raises `ReadError` if it is not a module for AMD GPUs with kernels.
    """
    text, triple = text_of(file, compiler, processes)
    if not any(ir.definitions(text)):
        raise ReadError(say("module-without-kernels", path=file.path))
    target_id = ir.target_id(text) or options.arch
    if target_id is None and (sidecar := read_sidecar(file.assembly)):  # Triton's JSON
        target_id = sidecar.arch
    if target_id is None:
        raise ReadError(say("module-without-target", path=file.path))
    try:
        find(target_id.partition(":")[0])
    except UnknownTargetError as error:
        raise ReadError(in_file(file.path, error.message)) from None
    reading = options._replace(arch=None)
    return IrModule(file, text, triple, target_id, compiler, processes, reading)


def with_equal_options(request: Request, settings: Settings) -> tuple[Request, Settings]:
    """The request and the settings, each with the level and the LLVM options of both."""
    level = (f"-O{request.level}",) if request.level else ()
    llvm = (word for option in request.options for word in ("-mllvm", option))
    flags = (*settings.flags, *level, *llvm)
    said = ir_flags(flags)
    level_of = {"fast": "3", "g": "1"}
    request = request._replace(level=level_of.get(said.level, said.level), options=said.llvm)
    return request, settings._replace(flags=flags)


def clang_of(file: Input) -> str | None:
    """The clang that made the IR of a source; None for hipcc, whose clang is looked for."""
    command = file.compiled.command if file.compiled else ()
    return command[0] if command and "clang" in os.path.basename(command[0]) else None


def compiled_source(
    path: str, request: Request, settings: Settings, processes: Processes
) -> tuple[Input, Request]:
    """The IR of a source, and the request with the level and the LLVM options of the flags.

    Raises `CompilerError` with what the compiler says."""
    request, settings = with_equal_options(request, settings)
    ((compiled, made),) = compile_twice([path], settings, processes)
    if made is None:
        raise CompilerError(
            say("module-not-compiled", told=compiled.messages, reason=compiled.error)
        )
    return made, request
