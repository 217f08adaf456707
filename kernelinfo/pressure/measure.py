"""Paths and blobs -> register pressure of their kernels and functions, and counts of their code."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.inputs import Events, add, conclusions, opened, read_inputs
from kernelinfo.analysis.kernels import opened_again, read_kernels
from kernelinfo.analysis.options import Options
from kernelinfo.errors import ReadError, bug, survived
from kernelinfo.kernel import Kernel, Repeat, Result, Rule
from kernelinfo.kernel.names import demangle, matches
from kernelinfo.kernel.traits import Traits
from kernelinfo.model.calculator import Rung, vgpr_steps
from kernelinfo.pressure.curve import Curve, curve
from kernelinfo.pressure.debug_information import LdsUse, lds_of
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.kernel_code import AssemblyText, code_in, functions_of
from kernelinfo.pressure.messages import NO_PROGRAM, say
from kernelinfo.pressure.nouns import Story
from kernelinfo.pressure.story import KernelCode
from kernelinfo.reading.assembly.instructions import is_lds_access
from kernelinfo.reading.blob import Blob, Note, Problem
from kernelinfo.reading.containers.formats import problem
from kernelinfo.reading.facts import DebugUnit, Numbers
from kernelinfo.reading.messages import in_kernel
from kernelinfo.rules import Selection, advised, findings

if TYPE_CHECKING:
    from kernelinfo.analysis.options import CodeAndRemarks


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

OF_CALLERS = "a device function also saves registers of its callers"
"""Reason why it is not known what a device function needs."""

MeasureItem = Measured | Problem | Note  # what a measurement yields


class Look(NamedTuple):
    """Options of a measurement, which can be sent to other processes."""

    at: Callable[[LiveFunction], int | None] | None = None
    """Index of the instruction whose live values are wanted; None for the peak."""
    curve: bool = False
    code: bool = False
    blocks: bool = False
    lds: bool = False
    most_loops: int | None = None
    """Number of loops that are wanted, those with the highest peaks; None for all."""
    function: str | None = None
    """Name of the device functions that are wanted from files without a chosen kernel."""


def of_function(measured: Measured) -> Measured:
    """The measurement of a function that is not a kernel."""
    story = measured.story
    reasons = (*story.reasons, RETURNS)
    story = story._replace(
        exact=False, reasons=reasons, needs=None, needs_unknown=OF_CALLERS, needs_curve=()
    )
    return measured._replace(story=story, is_kernel=False)


def measure_again(
    results: Iterable[Result],
    look: Look,
    options: Options,
    kinds: Collection[str] = ("assembly", "code-object"),
    tell: Callable[[Problem], object] = lambda problem: None,
) -> Iterator[Measured | None]:
    """Register pressure of each kernel in files of these kinds, which are opened again.

    None for a kernel that was not measured: its file is of another kind or standard input, its code
    could not be read (for example without a needed llvm-objdump), or kernelinfo has a bug. `tell`
    gets only the bugs.
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


def measure_in(
    blob: Blob, results: Sequence[Result], look: Look, selection: Selection
) -> Iterator[MeasureItem]:
    """Register pressure of the kernels of one blob, with the findings of the selected rules in
    their code, and problems."""
    if not results:
        return
    rules = [rule for rule in selection.rules() if rule.is_on_code or rule.reads == "kernel"]
    code = code_in(blob, results[0].kernel)
    for result, function in functions_of(code, blob, results):
        kernel = result.kernel
        if isinstance(function, Problem):
            yield function
        elif function and function.code:
            try:
                kernel_code = KernelCode(kernel, function, code.callees)
                story = _story(kernel_code, result, look)
                yield Measured(
                    _judged(result, kernel_code.kernel, rules),
                    story,
                    curve(function) if look.curve else None,
                    curve(function, len(function.code)) if look.code else None,
                    _lds(code.units, kernel, function) if look.lds else None,
                )
            except Exception as error:
                yield problem(blob, in_kernel(kernel.symbol, bug(error)))
        elif function is None or (isinstance(code, AssemblyText) and kernel.code_bytes != 0):
            yield problem(blob, say("instructions-missing", kernel=kernel.symbol))
        else:  # every path of it ends in __builtin_unreachable
            yield Note(blob.path, say("kernel-empty", kernel=kernel.symbol), blob.member)


def _judged(result: Result, kernel: Kernel, rules: Sequence[Rule]) -> Result:
    """The result with the kernel's code. The findings of `rules`, which may read code, are made
    again."""
    numbers = {rule.number for rule in rules}
    of_others = [finding for finding in result.findings if finding.rule not in numbers]
    if result.occupancy:
        of_others += findings(kernel, result.occupancy, rules)
    of_others.sort(key=lambda finding: finding.rule)
    of_all = advised(of_others, kernel, result.occupancy)
    return result._replace(kernel=kernel, findings=of_all)


def _lds(
    units: Callable[[int], Iterable[DebugUnit]], kernel: Kernel, function: LiveFunction
) -> LdsUse | None:
    """Variables in a kernel's LDS; None if debug information does not describe it, or the kernel
    has none.

    0 bytes if the kernel accesses LDS and reserves none: the launch sets its size.
    """
    size = kernel.numbers.lds_bytes
    if not size:
        texts = (
            instruction.text for instruction in function.instructions if "ds" in instruction.text
        )
        is_reached = any(is_lds_access(text.encode()) for text in texts)
        return LdsUse(0, ()) if size == 0 and is_reached else None
    return lds_of(units(kernel.line or 1), kernel.symbol, size)


def _story(code: KernelCode, result: Result, look: Look) -> Story:
    kernel, occupancy = result.kernel, result.occupancy
    steps: tuple[Rung, ...] = ()
    if kernel.target and occupancy:
        steps = vgpr_steps(kernel.target, occupancy)
    at = look.at(code.function) if look.at else None
    story = code.story(steps, at, look.blocks, look.most_loops)
    if not story.exact or not _exceeds(story, kernel):
        return story
    return story._replace(exact=False, reasons=(NOT_ALLOCATED,))


def _exceeds(story: Story, kernel: Kernel) -> bool:
    """True if the code names registers beyond those that the kernel's descriptor allocates."""
    numbers = kernel.numbers
    vectors, sgprs = story.used.vector(story.files), story.used.sgprs
    return vectors > (numbers.reserved_vgprs or vectors) or sgprs > (
        numbers.reserved_sgprs or sgprs
    )


def count_instructions(blob: Blob, kernels: Sequence[Kernel]) -> CodeAndRemarks:
    """The kernels of a blob with their instructions by class, the registers that they touch and
    need, and their loops, as far as all of that is known; and problems.

    A missing llvm-objdump is one problem of the whole run: it names no file.
    """
    if not kernels or kernels[0].code_object.kind not in ("assembly", "code-object"):
        return [*kernels], []
    counted: dict[tuple[str, int | None], Kernel] = {}
    """Symbol and line → the kernel with what its code says."""
    remarks: list[Problem | Note] = []
    try:
        of_blob = code_in(blob, kernels[0])
        for kernel, listing, entry in of_blob.listings(kernels):
            if listing.instructions and not listing.unread:
                function = LiveFunction(listing, entry)
                code = KernelCode(kernel, function, of_blob.callees, with_shares=False)
                with_code = code.kernel._replace(instructions=code.counts)
                counted[kernel.symbol, kernel.line] = with_code
            elif listing.unread:
                why = say("instructions-uncounted", kernel=kernel.symbol, why=listing.unread[0])
                remarks.append(Note(blob.path, why, blob.member))
    except ReadError as error:
        is_of_run = error.code in NO_PROGRAM
        remarks.append(
            Problem("--instructions", error.message) if is_of_run else problem(blob, error.message)
        )
    return [counted.get((kernel.symbol, kernel.line), kernel) for kernel in kernels], remarks


def measure(path: str, options: Options, look: Look, jobs: int = 1) -> Iterator[MeasureItem]:
    """Register pressure of each kernel of a path, one by one, interleaved with problems and notes.
    `jobs` is the number of processes; 0 starts as many as are worthwhile."""
    # Brings multiprocessing, which reports and single texts do without.
    from kernelinfo.analysis.parallel import ReadWorker, processes, shared_out, tasks

    work = [*tasks([path])] if jobs != 1 and not options.compiled else []
    if work and (count := processes(work, jobs)) > 1:
        worker = ReadWorker(options, [path], read=partial(_measured, look=look))
        yield from shared_out(work, options, count, worker, at_once=1)
        return
    events, read = Events(), partial(_measured, Analysis(options, [path]), look=look)
    yield from read_inputs(opened(path, options), events, read, options)
    yield from conclusions([(path, events)], options)


def _measured(analysis: Analysis, blob: Blob, events: Events, look: Look) -> Iterator[MeasureItem]:
    """Register pressure of the kernels of one blob, with problems and notes."""
    results = []
    for item in analysis.results(blob, events):
        if isinstance(item, Result):
            results.append(item)
        elif isinstance(item, Repeat):
            add(events, "repeated")
        else:
            yield item
    if look.function and not results:
        results = _device_functions(blob, look.function)
        add(events, "chosen", os.path.dirname(blob.path), len(results))
        for measured in measure_in(blob, results, look, analysis.selection):
            yield of_function(measured) if isinstance(measured, Measured) else measured
        return
    yield from measure_in(blob, results, look, analysis.selection)


def live_registers(source: str | os.PathLike[str], kernel: str) -> Story:
    """Register pressure of one kernel or device function: peak, live values, lines and loops.

    `source` is a path. `kernel` is a name as `names.matching` takes it. Raises `ReadError` if it
    does not name exactly one kernel, or if the code cannot be read.
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
    """The functions that `name` means, in a file with kernels: those with this whole name or
    symbol, else those that `names.matches` accepts."""
    kernels = [
        item for item in read_kernels(blob, Events(), Options(), {}) if isinstance(item, Kernel)
    ]
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
