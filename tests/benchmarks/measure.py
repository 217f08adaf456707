"""One run of a command: time, CPU time, peak memory and, by valgrind, instructions."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

_RUN = """
import json, os, sys, time
out = os.open("out.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
start = time.monotonic()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ,
                        file_actions=[(os.POSIX_SPAWN_DUP2, out, 1)])
_, status, usage = os.wait4(child, 0)
seconds = time.monotonic() - start
print(json.dumps([seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10, status]))
"""
"""A process between: what it is itself, 8 MB, is the least peak memory that can be told."""

_INSTRUCTIONS = re.compile(rb"I\s+refs:\s+([\d,]+)")


class Run(NamedTuple):
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    """Of the largest single process."""
    kernels: int


def run(command: Sequence[str], mark: bytes) -> Run:
    """Run it in a folder of its own, its output going to a file; kernels are lines with `mark`."""
    with tempfile.TemporaryDirectory() as folder:
        measure = [sys.executable, "-I", "-S", "-c", _RUN, *command]
        told = subprocess.run(measure, cwd=folder, stdout=subprocess.PIPE, check=True).stdout
        seconds, cpu_seconds, peak_bytes, status = json.loads(told)
        if status:
            raise SystemExit(f"{' '.join(command)}: failed")
        with Path(folder, "out.txt").open("rb") as lines:
            kernels = sum(mark in line for line in lines) if mark else 0
    return Run(seconds, cpu_seconds, peak_bytes, kernels)


def instructions(command: Sequence[str]) -> int:
    """Instructions of one run in one process, which hardly differ from run to run."""
    grind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*grind, *command], cwd=folder, capture_output=True, check=True)
    found = _INSTRUCTIONS.search(done.stderr)
    assert found is not None
    return int(found[1].replace(b",", b""))


class Ratio(NamedTuple):
    """One run as a share of another, over pairs of both."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.least:.2f}–{self.most:.2f})"


class Ratios(NamedTuple):
    """The first of two commands as a share of the second."""

    cpu_time: Ratio
    time: Ratio
    peak_memory: Ratio


def paired(one: Callable[[], Run], other: Callable[[], Run], pairs: int) -> Ratios:
    """Both in turn, A B A B: what slows a shared machine down slows both."""
    runs = [(one(), other()) for _ in range(pairs)]
    ours, theirs = runs[0]
    if ours.kernels != theirs.kernels:
        raise SystemExit(f"{ours.kernels} kernels against {theirs.kernels}")

    def ratio(field: str) -> Ratio:
        shares = [getattr(a, field) / getattr(b, field) for a, b in runs]
        return Ratio(median(shares), min(shares), max(shares))

    return Ratios(ratio("cpu_seconds"), ratio("seconds"), ratio("peak_bytes"))
