"""Looks at files that change: outputs are read again, and a loop waits for the next change."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Generator, Iterable, Sequence

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.copies import source_name
from kernelinfo.analysis.inputs import Events, conclusions, each, read_inputs
from kernelinfo.analysis.options import Options
from kernelinfo.reading.blob import File, Problem
from kernelinfo.reading.containers import open_file
from kernelinfo.reading.containers.files import LOG
from kernelinfo.reading.containers.formats import is_named_as_code
from kernelinfo.waiting import wait_in_turns
from kernelinfo.watch.files import FileTree as FileTree
from kernelinfo.watch.files import Snapshot, Stamp, is_under, snapshot
from kernelinfo.watch.files import Sources as Sources
from kernelinfo.watch.looks import Event, FileReading, FileReadings, LookHistory, nothing_chosen
from kernelinfo.watch.looks import WatchLook as WatchLook
from kernelinfo.watch.looks import with_peaks as with_peaks
from kernelinfo.watch.messages import say
from kernelinfo.watch.running import RunningCommand, WatchedSources

_REST = 0.5
"""Seconds that a file must stay as it is before its damage, or its absence, is believed."""
_SIDECAR = ".json"
"""Suffix of Triton's JSON, which says how the code object next to it is launched."""

INTERVAL = 0.2
"""Seconds between two looks at the files."""
_WHILE_BUILDING = 0.05
"""Seconds between two looks while a build runs. A save must end the build before it writes an
output: ninja takes an output that is newer than the save as current, even if begun before it."""
_SHARE = 0.017
"""Largest share of one core that looks may take; the whole watch then takes 2 %. If a look takes
long, as in a large folder, the time between looks grows."""
_MOST_OVERTAKEN = 20
"""Runs in a row that a save may overtake. The next one ends: its command may write a source."""


class WatchedOutputs:
    """Outputs that somebody else builds, or a command that runs when a source changes.

    A file is read again when its stamp changes. If it cannot be read, as while it is being written,
    or is missing for a moment, its previous reading stays until the file stops changing.

    If a source is saved while the command runs, the command and its group are ended, and it runs
    again. Files that appear or vanish meanwhile count as written by the command.
    """

    def __init__(self, paths: Sequence[str], options: Options, command: str = "") -> None:
        self.options = options
        self._command = command
        self._running: RunningCommand | None = None
        self._sources = Sources(paths)
        self._overtaken = 0
        """Runs in a row that a save overtook."""
        self._paths = tuple(paths)
        self._trees = [FileTree(path, only_folders=True) for path in paths]
        self._history = LookHistory()
        self._readings: FileReadings | None = None
        self._unrested: dict[str, tuple[Stamp | None, float]] = {}
        """Path -> its stamp, None for a file that is gone, and the time when it was first seen."""
        self._failed_with: Snapshot | None = None
        """The files that a failed command left. They do not count as a look: compilers delete an
        output that they could not make."""

    def step(self) -> Event | None:
        """The next event; None if nothing is new. The first event is a look, or the start of the
        command."""
        if self._command:
            has_changed = self._sources.have_changed(only_saved=self._running is not None)
            if has_changed and self._overtaken < _MOST_OVERTAKEN:
                return self._start()
            if self._running:
                return self._finish(self._running) if self._running.wait(0) else None
        stamps = snapshot(self._trees)
        if stamps == self._failed_with:
            return None
        self._failed_with = None
        readings = self._read_changed(stamps, time.monotonic())
        return None if readings is None else self._look(readings)

    def wait(self, seconds: float) -> bool:
        """Wait up to `seconds`, or until the command ends; True if it has ended."""
        if self._running:
            return self._running.wait(seconds)
        time.sleep(seconds)
        return False

    def end(self) -> None:
        """End the command and its group."""
        if self._running:
            self._running.end()

    def _start(self) -> str:
        """Start the command once the sources rest; end the one that still runs."""
        self._overtaken += self._running is not None
        self.end()
        self._sources.rest()
        self._running = RunningCommand(self._command)
        return self._command

    def _finish(self, running: RunningCommand) -> WatchLook:
        seconds = time.monotonic() - running.began
        self._running = None
        self._overtaken = 0
        self._sources.absorb()
        failure = running.failure()
        running.end()
        return self.look_after(self._command, seconds, failure)

    def _look(
        self, readings: FileReadings, command: str = "", seconds: float | None = None
    ) -> WatchLook:
        message = say("file-not-yet")
        missing = (tree.path for tree in self._trees if not tree.snapshot())
        problems = [Problem(path, message) for path in missing]
        problems += nothing_chosen(readings, self._paths, self.options)
        return self._history.look(readings, problems, command, seconds)

    def look_after(self, command: str, seconds: float, failure: str) -> WatchLook:
        """The look after the user's command has ended; it reads all files that the command
        changed."""
        stamps = snapshot(self._trees)
        self._failed_with = stamps if failure else None
        if failure:
            return self._history.failed(failure, command, seconds)
        return self._look(self._read_rested(stamps), command, seconds)

    def _read_changed(self, stamps: Snapshot, now: float) -> FileReadings | None:
        """The readings of all files, if one that has or had kernels changed; else None. `now` is in
        seconds of a monotonic clock. The first call always returns readings."""
        before = self._readings
        if before is None:
            return self._read_rested(stamps)
        self._unrested = {
            path: (stamp, since)
            for path, (stamp, since) in self._unrested.items()
            if (stamp is None) == (path not in stamps)
        }
        due = [path for path in stamps if self._is_due(path, stamps[path], before.get(path), now)]
        gone = [path for path in before if path not in stamps and self._rests(path, None, now)]
        if not due and not gone:
            return None
        read = self._read_files(self._with_neighbours(due, stamps), stamps)
        settled = {
            path: reading
            for path, reading in read.items()
            if not reading.problems or self._rests(path, reading.stamp, now)
        }
        kept = {path: reading for path, reading in before.items() if path not in gone}
        self._readings = kept | settled
        for path in (*settled, *gone):
            self._unrested.pop(path, None)
        touched = [readings.get(path) for path in (*settled, *gone) for readings in (before, read)]
        is_told = any(reading and (reading.results or reading.problems) for reading in touched)
        return self._readings if is_told else None

    def _read_rested(self, stamps: Snapshot) -> FileReadings:
        """The readings of all files, once their writers have ended."""
        before = self._readings or {}
        due = [path for path in stamps if path not in before or before[path].stamp != stamps[path]]
        kept = {path: reading for path, reading in before.items() if path in stamps}
        self._readings = kept | self._read_files(self._with_neighbours(due, stamps), stamps)
        self._unrested.clear()
        return self._readings

    def _is_due(self, path: str, stamp: Stamp, before: FileReading | None, now: float) -> bool:
        """True if the file has to be read now. A file without kernels, such as a log, is read only
        after it has stopped changing."""
        if before is None or before.stamp == stamp:
            return before is None
        may_have = before.results or before.problems or is_named_as_code(path)
        return bool(may_have) or self._rests(path, stamp, now)

    def _rests(self, path: str, stamp: Stamp | None, now: float) -> bool:
        """True if the file's stamp has not changed for half a second."""
        before, since = self._unrested.get(path, (None, now))
        if path not in self._unrested or before != stamp:
            self._unrested[path] = stamp, now
            return False
        return now - since >= _REST

    def _with_neighbours(self, due: Iterable[str], stamps: Snapshot) -> list[str]:
        """The files, and the files next to them that belong to the same kernels: assembly, code
        object and Triton's JSON of one source, or a database and its log."""
        groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for path in stamps:
            groups[_source(path)].append(path)
        return [*dict.fromkeys(path for file in due for path in groups[_source(file)])]

    def _read_files(self, paths: Iterable[str], stamps: Snapshot) -> FileReadings:
        # A text that was cut off is a problem, as for the gate: it may still be written.
        analysis = Analysis(self.options._replace(is_gate=True), self._paths)
        return {path: self._read_file(path, stamps[path], analysis) for path in paths}

    def _read_file(self, path: str, stamp: Stamp, analysis: Analysis) -> FileReading:
        is_named = not any(is_under(path, folder) for folder in self._paths)
        events = Events()
        blobs = open_file(
            File(path, is_named, None if is_named else stamp.size),
            among=self._paths,
            within=self.options.bounds,
        )
        items = [*read_inputs(blobs, events, analysis.results, self.options._replace(is_gate=True))]
        if is_named and not self._paths[1:]:  # of several, another may have the chosen kernels
            items += conclusions([(path, events)], self.options._replace(is_gate=False))
        else:
            items += each(events, "missing")
        return FileReading.of(items, events, stamp)


def _source(path: str) -> tuple[str, str]:
    """A file's folder, and the name of the source that it was compiled from."""
    return os.path.dirname(path), source_name(path.removesuffix(_SIDECAR).removesuffix(LOG))


Watch = WatchedSources | WatchedOutputs
"""Something to watch, asked again and again. At most one command or compiler runs at a time."""


def events(watch: Watch) -> Generator[Event | None, None, None]:
    """Each event, and None after each look that found nothing new. Never ends."""
    interval = INTERVAL
    try:
        while True:
            began = time.thread_time()
            event = watch.step()
            seconds = time.thread_time() - began
            yield event
            if event is None:  # the end of a build ends the pause
                wait_in_turns(watch.wait, max(interval, seconds / _SHARE))
            else:
                interval = _WHILE_BUILDING if isinstance(event, str) else INTERVAL
    finally:
        watch.end()
