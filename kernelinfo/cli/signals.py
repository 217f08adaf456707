"""Exit on signals, for commands that start other programs."""

from __future__ import annotations

import signal
import sys
from types import FrameType

from kernelinfo.analysis.pool import ENDING_SIGNALS


def end_on_signals() -> None:
    """Make SIGHUP, SIGINT and SIGTERM raise `SystemExit`, which ends child processes on its way.

    The exit code is 128 + the signal's number, as in shells. Ignored signals stay ignored (nohup).
    """
    for number in ENDING_SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)


def _leave(number: int, frame: FrameType | None) -> None:
    for other in ENDING_SIGNALS:  # a second signal must not interrupt the clean-up
        signal.signal(other, signal.SIG_IGN)
    sys.exit(128 + number)
