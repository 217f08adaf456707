"""Attempts to break the readers and their cost: the table in the manual's page of inputs.

`python -m tests.robustness` prints it line by line, `--write` puts it into the manual. With
`--one-in 100` every hundredth broken input stands for all.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from ..fuzz.__main__ import fuzz
from ..fuzz.promise import BUG
from ..fuzz.readers import READERS
from .formats import FORMATS
from .measure import Cost, cost
from .reach import branches_reached
from .test_hostile import EXPECTED, HOSTILE
from .trials import Tried, together

PAGE = Path(__file__).parents[2] / "kernelinfo" / "manual" / "inputs.md"
BEGIN, END = "<!-- robustness -->\n", "<!-- /robustness -->"
HEAD = """\
| format | header bytes changed | files cut off | crashes | CPU time at most | peak memory |
| --- | --- | --- | --- | --- | --- |
"""


class Row(NamedTuple):
    """A line of the table: one format."""

    name: str
    headers: Tried
    """With bytes of their headers changed."""
    prefixes: Tried
    """Real files cut off."""
    megabytes: float
    """Peak of the largest process."""

    @property
    def crashes(self) -> int:
        return self.headers.crashes + self.prefixes.crashes


class Piece(NamedTuple):
    """One piece of the page."""

    text: str
    crashes: int = 0
    """Crashes that the row reports."""


def _row(name: str, parts: Sequence[Cost]) -> Row:
    for part in parts:
        if part.exit:
            raise SystemExit(f"{name}: {part.output}")
    answers = [json.loads(part.output.splitlines()[-1]) for part in parts]
    headers = together(Tried(*kinds[0]) for kinds in answers)
    prefixes = together(Tried(*kinds[1]) for kinds in answers)
    return Row(name, headers, prefixes, max(part.megabytes for part in parts))


def _rows(pool: ThreadPoolExecutor, jobs: int, one_in: int) -> Iterator[Row]:
    """Every format, each by so many processes that share its inputs."""
    command = [sys.executable, "-m", "tests.robustness.trials"]
    step = ["--step", str(jobs * one_in)]
    started = {
        name: [
            pool.submit(cost, [*command, name, "--first", str(first), *step], Path.cwd())
            for first in range(jobs)
        ]
        for name in FORMATS
    }
    for name, shares in started.items():
        yield _row(name, [share.result() for share in shares])


def _hostile(pool: ThreadPoolExecutor) -> Piece:
    """A sentence on the hostile collection; empty if it is missing."""
    if not EXPECTED or not HOSTILE.exists():
        return Piece("")
    command = [sys.executable, "-m", "kernelinfo"]
    costs = list(pool.map(lambda name: cost([*command, name], HOSTILE), EXPECTED))
    told = ("Traceback", BUG)
    crashes = sum(run.exit not in (0, 2) or any(one in run.output for one in told) for run in costs)
    longest, most = max(run.cpu_seconds for run in costs), max(run.megabytes for run in costs)
    took = f"{crashes} crashes,\n{longest:.2f} s of CPU time and {most:.0f} MB at most"
    text = f"\nThe hostile collection: {len(costs)} files, each in a fresh process: {took}.\n"
    return Piece(text, crashes)


def main() -> None:
    """Try everything; exit 1 where something broke the promise."""
    options = argparse.ArgumentParser(prog="python -m tests.robustness", description=__doc__)
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options.add_argument("--fuzz-seconds", type=int, default=300, help="for all readers together")
    options.add_argument("--corpus", type=Path, help="what the fuzzers found before")
    options.add_argument("--one-in", type=int, default=1, metavar="N", help="of the inputs")
    options.add_argument("--write", action="store_true", help="the table into the manual")
    given = options.parse_args()
    if missing := [name for name in ("atheris", "coverage") if find_spec(name) is None]:
        raise SystemExit(f"{missing[0]} is not installed; pip install -e '.[fuzz]'")
    pieces = []
    for piece in _tried(given):
        print(piece.text, end="", flush=True)
        pieces.append(piece)
    if given.write:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        table = "".join(piece.text for piece in pieces)
        PAGE.write_text(before + BEGIN + table + END + rest.partition(END)[2], "utf-8")
    sys.exit(any(piece.crashes for piece in pieces))


def _tried(given: argparse.Namespace) -> Iterator[Piece]:
    with tempfile.TemporaryDirectory() as nowhere, ThreadPoolExecutor(given.jobs) as pool:
        yield Piece(HEAD)
        for row in _rows(pool, given.jobs, given.one_in):
            tried = f"{_number(row.headers.inputs)} | {_number(row.prefixes.inputs)}"
            longest = max(row.headers.seconds, row.prefixes.seconds)
            came = f"{row.crashes} | {longest:.2f} s | {row.megabytes:.0f} MB"
            yield Piece(f"| {row.name} | {tried} | {came} |\n", row.crashes)
        if given.one_in > 1:
            yield Piece(f"\nOne in {given.one_in} of all such inputs was tried.\n")
        yield _hostile(pool)
        corpus = given.corpus or Path(nowhere)
        each = max(1, given.fuzz_seconds * given.jobs // len(READERS))
        runs = list(pool.map(lambda reader: fuzz(reader, each, corpus), READERS))
        crashes = sum(len(run.crashes) for run in runs)
        executions = _number(sum(run.executions for run in runs))
        text = f"{executions} executions, {crashes} crashes, {branches_reached(corpus)}"
        yield Piece(f"\n{len(runs)} fuzzers: {text}.\n", crashes)


def _number(count: int) -> str:
    return f"{count:,}".replace(",", " ")


if __name__ == "__main__":
    main()
