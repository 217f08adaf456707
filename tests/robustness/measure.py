"""What one process takes."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple


class Cost(NamedTuple):
    """Of one process, from its start to its end."""

    exit: int
    """Negative where a signal ended it."""
    seconds: float
    cpu_seconds: float
    """In user and system mode; of one thread at most `seconds`."""
    megabytes: float
    """Peak of its resident memory."""
    output: str
    """The end of both streams."""


def cost(command: list[str], folder: Path) -> Cost:
    """Run it there, and wait."""
    with tempfile.TemporaryFile() as output:
        start = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(max(0, output.tell() - 4000))
        told = output.read().decode("utf-8", "replace")
    cpu_seconds = usage.ru_utime + usage.ru_stime
    return Cost(process.returncode, seconds, cpu_seconds, usage.ru_maxrss / 1024, told)
