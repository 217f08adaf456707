"""The one pipeline of all analyses: paths -> code -> kernels -> occupancy -> findings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kernelinfo.analysis.copies import Copies
from kernelinfo.analysis.inputs import Events, add, conclusions, opened, read_inputs, run, total
from kernelinfo.analysis.kernels import Entries, lines_of, read_kernels
from kernelinfo.analysis.messages import say
from kernelinfo.analysis.options import Options
from kernelinfo.errors import LaunchError, ReadError, bug, survived
from kernelinfo.hardware import targets
from kernelinfo.kernel import Finding, Item, Kernel, Repeat, Result, Rule
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.kernel.names import KernelName, demangle, has_demangler
from kernelinfo.kernel.report import Report
from kernelinfo.kernel.traits import Traits
from kernelinfo.model import Occupancy
from kernelinfo.reading import containers
from kernelinfo.reading.blob import Blob, Found, Note, Problem
from kernelinfo.reading.containers.formats import problem
from kernelinfo.reading.facts import Code, SourceLine
from kernelinfo.reading.messages import in_kernel
from kernelinfo.rules import Selection, advised, findings

if TYPE_CHECKING:
    from kernelinfo.reading.arguments import Arguments

    FoundInBlob = Kernel | Problem | Repeat | Note
    Told = Result | Problem | Repeat | Note

Judgement = tuple[Traits, Traits, Occupancy | None, tuple[Finding, ...], tuple[Rule, ...]]
"""(traits of a kernel, its traits on the target of `run_as`, their occupancy, their findings, rules
that may find more in a single kernel with these traits). The kernel itself is not kept: its loops
and arguments can be large."""
Judgements = dict[tuple[int, Code | None, int | None], Judgement]
"""(id of traits, code, configured workgroup size) -> what all such kernels share. Equal statements
share traits."""

_MOST_JUDGEMENTS = 1 << 15


def analyse(
    paths: Iterable[str],
    options: Options,
    *,
    required: bool = True,
    judgements: Judgements | None = None,
) -> Iterator[Item]:
    """Results, repeats, problems and notes of the paths, in the order of reading.

    `judgements` of an analysis with equal options are used again, and added to.

    If kernels are `required`, a path without any is a problem. A path whose kernels are all
    filtered out is a problem only if the other paths have no chosen kernel either. Raises
    `UnknownTargetError` for an unknown target in `options`.
    """
    events = [(path, Events()) for path in paths]
    analysis = Analysis(options, [path for path, _ in events], judgements)
    items: Iterator[Item] = run(events, analysis.results, options, required=required)
    yield from items
    yield from conclusions(events, options, required=required)


def names(path: str, options: Options) -> Iterator[KernelName | Problem | Note]:
    """The name of each kernel of a path, and problems. Code objects are not decoded.

    Kernels of the same name in several modules of one text are listed separately.
    """
    kernel_names: list[KernelName] = []
    any_named = False

    def leave_out(name: str, symbol: str) -> bool:
        kernel_names.append(KernelName(name, symbol))
        return False

    def read(blob: Blob, events: Events) -> Iterator[KernelName | Problem | Note]:
        nonlocal any_named
        of_blob = Events()
        for item in analysis.results(blob, of_blob):
            if isinstance(item, Repeat):
                add(of_blob, "repeated")
            elif not isinstance(item, Result):
                yield item
        for (kind, what), number in of_blob.items():
            add(events, kind, what, number)
        distinct = dict.fromkeys(kernel_names)  # the reader of code objects asks twice for a kernel
        yield from kernel_names if total(of_blob, "unchosen") > len(distinct) else distinct
        any_named = any_named or bool(kernel_names)
        kernel_names.clear()

    analysis, events = Analysis(options._replace(chooses=leave_out), [path]), Events()
    yield from read_inputs(opened(path, options), events, read, options)
    yield from conclusions([(path, events)], options, required=not any_named)


def load(source: str | os.PathLike[str] | bytes, options: Options | None = None) -> Report:
    """The report of one path, or of the bytes of one code object or assembly.

    Raises `KernelinfoError` at the first problem: the report is whole or not returned.
    """
    options = options or Options()
    if isinstance(source, bytes):
        blobs = containers.open_bytes(source, "<bytes>", options.bounds)
        items = Analysis(options).analyse_path("<bytes>", blobs)
    else:
        items = analyse([os.fspath(source)], options)
    report = Report.of(items)
    for first in report.problems:
        raise ReadError(first.located)
    return report


class Analysis:
    """One run over several paths. Raises `UnknownTargetError` for an unknown target in `options`,
    and `OptionError` for an unknown rule, and for a condition on instructions that are not
    counted."""

    def __init__(
        self,
        options: Options,
        among: Sequence[str] = (),
        judgements: Judgements | None = None,
    ) -> None:
        """`among` are all paths of the run. Copies of one compilation among them count once;
        without `among`, every copy counts. For `judgements` see `analyse`."""
        for name in (options.arch, options.run_as, *options.targets):
            if name is not None:
                targets.find(name.partition(":")[0])
        if options.where:
            options.where.check_counted(options.count_instructions is not None)
        self._options = options
        self._copies: Copies | None = None
        if not options.all_copies and among and not (len(among) == 1 and os.path.isfile(among[0])):
            self._copies = Copies(among, options)
        rules = options.selection.rules()
        self._of_traits = tuple(rule for rule in rules if rule.reads in ("traits", "code"))
        self._of_kernel = tuple(r for r in rules if r.reads == "kernel" or r.is_on_code)
        self._of_any_target = tuple(rule for rule in rules if rule.any_target)
        self._judgements: Judgements = {} if judgements is None else judgements
        self._asked = len({*options.asked})
        self._may_choose = bool(options.kernels or options.exclude or options.chooses)
        self._may_hide = bool(options.limited_by or options.spilling or options.where)
        self._met: set[tuple[str, str]] = set()
        """Options that have chosen a kernel; at most `_asked`."""
        is_filtered = bool(options.kernels or options.exclude or options.targets or options.chooses)
        # None chooses all: code objects are compared whole.
        self._is_chosen: Callable[[str], bool] | None = None
        if is_filtered and self._copies is None and not options.unique:
            self._is_chosen = self._asks_for
        self.entries: Entries = {}
        self._has_cxx_names = False  # True once a kernel has one
        self._is_demangler_sought = False  # True once the run knows whether it can demangle them
        self._first_copies: dict[bytes, CodeObject] = {}
        """BLAKE2b digest of a code object's bytes -> the first code object with it."""

    @property
    def selection(self) -> Selection:
        """The rules of the run."""
        return self._options.selection

    def analyse_path(self, path: str, blobs: Iterable[Found]) -> Iterator[Item]:
        """Results and problems of one path. A path without a chosen kernel is a problem."""
        events = Events()
        items: Iterator[Item] = read_inputs(blobs, events, self.results, self._options)
        yield from items
        yield from conclusions([(path, events)], self._options)

    def results(self, blob: Blob, events: Events) -> Iterator[Told]:
        """Results, problems, repeats and notes of one blob. Adds to the events of its path."""
        items = self._kernels(blob, events)
        if self._options.unique:
            items = self._distinct(items, blob)
        if self._options.locate or self._options.arguments:
            items = self._detailed(items, blob)
        if self._options.count_instructions or (
            self._options.read_for_rules and blob.kind == "assembly"
        ):
            items = self._with_code(items, blob)
        chosen = hidden = refused = 0
        for item in survived(items, partial(problem, blob)):
            if not isinstance(item, Kernel):
                yield item
                continue
            self._has_cxx_names |= item.symbol.startswith("_Z")
            try:
                answer = self._answer(item)
                is_hidden = (
                    self._may_hide
                    and isinstance(answer, Result)
                    and not self._options.shows(answer)
                )
            except Exception as error:
                answer, is_hidden = problem(blob, in_kernel(item.symbol, bug(error))), False
            if answer is None:
                add(events, "unchosen", item.name)
                continue
            if isinstance(answer, Result):
                refused += self._options.passes_over(answer)
                hidden += is_hidden
                chosen += not is_hidden
            if len(self._met) < self._asked:
                self._add_newly_met(item, events)
            if not is_hidden:
                yield answer
        folder = os.path.dirname(blob.path)
        if chosen:
            add(events, "chosen", folder, chosen)
        if hidden:
            add(events, "hidden", folder, hidden)
        if refused:
            add(events, "refused", number=refused)
        if self._has_cxx_names and not self._is_demangler_sought:
            self._is_demangler_sought = True
            if not has_demangler():
                yield Note(blob.path, say("cxx-names-mangled"))

    def _answer(self, kernel: Kernel) -> Result | Problem | None:
        """The result of a kernel, a problem if it cannot be judged; None if it is not chosen."""
        if self._may_choose and not self._options.asks_for(kernel.name, kernel.symbol):
            return None
        return self._judge(kernel)

    def _judge(self, kernel: Kernel) -> Result | Problem:
        """The result of one kernel, or the problem that its launch is impossible on its target."""
        if kernel.traits.target is None:
            return self._without_occupancy(kernel)
        size = self._options.configured_size(kernel) if self._options.workgroup_sizes else None
        key = id(kernel.traits), kernel.code, size
        judgement = self._judgements.get(key)
        if judgement is None:
            try:
                first = self._first(kernel, size)
            except LaunchError as error:
                origin = kernel.code_object
                message = say("kernel-launch", kernel=kernel.name, reason=error.message)
                return Problem(origin.path, message, origin.member, origin.offset)
            if len(self._judgements) >= _MOST_JUDGEMENTS:
                self._judgements.clear()
            traits = first.kernel.traits
            rules = tuple([rule for rule in self._of_kernel if rule.may_find(traits)])
            judgement = kernel.traits, traits, first.occupancy, first.findings, rules
            self._judgements[key] = judgement
        _, traits, occupancy, all_findings, rules = judgement
        if self._options.run_as is not None:
            kernel = kernel._replace(traits=traits)
        if occupancy and (of_kernel := findings(kernel, occupancy, rules)):
            all_findings = tuple(
                sorted((*all_findings, *of_kernel), key=lambda finding: finding.rule)
            )
        if kernel.needs:
            all_findings = advised(all_findings, kernel, occupancy)
        return Result(kernel, occupancy, all_findings)

    def _first(self, kernel: Kernel, configured_size: int | None) -> Result:
        """The result of the first kernel with these traits; later kernels with equal traits share
        it. Raises `LaunchError` if the launch is impossible."""
        options = self._options
        if options.run_as is not None:
            kernel = kernel.on(targets.find(options.run_as))
        occupancy = kernel.traits.occupancy(
            workgroup_size=options.workgroup_size,
            configured_size=configured_size,
            dynamic_lds=options.dynamic_lds_bytes,
            trap_handler=options.trap_handler,
        )
        result = Result(kernel, occupancy, ())
        if options.passes_over(result):
            return self._without_occupancy(kernel)._replace(occupancy=occupancy)
        return result._replace(findings=tuple(findings(kernel, occupancy, self._of_traits)))

    def _without_occupancy(self, kernel: Kernel) -> Result:
        return Result(kernel, None, tuple(findings(kernel, None, self._of_any_target)))

    def _add_newly_met(self, kernel: Kernel, events: Events) -> None:
        """Add the options that match this kernel and no earlier one."""
        target, member = kernel.code_object.target_id, kernel.code_object.member
        met = self._options.met(kernel.name, kernel.symbol, target, member) - self._met
        self._met |= met
        for pair in met:
            add(events, "met", pair)

    def _kernels(self, blob: Blob, events: Events) -> Iterator[FoundInBlob]:
        """Kernels and problems of one blob. A code object that copies an assembly is a repeat."""
        items = read_kernels(blob, events, self._options, self.entries, self._is_chosen)
        if self._copies is None or blob.kind != "code-object":
            yield from items
            return
        kernels = []
        for item in items:
            if isinstance(item, Kernel):
                kernels.append(item)
            else:
                yield item
        if kernels:
            yield from self._copies.merged(kernels)

    def _asks_for(self, symbol: str) -> bool:
        self._has_cxx_names |= symbol.startswith("_Z")
        return self._options.asks_for(demangle(symbol), symbol)

    def _distinct(self, items: Iterator[FoundInBlob], blob: Blob) -> Iterator[FoundInBlob]:
        """The kernels of a blob, or one `Repeat` if an equal code object was read before."""
        from hashlib import blake2b  # OpenSSL: 17 million instructions, for --unique alone

        content = blake2b()
        for piece in blob.data.pieces():
            content.update(piece)
        digest = content.digest()
        if first := self._first_copies.get(digest):
            yield Repeat(first, blob.path, blob.containers, blob.member, blob.offset)
            return
        for item in items:
            if isinstance(item, Kernel):
                self._first_copies[digest] = item.code_object
            yield item

    def _with_code(self, items: Iterator[FoundInBlob], blob: Blob) -> Iterator[FoundInBlob]:
        """The kernels with what is read from their code, and problems and notes of reading it.

        If instructions are not counted, kernels whose registers a compiler counted pass unchanged,
        unless they have AGPRs.
        """
        counts = self._options.count_instructions is not None
        listed: list[FoundInBlob] = []
        kernels: list[Kernel] = []
        for item in items:
            kernel = item if isinstance(item, Kernel) else None
            if kernel and not counts and kernel.code_object.stamps:
                kernel = kernel if kernel.numbers.agprs else None
            if not listed and not kernel:
                yield item
                continue
            listed.append(item)
            if kernel and self._options.asks_for(kernel.name, kernel.symbol):
                kernels.append(kernel)
        read = self._options.count_instructions or self._options.read_for_rules
        assert read is not None
        try:
            read_kernels, remarks = read(blob, kernels) or ([], [])
        except Exception as error:
            yield problem(blob, bug(error))
            read_kernels, remarks = [], []
        with_code = dict(zip(map(id, kernels), read_kernels, strict=False))
        for item in listed:
            yield with_code.get(id(item), item)
        yield from remarks

    def _detailed(self, items: Iterator[FoundInBlob], blob: Blob) -> Iterator[FoundInBlob]:
        """The kernels, with source line and arguments if the options choose them."""
        locate, list_arguments = self._options.locate, self._options.arguments
        lines: dict[str, SourceLine] | None = None
        arguments: Arguments | None = None
        for item in items:
            if not isinstance(item, Kernel):
                yield item
                continue
            if locate and item.code_object.kind == "code-object" and locate(item):
                if lines is None:
                    lines = {}
                    try:
                        lines = lines_of(blob)
                    except ReadError as error:
                        yield problem(blob, error.message)
                    except Exception as error:
                        yield problem(blob, bug(error))
                item = item._replace(source=lines.get(item.symbol))
            if list_arguments and list_arguments(item):
                if arguments is None:
                    from kernelinfo.reading.arguments import arguments_of

                    try:
                        arguments = arguments_of(blob)
                    except ReadError:  # already reported by the reader
                        arguments = {}
                    except Exception as error:
                        arguments = {}
                        yield problem(blob, bug(error))
                item = item._replace(arguments=arguments.get(item.symbol, ()))
            yield item
