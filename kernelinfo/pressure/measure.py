"""Paths -> register pressure of their kernels."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby, zip_longest
from typing import NamedTuple

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.inputs import Events, RunEvent, conclusions, opened, read_inputs
from kernelinfo.analysis.kernels import opened_again, read_kernels
from kernelinfo.analysis.options import Options
from kernelinfo.analysis.parallel import ReadWorker, processes, shared_out, tasks
from kernelinfo.errors import ReadError, bug, survived
from kernelinfo.kernel import Kernel, Repeat, Result
from kernelinfo.kernel.code_object import LoopCounts, TouchedRegisters
from kernelinfo.kernel.names import demangle
from kernelinfo.kernel.pattern import matches
from kernelinfo.kernel.traits import Traits
from kernelinfo.model.calculator import VgprStep, vgpr_steps
from kernelinfo.pressure.assembly import AssemblyText
from kernelinfo.pressure.calls import CalledFunctions, body_of, call_needs
from kernelinfo.pressure.curve import Curve, curve, loop_counts
from kernelinfo.pressure.debug_information import LdsUse, lds_of
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.in_flight import WaitFlow
from kernelinfo.pressure.kernel_code import callees_of, read_debug_units, read_functions, touched_by
from kernelinfo.pressure.messages import say
from kernelinfo.pressure.nouns import CallNeed, Story
from kernelinfo.pressure.story import Storyteller
from kernelinfo.reading.assembly.instructions import is_lds_access
from kernelinfo.reading.blob import Blob, Note, Problem
from kernelinfo.reading.code_object import kernel_symbols
from kernelinfo.reading.containers.parts import problem
from kernelinfo.reading.debug_entries import DebugUnit
from kernelinfo.reading.elf import read_elf
from kernelinfo.reading.facts import Numbers
from kernelinfo.reading.messages import in_kernel
from kernelinfo.rules import Rule, Selection, findings


class Measured(NamedTuple):
    """One kernel or device function, and its register pressure."""

    result: Result  # of a function that is no kernel without occupancy and numbers
    story: Story
    curve: Curve | None  # if asked for
    code: Curve | None  # if asked for; a point for each instruction
    lds: LdsUse | None  # static LDS, if asked for; None without debug information
    is_kernel: bool = True


NOT_ALLOCATED = "registers above those that the descriptor allocates"
"""Reason for inexact results: the text is not exactly the code that the kernel runs."""

RETURNS = "results: which registers a function returns is not in its code"
"""Reason for inexact results of device functions."""

MeasureItem = Measured | Problem | Note  # what a measurement yields


class Look(NamedTuple):
    """Options of a measurement, which other processes may get."""

    at: Callable[[LiveFunction], int | None] | None = None
    """Index of the instruction whose live values are wanted; None for the peak."""
    curve: bool = False
    code: bool = False
    blocks: bool = False
    lds: bool = False
    most_loops: int | None = None
    """Number of loops that are wanted, those with the highest peaks; None for all."""
    function: str | None = None
    """Name of device functions that are wanted of files without a chosen kernel."""


_LOOK = Look()


def measure(
    path: str, options: Options, look: Look = _LOOK, jobs: int = 1
) -> Iterator[MeasureItem]:
    """Register pressure of each kernel of a path, one by one; problems and notes in between.

    `jobs` is the number of processes; 0 starts as many as pay.
    """
    work = [*tasks([path])] if jobs != 1 and not options.compiled else []
    if work and (count := processes(work, jobs)) > 1:
        worker = _MeasureWorker(options, [path], look)
        yield from shared_out(work, options, count, worker, at_once=1)
        return
    events, read = Events(), partial(_measured, Analysis(options, [path]), look)
    yield from read_inputs(opened(path, options), events, read, options)
    yield from conclusions([(path, events)], options)


class _MeasureWorker(ReadWorker):
    """A process that measures kernels next to others."""

    def __init__(self, options: Options, among: Sequence[str], look: Look) -> None:
        super().__init__(options, among)
        self._look = look

    def read(self, blob: Blob) -> Iterator[MeasureItem | RunEvent]:
        return _measured(self.analysis, self._look, blob)


def _measured(analysis: Analysis, look: Look, blob: Blob) -> Iterator[MeasureItem | RunEvent]:
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
            yield _of_function(measured) if isinstance(measured, Measured) else measured
        return
    yield from measure_in(blob, results, look, analysis.selection)


def _of_function(measured: Measured) -> Measured:
    """What was measured of a function that is no kernel."""
    story = measured.story
    reasons = (*story.reasons, RETURNS)
    return measured._replace(story=story._replace(exact=False, reasons=reasons), is_kernel=False)


def measure_again(
    results: Iterable[Result],
    look: Look,
    options: Options,
    kinds: Collection[str] = ("assembly", "code-object"),
    tell: Callable[[Problem], object] = lambda problem: None,
) -> Iterator[Measured | None]:
    """Register pressure of each kernel of files of some kinds, which are opened again.

    None for files of other kinds, for standard input, if a needed llvm-objdump is missing, and
    after a bug of kernelinfo, the only problem that is told.
    """
    for code_object, group in groupby(results, lambda result: result.kernel.code_object):
        of_object = list(group)
        blobs = opened_again([code_object] if code_object.kind in kinds else [], options)
        measured = (
            item
            for _, blob in blobs
            for item in survived(
                measure_in(blob, of_object, look, options.selection), partial(problem, blob)
            )
        )
        for _, item in zip_longest(of_object, measured):
            if isinstance(item, Problem) and item.code == "bug":
                tell(item)
            yield item if isinstance(item, Measured) else None


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


def measure_in(
    blob: Blob, results: Sequence[Result], look: Look, selection: Selection
) -> Iterator[MeasureItem]:
    """Register pressure of the kernels of one blob, with what rules of the selection find in their
    code, and problems."""
    if not results:
        return
    rules = [rule for rule in selection.rules() if rule.is_on_code]
    in_text = results[0].kernel.code_object.kind == "assembly"
    functions: Iterator[tuple[Result, LiveFunction | Problem | None]]
    units: Callable[[int], Iterable[DebugUnit]]
    callees: CalledFunctions
    if in_text:
        text = AssemblyText(blob.data.read())
        functions, units = _of_text(text, blob, results), text.units
        callees = text.callees
    else:
        functions = read_functions(blob, results)
        units = partial(read_debug_units, blob)
        callees = callees_of(blob.data, results[0].kernel.target)
    for result, function in functions:
        kernel = result.kernel
        if isinstance(function, Problem):
            yield function
        elif function and function.code:
            try:
                code = body_of(function, callees)
                touches = touched_by(function, code, callees)
                judged = _judged(result, touches, loop_counts(function), rules)
                calls = call_needs(function, code, callees, _register_files(kernel))
                yield Measured(
                    judged,
                    _story(judged, function, calls, look),
                    curve(function) if look.curve else None,
                    curve(function, len(function.code)) if look.code else None,
                    _lds(units, kernel, function) if look.lds else None,
                )
            except Exception as error:
                yield problem(blob, in_kernel(kernel.symbol, bug(error)))
        elif function is None or (in_text and kernel.code_bytes != 0):
            yield problem(blob, say("instructions-missing", kernel=kernel.symbol))
        else:  # every path of it ends in __builtin_unreachable
            yield Note(blob.path, say("kernel-empty", kernel=kernel.symbol), blob.member)


def _of_text(
    text: AssemblyText, blob: Blob, results: Iterable[Result]
) -> Iterator[tuple[Result, LiveFunction | Problem | None]]:
    for result in results:
        kernel = result.kernel
        line, target = kernel.line, kernel.target
        try:
            yield result, None if line is None else text.function(kernel.symbol, line, target)
        except Exception as error:
            yield result, problem(blob, in_kernel(kernel.symbol, bug(error)))


def _judged(
    result: Result,
    touches: TouchedRegisters | None,
    loops: tuple[LoopCounts, ...],
    rules: Sequence[Rule],
) -> Result:
    """The result with the findings of rules that read its code."""
    kernel = result.kernel._replace(touched=touches, loops=loops)
    numbers = {rule.number for rule in rules}
    of_others = [finding for finding in result.findings if finding.rule not in numbers]
    if result.occupancy:
        of_others += findings(kernel, result.occupancy, rules)
    of_others.sort(key=lambda finding: finding.rule)
    return result._replace(kernel=kernel, findings=tuple(of_others))


def _lds(
    units: Callable[[int], Iterable[DebugUnit]], kernel: Kernel, function: LiveFunction
) -> LdsUse | None:
    """Variables in a kernel's LDS; None if debug information does not describe it.

    0 bytes if the kernel accesses LDS and reserves none: the launch sets its size.
    """
    size = kernel.used.lds_bytes
    if not size:
        texts = (
            instruction.text for instruction in function.instructions if "ds" in instruction.text
        )
        is_reached = any(is_lds_access(text.encode()) for text in texts)
        return LdsUse(0, ()) if size == 0 and is_reached else None
    return lds_of(units(kernel.line or 1), kernel.symbol, size)


def _story(
    result: Result, function: LiveFunction, calls: tuple[CallNeed, ...], look: Look
) -> Story:
    kernel, occupancy = result.kernel, result.occupancy
    files = _register_files(kernel)
    steps: tuple[VgprStep, ...] = ()
    if kernel.target and occupancy:
        steps = vgpr_steps(kernel.target, occupancy)
    story = Storyteller(function, files, steps).story(
        look.at(function) if look.at else None,
        look.blocks,
        look.most_loops,
        kernel.touched.unwritten if kernel.touched else (),
        calls,
        wait_flow(kernel, function),
    )
    if not story.exact or not _exceeds(story, kernel):
        return story
    return story._replace(exact=False, reasons=(NOT_ALLOCATED,))


def wait_flow(kernel: Kernel, function: LiveFunction) -> WaitFlow:
    """The loads in flight at each instruction of a kernel's code, or of a function beside it."""
    counters = kernel.target.counters if kernel.target else ()
    return WaitFlow(function, counters, bool(kernel.code_object.stamps))


def _register_files(kernel: Kernel) -> str:
    """The target's `agprs.file`."""
    return kernel.target.agprs.file if kernel.target else "unified"


def _exceeds(story: Story, kernel: Kernel) -> bool:
    """True if the text names registers that the kernel's descriptor does not allocate."""
    numbers = kernel.traits.numbers
    vectors, sgprs = story.used.vector(story.files), story.used.sgprs
    return vectors > (numbers.reserved_vgprs or vectors) or sgprs > (
        numbers.reserved_sgprs or sgprs
    )


def _device_functions(blob: Blob, name: str) -> list[Result]:
    """The functions that `name` means, in a file with kernels: a whole name or symbol first, else
    what `pattern.matches` finds."""
    kernels = [item for item in read_kernels(blob, Options(), {}) if isinstance(item, Kernel)]
    if not kernels:
        return []
    lines: Mapping[str, int | None]
    if kernels[0].code_object.kind == "assembly":
        lines = AssemblyText(blob.data.read()).functions
    else:
        lines = dict.fromkeys(kernel_symbols(read_elf(blob.data, []), []).code)
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
