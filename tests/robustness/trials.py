"""Broken inputs of one format, one after the other: `python -m tests.robustness.trials FORMAT`.

They are numbered: a process takes one in so many of them, and others the others.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ..fuzz.mutations import Breakage
from ..fuzz.promise import answer
from .formats import FORMATS, Format

_SHOWN = 1009
"""One answer in so many is written in all formats; a prime, or it were always of one value."""


class Tried(NamedTuple):
    """Results for some inputs."""

    inputs: int
    crashes: int
    seconds: float
    """The longest of all, in CPU time."""


def together(parts: Iterable[Tried]) -> Tried:
    """Results of all parts together."""
    inputs, crashes, seconds = zip(*parts, strict=True)
    return Tried(sum(inputs), sum(crashes), max(seconds))


def tried(format: Format, breakages: Iterable[Breakage], first: int = 0, step: int = 1) -> Tried:
    """Try the first input of each and every so many more; those that crash are kept here."""
    inputs = crashes = 0
    longest = 0.0
    for breakage in breakages:
        for number in range(first, breakage.results, step):
            data = breakage.result(number)
            inputs += 1
            start = time.process_time()
            try:
                if format.read is answer:
                    answer(data, show=inputs % _SHOWN == 0)
                else:
                    format.read(data)
            except Exception:
                crashes += 1
                kept = Path(f"crash-{hashlib.sha1(data).hexdigest()[:12]}")
                kept.write_bytes(data)
                print(kept, traceback.format_exc(), file=sys.stderr)
            longest = max(longest, time.process_time() - start)
    return Tried(inputs, crashes, longest)


def main() -> None:
    """Say on the last line what came of the bytes of headers, and of the files cut off."""
    options = argparse.ArgumentParser(prog="python -m tests.robustness.trials", description=__doc__)
    options.add_argument("format", choices=FORMATS)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--step", type=int, default=1)
    given = options.parse_args()
    format = FORMATS[given.format]
    parts = (format.headers, format.prefixes())
    print(json.dumps([tried(format, part, given.first, given.step) for part in parts]))


if __name__ == "__main__":
    main()
