"""What one more kernel or instruction costs: `python -m tests.benchmarks.one_more`.

    python -m tests.benchmarks.one_more --python VENV/bin/python --against OLD/bin/python --write

A row is the difference between an input and one twice as large, a kernel or an instruction of it;
start-up is left out. The CPU times are the least of three runs each. Needs valgrind and clang.
`--write` puts the table into kernelinfo/manual/speed.md.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks import growth, inputs
from tests.benchmarks.__main__ import is_asked, show, started
from tests.benchmarks.cases import kernelinfo
from tests.benchmarks.goals import LINES
from tests.benchmarks.measure import instructions, run

COLUMNS = "| one more | command | thousand instructions | in 0.3.0 | µs | goal |"
RUNS = 3


class OneMore(NamedTuple):
    """A command and an input of any size."""

    noun: str
    make: Callable[[Path, int], Path | None]
    size: int
    holds: int
    """So many kernels or instructions for each of its size."""
    arguments: tuple[str, ...]
    most: str


def straight(folder: Path, count: int) -> Path:
    """An assembly of a kernel that writes eight registers and adds them so many times."""
    made = folder / f"{count}.straight.s"
    writes = (f" v_mov_b32_e32 v{register}, 0" for register in range(8))
    adds = (growth.ADD.format(number % 8, number * 3 % 8) for number in range(count))
    body = "\n".join([*writes, *adds])
    made.write_text(growth.HEAD + growth.KERNEL.format(number=0, body=body))
    return made


def listings(folder: Path, count: int) -> Path:
    """A folder of so many copies of an assembly with two kernels."""
    made = folder / f"{count}.listings"
    made.mkdir(exist_ok=True)
    for number in range(count):
        shutil.copy(inputs.FIXTURES / "lines" / "attention-clang22-gfx942.s", made / f"{number}.s")
    return made


REPORT = ("report", "{}", *LINES)
ALIKE, UNLIKE = (partial(inputs.kernels, alike=alike) for alike in (True, False))
PRESSURE = ("pressure", "{}", "--format", "csv", "--jobs", "1")
ROWS = (
    OneMore("kernel that states what others state", ALIKE, 400, 1, REPORT, "100 thousand"),
    OneMore("kernel that states what no other does", UNLIKE, 200, 1, REPORT, "320 thousand"),
    OneMore("instruction of straight-line code", straight, 8000, 1, PRESSURE, "20 µs"),
    OneMore("instruction of an attention kernel", listings, 8, 784 + 322, PRESSURE, "20 µs"),
)


def row(one_more: OneMore, python: str, other: str | None, folder: Path) -> str | None:
    """The line of the table; `other` is the interpreter of another version. None without clang."""
    thousands: dict[str | None, list[float]] = {python: [], other: []}
    seconds = []
    for size in (one_more.size, 2 * one_more.size):
        if (path := one_more.make(folder, size)) is None:
            return None
        arguments = [word.format(path) for word in one_more.arguments]
        for version, counts in thousands.items():
            if version:
                counts.append(instructions([kernelinfo(version), *arguments]) / 1e3)
        runs = [run([kernelinfo(python), *arguments], b"") for _ in range(RUNS)]
        seconds.append(min(took.cpu_seconds for took in runs))
    more = one_more.size * one_more.holds
    ours, theirs = (
        f"{(counts[1] - counts[0]) / more:,.0f}" if counts else "" for counts in thousands.values()
    )
    command = " ".join(one_more.arguments).replace("{}", "PATH")
    cells = one_more.noun, f"`{command}`", ours, theirs
    took = f"{(seconds[1] - seconds[0]) / more * 1e6:,.0f}"
    return "| " + " | ".join([*cells, took, one_more.most]) + " |"


def main() -> None:
    with started(__doc__) as options:
        rows = (
            row(one_more, options.python, options.against, options.folder)
            for one_more in ROWS
            if is_asked(options, one_more.noun)
        )
        show(options, COLUMNS, filter(None, rows))


if __name__ == "__main__":
    main()
