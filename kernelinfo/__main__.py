"""`kernelinfo PATH...` is `kernelinfo report PATH...`; everything else names its command."""

from __future__ import annotations

import gc
import os
import signal
import sys

from kernelinfo.cli import app


def main() -> None:
    """The entry point of the command line."""
    signal.signal(signal.SIGINT, _interrupted)
    _open_closed_streams()
    # Kernels and their facts hold no cycles, but a library's would be searched for them again and
    # again: a third of the time of its report.
    gc.disable()
    try:
        app()
    finally:
        gc.freeze()  # nor searched when the interpreter takes leave of them


def _interrupted(number: int, frame: object) -> None:
    """Ctrl-C: no traceback, the terminal as it was, and the exit code that shells expect."""
    sys.exit(128 + number)


def _open_closed_streams() -> None:
    """Reopen closed standard streams on devnull, so that no file of ours takes fds 0 to 2."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


if __name__ == "__main__":
    main()
