"""Random kernels through real compilers: `python -m tests.differential`.

Demands of each kernel that assembly, linked object and the compiler's comment say the same, that
LLVM's formulas give the five numbers that the comment prints, and that its occupancy is ours or
differs by a named cause. Prints a table; ends with 1 where a demand is not met.
"""

from __future__ import annotations

import argparse
import sys
from random import Random

from ..tools import missing
from .clang import Clang
from .compare import Tally, run
from .compilers import Compiler
from .triton_wheel import Triton

COMPILERS: dict[str, Compiler] = {
    "clang-15": Clang(15),
    "clang-19": Clang(19),
    "clang-22": Clang(22),
    "triton": Triton(),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument(
        "--compilers", nargs="+", default=list(COMPILERS), choices=COMPILERS, metavar="NAME"
    )
    parser.add_argument("--kernels", type=int, default=3000, help="of all compilers together")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    compilers = [COMPILERS[name] for name in options.compilers]
    if absent := missing(*(name for compiler in compilers for name in compiler.needed)):
        parser.error(f"not installed: {', '.join(absent)}")
    share = -(-options.kernels // len(compilers))
    tallies = {one.name: run(one, share, Random(f"{options.seed} {one.llvm}")) for one in compilers}
    print(table(tallies))
    faults = [fault for tally in tallies.values() for fault in tally.faults]
    print(*faults, sep="\n", file=sys.stderr, end="\n" if faults else "")
    refused = [why for tally in tallies.values() for why in tally.refused]
    print(*refused, sep="\n", file=sys.stderr, end="\n" if refused else "")
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
    "named differences",
    "refused by the compiler",
)


def table(tallies: dict[str, Tally]) -> str:
    """The manual's table, in Markdown; each cause with the kernels it has a part in."""
    rows = [_HEAD, ("---",) * len(_HEAD)]
    for name, tally in tallies.items():
        other = tally.kernels - tally.agree
        causes = ", ".join(f"{cause} {count}" for cause, count in tally.causes.most_common())
        counts = (len(tally.targets), tally.kernels, tally.same_facts, tally.same_formula)
        numbers = (*counts, tally.raised, tally.agree, f"{other}: {causes}", tally.unexplained)
        named = ", ".join(f"{what} {count}" for what, count in sorted(tally.named.items()))
        rows.append((name, *map(str, numbers), named or "0", str(len(tally.refused))))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    sys.exit(main())
