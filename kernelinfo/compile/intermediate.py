"""LLVM IR as text, and compiled to assembly, by a compiler that runs closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kernelinfo.compile import ir
from kernelinfo.compile.compilers import Compiler, Llvmlite, find_compiler
from kernelinfo.compile.ir import Input, read_input
from kernelinfo.compile.messages import say
from kernelinfo.compile.processes import Processes
from kernelinfo.errors import CompilerError, ReadError

_CLANG = ("-amdgpu-internalize-symbols",)
"""LLVM options that clang's driver adds for HIP (HIPAMD.cpp,
HIPAMDToolChain::addClangTargetOptions)."""
_HIPCC = ("-amdgpu-early-inline-all=true", "-amdgpu-function-calls=false")
"""LLVM options that hipcc adds to `_CLANG` (hipcc.pl; hipcc's hipBin_amd.h, executeHipCCCmd)."""


class IrFlags(NamedTuple):
    """Flags of a compiler of IR, by what they say."""

    level: str = "3"  # of -O3
    llvm: tuple[str, ...] = ()  # values of -mllvm
    others: tuple[str, ...] = ()


def drivers(text: str, *, is_optimised: bool) -> dict[str, tuple[str, ...]]:
    """Compiler driver that may have made a module -> LLVM options that it adds."""
    if is_optimised or ir.is_opencl(text):
        return {"clang": ()}
    return {"clang": _CLANG, "hipcc": _CLANG + _HIPCC}


def text_of(file: Input, compiler: Compiler, processes: Processes) -> tuple[str, str]:
    """The module as LLVM prints it, and its triple, one of `ir.TRIPLES`.

    Raises `ReadError` if the compiler cannot read it or it is not for an AMD GPU.
    """
    if b"\0" in file.data:
        tries = [(file.data, spelling) for spelling in ir.SPELLINGS]
    else:
        text = file.data.decode("utf-8", "surrogateescape")
        stated = ir.triple(text)
        triple = ir.known_triple(stated) if stated is not None else ir.TRIPLES[0]
        if triple is None:
            raise ReadError(say("ir-for-other-gpu", path=file.path, stated=stated))
        tries = [(ir.with_triple(text, triple).encode("utf-8", "surrogateescape"), triple)]
    for data, spelling in tries:
        try:
            printed = processes.run(compiler.to_text(spelling), data)
        except CompilerError as error:
            if "overriding the module target triple" not in str(error):
                hint = say("ir-producer", producer=file.producer) if file.producer else ""
                raise ReadError(
                    say("ir-unread", path=file.path, compiler=compiler.path, error=error, hint=hint)
                ) from None
            continue
        triple = ir.known_triple(spelling) or ir.TRIPLES[0]
        return ir.with_triple(printed.decode("utf-8", "surrogateescape"), triple), triple
    raise ReadError(say("ir-not-amd", path=file.path))


def compile_ir(
    path: str, target: str, flags: Sequence[str], compiler: str | None, processes: Processes
) -> tuple[tuple[str, ...], bytes]:
    """The command that compiles an IR file for a target, and its assembly.

    The IR comes on standard input. Raises `ReadError` if the file is not IR for this target, and
    `CompilerError` if no compiler is found or it fails.
    """
    file, wanted = read_input(path), ir_flags(flags)
    found = find_compiler(compiler, file.producer, processes)
    text, triple = text_of(file, found, processes)
    stated = ir.target_id(text)
    if stated is not None and stated.partition(":")[0] != target:
        own = stated.partition(":")[0]
        raise ReadError(say("ir-other-target", path=path, stated=own, target=target))
    if wanted.others and isinstance(found, Llvmlite):
        raise CompilerError(say("llvmlite-flag", flag=wanted.others[0]))
    options = (*drivers(text, is_optimised=False)["clang"], *wanted.llvm)
    build = (triple, stated or target, wanted.level, *options)
    *command, out, standard_output, standard_input = found.to_assembly(*build, is_optimised=False)
    whole = (*command, *wanted.others, out, standard_output, standard_input)
    return whole, processes.run(whole, text.encode("utf-8", "surrogateescape"))


def ir_flags(flags: Sequence[str]) -> IrFlags:
    """The flags by what they say. The last -O counts."""
    wanted, before = IrFlags(), ""
    for flag in flags:
        if before == "-mllvm":
            wanted = wanted._replace(llvm=(*wanted.llvm, flag))
        elif flag.startswith("-O"):
            wanted = wanted._replace(level=flag[2:] or "1")
        elif flag != "-mllvm":
            wanted = wanted._replace(others=(*wanted.others, flag))
        before = flag
    return wanted
