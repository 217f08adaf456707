"""Random kernels swept: `python -m tests.sweep --compilers 19 22 --kernels 240 --lines 200`.

Attributes edited in bitcode must give the registers, spills, scratch, code size and occupancy of
the same attributes in the source, by clang and by llvmlite. Each printed source line must give its
row. With `--spilling 4`, the default rows of as many kernels that spill, for each compiler and
target, are compared with every launch bound and number of waves. With `--alone 300`, as many
kernels are compiled without the others of their module, and must be as in the whole where no note
says that they may differ. Prints a table for each; the exit code is 1 if one differs. With
`--interrupts 100`, signals end as many sweeps at random moments.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from ..compiling import bitcode
from . import alone, exhaustive, interrupts, printed
from .proof import KERNELS_OF_A_MODULE, TARGETS, run

_HEAD = (
    *("compiler", "target", "through", "kernels", "changed", "spilling", "reproduced"),
    *("refused modules", "different"),
)
_HEAD_OF_LINES = (
    *("compiler", "target", "kernels", "printed lines", "with launch bounds", "different"),
    *("with note", "different"),
)

_HEAD_OF_ALONE = (
    *("compiler", "target", "kernels", "without note", "spilling", "different"),
    *("with note", "different"),
)
_HEAD_OF_SPILLS = ("compiler", "target", "kernels", "ended", "halved", "fewest spills", "missed")


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.sweep", description=__doc__)
    parser.add_argument("--compilers", type=int, nargs="+", default=[19, 22])
    parser.add_argument("--targets", nargs="+", default=list(TARGETS))
    parser.add_argument("--kernels", type=int, default=240, help="for each way of compiling")
    parser.add_argument("--through", nargs="*", default=["clang", "llvmlite"])
    parser.add_argument("--lines", type=int, default=200, help="printed source lines, at least")
    parser.add_argument("--spilling", type=int, default=0, help="kernels for each compiler")
    parser.add_argument("--alone", type=int, default=0, help="kernels without the others, in all")
    parser.add_argument("--interrupts", type=int, default=0, help="times that each signal is sent")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    settings = [(version, target) for version in options.compilers for target in options.targets]
    modules = -(-options.kernels // (len(settings) * KERNELS_OF_A_MODULE))
    print(f"| {' | '.join(_HEAD)} |", f"|{' --- |' * len(_HEAD)}", sep="\n")
    faults: list[str] = []
    with TemporaryDirectory() as folder:
        for through in options.through:
            for version, target in settings:
                random = Random(f"{options.seed} {version} {target}")
                where = Path(folder, through)
                found = run(
                    version, target, modules, random, where, through_llvmlite=through != "clang"
                )
                row = (f"clang {version}", target, through, found.kernels, found.changed)
                counts = (
                    *row,
                    found.spilling,
                    found.reproduced,
                    found.refused,
                    len(found.differences),
                )
                print(f"| {' | '.join(map(str, counts))} |", flush=True)
                faults += found.differences
        faults += _printed_lines(options.lines, options.seed, Path(folder, "lines"))
        faults += _default_rows(options.spilling, options.seed, Path(folder, "spilling"))
        faults += _independent(options.alone, options.seed, Path(folder, "alone"))
        if options.interrupts:
            path = bitcode(interrupts.KERNEL, Path(folder, "in", "k.bc"))
            random = Random(options.seed)
            where = Path(folder, "interrupts")
            left = interrupts.run(path, "clang-22", options.interrupts, random, where)
            print(f"{options.interrupts} times each signal: {len(left)} faults")
            faults += left
    print(*faults, sep="\n", file=sys.stderr, end="\n" if faults else "")
    return 1 if faults else 0


def _printed_lines(least: int, seed: int, folder: Path) -> list[str]:
    """The second table and its faults. Each compiler gets at least `least` printed lines."""
    print("", f"| {' | '.join(_HEAD_OF_LINES)} |", f"|{' --- |' * len(_HEAD_OF_LINES)}", sep="\n")
    faults: list[str] = []
    settings = [(name, target) for name, targets in printed.TARGETS.items() for target in targets]
    for compiler, target in settings:
        if shutil.which(compiler) is None or not least:
            continue
        random = Random(f"{seed} {compiler} {target}")
        sums = printed.Printed()
        for number in range(1000):
            if sums.lines * len(settings) >= least:
                break
            found = printed.run(compiler, target, random, folder / f"{compiler}-{target}-{number}")
            sums.kernels += found.kernels
            sums.lines += found.lines
            sums.with_bounds += found.with_bounds
            sums.said += found.said
            sums.moved += found.moved
            sums.differences += found.differences
        counts = (sums.kernels, sums.lines, sums.with_bounds, len(sums.differences))
        row = (compiler, target, *counts, sums.said, sums.moved)
        print(f"| {' | '.join(map(str, row))} |", flush=True)
        faults += sums.differences
    return faults


def _independent(kernels: int, seed: int, folder: Path) -> list[str]:
    """The table of kernels without the others of their module, and its faults."""
    if not kernels:
        return []
    print("", f"| {' | '.join(_HEAD_OF_ALONE)} |", f"|{' --- |' * len(_HEAD_OF_ALONE)}", sep="\n")
    faults: list[str] = []
    settings = [(version, name) for version, names in alone.TARGETS.items() for name in names]
    modules = -(-kernels // (len(settings) * alone.KERNELS_OF_A_MODULE))
    for version, target in settings:
        random = Random(f"{seed} {version} {target}")
        tally = alone.run(version, target, modules, random, folder)
        counts = (tally.kernels, tally.kernels - tally.said, tally.spilling)
        moved = (len(tally.differences), tally.said, tally.moved)
        row = (f"clang {version}", target, *counts, *moved)
        print(f"| {' | '.join(map(str, row))} |", flush=True)
        faults += tally.differences
    return faults


def _default_rows(kernels: int, seed: int, folder: Path) -> list[str]:
    """The third table and its faults."""
    if not kernels:
        return []
    print("", f"| {' | '.join(_HEAD_OF_SPILLS)} |", f"|{' --- |' * len(_HEAD_OF_SPILLS)}", sep="\n")
    faults: list[str] = []
    for version, targets in exhaustive.TARGETS.items():
        for target in targets:
            random = Random(f"{seed} {version} {target}")
            tried = exhaustive.run(version, target, kernels, random, folder)
            counts = (tried.kernels, tried.ended, tried.halved, tried.fewest, len(tried.missed))
            print(f"| {' | '.join(map(str, (f'clang {version}', target, *counts)))} |", flush=True)
            faults += tried.missed
    return faults


if __name__ == "__main__":
    sys.exit(main())
