"""kernelinfo against the best pipeline of existing tools, or against another version of itself.

    python -m tests.benchmarks --python VENV/bin/python      (Debian: librocrand1, librocsparse0)
    python -m tests.benchmarks --python VENV/bin/python --against dist/kernelinfo-0.1.0-*.whl

Both commands of a line run in turn, A B A B, and the ratio of each pair is taken. Below 1 is in
favour of kernelinfo. Times depend on the machine and its load, which is stated; instructions do
not: `python -m tests.benchmarks.goals` counts them. `--python` is the interpreter whose installed
kernelinfo is measured: of a checkout, only what is already compiled starts fast. The run takes a
quarter of an hour on two idle cores.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.benchmarks.cases import CASES, LINES, SERIES, Case, Series, kernelinfo
from tests.benchmarks.measure import instructions, paired, run

START = "| input | against | processes | CPU time | time | peak memory | instructions |"
GROWTH = "| doubled | grows | 1× | 2× | 4× | 8× |"
DOUBLINGS = (1, 2, 4, 8)
LOAD = "Load of the machine:"
PAGE = Path(__file__).parents[2] / "kernelinfo" / "manual" / "speed.md"


def heading(columns: str) -> str:
    """The first two lines of a table."""
    return columns + "\n" + "| --- " * (columns.count("|") - 1) + "|"


def row(
    case: Case, python: str, other: str | None, folder: Path, pairs: int, short: bool
) -> str | None:
    """One line of the table; None where a tool or the input is missing.

    `other` is the interpreter of the version to compare with, instead of the case's own peer.
    """
    has_tools = other or all(map(shutil.which, case.tools))
    if not (has_tools and has(python, case.extra) and (path := case.make(folder, short, python))):
        return None
    arguments = [word.format(path) for word in case.arguments]
    ours = [kernelinfo(python), *arguments]
    theirs = [kernelinfo(other), *arguments] if other else case.peer(python, str(path))
    marks = (case.marks[0],) * 2 if other else case.marks
    ratios = paired(partial(run, ours, marks[0]), partial(run, theirs, marks[1]), pairs)
    counted = ""
    is_counted = case.is_short or (other and case.is_medium)
    if is_counted and not short and shutil.which("valgrind"):
        counted = f"{instructions(ours) / instructions(theirs):.2f}"
    peer = "the other version" if other else case.peer_name
    cells = [case.name, peer, case.processes, *ratios, counted]
    return "| " + " | ".join(map(str, cells)) + " |"


def has(python: str, module: str) -> bool:
    """True if that interpreter can import the module, or none is named."""
    import_it = f"import {module or 'sys'}"
    return not subprocess.run([python, "-c", import_it], capture_output=True).returncode


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


def with_wheel(wheel: str, folder: Path) -> str:
    """The interpreter of a new environment in which that wheel is installed."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", wheel, "pycxxfilt"], check=True)
    return str(python)


def load(before: tuple[float, ...]) -> str:
    """A sentence with the load of the machine, before and after."""
    after = os.getloadavg()
    cores = len(os.sched_getaffinity(0))
    return f"{LOAD} {before[0]:.1f} before and {after[0]:.1f} after, on {cores} cores."


def write(*tables: list[str]) -> None:
    """Put tables into the page, each instead of the one with the same first line."""
    text = PAGE.read_text()
    for table in tables:
        columns = re.escape(table[0].partition("\n")[0])
        before, after = re.split(rf"{columns}\n(?:\|.*\n)*", text)
        text = before + "\n".join(table) + "\n" + after
    PAGE.write_text(text)


def printed(line: str) -> str:
    print(line, flush=True)
    return line


@contextmanager
def started(about: str | None) -> Iterator[argparse.Namespace]:
    """The options of a benchmark with one table; `folder` is there, and is deleted at the end if
    none was named."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("only", nargs="*", help="rows with one of these words in them")
    parser.add_argument("--python", type=os.path.abspath, default=sys.executable)
    parser.add_argument("--against", type=os.path.abspath, help="interpreter of another version")
    parser.add_argument("--folder", type=Path, help="keep the inputs there for the next time")
    parser.add_argument("--write", action="store_true", help="put the table into manual/speed.md")
    options = parser.parse_args()
    os.environ.pop("PYTHONPATH", None)  # or the checkout would be measured, not what is installed
    with tempfile.TemporaryDirectory() as temporary:
        options.folder = (options.folder or Path(temporary)).absolute()
        options.folder.mkdir(exist_ok=True)
        yield options


def is_asked(options: argparse.Namespace, shown: str) -> bool:
    """True if no row is named, or this one."""
    return not options.only or any(word in shown for word in options.only)


def show(options: argparse.Namespace, columns: str, rows: Iterable[str]) -> None:
    """Print a table row by row, and write it into the page if that is asked for."""
    table = [printed(heading(columns)), *map(printed, rows)]
    if options.write:
        write(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="lines whose name has one of these words in it")
    parser.add_argument(
        "--python",
        type=os.path.abspath,
        default=sys.executable,
        help="where kernelinfo is installed",
    )
    parser.add_argument("--against", metavar="WHEEL", help="another version to run in pairs with")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="keep the inputs there for the next time")
    parser.add_argument("--short", action="store_true", help="small inputs, two pairs: does it run")
    options = parser.parse_args()
    os.environ.pop("PYTHONPATH", None)  # or the checkout would be measured, not what is installed
    pairs = 2 if options.short else options.pairs
    before = os.getloadavg()

    def is_wanted(name: str) -> bool:
        return not options.only or any(word in name for word in options.only)

    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        other = with_wheel(options.against, Path(temporary, "other")) if options.against else None
        printed(heading(START))
        for case in CASES:
            if is_wanted(case.name):
                if line := row(case, options.python, other, folder, pairs, options.short):
                    printed(line)
                else:
                    print(f"left out, for want of a tool or a library: {case.name}", flush=True)
        printed("\n" + heading(GROWTH))
        for series in SERIES:
            if is_wanted(series.name):
                for line in growth(series, options.python, folder, pairs, options.short):
                    printed(line)
        printed(load(before))


if __name__ == "__main__":
    main()
