"""Peaks of live registers of the kernels that a look shows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from kernelinfo.analysis.options import Options
from kernelinfo.kernel import Result
from kernelinfo.pressure.measure import Look, measure_again
from kernelinfo.pressure.nouns import Peak, Story
from kernelinfo.pressure.source_text import SourceText
from kernelinfo.reading.blob import Problem
from kernelinfo.watch.files import stamp_of
from kernelinfo.watch.nouns import PeakLine, WatchLook

_MOST_KERNELS = 8
"""Most kernels to measure in one look; each takes some milliseconds."""
_MOST_CODE = 1 << 18
"""Bytes of a kernel's code. A larger one takes seconds; `kernelinfo pressure` measures it."""

_MOST_FILE = 64 << 20
"""Bytes of a file. A larger one takes long to open again for each kernel."""


def with_peaks(look: WatchLook, options: Options) -> WatchLook:
    """The look with the peaks of the kernels that changed; of the first look, of its first ones."""
    chosen = look.kernels if look.is_first else look.changed
    problems = [*look.problems]
    measured = {
        index: peak
        for index, kernel in enumerate(look.kernels[: len(chosen)][:_MOST_KERNELS])
        if (peak := _peak(kernel.result, options, problems.append))
    }
    kernels = enumerate(look.kernels)
    return look._replace(
        kernels=tuple(one._replace(peak=measured.get(index)) for index, one in kernels),
        problems=tuple(problems),
    )


def _peak(result: Result, options: Options, tell: Callable[[Problem], object]) -> PeakLine | None:
    """The peak of one kernel; None if its code or file is too long, or cannot be followed."""
    kind, path = result.kernel.code_object.kind, result.kernel.code_object.path
    if kind == "build-log" or (result.kernel.code_bytes or 0) > _MOST_CODE:
        return None
    if (found := stamp_of(path)) and found.size > _MOST_FILE:
        return None
    (measured,) = measure_again([result], Look(), options, kind, tell)
    return _line(measured.story, result) if measured else None


def _line(story: Story, result: Result) -> PeakLine:
    peak = story.peak
    return PeakLine(peak, story.exact, next(_text(peak, result), peak.instruction))


def _text(peak: Peak, result: Result) -> Iterator[str]:
    """The text of the peak's source line, if there is one to read."""
    if peak.at.source is None:
        return
    folder = os.path.dirname(result.kernel.code_object.path)
    lines = SourceText(None).lines(peak.at.source.file, folder)
    if not isinstance(lines, str) and peak.at.source.line <= len(lines):
        yield lines[peak.at.source.line - 1].strip()
