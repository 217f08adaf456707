"""Sources as inputs of a sweep: their IR before optimisation, and the assembly to compare with."""

from __future__ import annotations

import os

from kernelinfo.compile.intermediate import ir_flags
from kernelinfo.compile.ir import Input
from kernelinfo.compile.nouns import CompiledTwice, Settings
from kernelinfo.compile.processes import Processes
from kernelinfo.compile.sources import compile_twice
from kernelinfo.errors import CompilerError
from kernelinfo.variants.nouns import Request


def with_equal_options(request: Request, settings: Settings) -> tuple[Request, Settings]:
    """The request and the settings, each with the level and the LLVM options of both."""
    level = (f"-O{request.level}",) if request.level else ()
    llvm = (word for option in request.options for word in ("-mllvm", option))
    flags = (*settings.flags, *level, *llvm)
    said = ir_flags(flags)
    level_of = {"fast": "3", "g": "1"}
    request = request._replace(level=level_of.get(said.level, said.level), options=said.llvm)
    return request, settings._replace(flags=flags)


def input_of(made: CompiledTwice) -> Input:
    """The IR of a source that was compiled without an error."""
    return Input(made.compiled.path, made.bitcode, made.compiled)


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
    (made,) = compile_twice([path], settings, processes)
    if made.compiled.error:
        raise CompilerError(f"{made.compiled.messages}{made.compiled.error}")
    return input_of(made), request
