"""One run of a command: time, CPU time, peak memory and, by valgrind, instructions."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tests.robustness.measure import measured

_INSTRUCTIONS = re.compile(rb"I\s+refs:\s+([\d,]+)")


class Run(NamedTuple):
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    """Peak of the largest single process."""
    kernels: int


def run(command: Sequence[str], mark: bytes) -> Run:
    """Run it in a folder of its own, its output going to a file; kernels are lines with `mark`."""
    with tempfile.TemporaryDirectory() as folder, Path(folder, "out.txt").open("w+b") as out:
        status, seconds, cpu_seconds, megabytes = measured(command, Path(folder), stdout=out)
        if status:
            raise SystemExit(f"{' '.join(command)}: failed")
        out.seek(0)
        kernels = sum(mark in line for line in out) if mark else 0
    peak_bytes = round(megabytes * (1 << 20))
    return Run(seconds, cpu_seconds, peak_bytes, kernels)


def instructions(command: Sequence[str], *, children: bool = False) -> int:
    """Instructions of one run, which hardly differ from run to run; with `children` those of the
    programs that it starts, too."""
    grind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    grind += ["--trace-children=yes"] if children else []
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*grind, *command], cwd=folder, capture_output=True, check=True)
    counts = _INSTRUCTIONS.findall(done.stderr)
    assert counts
    return sum(int(count.replace(b",", b"")) for count in counts)


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
