"""What was tried to break the readers, and what it cost: the table of README's "Robustness".

`python -m tests.robustness` prints it, `--write` puts it into README.md. Broken inputs run in one
process for each format, and each file of the hostile collection in a fresh process of its own.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from ..fuzz.__main__ import fuzz
from ..fuzz.readers import READERS
from .measure import Cost, cost
from .reach import branches_reached
from .test_hostile import EXPECTED, HOSTILE
from .trials import FORMATS

README = Path(__file__).parents[2] / "README.md"
BEGIN, END = "<!-- robustness -->\n", "<!-- /robustness -->"


class Row(NamedTuple):
    """A line of the table."""

    what: str
    inputs: int
    crashes: int
    seconds: float
    """The longest of all inputs."""
    megabytes: float
    """Peak of the process."""


def _hostile(pool: ThreadPoolExecutor) -> Row:
    command = [sys.executable, "-m", "kernelinfo"]
    costs = list(pool.map(lambda name: cost([*command, name], HOSTILE), EXPECTED))
    crashes = sum(run.exit not in (0, 2) or "Traceback" in run.output for run in costs)
    return _row("the hostile collection, each in a fresh process", len(costs), crashes, costs)


def _format(name: str) -> Row:
    run = cost([sys.executable, "-m", "tests.robustness.trials", name], Path.cwd())
    if run.exit:
        raise SystemExit(f"{name}: {run.output}")
    inputs, crashes, seconds = run.output.split()[-3:]
    return Row(name, int(inputs), int(crashes), float(seconds), run.megabytes)


def _row(what: str, inputs: int, crashes: int, costs: Sequence[Cost]) -> Row:
    seconds = max((run.seconds for run in costs), default=0)
    return Row(what, inputs, crashes, seconds, max((run.megabytes for run in costs), default=0))


def main() -> None:
    """Try everything; exit 1 where something broke the promise."""
    options = argparse.ArgumentParser(prog="python -m tests.robustness", description=__doc__)
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options.add_argument("--fuzz-seconds", type=int, default=300, help="for all readers together")
    options.add_argument("--corpus", type=Path, help="what the fuzzers found before")
    options.add_argument("--write", action="store_true", help="the table into README.md")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as nowhere, ThreadPoolExecutor(given.jobs) as pool:
        corpus = given.corpus or Path(nowhere)
        rows = [_hostile(pool)] if EXPECTED and HOSTILE.exists() else []
        rows += pool.map(_format, FORMATS)
        each = max(1, given.fuzz_seconds * given.jobs // len(READERS))
        runs = list(pool.map(lambda reader: fuzz(reader, each, corpus), READERS))
        reached = branches_reached(corpus)
    table = "| input | tried | crashes | longest | peak memory |\n| --- | --- | --- | --- | --- |\n"
    for row in rows:
        cost_of = f"{row.seconds:.2f} s | {row.megabytes:.0f} MB"
        table += f"| {row.what} | {_number(row.inputs)} | {row.crashes} | {cost_of} |\n"
    crashes = sum(len(run.crashes) for run in runs)
    executions = _number(sum(run.executions for run in runs))
    table += f"\n{len(runs)} fuzzers: {executions} executions, {crashes} crashes, {reached}.\n"
    print(table)
    if given.write:
        text = README.read_text("utf-8")
        before, _, rest = text.partition(BEGIN)
        README.write_text(before + BEGIN + table + END + rest.partition(END)[2], "utf-8")
    sys.exit(any(row.crashes for row in rows) or crashes > 0)


def _number(count: int) -> str:
    return f"{count:,}".replace(",", " ")


if __name__ == "__main__":
    main()
