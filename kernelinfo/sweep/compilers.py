"""The compilers that can make a sweep: the user's clang, or the LLVM that llvmlite brings.

They run as child processes, each with a time limit, none of which outlives the sweep.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from tempfile import TemporaryFile
from threading import Lock, Timer
from typing import IO, NamedTuple

from kernelinfo.errors import CompilerError

_MOST_OUTPUT = 1 << 29
_LAST_COMPLAINTS = 1 << 16  # bytes of standard output and of standard error that are kept
_LONGEST_MESSAGE = 300  # characters


class Processes:
    """Runs compilers; leaving the `with` block kills those that still run."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout  # seconds for each process
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = Lock()
        self._closed = False

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._closed = True
            for process in self._running:
                _kill(process)

    def run(self, command: Sequence[str], standard_input: bytes = b"") -> bytes:
        """What the command writes to standard output.

        Input goes through a file without a name, output through a pipe: nothing is left on disk.
        Raises `CompilerError` with the command's last error line if it fails, or runs too long.
        """
        began = time.monotonic()
        with TemporaryFile() as source, ThreadPoolExecutor(1) as reader:
            source.write(standard_input)
            source.seek(0)
            with self._started(command, source) as process:
                assert process.stdout is not None
                assert process.stderr is not None
                complaints = reader.submit(_tail, process.stderr)
                output = process.stdout.read(_MOST_OUTPUT + 1)
                if len(output) > _MOST_OUTPUT:
                    raise CompilerError(f"{command[0]}: wrote more than {_MOST_OUTPUT} bytes")
                process.wait()
                message = _message(complaints.result(), process.returncode)
        if time.monotonic() - began >= self._timeout:
            raise CompilerError(f"no answer within {self._timeout:g} s; see --timeout")
        if process.returncode:
            raise CompilerError(message)
        return output

    @contextmanager
    def _started(
        self, command: Sequence[str], source: IO[bytes]
    ) -> Iterator[subprocess.Popen[bytes]]:
        """A process that is killed at its time limit, and at the end of the block."""
        with self._lock:
            if self._closed:
                raise CompilerError("interrupted")
            pipe = subprocess.PIPE
            try:
                process = subprocess.Popen(
                    command, stdin=source, stdout=pipe, stderr=pipe, start_new_session=True
                )
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                raise CompilerError(f"{command[0]}: {reason}; give another --compiler") from None
            self._running.add(process)
        timer = Timer(self._timeout, _kill, [process])
        timer.daemon = True
        timer.start()
        try:
            with process:
                try:
                    yield process
                finally:
                    if process.poll() is None:
                        _kill(process)
        finally:
            timer.cancel()
            with self._lock:
                self._running.discard(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and what it started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:  # Windows
        process.kill()


def _tail(stream: IO[bytes]) -> bytes:
    """The end of what a stream gives."""
    tail = b""
    while piece := stream.read(_LAST_COMPLAINTS):
        tail = (tail + piece)[-_LAST_COMPLAINTS:]
    return tail


def _message(complaints: bytes, code: int) -> str:
    """The compiler's last error line, or its first line if none is called an error."""
    text = complaints.decode("utf-8", "replace")
    lines = list(filter(None, map(str.strip, text.splitlines())))
    errors = [line for line in lines if "error:" in line.lower()]
    if errors or (lines and code > 0):
        last = errors[-1] if errors else lines[0]
        return last if len(last) <= _LONGEST_MESSAGE else f"{last[:_LONGEST_MESSAGE]}…"
    return f"killed by signal {-code}" if code < 0 else f"failed with exit code {code}"


_NEWEST = 60  # clang-13 to clang-60 are looked for on PATH
_ROCM = "/opt/rocm"  # where ROCm is without ROCM_PATH, as for hipcc


class Clang(NamedTuple):
    """A clang on this machine."""

    path: str
    version: str  # `Debian clang version 22.1.8 (1~deb12u1)`

    def to_text(self, triple: str) -> list[str]:
        """The command that prints IR as text, unchanged; it fails for modules of other triples."""
        return [
            *self._command(triple),
            *("-emit-llvm", "-Xclang", "-disable-llvm-passes"),
            # The order of uses decides what optimisation does first, and only this keeps it.
            *("-Xclang", "-emit-llvm-uselists", "-Werror=override-module"),
            *("-o", "-", "-"),
        ]

    def to_assembly(
        self, triple: str, target_id: str, level: str, *options: str, is_optimised: bool
    ) -> list[str]:
        """The command that makes assembly of textual IR at a level, `3` of -O3, with LLVM's own
        options as `-mllvm` takes them. If it `is_optimised`, only code generation is left to do."""
        return [
            *self._command(triple),
            *(f"-mcpu={target_id}", f"-O{level}", "-w"),
            *(("-Xclang", "-disable-llvm-passes") if is_optimised else ()),
            *(word for option in options for word in ("-mllvm", option)),
            *("-o", "-", "-"),
        ]

    def _command(self, triple: str) -> tuple[str, ...]:
        return (
            *(self.path, "-x", "ir", f"--target={triple}", "-nogpulib"),
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
        return [*_CHILD, "assembly", target_id, level, "no" if is_optimised else "yes", *options]


# -P: a folder named llvmlite in the working directory is not imported.
_CHILD = (sys.executable, "-P", "-m", "kernelinfo.sweep.llvmlite_child")

Compiler = Clang | Llvmlite


def find_compiler(given: str | None, producer: str | None, processes: Processes) -> Compiler:
    """The compiler named, ROCm's clang, a clang of the IR's version or newer, or llvmlite. Raises
    `CompilerError` if there is none, or `given` is not a clang."""
    if given is not None and given != "llvmlite":
        return _clang(given, processes)
    for path in () if given else _candidates(_major(producer)):
        try:
            return _clang(path, processes)
        except CompilerError:
            continue
    if find_spec("llvmlite") is None:
        raise CompilerError(_missing(given, producer))
    return Llvmlite("llvmlite", processes.run([*_CHILD, "version"]).decode().strip())


def _clang(path: str, processes: Processes) -> Clang:
    found = shutil.which(os.path.expanduser(path))
    if found is None:
        raise CompilerError(f"{path}: no such program; give --compiler the path of a clang")
    text = processes.run([found, "--version"]).decode("utf-8", "replace")
    stated = re.search(r"^.*clang version .*$", text, re.M)
    if stated is None:
        raise CompilerError(f"{path}: not a clang; give --compiler the path of a clang")
    return Clang(found, stated[0].strip())


def _candidates(producer: int | None) -> Iterator[str]:
    """Paths of the clangs that may read the IR, the one to try first first."""
    rocm = os.path.join(os.environ.get("ROCM_PATH") or _ROCM, "llvm", "bin", "clang")
    if os.path.exists(rocm):
        yield rocm
    newer = range(producer, _NEWEST) if producer else range(_NEWEST, 12, -1)
    names = [f"clang-{version}" for version in newer]
    yield from filter(shutil.which, names)
    if producer is None and shutil.which("clang"):
        yield "clang"


def _major(version: str | None) -> int | None:
    found = re.search(r"version (\d{1,3})", version or "")
    return int(found[1]) if found else None


def _missing(given: str | None, producer: str | None) -> str:
    if given is not None:
        return "llvmlite is not installed; pip install 'kernelinfo[compile]'"
    made = f"clang-{_major(producer)} or newer" if _major(producer) else "clang"
    return f"no {made} found; give --compiler, or pip install 'kernelinfo[compile]'"
