"""Random kernels through real compilers: `python -m tests.differential --compilers 15 19 22`.

Demands of each kernel that assembly, linked object and the compiler's comment say the same, that
LLVM's formulas give the five numbers that the comment prints, and that its occupancy is ours or
differs by a named cause. Prints a table; ends with 1 where a demand is not met.
"""

from __future__ import annotations

import argparse
import sys
from random import Random

from .clang import missing
from .compare import Tally, run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--compilers", type=int, nargs="+", default=[15, 19, 22])
    parser.add_argument("--kernels", type=int, default=3000, help="of all compilers together")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if absent := [tool for version in options.compilers for tool in missing(version)]:
        parser.error(f"not installed: {', '.join(absent)}")
    share = -(-options.kernels // len(options.compilers))
    tallies = {v: run(v, share, Random(f"{options.seed} {v}")) for v in options.compilers}
    print(table(tallies))
    faults = [fault for tally in tallies.values() for fault in tally.faults]
    print(*faults, sep="\n", file=sys.stderr, end="\n" if faults else "")
    return 1 if faults else 0


_HEAD = (
    "compiler",
    "targets",
    "kernels",
    "same facts",
    "same formula",
    "VGPRs raised",
    "prints the hardware's number",
    "prints another",
    "unexplained",
)


def table(tallies: dict[int, Tally]) -> str:
    """The manual's table, in Markdown; each cause with the kernels it has a part in."""
    rows = [_HEAD, ("---",) * len(_HEAD)]
    for version, tally in tallies.items():
        other = tally.kernels - tally.agree
        causes = ", ".join(f"{name} {count}" for name, count in tally.causes.most_common())
        counts = (len(tally.targets), tally.kernels, tally.same_facts, tally.same_formula)
        numbers = (*counts, tally.raised, tally.agree, f"{other}: {causes}", tally.unexplained)
        rows.append((f"clang {version}", *map(str, numbers)))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    sys.exit(main())
