"""Paths -> register pressure of their kernels and functions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import partial

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.inputs import Events, RunEvent, conclusions, opened, read_inputs
from kernelinfo.analysis.kernels import read_kernels
from kernelinfo.analysis.options import Options
from kernelinfo.analysis.parallel import ReadWorker, processes, shared_out, tasks
from kernelinfo.errors import ReadError
from kernelinfo.kernel import Kernel, Repeat, Result
from kernelinfo.kernel.names import demangle, matches
from kernelinfo.kernel.traits import Traits
from kernelinfo.pressure.kernel_code import code_in
from kernelinfo.pressure.measure import (
    Look,
    Measured,
    MeasureItem,
    measure_in,
    of_function,
)
from kernelinfo.pressure.messages import say
from kernelinfo.pressure.nouns import Story
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.facts import Numbers


def measure(path: str, options: Options, look: Look, jobs: int = 1) -> Iterator[MeasureItem]:
    """Register pressure of each kernel of a path, one by one; problems and notes in between.

    `jobs` is the number of processes; 0 starts as many as pay.
    """
    work = [*tasks([path])] if jobs != 1 and not options.compiled else []
    if work and (count := processes(work, jobs)) > 1:
        worker = ReadWorker(options, [path], read=partial(_measured, look=look))
        yield from shared_out(work, options, count, worker, at_once=1)
        return
    events, read = Events(), partial(_measured, Analysis(options, [path]), look=look)
    yield from read_inputs(opened(path, options), events, read, options)
    yield from conclusions([(path, events)], options)


def _measured(analysis: Analysis, blob: Blob, look: Look) -> Iterator[MeasureItem | RunEvent]:
    """Register pressure of the kernels of one blob, with problems, notes and events."""
    results = []
    for item in analysis.results(blob):
        if isinstance(item, Result):
            results.append(item)
        else:
            yield RunEvent("repeated") if isinstance(item, Repeat) else item
    if look.function and not results:
        results = _device_functions(blob, look.function)
        yield RunEvent("chosen", os.path.dirname(blob.path), len(results))
        for measured in measure_in(blob, results, look, analysis.selection):
            yield of_function(measured) if isinstance(measured, Measured) else measured
        return
    yield from measure_in(blob, results, look, analysis.selection)


def live_registers(source: str | os.PathLike[str], kernel: str) -> Story:
    """Register pressure of one kernel or device function: peak, live values, lines and loops.

    `source` is a path. `kernel` is a name as `pattern.matching` takes it. Raises
    `ReadError` if it does not name exactly one kernel or the code cannot be read.
    """

    options = Options(named=kernel, chooses=lambda *names: matches(kernel, *names))
    stories = []
    for item in measure(os.fspath(source), options, Look(blocks=True, function=kernel)):
        if isinstance(item, Problem):
            raise ReadError(item.located)
        if isinstance(item, Measured):
            stories.append(item.story)
    if len(stories) != 1:
        count = len(stories)
        raise ReadError(say("kernels-of-one-name", source=source, count=count, kernel=kernel))
    return stories[0]


def _device_functions(blob: Blob, name: str) -> list[Result]:
    """The functions that `name` means, in a file with kernels: a whole name or symbol first, else
    what `pattern.matches` finds."""
    kernels = [item for item in read_kernels(blob, Options(), {}) if isinstance(item, Kernel)]
    if not kernels:
        return []
    lines: Mapping[str, int | None] = code_in(blob, kernels[0]).functions
    names = {symbol: demangle(symbol) for symbol in lines}
    for kernel in kernels:
        names.pop(kernel.symbol, None)
    chosen = [symbol for symbol, spoken in names.items() if name in (symbol, spoken)]
    chosen = chosen or [
        mangled for mangled, spoken in names.items() if matches(name, spoken, mangled)
    ]
    target, compiled_for = kernels[0].target, kernels[0].traits.compiled_for
    traits = Traits(target, compiled_for, Numbers(), None, ())
    return [
        Result(
            Kernel(
                kernels[0].code_object,
                symbol,
                names[symbol],
                traits,
                code_bytes=None,
                places=(),
                line=lines[symbol],
                code=None,
                source=None,
            ),
            None,
        )
        for symbol in chosen
    ]
