"""kernelinfo's instructions, against its goals: `python -m tests.benchmarks.goals`.

    python -m tests.benchmarks.goals --python VENV/bin/python --against OLD/bin/python --write

Instructions come back within 0.5 % on any machine and under any load. `--python` is the interpreter
whose installed kernelinfo is counted, `--against` that of an earlier version. Needs valgrind, llvm,
clang and, for libraries, Debian's librocsparse0. `--write` puts the table into
kernelinfo/manual/speed.md.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks import inputs
from tests.benchmarks.__main__ import is_asked, show, started
from tests.benchmarks.cases import READELF, awk, kernelinfo
from tests.benchmarks.growth import ADD, HEAD, KERNEL
from tests.benchmarks.measure import instructions

COLUMNS = "| command | Mi | against | Mi | ratio | goal |"
EVERY, OBJECTS, KERNELS, NAMESAKES = 16, 1000, 2000, 200
LINES = ("--format", "jsonl", "--jobs", "1")
NOTES = (READELF, "--notes")
PROGRAMS = (READELF, "awk")
OTHER = "0.3.0"
"""Peer that is the other version, with the same arguments."""


class Goal(NamedTuple):
    """A command of kernelinfo, and what it is compared with."""

    shown: str
    """The command in the table; empty for `arguments`."""
    arguments: tuple[str, ...]
    peer_name: str = ""
    peer: tuple[str, ...] = ()
    """Another command; arguments of kernelinfo if it begins with none of `PROGRAMS`."""
    most: str = ""
    """The goal: the most times the peer's instructions, or Mi without one."""


def goals(folder: Path) -> list[Goal]:
    """All goals whose inputs can be made here."""
    text, code = str(inputs.SMALL_TEXT), str(inputs.SMALL_OBJECT)
    made = [
        Goal("--version", ("--version",)),
        Goal("--help", ("--help",), most="450 Mi"),
        Goal("explain KI101", ("explain", "KI101"), most="450 Mi"),
        Goal("report small.s", ("report", text), most="420 Mi"),
        Goal("small.s", (text,), most="313 Mi"),
        Goal("small.hsaco", (code,), most="328 Mi"),
        Goal("check small.s", ("check", text, "--exit-zero"), most="555 Mi"),
        Goal("explain small.s vgprbound", ("explain", text, "vgprbound"), most="700 Mi"),
    ]
    if sample := inputs.sample(folder, "rocsparse", EVERY):
        library, cut = str(sample / "sample.hipfb"), sorted(map(str, sample.glob("*.co")))
        report, pinned = ("report", library), str(sample / "pinned.json.gz")
        lines = (*report, *LINES)
        check = ("check", library, "--exit-zero", "--baseline", pinned)
        made += [
            Goal("report LIB jsonl", lines, OTHER, most="0.40"),
            Goal("report LIB jsonl", lines, "readelf", (*NOTES, *cut), "0.6"),
            Goal("report LIB json", (*report, "--format", "json"), "jsonl", lines, "2"),
            Goal("check LIB, baseline", check, "report LIB", report, "1.3"),
            Goal("diff LIB LIB", ("diff", library, library), "report LIB", report, "1.5"),
        ]
    if objects := inputs.objects(folder, OBJECTS):
        files = sorted(map(str, objects.glob("*.co")))
        lines = ("report", str(objects), *LINES)
        made.append(Goal("report DIR jsonl", lines, "readelf", (*NOTES, *files), "1.6"))
    if assembly := inputs.text(folder, KERNELS):
        lines = ("report", str(assembly), *LINES)
        made.append(Goal("report TEXT jsonl", lines, "awk", tuple(awk("", str(assembly))), "2.5"))
    lines = ("report", str(namesakes(folder, NAMESAKES)), *LINES)
    made.append(Goal("report NAMES text", lines[:2], "jsonl", lines, "2"))
    return made


def namesakes(folder: Path, files: int) -> Path:
    """A directory of so many assembly files of one kernel each, which all have one name."""
    made = folder / f"{files}.namesakes"
    made.mkdir(exist_ok=True)
    for number in range(files):
        text = KERNEL.format(number=0, body=ADD.format(number % 8, 0))
        (made / f"{number:03}.s").write_text(HEAD + text)
    return made


def row(goal: Goal, python: str, other: str | None) -> str:
    """The line of a goal in the table; `other` is the interpreter of the other version."""
    ours = kernelinfo(python)
    if goal.shown == "check LIB, baseline" and not os.path.exists(goal.arguments[-1]):
        instructions([ours, *goal.arguments, "--update-baseline"])
    count = instructions([ours, *goal.arguments])
    cells = [f"`{goal.shown}`", f"{count / 1e6:,.0f}"]
    if not goal.peer_name:
        return "| " + " | ".join([*cells, "", "", "", goal.most]) + " |"
    peer = [*goal.peer] if goal.peer[:1] and goal.peer[0] in PROGRAMS else [ours, *goal.peer]
    if goal.peer_name == OTHER and other:
        peer = [kernelinfo(other), *goal.arguments]
    peer_count = instructions(peer)
    cells += [goal.peer_name, f"{peer_count / 1e6:,.0f}", f"{count / peer_count:.2f}", goal.most]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    with started(__doc__) as options:
        asked = (goal for goal in goals(options.folder) if is_asked(options, goal.shown))
        rows = (
            row(goal, options.python, options.against)
            for goal in asked
            if goal.peer_name != OTHER or options.against
        )
        show(options, COLUMNS, rows)


if __name__ == "__main__":
    main()
