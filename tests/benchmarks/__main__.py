"""kernelinfo against the best pipeline of existing tools.

    python -m tests.benchmarks [--python VENV/bin/python]     (Debian: librocrand1, librocsparse0)

Both commands of a line run in turn, A B A B, and the ratio of each pair is taken: absolute times
of a shared machine say little. Below 1 is in favour of kernelinfo. `--python` is the interpreter
whose installed kernelinfo is measured: of a checkout, only what is already compiled starts fast.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.benchmarks.cases import CASES, LINES, SERIES, Case, Series, kernelinfo
from tests.benchmarks.measure import instructions, paired, run

START = "| input | against | time | CPU time | peak memory | instructions |"
GROWTH = "| doubled | grows | 1× | 2× | 4× | 8× |"
DOUBLINGS = (1, 2, 4, 8)


def row(case: Case, python: str, folder: Path, pairs: int, short: bool) -> str | None:
    """One line of the table; None where a tool or the input is missing."""
    if not all(map(shutil.which, case.tools)) or not (path := case.make(folder, short)):
        return None
    ours = [kernelinfo(python), *(word.format(path) for word in case.arguments)]
    theirs = case.peer(python, str(path))
    one, other = case.marks
    ratios = paired(partial(run, ours, one), partial(run, theirs, other), pairs)
    cells = [case.name, case.peer_name, *(f"{ratio:.2f}" for ratio in ratios)]
    counted = ""
    if case.is_start_up and not short and shutil.which("valgrind"):
        counted = f"{instructions(ours) / instructions(theirs):.2f}"
    cells.append(counted)
    return "| " + " | ".join(cells) + " |"


def growth(series: Series, python: str, folder: Path, runs: int, short: bool) -> Iterator[str]:
    """How CPU time and peak memory grow from the first of a series on."""
    first = series.first // 25 if short else series.first
    paths = [series.make(folder, first * times) for times in DOUBLINGS]
    if None in paths:
        return
    found = [
        [run([kernelinfo(python), str(path), *LINES[1:]], b"") for path in paths]
        for _ in range(runs)
    ]
    for field, what in (("cpu_seconds", "CPU time"), ("peak_bytes", "peak memory")):
        sizes = [min(getattr(runs[i], field) for runs in found) for i in range(len(paths))]
        cells = [f"{size / sizes[0]:.2f}" for size in sizes]
        yield "| " + " | ".join([series.name, what, *cells]) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="lines whose name has one of these words in it")
    parser.add_argument("--python", default=sys.executable, help="where kernelinfo is installed")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--folder", type=Path, help="keep the inputs there for the next time")
    parser.add_argument("--short", action="store_true", help="small inputs, two pairs: does it run")
    options = parser.parse_args()
    os.environ.pop("PYTHONPATH", None)  # or the checkout would be measured, not what is installed
    pairs = 2 if options.short else options.pairs

    def is_wanted(name: str) -> bool:
        return not options.only or any(word in name for word in options.only)

    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        print(START + "\n" + "| --- " * 6 + "|")
        for case in CASES:
            if is_wanted(case.name):
                line = row(case, options.python, folder, pairs, options.short)
                print(line or f"left out, for want of a tool or a library: {case.name}", flush=True)
        print("\n" + GROWTH + "\n" + "| --- " * 6 + "|")
        for series in SERIES:
            if is_wanted(series.name):
                for line in growth(series, options.python, folder, pairs, options.short):
                    print(line, flush=True)


if __name__ == "__main__":
    main()
