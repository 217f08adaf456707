"""Compilers as child processes, each with a time limit, none of which outlives the sweep."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from tempfile import TemporaryFile
from threading import Lock, Timer
from typing import IO

from kernelinfo.errors import CompilerError

_MOST_OUTPUT = 1 << 29
_LAST_COMPLAINTS = 1 << 16
"""Bytes of standard output and of standard error that are kept."""
_LONGEST_MESSAGE = 300
"""Characters."""


class Processes:
    """Runs compilers; leaving the `with` block kills those that still run."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        """Seconds for each process."""
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
        process = self._start(command, source)
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

    def _start(self, command: Sequence[str], source: IO[bytes]) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise CompilerError("interrupted")
            try:
                process = subprocess.Popen(
                    command,
                    stdin=source,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                raise CompilerError(f"{command[0]}: {reason}; give another --compiler") from None
            self._running.add(process)
            return process


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
    lines = [line.strip() for line in complaints.decode("utf-8", "replace").splitlines()]
    lines = [line for line in lines if line]
    errors = [line for line in lines if "error:" in line.lower()]
    if errors or (lines and code > 0):
        last = errors[-1] if errors else lines[0]
        return last if len(last) <= _LONGEST_MESSAGE else f"{last[:_LONGEST_MESSAGE]}…"
    return f"killed by signal {-code}" if code < 0 else f"failed with exit code {code}"
