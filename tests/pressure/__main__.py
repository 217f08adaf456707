"""Live registers against LLVM, at length: `python -m tests.pressure --full --write`.

What each instruction reads and writes, what is live at each block of random kernels, and what must
hold of every kernel there is: fixtures, the corpus and a library's code objects. Prints a table and
ends with 1 where a demand is not met; `--write` puts the table into the manual's page.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from . import proofs

PAGE = Path(__file__).parents[2] / "kernelinfo" / "manual" / "pressure.md"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.pressure", description=__doc__)
    parser.add_argument("--full", action="store_true", help="not a sample; half an hour")
    parser.add_argument("--only", choices=proofs.ALL, action="append", help="repeatable")
    parser.add_argument("--write", action="store_true", help="rewrite the table of the manual")
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
    """Put the table between its marks in the manual."""
    head = [("compared", "with", "found"), ("---", "---", "---")]
    table = "\n".join(f"| {' | '.join(row)} |" for row in (*head, *rows))
    marks = r"(?s)(<!-- proofs -->\n).*(<!-- /proofs -->)"
    text = re.sub(marks, rf"\1{table}\n\2", PAGE.read_text("utf-8"))
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    sys.exit(main())
