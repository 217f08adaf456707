"""`kernelinfo PATH...` is `kernelinfo report PATH...`; everything else names its command."""

from __future__ import annotations

import gc
import signal
import sys
from types import FrameType


def main() -> None:
    """The entry point of the command line."""
    signal.signal(signal.SIGINT, _interrupted)
    # Kernels and their facts hold no cycles, but a library's would be searched for them again and
    # again: a third of the time of its report.
    gc.disable()
    from kernelinfo.cli import app

    app()


def _interrupted(number: int, frame: FrameType | None) -> None:
    """Ctrl-C: no traceback, the terminal as it was, and the exit code that shells expect."""
    sys.exit(128 + number)


if __name__ == "__main__":
    main()
