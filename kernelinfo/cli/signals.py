"""Signals that end a command which has started other programs."""

from __future__ import annotations

import signal
import sys
from types import FrameType

_ENDING = [
    getattr(signal, name) for name in ("SIGHUP", "SIGINT", "SIGTERM") if hasattr(signal, name)
]


def end_on_signals() -> None:
    """Leave by `SystemExit`, which ends children on its way, on a closed terminal, Ctrl-C and kill.

    The exit code is that of shells, 128 + the number. Signals that are ignored stay so (nohup).
    """
    for number in _ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)


def _leave(number: int, frame: FrameType | None) -> None:
    for other in _ENDING:  # a second one would end the ending
        signal.signal(other, signal.SIG_IGN)
    sys.exit(128 + number)
