"""Register pressure compared with LLVM at length: `python -m tests.pressure --full --write`.

Compares reads and writes of instructions, live registers of blocks of random kernels, and
disassembled code objects. Every kernel of fixtures, corpus and a library must have at most as many
registers live as used. Prints a table; the exit code is 1 if a comparison fails. `--write` puts the
rows into the manual's page.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import proofs

_BEGIN, _END = "<!-- proofs -->", "<!-- /proofs -->"
PAGE = Path(__file__).parents[2] / "kernelinfo" / "manual" / "pressure.md"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.pressure", description=__doc__)
    parser.add_argument("--full", action="store_true", help="not a sample; an hour")
    parser.add_argument("--only", choices=proofs.ALL, action="append", help="repeatable")
    parser.add_argument(
        "--write", action="store_true", help="rewrite these rows of the manual's table"
    )
    options = parser.parse_args()
    rows, faults = [], []
    for name in options.only or proofs.ALL:
        row, found = proofs.ALL[name](options.full)
        print(f"| {' | '.join(row)} |", flush=True)
        rows.append(row)
        faults += found
    print(*faults, sep="\n", file=sys.stderr, end="\n" if faults else "")
    if options.write:
        write(rows)
    return 1 if faults else 0


def write(rows: list[tuple[str, str, str]]) -> None:
    """Put the rows into the manual's table between its marks. They replace rows with the same first
    cell."""
    text = PAGE.read_text("utf-8")
    before, rest = text.split(f"{_BEGIN}\n")
    table, after = rest.split(_END)
    lines = {line.split(" | ")[0]: line for line in table.splitlines()}
    lines |= {f"| {row[0]}": f"| {' | '.join(row)} |" for row in rows}
    PAGE.write_text("\n".join((f"{before}{_BEGIN}", *lines.values(), _END)) + after, "utf-8")


if __name__ == "__main__":
    sys.exit(main())
