"""A pipe by which a test sees that other processes have begun, and that all of them have ended."""

from __future__ import annotations

import os
import select
import subprocess
from pathlib import Path


class Lifeline:
    """A named pipe that other processes open for writing, and that closes with the last of them."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self._end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    @property
    def shell(self) -> str:
        """What a shell script does to hold the line, with all its children, and to say so."""
        return f"exec 9>{self.path}; echo >&9"

    def begun(self, process: subprocess.Popen[bytes] | None = None) -> None:
        """Wait for a byte; fails if the process, whose output is a pipe, ends before."""
        output = process.stdout if process else None
        outputs = [output.fileno()] if output else []
        ready, _, _ = select.select([self._end, *outputs], [], [])
        assert self._end in ready, "ended before it began"
        os.read(self._end, 1)

    def ended(self) -> None:
        """Wait until no process holds the line any more."""
        os.set_blocking(self._end, True)
        while os.read(self._end, 4096):
            pass
        os.close(self._end)
