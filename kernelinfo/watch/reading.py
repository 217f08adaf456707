"""Reads files that changed, each on its own; the readings of all others stay."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.copies import source_name
from kernelinfo.analysis.inputs import (
    LEFT_OUT,
    Events,
    chosen,
    conclusions,
    each,
    nothing_found,
    read_inputs,
    total,
)
from kernelinfo.analysis.options import Options
from kernelinfo.errors import ReadError
from kernelinfo.kernel import Result
from kernelinfo.reading.blob import Missing, Problem
from kernelinfo.reading.containers import open_file
from kernelinfo.reading.containers.files import LOG, File
from kernelinfo.reading.containers.magic import is_named_as_code
from kernelinfo.reading.paths import read_document
from kernelinfo.watch.files import FolderTree, Outputs, Snapshot, Stamp, is_under, rested
from kernelinfo.watch.nouns import FileReading

# Sources of the user's own command: which of them were saved.

_MOST_BYTES = 1 << 24
"""Bytes of a source whose content is compared."""


class Sources:
    """Files of the current folder, without hidden, temporary and ignored ones and the outputs."""

    def __init__(self, outputs: Sequence[str]) -> None:
        self._tree = FolderTree(os.curdir, without=[os.path.realpath(path) for path in outputs])
        self._seen: Snapshot | None = None
        """None before the first build."""
        self._contents: dict[str, bytes] = {}
        """Path -> digest of the content when the file was last seen to change."""

    def have_changed(self, *, only_saved: bool) -> bool:
        """True if a file changed since the build began, and before the first build.

        `only_saved` counts files that were there before and have another content now. Others may
        be the build's own: a header that it generates anew.
        """
        if self._seen is None:
            return True
        now = self._tree.snapshot()
        if not only_saved:
            return now != self._seen
        both = now.keys() & self._seen.keys()
        changed = sorted(path for path in both if now[path] != self._seen[path])
        self._seen |= {path: now[path] for path in changed if not self._is_other(path)}
        return any(now[path] != self._seen[path] for path in changed)

    def rest(self) -> None:
        """Wait until no file changes: a save takes several steps. All count as built then."""
        self._seen = rested(self._tree.snapshot)

    def absorb(self) -> None:
        """Count files that appeared or vanished in a build as built."""
        now, seen = self._tree.snapshot(), self._seen or {}
        self._seen = {path: seen.get(path, stamp) for path, stamp in now.items()}

    def _is_other(self, path: str) -> bool:
        """True if the content differs from when the file last changed, or cannot be compared."""
        try:
            content = blake2b(read_document(path, _MOST_BYTES)).digest()
        except (OSError, ReadError):
            return True
        before, self._contents[path] = self._contents.get(path), content
        return before != content


_REST = 0.5
"""Seconds that a file must stay as it is before its damage, or its absence, is believed."""
_SIDECAR = ".json"
"""Suffix of Triton's JSON, which says how the code object next to it is launched."""

FileReadings = dict[str, FileReading]


class OutputReader:
    """The kernels of a build's outputs. A file is read again when its stamp changes.

    A file that is half written mostly cannot be read: its reading before stays until it rests. So
    does the reading of a file that is gone for a moment, as while it is written anew.
    """

    def __init__(self, paths: Sequence[str], options: Options) -> None:
        self.outputs = Outputs(paths)
        self._paths = tuple(paths)
        # A text that was cut off is a problem, as for the gate: it may still be written.
        self._options = options._replace(is_gate=True)
        self._readings: FileReadings | None = None
        self._unrested: dict[str, tuple[Stamp | None, float]] = {}
        """Path -> its stamp, None for a file that is gone, and the time when it was first seen."""

    def read(self, now: float) -> FileReadings | None:
        """The readings of all files, if one of them changed and has kernels or had some; else None.

        `now` is in seconds of a clock that never goes back. The first call always returns readings.
        """
        seen = self.outputs.snapshot()
        before = self._readings
        if before is None:
            return self.read_rested()
        self._unrested = {
            path: (stamp, since)
            for path, (stamp, since) in self._unrested.items()
            if (stamp is None) == (path not in seen)
        }
        due = [path for path in seen if self._is_due(path, seen[path], before.get(path), now)]
        gone = [path for path in before if path not in seen and self._rests(path, None, now)]
        if not due and not gone:
            return None
        read = self._read_files(self._with_neighbours(due, seen), seen)
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

    def read_rested(self) -> FileReadings:
        """The readings of all files, whose writers have ended."""
        seen, before = self.outputs.snapshot(), self._readings or {}
        due = [path for path in seen if path not in before or before[path].stamp != seen[path]]
        kept = {path: reading for path, reading in before.items() if path in seen}
        self._readings = kept | self._read_files(self._with_neighbours(due, seen), seen)
        self._unrested.clear()
        return self._readings

    def _is_due(self, path: str, stamp: Stamp, before: FileReading | None, now: float) -> bool:
        """True if the file has to be read. A file without kernels must rest first: a log."""
        if before is None or before.stamp == stamp:
            return before is None
        may_have = before.results or before.problems or is_named_as_code(path)
        return bool(may_have) or self._rests(path, stamp, now)

    def _rests(self, path: str, stamp: Stamp | None, now: float) -> bool:
        """True if the file has had this stamp for half a second."""
        before, since = self._unrested.get(path, (None, now))
        if path not in self._unrested or before != stamp:
            self._unrested[path] = stamp, now
            return False
        return now - since >= _REST

    def _with_neighbours(self, due: Iterable[str], seen: Snapshot) -> list[str]:
        """The files and their neighbours of the same source, which state parts of the same kernels:
        assembly, code object, Triton's JSON; or are a database and its log."""
        groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for path in seen:
            groups[_source(path)].append(path)
        return [*dict.fromkeys(path for file in due for path in groups[_source(file)])]

    def _read_files(self, paths: Iterable[str], seen: Snapshot) -> FileReadings:
        analysis = Analysis(self._options, self._paths)
        return {path: self._read_file(path, seen[path], analysis) for path in paths}

    def _read_file(self, path: str, stamp: Stamp, analysis: Analysis) -> FileReading:
        is_named = self.outputs.is_named(path)
        events = Events()
        blobs = open_file(
            File(path, is_named, None if is_named else stamp.size),
            among=self._paths,
            within=self._options.bounds,
        )
        items = [*read_inputs(blobs, events, analysis.results, self._options)]
        if is_named and not self._paths[1:]:  # of several, another may have the chosen kernels
            items += conclusions([(path, events)], self._options._replace(is_gate=False))
        else:
            items += (Missing.problem([host]) for host in each(events, "missing"))
        return FileReading.of(items, events, stamp)


def _source(path: str) -> tuple[str, str]:
    """The folder, and the name of the source that a file was compiled from."""
    return os.path.dirname(path), source_name(path.removesuffix(_SIDECAR).removesuffix(LOG))


def nothing_chosen(
    readings: Mapping[str, FileReading], paths: Sequence[str], options: Options
) -> list[Problem]:
    """One problem per path with kernels, if none of any path is chosen."""
    if any(chosen(reading.events) for reading in readings.values()):
        return []
    by_path: dict[str, Events] = {}
    for file, reading in readings.items():
        path = next((path for path in paths if is_under(file, path)), file)
        by_path.setdefault(path, Events()).update(reading.events)
    left_out = {path: events for path, events in by_path.items() if total(events, *LEFT_OUT)}
    problems = (nothing_found(path, events, options) for path, events in left_out.items())
    return [problem for problem in problems if problem]


def results_of(readings: Mapping[str, FileReading]) -> list[Result]:
    """The kernels of all readings, in their order."""
    return [result for reading in readings.values() for result in reading.results]
