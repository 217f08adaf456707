"""The command `kernelinfo`. `kernelinfo PATH...` means `kernelinfo report PATH...`."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_MOMENT = 0.01
"""Seconds."""


def main() -> None:
    """The entry point of the command line.

    An ignored Ctrl-C stays ignored, as for background jobs of a shell.
    """
    handles_interrupts = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    if handles_interrupts:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from kernelinfo.cli import app  # Ctrl-C meanwhile ends the process without a traceback

    if handles_interrupts:
        signal.signal(signal.SIGINT, _interrupted)
    earlier_hook = sys.unraisablehook
    sys.unraisablehook = lambda lost: _come_again(lost, earlier_hook)
    _open_closed_streams()
    # Kernels hold no reference cycles, and the search for cycles would take a third of the time of
    # a library's report.
    gc.disable()
    try:
        app()
    finally:
        _end_quietly()
        sys.unraisablehook = earlier_hook
        gc.freeze()  # keeps the interpreter from searching them at exit


def _interrupted(number: int, frame: object) -> None:
    """Exit on Ctrl-C without a traceback, with the exit code that shells expect."""
    sys.exit(128 + number)


def _come_again(
    lost: sys.UnraisableHookArgs, earlier_hook: Callable[[sys.UnraisableHookArgs], object]
) -> None:
    """Exit a moment later if the exit on a signal was lost: the signal arrived in a callback that
    cannot raise, such as that of an import lock ("weakref.ref" in Python's documentation). Other
    lost exceptions go to `earlier_hook`."""
    end = lost.exc_value
    if not isinstance(end, SystemExit) or not hasattr(signal, "setitimer"):
        earlier_hook(lost)
        return
    signal.signal(signal.SIGALRM, lambda number, frame: sys.exit(end.code))
    signal.setitimer(signal.ITIMER_REAL, _MOMENT)


def _end_quietly() -> None:
    """Let a late signal end the process at once: a handler that raises while the interpreter
    clears up prints a traceback."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)


def _open_closed_streams() -> None:
    """Reopen closed standard streams on devnull, so that no other file gets descriptors 0 to 2."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


if __name__ == "__main__":
    main()
