"""Looks: readings compared with those before and with the first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial

from kernelinfo.compare import Comparison, compare
from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import Build, build, place_under
from kernelinfo.kernel import Finding, Result
from kernelinfo.reading.blob import Problem
from kernelinfo.watch.nouns import FileReading, WatchedKernel, WatchLook
from kernelinfo.watch.reading import FileReadings, results_of

_ORDER = ("worse", "mixed", "changed", "better", "new", "moved", "same")
"""Status of a kernel, in the order in which a look has them."""

_KernelPlace = tuple[str, int]
"""A kernel: path of its file, and its index among the kernels of the file."""


class LookHistory:
    """The looks of one run."""

    def __init__(self) -> None:
        self._looks = 0
        self._first: FileReadings = {}
        """Path -> the first reading of the file."""
        self._last: FileReadings = {}
        """Path -> the last reading of the file, also of one that is gone."""
        self._shown: FileReadings = {}
        """The readings of the look before."""

    def failed(self, failure: str, command: str, seconds: float | None = None) -> WatchLook:
        """The look after a command that failed. The next look is compared with the one before."""
        self._looks += 1
        return WatchLook(self._looks, _now(), (), build=command, seconds=seconds, failure=failure)

    def look(
        self,
        readings: FileReadings,
        missing: Iterable[Problem] = (),
        command: str = "",
        seconds: float | None = None,
    ) -> WatchLook:
        """The look at these readings. `missing` are problems of paths without any file."""
        self._looks += 1
        is_first = not self._last
        touched = {path: one for path, one in readings.items() if self._shown.get(path) is not one}
        gone = self._shown.keys() - readings.keys()
        known = {path: self._last[path] for path in (*touched, *gone) if path in self._last}
        comparison, since_previous = _paired(known, touched)
        self._first = readings | self._first
        since_first = self._since_first(readings)
        found_before = _findings(known)
        kernels = []
        for (path, index), result in _placed(readings):
            pair = since_previous.get((path, index))
            kernel = WatchedKernel(result, pair, since_first.get((path, index)))
            if path in touched and not is_first:
                kernel = _with_findings(kernel, found_before)._replace(is_new=pair is None)
            kernels.append(kernel)
        self._last |= readings
        self._shown = dict(readings)
        problems = (problem for one in readings.values() for problem in one.problems)
        return WatchLook(
            self._looks,
            _now(),
            tuple(sorted(kernels, key=_changed_first)),
            comparison.gone,
            (*missing, *problems),
            command,
            seconds,
            is_first=is_first,
        )

    def _since_first(self, readings: FileReadings) -> dict[_KernelPlace, Pair]:
        """Kernel -> its numbers when it was first seen, and now, if any differs."""
        moved = {path: one for path, one in readings.items() if self._first[path] is not one}
        _, pairs = _paired({path: self._first[path] for path in moved}, moved)
        return {place: pair for place, pair in pairs.items() if pair.moves}


def _now() -> datetime:
    return datetime.now().astimezone()


def _placed(readings: Mapping[str, FileReading]) -> Iterator[tuple[_KernelPlace, Result]]:
    for path, one in readings.items():
        for index, result in enumerate(one.results):
            yield (path, index), result


def _paired(
    before: FileReadings, after: FileReadings
) -> tuple[Comparison, dict[_KernelPlace, Pair]]:
    """The comparison of some readings, and the pair of each kernel that both have."""
    old, new = _build(before), _build(after)
    comparison = compare(old, new)
    pairs = zip(_placed(after), comparison.pairs_of(new.kernels), strict=True)
    return comparison, {place: pair for (place, _), pair in pairs if pair}


def _build(readings: FileReadings) -> Build:
    return build(results_of(readings), partial(place_under, ""))


_Findings = dict[tuple[str, str, str], tuple[Finding, ...]]
"""(code object, target, symbol) -> findings of the kernel."""


def _findings(readings: FileReadings) -> _Findings:
    results, kernels = results_of(readings), _build(readings).kernels
    pairs = zip(kernels, results, strict=True)
    return {(one.code_object, one.target, one.symbol): of.findings for one, of in pairs}


def _with_findings(kernel: WatchedKernel, before: _Findings) -> WatchedKernel:
    """The kernel with its new and ended findings. A new kernel has none of them."""
    if kernel.since_previous is None:
        return kernel
    old = kernel.since_previous.old
    had, has = before[old.code_object, old.target, old.symbol], kernel.result.findings
    return kernel._replace(new_findings=_without(has, had), ended_findings=_without(had, has))


def _without(found: tuple[Finding, ...], others: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Findings of rules without a finding in `others`."""
    rules = {one.rule for one in others}
    return tuple(one for one in found if one.rule not in rules)


def _changed_first(kernel: WatchedKernel) -> tuple[int, bool]:
    return _ORDER.index(kernel.status), not kernel.has_changed
