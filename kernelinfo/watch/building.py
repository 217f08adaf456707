"""A watch, and the command or compiler that runs between two of its looks."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar

from kernelinfo.analysis.options import Options
from kernelinfo.waiting import wait_in_turns
from kernelinfo.watch.nouns import Event


class _Running(Protocol):
    """A command or compiler that was started."""

    began: float
    """In seconds, as `time.monotonic` counts them."""

    def wait(self, seconds: float) -> bool:
        """True if it ended within this time."""

    def end(self) -> None:
        """End it with its group of processes."""


_Run = TypeVar("_Run", bound=_Running)


class Watch(ABC, Generic[_Run]):
    """Something to watch, asked again and again. At most one command or compiler runs at a time."""

    options: Options
    """Options of the analysis, with the assembly of compiled sources."""
    _running: _Run | None = None

    @abstractmethod
    def step(self) -> Event | None:
        """The next event; None if nothing is new. The first look always comes."""

    def wait(self, seconds: float) -> None:
        """Wait, but no longer than until the build ends."""
        if self._running:
            wait_in_turns(self._running.wait, seconds)
        else:
            wait_in_turns(time.sleep, seconds)

    def end(self) -> None:
        """End the build that still runs."""
        if self._running:
            self._running.end()
            self._running = None

    def _ended(self) -> tuple[_Run, float] | None:
        """The build that has ended by itself, and its duration in seconds; None if none has."""
        running = self._running
        if running is None or not running.wait(0):
            return None
        self._running = None
        return running, time.monotonic() - running.began
