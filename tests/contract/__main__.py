"""Run rows of a table and print what they answer: `python -m tests.contract TABLE [WORDS]`."""

from __future__ import annotations

import sys
from pathlib import Path

from .rows import answer_to, read_table, wrongs


def main(table: str, *words: str) -> None:
    """Print the answers of the rows whose `what` or `run` has the words."""
    path = Path(__file__).with_name(table).with_suffix(".toml")
    for row in read_table(path):
        if " ".join(words) in f"{row.get('what')} {row['run']}":
            print(f"\n# {row.get('what', '')}\n$ kernelinfo {row['run']}")
            out, err, code = answer_to(row)
            print(f"{out}--- standard error, exit code {code}\n{err}", end="")
            for difference in wrongs(row):
                print(f"!!! {difference}")


if __name__ == "__main__":
    main(*sys.argv[1:])
