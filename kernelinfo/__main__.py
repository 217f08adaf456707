"""The command `kernelinfo`. `kernelinfo PATH...` means `kernelinfo report PATH...`."""

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
    # Kernels hold no reference cycles, and the search for cycles would take a third of the time of
    # a library's report.
    gc.disable()
    try:
        app()
    finally:
        gc.freeze()  # keeps the interpreter from searching them at exit


def _interrupted(number: int, frame: object) -> None:
    """Exit on Ctrl-C without a traceback, with the exit code that shells expect."""
    sys.exit(128 + number)


def _open_closed_streams() -> None:
    """Reopen closed standard streams on devnull, so that no other file gets descriptors 0 to 2."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


if __name__ == "__main__":
    main()
