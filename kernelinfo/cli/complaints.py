"""Lines on standard error, and the exit code that goes with them."""

from __future__ import annotations

import os
import sys
from typing import TextIO

CANNOT_ANSWER = 2  # unreadable or partly read input, an unknown target, no kernel, wrong usage


def complain(line: str) -> None:
    """Print a line on standard error. If that is closed, only the exit code tells."""
    from kernelinfo.render.paint import printable, without_commands

    try:
        print(without_commands(printable(line)), file=sys.stderr)
    except OSError:
        give_up(sys.stderr)


def give_up(stream: TextIO) -> None:
    """Redirect a broken stream to devnull: flushing its buffer at exit would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
