"""Compilers of LLVM IR: the user's clang, or the LLVM in llvmlite."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import NamedTuple

from kernelinfo.compile.ir import TRIPLES
from kernelinfo.compile.messages import say
from kernelinfo.compile.processes import Processes, find_program, on_path
from kernelinfo.errors import CompilerError, Message

NEWEST = 60  # searched on PATH: clang-13 to clang-60
ROCM = "/opt/rocm"  # default of ROCM_PATH, as for hipcc
_CLOSED = 16  # the first clang with --no-default-config (clang's release notes)


class Clang(NamedTuple):
    """A clang on this machine."""

    path: str  # path of its program
    version: str  # `Debian clang version 22.1.8 (1~deb12u1)`

    def to_text(self, triple: str) -> list[str]:
        """The command that prints IR as text, unchanged. It fails for modules of other triples."""
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

        `level` is `3` of -O3, `options` are LLVM options as `-mllvm` takes them. `is_optimised`
        skips the optimisation passes.
        """
        return [
            *self._command(triple),
            *(f"-mcpu={target_id}", f"-O{level}", "-w"),
            *(("-Xclang", "-disable-llvm-passes") if is_optimised else ()),
            *(word for option in options for word in ("-mllvm", option)),
            *("-o", "-", "-"),
        ]

    def _command(self, triple: str = TRIPLES[0]) -> tuple[str, ...]:
        # Configuration files may add options and plug-ins. Older clangs read none.
        closed = (
            ("--no-default-config",) if (major_version(self.version) or _CLOSED) >= _CLOSED else ()
        )
        return (
            *(self.path, *closed, "-x", "ir", f"--target={triple}", "-nogpulib"),
            *("-fno-crash-diagnostics", "-S"),
        )


class Llvmlite(NamedTuple):
    """The LLVM inside llvmlite, in a child process: a fatal error of LLVM ends the process."""

    path: str
    version: str

    def to_text(self, triple: str) -> list[str]:
        return [*_CHILD, "text", triple]

    def to_assembly(
        self, triple: str, target_id: str, level: str, *options: str, is_optimised: bool
    ) -> list[str]:
        run_passes = "no" if is_optimised else "yes"
        return [*_CHILD, "assembly", triple, target_id, level, run_passes, *options]


# Run as a file: PYTHONPATH need not name this package. -P: no import from its folder.
_CHILD = (sys.executable, "-P", os.path.join(os.path.dirname(__file__), "llvmlite_child.py"))

Compiler = Clang | Llvmlite


def find_compiler(given: str | None, producer: str | None, processes: Processes) -> Compiler:
    """The given compiler, else ROCm's clang, a clang of the IR's version or newer, or llvmlite.

    `given` is a path, or a name to search on PATH. Raises `CompilerError` if no compiler is found
    or `given` is not a clang.
    """
    if given is not None and given != "llvmlite":
        return _clang(given, processes)
    for path in () if given else _candidates(major_version(producer)):
        try:
            return _clang(path, processes)
        except CompilerError:
            continue
    if find_spec("llvmlite") is None:
        raise CompilerError(_missing(given, producer))
    return Llvmlite("llvmlite", processes.run([*_CHILD, "version"]).decode().strip())


def _clang(path: str, processes: Processes) -> Clang:
    found = find_program(path)
    if found is None:
        raise CompilerError(say("clang-no-program", path=path))
    text = processes.run([found, "--version"]).decode("utf-8", "replace")
    stated = re.search(r"^.*clang version .*$", text, re.M)
    if stated is None:
        raise CompilerError(say("clang-other-program", path=path))
    return Clang(found, stated[0].strip())


def _candidates(producer: int | None) -> Iterator[str]:
    """Paths of clangs that may read the IR, best first."""
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
    found = re.search(r"version (\d{1,3})", version or "")
    return int(found[1]) if found else None


def _missing(given: str | None, producer: str | None) -> Message:
    if given is not None:
        return say("llvmlite-missing")
    made = (
        say("clang-or-newer", version=major_version(producer))
        if major_version(producer)
        else "clang"
    )
    return say("clang-missing", made=made)
