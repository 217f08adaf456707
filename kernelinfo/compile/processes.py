"""Compilers as child processes with limits on time, memory and environment."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Lock, Timer
from typing import IO

from kernelinfo.compile.messages import say
from kernelinfo.errors import CompilerError, Message
from kernelinfo.opening import bound

_MOST_OUTPUT = 1 << 29
_MOST_MEMORY = 4 << 30  # bytes of address space of a compiler of IR
_SOURCE_MEMORY = 16 << 30  # headers of templates take much more
_MOST_FILE = 1 << 31  # bytes of a file that it writes; twice what is read of one
_LAST_COMPLAINTS = 1 << 16  # bytes of standard error that are kept
_LONGEST_MESSAGE = 300  # characters

# The shell sets the limits in the child before the compiler starts. Python's `preexec_fn` may
# deadlock with threads; `resource.prlimit` would come after the start. macOS has no -v.
_LIMITED = (
    '{ ulimit -c 0; ulimit -t "$1"; ulimit -v "$2"; ulimit -f "$3"; } 2>/dev/null; shift 3; '
    'exec "$@"'
)
_KEPT = (
    *("PATH", "HOME", "LD_LIBRARY_PATH", "PYTHONPATH", "ROCM_PATH", "HIP_PATH"),
    *("SYSTEMROOT", "TEMP", "TMP"),  # Windows starts no process without these
)
"""Environment variables that a compiler gets. Others may name files, options and programs."""
_SEARCH_PATHS = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "CPATH", "CPLUS_INCLUDE_PATH")
_KEPT_FOR_SOURCES = (
    *(*_KEPT, "CPATH", "CPLUS_INCLUDE_PATH", "HIP_CLANG_PATH", "DEVICE_LIB_PATH"),
    *("HIP_DEVICE_LIB_PATH", "HIPCC_COMPILE_FLAGS_APPEND"),
)
"""A compiler of sources also gets the places of headers and device libraries, and hipcc's flags."""


_Streams = tuple[IO[bytes], IO[bytes], IO[bytes]]
"""Standard input, output and error."""


def on_path(name: str) -> str | None:
    """Path of the program in the absolute folders of PATH; None if no folder has it.

    Relative and empty entries of PATH are skipped: they mean the current folder, which may hold
    downloaded files.
    """
    path = shutil.which(name, path=_absolute(os.environ.get("PATH", os.defpath)))
    return path if path and os.path.isabs(path) else None


def find_program(name: str) -> str | None:
    """Absolute path of a program, given by its path or by a name on PATH; None if there is no such
    program.

    A program in the current folder is found only by its path.
    """
    if os.path.basename(name) == name:
        return on_path(name)
    path = os.path.abspath(os.path.expanduser(name))
    return path if os.path.isfile(path) and os.access(path, os.X_OK) else None


def _absolute(path: str) -> str:
    """The absolute entries of a search path."""
    return os.pathsep.join(filter(os.path.isabs, path.split(os.pathsep)))


def _environment(names: Sequence[str], folder: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in names if name in os.environ}
    for name in _SEARCH_PATHS:
        if name in kept:
            kept[name] = _absolute(kept[name])
    # A crashing LLVM runs llvm-symbolizer from PATH (Signals.cpp, printSymbolizedStackTrace).
    return kept | {"LLVM_DISABLE_SYMBOLIZATION": "1", "TMPDIR": folder}


class Processes:
    """Runs compilers. Leaving the `with` block kills those that still run."""

    def __init__(self, timeout: float, *, option: str = "") -> None:
        """`timeout` is in seconds, for each process; `option` sets it on the command line."""
        self._timeout = timeout
        self._option = option
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = Lock()
        self._closed = False

    def __enter__(self) -> Processes:
        self._folder = TemporaryDirectory(prefix="kernelinfo-", ignore_cleanup_errors=True)
        return self

    def __exit__(self, *error: object) -> None:
        self.end()
        self._folder.cleanup()

    @property
    def has_ended(self) -> bool:
        """True after `end`: processes that were running then were killed, so their results are
        invalid."""
        return self._closed

    def end(self) -> None:
        """Kill all processes and their groups, from any thread. No new ones start afterwards."""
        with self._lock:
            self._closed = True
            for process in self._running:
                _kill(process)

    def run(self, command: Sequence[str], standard_input: bytes = b"") -> bytes:
        """Standard output of the command. Its program is an absolute path.

        The command runs in an empty folder with few environment variables. Input and output go
        through unnamed files: nothing stays on disk. Raises `CompilerError` if it fails, with the
        reason that `_message` finds, or runs too long.
        """
        environment = _environment(_KEPT, self._folder.name)
        end = self._end_of(command, self._folder.name, environment, _MOST_MEMORY, standard_input)
        if end.returncode:
            raise CompilerError(_message(end.stderr, end.returncode))
        return end.stdout

    def run_on_source(self, command: Sequence[str], folder: str) -> CompletedProcess[bytes]:
        """The result of a compiler of sources, run in `folder`. Its program is an absolute path.

        Raises `CompilerError` if it cannot start or runs too long.
        """
        environment = _environment(_KEPT_FOR_SOURCES, folder)
        environment["HIP_PLATFORM"] = "amd"  # else hipcc calls nvcc where it finds one
        environment["HIPCC_VERBOSE"] = "1"  # it prints its command on standard output
        return self._end_of(command, folder, environment, _SOURCE_MEMORY)

    def folder(self) -> TemporaryDirectory[str]:
        """A private empty folder, which is deleted at the end of a `with` block."""
        return TemporaryDirectory(dir=self._folder.name, ignore_cleanup_errors=True)

    def _end_of(
        self,
        command: Sequence[str],
        folder: str,
        environment: dict[str, str],
        memory: int,
        standard_input: bytes = b"",
    ) -> CompletedProcess[bytes]:
        began = time.monotonic()
        with TemporaryFile() as source, TemporaryFile() as output, TemporaryFile() as complaints:
            source.write(standard_input)
            source.seek(0)
            streams = source, output, complaints
            code = self._exit_code(self._limited(command, memory), streams, folder, environment)
            if output.seek(0, os.SEEK_END) > _MOST_OUTPUT:
                raise CompilerError(
                    say("compiler-output-large", program=command[0], most=_MOST_OUTPUT)
                )
            output.seek(0)
            complaints.seek(max(complaints.seek(0, os.SEEK_END) - _LAST_COMPLAINTS, 0))
            kept = output.read(_MOST_OUTPUT), complaints.read(_LAST_COMPLAINTS)
        if time.monotonic() - began >= self._timeout:
            mend = (
                say("compiler-see-option", option=self._option)
                if self._option
                else say("compiler-fewer-kernels")
            )
            raise CompilerError(say("compiler-timeout", seconds=self._timeout, mend=mend))
        if self._closed:
            raise CompilerError(say("compiler-interrupted"))
        return CompletedProcess(command, code, *kept)

    def _limited(self, command: Sequence[str], memory: int) -> list[str]:
        """The command, wrapped in a shell that sets its resource limits, which hold even if
        kernelinfo is killed."""
        program = command[0]
        if bound():
            raise CompilerError(say("compiler-outside"))
        if not os.path.isabs(program) or shutil.which(program) is None:
            raise CompilerError(say("compiler-not-executable", program=program))
        if os.name != "posix":
            return [*command]
        limits = (str(int(self._timeout) + 1), str(memory >> 10), str(_MOST_FILE >> 9))
        return ["/bin/sh", "-c", _LIMITED, "sh", *limits, *command]

    def _exit_code(
        self, command: Sequence[str], streams: _Streams, folder: str, environment: dict[str, str]
    ) -> int:
        """Exit code of a command that runs in a process group of its own; negative if a signal
        killed it.

        At the time limit the whole group is killed, including what the process leaves behind.
        """
        with self._lock:
            if self._closed:
                raise CompilerError(say("compiler-interrupted"))
            process = _start(command, streams, folder, environment)
            self._running.add(process)
        timer = Timer(self._timeout, _kill, [process])
        timer.daemon = True
        timer.start()
        try:
            return process.wait()
        finally:
            timer.cancel()
            _kill(process)
            process.wait()
            with self._lock:
                self._running.discard(process)


def _start(
    command: Sequence[str], streams: _Streams, folder: str, environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    source, output, complaints = streams
    try:
        return subprocess.Popen(
            command,
            stdin=source,
            stdout=output,
            stderr=complaints,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CompilerError(say("compiler-not-started", program=command[0], error=reason)) from None


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and its group."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:  # Windows
        process.kill()


def _message(complaints: bytes, code: int) -> Message:
    """What the compiler said, or how it ended.

    This is the last line with `error:`, but not the one that clang's driver adds after a crash.
    Without such a line it is the signal that ended the compiler; if none did, the first line of the
    output, or the exit code if there is no output.
    """
    text = complaints.decode("utf-8", "replace")
    lines = list(filter(None, map(str.strip, text.splitlines())))
    causes = (line for line in lines if "frontend command failed" not in line)
    errors = [line for line in causes if "error:" in line.lower()]
    if errors or (lines and code > 0):
        last = errors[-1] if errors else lines[0]
        shown = last if len(last) <= _LONGEST_MESSAGE else f"{last[:_LONGEST_MESSAGE]}…"
        return say("compiler-failed", error=shown)
    return (
        say("compiler-killed", signal=-code) if code < 0 else say("compiler-exit-code", code=code)
    )
