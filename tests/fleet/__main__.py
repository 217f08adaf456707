"""Scans ended by signals at random moments: `python -m tests.fleet --interrupts 25`.

Each signal ends so many scans, every fifth of them together with their workers, as a terminal does.
No process may live on, and the next scan has every row. The exit code is 1 if a scan left
something.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from ..lifeline import Lifeline
from .scans import many_objects, reported
from .test_ending import end_scan

_SIGNALS = ("SIGHUP", "SIGTERM", "SIGINT", "SIGKILL")
_SECONDS = 4  # a whole scan on a calm machine


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fleet", description=__doc__)
    parser.add_argument("--interrupts", type=int, default=25, help="times that each signal is sent")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random, faults = Random(options.seed), 0
    with TemporaryDirectory() as name:
        folder = many_objects(Path(name, "objects"), 600)
        expected = reported(folder)
        for count in range(options.interrupts):
            for number in _SIGNALS:
                seconds, place = random.uniform(0, _SECONDS), Path(name, f"{number}-{count}")
                try:
                    wait, line = partial(time.sleep, seconds), Lifeline(Path(f"{place}.line"))
                    is_all = count % 5 == 4
                    end_scan(number, line, wait, folder, place, expected, group=is_all)
                except AssertionError as fault:
                    faults += 1
                    print(f"{number} after {seconds:.2f} s: {fault}", file=sys.stderr)
    print(f"{options.interrupts} times each signal: {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
