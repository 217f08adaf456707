"""Compilers of LLVM IR, the user's clang or the LLVM in llvmlite, and what they make of it.

Nothing in the IR decides what a compiler executes.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import NamedTuple

from kernelinfo.compile import ir
from kernelinfo.compile.ir import TRIPLES, Input, read_input
from kernelinfo.compile.messages import say
from kernelinfo.compile.processes import Processes, find_program, on_path
from kernelinfo.errors import CompilerError, Message, ReadError

NEWEST = 60  # searched on PATH: clang-13 to clang-60
ROCM = "/opt/rocm"  # default of ROCM_PATH, as for hipcc
_CLOSED = 16  # the first clang with --no-default-config (clang's release notes)


class Compiler(NamedTuple):
    """A clang on this machine, or the LLVM inside llvmlite.

    llvmlite runs in a child process: a fatal error of LLVM ends the process.
    """

    path: str  # path of its program, or `llvmlite`
    version: str  # `Debian clang version 22.1.8 (1~deb12u1)`

    @property
    def is_llvmlite(self) -> bool:
        """True for llvmlite, which takes only LLVM options."""
        return self.path == _LLVMLITE

    def to_text(self, triple: str) -> list[str]:
        """The command that prints IR as text, unchanged. It fails for modules of other triples."""
        if self.is_llvmlite:
            return [*_CHILD, "text", triple]
        return [
            *self._command(),
            # Not `--target`: clang 19 refuses amdgcn-amd-amdhsa-llvm there.
            *("-Xclang", "-triple", "-Xclang", triple),
            *("-emit-llvm", "-Xclang", "-disable-llvm-passes"),
            # The order of uses decides what optimisation does first, and only this keeps it.
            *("-Xclang", "-emit-llvm-uselists", "-Werror=override-module"),
            *("-o", "-", "-"),
        ]

    def to_assembly(
        self, triple: str, target_id: str, level: str, *options: str, is_optimised: bool
    ) -> list[str]:
        """The command that compiles textual IR to assembly.

        `level` is `3` for -O3, `options` are LLVM options as `-mllvm` takes them. `is_optimised`
        skips the optimisation passes.
        """
        if self.is_llvmlite:
            run_passes = "no" if is_optimised else "yes"
            return [*_CHILD, "assembly", triple, target_id, level, run_passes, *options]
        return [
            *self._command(triple),
            *(f"-mcpu={target_id}", f"-O{level}", "-w"),
            *(("-Xclang", "-disable-llvm-passes") if is_optimised else ()),
            *(word for option in options for word in ("-mllvm", option)),
            *("-o", "-", "-"),
        ]

    def _command(self, triple: str = TRIPLES[0]) -> tuple[str, ...]:
        # Configuration files may add options and plug-ins. Older clangs read none.
        version = major_version(self.version) or _CLOSED
        closed = ("--no-default-config",) if version >= _CLOSED else ()
        return (
            *(self.path, *closed, "-x", "ir", f"--target={triple}", "-nogpulib"),
            *("-fno-crash-diagnostics", "-S"),
        )


_LLVMLITE = "llvmlite"
# Run as a file: PYTHONPATH need not name this package. -P: no import from its folder.
_CHILD = (sys.executable, "-P", os.path.join(os.path.dirname(__file__), "llvmlite_child.py"))


def find_compiler(given: str | None, producer: str | None, processes: Processes) -> Compiler:
    """The given compiler, else ROCm's clang, a clang of the IR's version or newer, or llvmlite.

    `given` is a path, or a name to search on PATH. Raises `CompilerError` if no compiler is found
    or `given` is not a clang.
    """
    if given is not None and given != _LLVMLITE:
        return _clang(given, processes)
    for path in () if given else _candidates(major_version(producer)):
        try:
            return _clang(path, processes)
        except CompilerError:
            continue
    if find_spec("llvmlite") is None:
        raise CompilerError(_missing(given, producer))
    return Compiler(_LLVMLITE, processes.run([*_CHILD, "version"]).decode().strip())


def _clang(path: str, processes: Processes) -> Compiler:
    program = find_program(path)
    if program is None:
        raise CompilerError(say("clang-no-program", path=path))
    text = processes.run([program, "--version"]).decode("utf-8", "replace")
    stated = re.search(r"^.*clang version .*$", text, re.M)
    if stated is None:
        raise CompilerError(say("clang-other-program", path=path))
    return Compiler(program, stated[0].strip())


def _candidates(producer: int | None) -> Iterator[str]:
    """Paths of the clangs that may be able to read the IR, best first."""
    rocm = os.path.join(os.environ.get("ROCM_PATH") or ROCM, "llvm", "bin", "clang")
    if os.path.isabs(rocm) and os.path.exists(rocm):
        yield rocm
    newer = range(producer, NEWEST) if producer else range(NEWEST, 12, -1)
    names = [f"clang-{version}" for version in newer]
    yield from filter(on_path, names)
    if producer is None and on_path("clang"):
        yield "clang"


def major_version(version: str | None) -> int | None:
    """22 of `clang version 22.1.8`; None if there is none."""
    stated = re.search(r"version (\d{1,3})", version or "")
    return int(stated[1]) if stated else None


def _missing(given: str | None, producer: str | None) -> Message:
    if given is not None:
        return say("llvmlite-missing")
    made = (
        say("clang-or-newer", version=major_version(producer))
        if major_version(producer)
        else "clang"
    )
    return say("clang-missing", made=made)


_CLANG = ("-amdgpu-internalize-symbols",)
"""LLVM options that clang's driver adds for HIP (HIPAMD.cpp,
HIPAMDToolChain::addClangTargetOptions)."""
INLINE_ALL = "-amdgpu-function-calls=false"
"""LLVM option by which only `noinline` keeps a function from being inlined."""
_HIPCC = ("-amdgpu-early-inline-all=true", INLINE_ALL)
"""LLVM options that hipcc adds to `_CLANG` (hipcc.pl; hipcc's hipBin_amd.h, executeHipCCCmd)."""


def drivers(text: str, *, is_optimised: bool) -> dict[str, tuple[str, ...]]:
    """For each compiler driver that may have made a module, the LLVM options that it adds."""
    if is_optimised or ir.is_opencl(text):
        return {"clang": ()}
    return {"clang": _CLANG, "hipcc": _CLANG + _HIPCC}


def read_ir(file: Input, compiler: Compiler, processes: Processes) -> tuple[str, str]:
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
    file, (level, llvm, rest) = read_input(path), parse_ir_flags(flags)
    program = find_compiler(compiler, file.producer, processes)
    text, triple = read_ir(file, program, processes)
    target_id = ir.target_id(text) or target
    processor = target_id.partition(":")[0]
    if processor != target:
        raise ReadError(say("ir-other-target", path=path, stated=processor, target=target))
    if rest and program.is_llvmlite:
        raise CompilerError(say("llvmlite-flag", flag=rest[0]))
    options = (*drivers(text, is_optimised=False)["clang"], *llvm)
    build = (triple, target_id, level, *options)
    *command, out, output, source = program.to_assembly(*build, is_optimised=False)
    whole = (*command, *rest, out, output, source)
    return whole, processes.run(whole, text.encode("utf-8", "surrogateescape"))


def parse_ir_flags(flags: Sequence[str]) -> tuple[str, list[str], list[str]]:
    """The level (3 for -O3), the LLVM options (values of -mllvm) and the remaining flags for
    compiling IR. The last -O counts."""
    level, llvm, rest = "3", list[str](), list[str]()
    before = ""
    for flag in flags:
        if before == "-mllvm":
            llvm.append(flag)
        elif flag.startswith("-O"):
            level = flag[2:] or "1"
        elif flag != "-mllvm":
            rest.append(flag)
        before = flag
    return level, llvm, rest
