"""kernelinfo against the best pipeline of existing tools, on libraries full of kernels.

    python -m tests.benchmarks.libraries LIBRARY...     (Debian: librocrand1, librocsparse0)

The pipeline is `llvm-objdump --offloading`, which writes every code object beside the library,
then `llvm-readelf --notes` over all of them; it names no occupancy. Both run in turn, A B A B, and
the ratio of each pair is taken: absolute times of a shared machine say little. Peak memory is that
of the largest single process.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

_PIPELINE = """
ln -s "$0" library.so
llvm-objdump-22 --offloading library.so > list.txt
find . -name '*amdgcn*' -print0 | xargs -0 llvm-readelf-22 --notes > notes.txt
"""


class Run(NamedTuple):
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    kernels: int


def measured(command: list[str], folder: str, count: Callable[[], int]) -> Run:
    """One run in a process of its own, so that its peak memory can be told."""
    start = time.monotonic()
    process = os.fork()
    if not process:
        os.chdir(folder)
        with open("out.txt", "wb") as out:
            subprocess.run(command, stdout=out, check=True)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        Path("peak.txt").write_text(str(peak << 10))
        os._exit(0)
    _, status, usage = os.wait4(process, 0)
    seconds = time.monotonic() - start
    if status:
        raise SystemExit(f"{command[0]} failed")
    peak_bytes = int(Path(folder, "peak.txt").read_text())
    return Run(seconds, usage.ru_utime + usage.ru_stime, peak_bytes, count())


def lines_with(path: Path, mark: bytes) -> int:
    with path.open("rb") as file:
        return sum(mark in line for line in file)


def kernelinfo_run(library: str) -> Run:
    command = [sys.executable, "-m", "kernelinfo", library, "--format", "jsonl"]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out.txt")
        return measured(command, folder, lambda: lines_with(out, b'"occupancy"'))


def pipeline_run(library: str) -> Run:
    command = ["sh", "-euc", _PIPELINE, library]
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder, "notes.txt")
        return measured(command, folder, lambda: lines_with(notes, b".vgpr_count:"))


def row(library: str, runs: int) -> str:
    """One line of the README's table."""
    path = os.path.realpath(library)
    pairs = [(kernelinfo_run(path), pipeline_run(path)) for _ in range(runs)]
    ours, theirs = pairs[0]
    if ours.kernels != theirs.kernels:
        raise SystemExit(f"{ours.kernels} kernels against {theirs.kernels}")

    def ratio(field: str) -> str:
        value = statistics.median(getattr(a, field) / getattr(b, field) for a, b in pairs)
        return f"{value:.2f}"

    name, size = os.path.basename(path), os.path.getsize(path) / 1e6
    cells = (name, f"{size:.0f} MB", f"{ours.kernels:,}".replace(",", " "))
    figures = (ratio("seconds"), ratio("cpu_seconds"), ratio("peak_bytes"))
    return "| " + " | ".join((*cells, *figures)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("libraries", nargs="+", metavar="LIBRARY")
    parser.add_argument("--runs", type=int, default=3, help="pairs of runs; the median counts")
    arguments = parser.parse_args()
    print("| library | size | kernels | time | CPU time | peak memory |")
    print("| --- | --- | --- | --- | --- | --- |")
    for library in arguments.libraries:
        print(row(library, arguments.runs), flush=True)


if __name__ == "__main__":
    main()
