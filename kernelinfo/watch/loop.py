"""The loop: waits for changes, builds if asked to, and yields looks."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from typing import Any

from kernelinfo.analysis.options import Options
from kernelinfo.reading.blob import Problem
from kernelinfo.watch.files import Snapshot
from kernelinfo.watch.history import LookHistory
from kernelinfo.watch.messages import say
from kernelinfo.watch.nouns import Began, Event, WatchLook
from kernelinfo.watch.reading import FileReadings, OutputReader, Sources, nothing_chosen
from kernelinfo.watch.running import RunningCommand, Watch

INTERVAL = 0.2
"""Seconds between two looks at the files."""
_WHILE_BUILDING = 0.05
"""The same while a build runs. A save has to end it first: ninja takes an output that is written
after the save for a current one, even if it was begun before."""
_SHARE = 0.017
"""Most of a core that looking may take; 2 % with all else. Large folders wait longer."""
_MOST_OVERTAKEN = 20
"""Runs in a row that a save may overtake. The next one ends: its command may write a source."""


def events(watch: Watch[Any]) -> Generator[Event | None, None, None]:
    """Each event, and None after each look at the files that found nothing new. Never ends."""
    interval = INTERVAL
    try:
        while True:
            began = time.thread_time()
            event = watch.step()
            seconds = time.thread_time() - began
            yield event
            if event is None:
                watch.wait(max(interval, seconds / _SHARE))
            else:
                interval = _WHILE_BUILDING if isinstance(event, Began) else INTERVAL
    finally:
        watch.end()


class WatchedOutputs(Watch[Any]):
    """Outputs that somebody else builds."""

    def __init__(self, paths: Sequence[str], options: Options) -> None:
        self.options = options
        self._paths = tuple(paths)
        self._reader = OutputReader(paths, options)
        self._history = LookHistory()
        self._failed_with: Snapshot | None = None
        """The files that a failed command left. They do not count as a look: compilers delete an
        output that they could not make."""

    def step(self) -> Event | None:
        readings = None if self._is_as_it_failed() else self._reader.read(time.monotonic())
        return None if readings is None else self._look(readings)

    def after(self, command: str, seconds: float, failure: str) -> WatchLook:
        """The look after a command of the user ended."""
        self._failed_with = self._reader.outputs.snapshot() if failure else None
        if failure:
            return self._history.failed(failure, command, seconds)
        return self._look(self._reader.read_rested(), command, seconds)

    def _is_as_it_failed(self) -> bool:
        """True after a failed command, until one of the outputs changes."""
        if self._failed_with is not None:
            if self._failed_with == self._reader.outputs.snapshot():
                return True
            self._failed_with = None
        return False

    def _look(
        self, readings: FileReadings, command: str = "", seconds: float | None = None
    ) -> WatchLook:
        message = say("file-not-yet")
        problems = [Problem(path, message) for path in self._reader.outputs.missing()]
        problems += nothing_chosen(readings, self._paths, self.options)
        return self._history.look(readings, problems, command, seconds)


class WatchedCommand(Watch[RunningCommand]):
    """A command that runs when a source changes, and the outputs that it builds.

    A source that is saved while the command runs ends it and its group, and it runs again. Files
    that appear or vanish meanwhile are the command's own.
    """

    def __init__(self, command: str, paths: Sequence[str], options: Options) -> None:
        self.options = options
        self._command = command
        self._outputs = WatchedOutputs(paths, options)
        self._sources = Sources(paths)
        self._overtaken = 0
        """Runs in a row that a save overtook."""

    def step(self) -> Event | None:
        has_changed = self._sources.have_changed(only_saved=self._running is not None)
        if self._running is None:
            return self._start() if has_changed else self._outputs.step()
        if has_changed and self._overtaken < _MOST_OVERTAKEN:
            self._overtaken += 1
            return self._start()
        ended = self._ended()
        return self._look(*ended) if ended else None

    def _start(self) -> Began:
        """Start the command once the sources rest; end the one that still runs."""
        self.end()
        self._sources.rest()
        self._running = RunningCommand(self._command)
        return Began(self._command)

    def _look(self, running: RunningCommand, seconds: float) -> WatchLook:
        self._overtaken = 0
        self._sources.absorb()
        failure = running.failure()
        running.end()
        return self._outputs.after(self._command, seconds, failure)
