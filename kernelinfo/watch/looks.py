"""Looks: readings of files compared with those before and with the first."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from functools import partial
from typing import Literal, NamedTuple

from kernelinfo.analysis.inputs import LEFT_OUT, Events, chosen, nothing_found, total
from kernelinfo.analysis.options import Options
from kernelinfo.compare import compare
from kernelinfo.compare.changes import Effect, Move, Pair, effect
from kernelinfo.compare.summary import Build, KernelSummary, build, place_under
from kernelinfo.kernel import Finding, Result
from kernelinfo.pressure.debug_information import SourceText
from kernelinfo.pressure.measure import Look, measure_again
from kernelinfo.pressure.nouns import Peak, Story
from kernelinfo.reading.blob import Problem
from kernelinfo.watch.files import Stamp, is_under, stamp_of


class FileReading(NamedTuple):
    """The kernels of one file, as of one reading."""

    stamp: Stamp | None
    """None for a source: `WatchedSources` keeps the stamps of sources and headers."""
    results: tuple[Result, ...]
    problems: tuple[Problem, ...]
    events: Events

    @classmethod
    def of(cls, items: Sequence[object], events: Events, stamp: Stamp | None = None) -> FileReading:
        """The reading of the items of an analysis."""
        results = tuple(item for item in items if isinstance(item, Result))
        problems = tuple(item for item in items if isinstance(item, Problem))
        return cls(stamp, results, problems, events)


FileReadings = dict[str, FileReading]
"""Path -> the last reading of the file."""


def results_of(readings: Mapping[str, FileReading]) -> list[Result]:
    """The kernels of all readings, in their order."""
    return [result for reading in readings.values() for result in reading.results]


class WatchedKernel(NamedTuple):
    """One kernel of a look, and what moved in it."""

    result: Result
    since_previous: Pair | None = None
    """What moved since the look before; None for the first look, a new kernel, and a file that was
    not read again."""
    since_first: Pair | None = None
    """What moved since the kernel was first seen; None if it is as it was."""
    is_new: bool = False
    """True for a kernel that the look before did not have; False in the first look."""
    new_findings: tuple[Finding, ...] = ()
    """Findings of rules without a finding in the look before."""
    ended_findings: tuple[Finding, ...] = ()
    """Findings of the look before, of rules without a finding now."""
    story: Story | None = None
    """Its live registers; None if they were not measured: the kernel did not change, or its code
    cannot be followed."""
    peak_text: str = ""
    """Text of the peak's source line, or the instruction where no source line can be read."""

    @property
    def moves(self) -> tuple[Move, ...]:
        """Numbers that moved since the previous look."""
        return self.since_previous.moves if self.since_previous else ()

    @property
    def status(self) -> Effect | Literal["new"]:
        """The effect of all moves since the previous look."""
        return "new" if self.is_new else effect(self.moves)

    @property
    def has_changed(self) -> bool:
        """True for a new kernel, or if a number or finding changed since the previous look."""
        return self.status != "same" or bool(self.new_findings or self.ended_findings)


class WatchLook(NamedTuple):
    """One look at all files: each kernel and what moved in it, or the failure of a build."""

    number: int
    """1 for the first."""
    time: datetime
    """With the zone of this machine."""
    kernels: tuple[WatchedKernel, ...]
    """Changed kernels first, the worst before the others; then in the order of reading."""
    gone: tuple[KernelSummary, ...] = ()
    """Kernels of the look before that are not there now."""
    problems: tuple[Problem, ...] = ()  # parts that could not be read
    build: str = ""
    """The command that ran before the look; empty if somebody else builds."""
    seconds: float | None = None
    """Duration of the command; None without one."""
    failure: str = ""
    """Message of the command that failed: no kernel was read again. Empty if it worked."""
    is_first: bool = False
    """True for the first look that found files: it shows all kernels."""

    @property
    def changed(self) -> tuple[WatchedKernel, ...]:
        """Kernels that changed since the previous look."""
        return tuple(kernel for kernel in self.kernels if kernel.has_changed)


Event = WatchLook | str
"""A look; or the command that was started, whose look follows when it ends."""


# Peaks of live registers of the kernels that a look shows.

_MOST_KERNELS = 8
"""Most kernels to measure in one look; each takes some milliseconds."""
_MOST_CODE = 1 << 18
"""Bytes of a kernel's code. A larger one takes seconds; `kernelinfo pressure` measures it."""

_MOST_FILE = 64 << 20
"""Bytes of a file. A larger one takes long to open again for each kernel."""


def with_peaks(look: WatchLook, options: Options) -> WatchLook:
    """The look, with the peaks of at most `_MOST_KERNELS` kernels that changed; in the first look,
    of its first kernels."""
    changed = look.kernels if look.is_first else look.changed
    kernels, problems = [*look.kernels], [*look.problems]
    for index, kernel in enumerate(kernels[: min(len(changed), _MOST_KERNELS)]):
        if story := _measured(kernel.result, options, problems.append):
            text = next(_source_text(story.peak, kernel.result), story.peak.instruction)
            kernels[index] = kernel._replace(story=story, peak_text=text)
    return look._replace(kernels=tuple(kernels), problems=tuple(problems))


def _measured(result: Result, options: Options, tell: Callable[[Problem], object]) -> Story | None:
    """One kernel's registers; None if its code or file is too long, or cannot be followed."""
    kind, path = result.kernel.code_object.kind, result.kernel.code_object.path
    if kind == "build-log" or (result.kernel.code_bytes or 0) > _MOST_CODE:
        return None
    if (stamp := stamp_of(path)) and stamp.size > _MOST_FILE:
        return None
    (measured,) = measure_again([result], Look(), options, kind, tell)
    return measured.story if measured else None


def _source_text(peak: Peak, result: Result) -> Iterator[str]:
    """The text of the peak's source line, if there is one to read."""
    if peak.at.source is None:
        return
    folder = os.path.dirname(result.kernel.code_object.path)
    lines = SourceText(None).lines(peak.at.source.file, folder)
    if not isinstance(lines, str) and peak.at.source.line <= len(lines):
        yield lines[peak.at.source.line - 1].strip()


_ORDER = ("worse", "mixed", "changed", "better", "new", "moved", "same")
"""Status of a kernel, in the order in which a look has them."""

_KernelPlace = tuple[str, int]
"""A kernel: path of its file, and its index among the kernels of the file."""
_KernelId = tuple[str, str, str]
"""A kernel: its code object, target and symbol."""


class LookHistory:
    """The looks of one run, each compared with the previous and the first one."""

    def __init__(self) -> None:
        self._looks = 0
        self._first: dict[_KernelId, KernelSummary] = {}
        """Each kernel as it was when it was first seen."""
        self._since_first: dict[_KernelPlace, Pair] = {}
        """Kernel -> its numbers when it was first seen, and now, if any differs."""
        self._last: FileReadings = {}
        """Path -> the last reading of the file, also of one that is gone."""
        self._shown: FileReadings = {}
        """The readings of the look before."""

    def failed(self, failure: str, command: str, seconds: float | None = None) -> WatchLook:
        """The look after a command that failed. The next look is compared with the one before the
        failure."""
        self._looks += 1
        return WatchLook(self._looks, _now(), (), build=command, seconds=seconds, failure=failure)

    def look(
        self,
        readings: FileReadings,
        of_paths: Iterable[Problem] = (),
        command: str = "",
        seconds: float | None = None,
    ) -> WatchLook:
        """A look at these readings. `of_paths` are problems of paths without any file or chosen
        kernel."""
        self._looks += 1
        is_first = not self._last
        shown = self._shown
        touched = {path: new for path, new in readings.items() if shown.get(path) is not new}
        gone = self._shown.keys() - readings.keys()
        earlier = {path: self._last[path] for path in (*touched, *gone) if path in self._last}
        new = _build(touched)
        comparison = compare(_build(earlier), new)
        places = [place for place, _ in _placed(touched)]
        summaries = dict(zip(places, new.kernels, strict=True))
        pairs = zip(places, comparison.pairs_of(new.kernels), strict=True)
        since_previous = {place: pair for place, pair in pairs if pair}
        self._compare_with_first({*touched, *gone}, summaries, since_previous)
        found_before = _findings(earlier)
        kernels = []
        for (path, index), result in _placed(readings):
            pair = since_previous.get((path, index))
            kernel = WatchedKernel(result, pair, self._since_first.get((path, index)))
            if path in touched and not is_first:
                kernel = _with_findings(kernel, found_before)._replace(is_new=pair is None)
            kernels.append(kernel)
        self._last |= readings
        self._shown = dict(readings)
        problems = (problem for reading in readings.values() for problem in reading.problems)
        return WatchLook(
            self._looks,
            _now(),
            tuple(sorted(kernels, key=_changed_first)),
            comparison.gone,
            tuple(dict.fromkeys((*of_paths, *problems))),
            command,
            seconds,
            is_first=is_first,
        )

    def _compare_with_first(
        self,
        paths: Set[str],
        summaries: Mapping[_KernelPlace, KernelSummary],
        since_previous: Mapping[_KernelPlace, Pair],
    ) -> None:
        """Compare the kernels of these files with their first numbers, also across renames.

        Kernels of one name in one text cannot be told apart, and are not compared.
        """
        pairs = self._since_first.items()
        self._since_first = {place: pair for place, pair in pairs if place[0] not in paths}
        firsts = {}
        named = Counter(map(_id, summaries.values()))
        for place, kernel in summaries.items():
            before = since_previous[place].old if place in since_previous else kernel
            firsts[_id(kernel)] = first = self._first.get(_id(before), before)
            if (pair := Pair(first, kernel)).moves and named[_id(kernel)] == 1:
                self._since_first[place] = pair
        self._first |= firsts


def _now() -> datetime:
    return datetime.now().astimezone()


def _placed(readings: Mapping[str, FileReading]) -> Iterator[tuple[_KernelPlace, Result]]:
    for path, reading in readings.items():
        for index, result in enumerate(reading.results):
            yield (path, index), result


def _build(readings: FileReadings) -> Build:
    return build(results_of(readings), partial(place_under, ""))


def _id(kernel: KernelSummary) -> _KernelId:
    return kernel.code_object, kernel.target, kernel.symbol


_Findings = dict[_KernelId, tuple[Finding, ...]]


def _findings(readings: FileReadings) -> _Findings:
    results, kernels = results_of(readings), _build(readings).kernels
    return {_id(kernel): result.findings for kernel, result in zip(kernels, results, strict=True)}


def _with_findings(kernel: WatchedKernel, before: _Findings) -> WatchedKernel:
    """The kernel with its new and ended findings; a new kernel has neither."""
    if kernel.since_previous is None:
        return kernel
    had, has = before[_id(kernel.since_previous.old)], kernel.result.findings
    return kernel._replace(new_findings=_without(has, had), ended_findings=_without(had, has))


def _without(findings: tuple[Finding, ...], excluded: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings of rules that have no finding in `excluded`."""
    rules = {finding.rule for finding in excluded}
    return tuple(finding for finding in findings if finding.rule not in rules)


def _changed_first(kernel: WatchedKernel) -> tuple[int, bool]:
    return _ORDER.index(kernel.status), not kernel.has_changed


def nothing_chosen(
    readings: Mapping[str, FileReading], paths: Sequence[str], options: Options
) -> list[Problem]:
    """One problem per path with kernels, if no kernel of any path is chosen."""
    if any(chosen(reading.events) for reading in readings.values()):
        return []
    by_path: dict[str, Events] = {}
    for file, reading in readings.items():
        path = next((path for path in paths if is_under(file, path)), file)
        by_path.setdefault(path, Events()).update(reading.events)
    left_out = {path: events for path, events in by_path.items() if total(events, *LEFT_OUT)}
    problems = (nothing_found(path, events, options) for path, events in left_out.items())
    return [problem for problem in problems if problem]
