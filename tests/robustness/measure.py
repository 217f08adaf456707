"""The cost of one process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple


class Cost(NamedTuple):
    """Cost of one process, from start to end."""

    exit: int
    """Negative where a signal ended it."""
    seconds: float
    cpu_seconds: float
    """In user and system mode; of one thread at most `seconds`."""
    megabytes: float
    """Peak of its resident memory."""
    output: str
    """The end of both streams."""


_BETWEEN = """
import json, os, sys, time
start = time.monotonic()
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
seconds = time.monotonic() - start
cpu_seconds = usage.ru_utime + usage.ru_stime
took = [os.waitstatus_to_exitcode(status), seconds, cpu_seconds, usage.ru_maxrss / 1024]
with open(sys.argv[1], "w") as file:
    json.dump(took, file)
"""
"""A small process between: the peak memory of a process begins with what its parent has when it
starts it, 8 MB of this one."""


def cost(command: Sequence[str], folder: Path) -> Cost:
    """Run it there, and wait."""
    with tempfile.TemporaryFile() as output:
        env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        took = measured(command, folder, stdout=output, stderr=output, env=env)
        output.seek(max(0, output.tell() - 4000))
        return Cost(*took, output.read().decode("utf-8", "replace"))


def measured(
    command: Sequence[str],
    folder: Path,
    *,
    stdout: IO[bytes],
    stderr: IO[bytes] | None = None,
    env: Mapping[str, str] | None = None,
) -> tuple[int, float, float, float]:
    """Exit code, seconds, CPU seconds and megabytes at most of a run there."""
    with tempfile.NamedTemporaryFile() as took:
        between = [sys.executable, "-I", "-S", "-c", _BETWEEN, took.name, *command]
        nothing = subprocess.DEVNULL
        subprocess.run(
            between, cwd=folder, stdin=nothing, stdout=stdout, stderr=stderr, env=env, check=True
        )
        exit, seconds, cpu_seconds, megabytes = json.load(took)
        return exit, seconds, cpu_seconds, megabytes
