"""Seconds until each long command shows something on a terminal, output or progress.

    python -m tests.benchmarks.progress --python VENV/bin/python      (librocsparse0)

The commands are those of `memory`. A command is ended as soon as it shows something. Exits with 1
if one needs more than a second.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import sys
import tempfile
import time
from pathlib import Path
from select import select

from tests.benchmarks import inputs
from tests.benchmarks.cases import kernelinfo
from tests.benchmarks.memory import COMMANDS

MOST = 1.0  # seconds
_GIVE_UP = 60.0  # seconds


def first_output(command: list[str], folder: Path) -> tuple[float, str]:
    """Seconds until the first character on a terminal, and the first characters."""
    begin = time.monotonic()
    child, terminal = pty.fork()
    if not child:
        os.chdir(folder)
        os.execvpe(command[0], command, {**os.environ, "TERM": "xterm"})
    shown = b""
    while not _text(shown) and select([terminal], [], [], _GIVE_UP)[0]:
        try:
            shown += os.read(terminal, 1 << 10)
        except OSError:  # the command has ended
            break
    seconds = time.monotonic() - begin
    os.kill(child, 9)
    os.waitpid(child, 0)
    os.close(terminal)
    return seconds, _text(shown)


def _text(shown: bytes) -> str:
    """What a person reads of it, without colours and movements."""
    return re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", shown.decode("utf-8", "replace")).strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="commands with one of these words in them")
    parser.add_argument("--python", type=os.path.abspath, default=sys.executable)
    options = parser.parse_args()
    os.environ.pop("PYTHONPATH", None)
    path = inputs.library("rocsparse")
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for words in COMMANDS:
            if options.only and not any(word in words for word in options.only):
                continue
            command = [kernelinfo(options.python), *(word.format(path) for word in words)]
            seconds, shown = first_output(command, Path(folder))
            slowest = max(slowest, seconds)
            print(f"{seconds:.2f} s  {' '.join(words)}  {shown[:60]!r}", flush=True)
    sys.exit(slowest > MOST)


if __name__ == "__main__":
    main()
