"""A `kernelinfo watch` that runs beside a test, and its looks as JSON."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..conftest import FIXTURES

ASSEMBLY = FIXTURES / "assembly"
OLD = ASSEMBLY / "occupancy-clang19-gfx90a.s"
NEW = ASSEMBLY / "occupancy-clang22-gfx90a.s"
PATIENCE = 60.0
"""Seconds that a busy machine may take for a look."""

Document = dict[str, Any]


class Watching:
    """The looks of a running `kernelinfo watch --format jsonl`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def look(self) -> Document:
        """The next look."""
        found: Document = json.loads(self._lines.get(timeout=PATIENCE))
        return found

    def until(self, holds: Any) -> Document:
        """The next look for which it holds."""
        while not holds(found := self.look()):
            pass
        return found

    def is_silent(self, seconds: float) -> bool:
        """True if no look comes within this time."""
        try:
            self._lines.get(timeout=seconds)
        except queue.Empty:
            return True
        return False

    def interrupt(self) -> int:
        """Exit code after Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)


@contextmanager
def watching(folder: Path, *arguments: str) -> Iterator[Watching]:
    """A watch of a folder, which ends with the block."""
    command = [sys.executable, "-m", "kernelinfo", "watch", "--format", "jsonl", *arguments]
    environment = os.environ | {"PYTHONPATH": str(FIXTURES.parent)}
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        yield Watching(process)
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def named(look: Document, name: str) -> Document:
    """The kernel of a look with this short name."""
    (found,) = [
        one for one in look["kernels"] if one["row"]["Kernel_Name"].partition("(")[0] == name
    ]
    kernel: Document = found
    return kernel


def replaced(path: Path, content: bytes) -> None:
    """Write a file as compilers and editors do: another one, renamed."""
    beside = path.with_name(f"{path.name}.tmp")
    beside.write_bytes(content)
    beside.replace(path)
