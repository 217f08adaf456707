"""The one path through the house: paths -> code -> kernels -> occupancy -> findings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from kernelinfo.analysis.copies import Copies
from kernelinfo.analysis.inputs import (
    PathCounts,
    conclusions,
    counts_of,
    notes,
    opened,
    read_found,
    run,
)
from kernelinfo.analysis.kernels import Judge, KernelReader
from kernelinfo.analysis.options import Options
from kernelinfo.analysis.source_lines import lines_of
from kernelinfo.errors import ReadError, bug
from kernelinfo.hardware import targets
from kernelinfo.kernel import Item, Kernel, Repeat, Result
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.kernel.names import KernelName, demangle
from kernelinfo.kernel.report import Report
from kernelinfo.reading import containers
from kernelinfo.reading.blob import Blob, Found, Note, Problem
from kernelinfo.reading.containers.parts import problem
from kernelinfo.reading.facts import ReadFilter, SourceLine
from kernelinfo.reading.messages import in_kernel

if TYPE_CHECKING:
    from kernelinfo.reading.arguments import Arguments

    FoundInBlob = Kernel | Problem | Repeat


def analyse(paths: Iterable[str], options: Options, *, required: bool = True) -> Iterator[Item]:
    """Results, repeats, problems and notes of the paths, in the order of reading.

    If kernels are `required`, a path without any is a problem. A path whose kernels are all
    filtered out is a problem only if the other paths have no chosen kernel either. Raises
    `UnknownTargetError` for an unknown target in `options`.
    """
    paths = tuple(paths)
    analysis, counts = Analysis(options, paths), [counts_of(path, options) for path in paths]
    items: Iterator[Item]
    items = run(counts, analysis.results, options, required=required)
    yield from items
    yield from conclusions(counts, options) if required else notes(counts)


def names(path: str, options: Options) -> Iterator[KernelName | Problem | Note]:
    """The name of each kernel of a path, and problems. Code objects are not decoded.

    Kernels of one name in one text, of several modules, are several.
    """
    found: list[KernelName] = []

    def leave_out(name: str, symbol: str) -> bool:
        found.append(KernelName(name, symbol))
        return False

    analysis, counts = (
        Analysis(options._replace(chooses=leave_out), [path]),
        counts_of(path, options),
    )
    any_found, before = False, 0
    for blob in opened(path, options):
        yield from (i for i in analysis.analyse_blob(blob, counts) if isinstance(i, Problem | Note))
        distinct = dict.fromkeys(found)  # the reader of code objects asks twice for a kernel
        yield from found if counts.passed_over - before > len(distinct) else distinct
        any_found, before = any_found or bool(found), counts.passed_over
        found.clear()
    yield from notes([counts]) if any_found else conclusions([counts], options)


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
    and `OptionError` for an unknown rule."""

    def __init__(self, options: Options, among: Sequence[str] = ()) -> None:
        """`among` are all paths of the run. Copies of one compilation in them count once; without
        paths every copy counts."""
        for name in (options.arch, options.run_as, *options.targets):
            if name is not None:
                targets.find(name.partition(":")[0])
        self._options = options
        self._copies: Copies | None = None
        if not options.all_copies and among and not (len(among) == 1 and os.path.isfile(among[0])):
            self._copies = Copies(among, options)
        self._judge = Judge(options)
        self._asked = len({*options.asked})
        is_filtered = bool(options.kernels or options.exclude or options.targets or options.chooses)
        asked: ReadFilter | None = None  # all of them: code objects are compared whole
        if is_filtered and self._copies is None and not options.unique:
            asked = ReadFilter(options.asks_for_target, self._asks_for)
        self.reader = KernelReader(options, asked)
        self._first_copies: dict[bytes, CodeObject] = {}
        """BLAKE2b digest of a code object's bytes -> the first code object with it."""

    def analyse_path(self, path: str, blobs: Iterable[Found]) -> Iterator[Item]:
        """Results and problems of one path. A path without a chosen kernel is a problem."""
        counts = PathCounts(path)
        for blob in blobs:
            yield from self.analyse_blob(blob, counts)
        yield from conclusions([counts], self._options)

    def analyse_blob(self, found: Found, counts: PathCounts) -> Iterator[Item]:
        """Results and problems of one opened input. Updates `counts`."""
        return read_found(found, counts, self.results)

    def results(self, blob: Blob, counts: PathCounts) -> Iterator[Result | Problem | Repeat]:
        """Results, problems and repeats of one blob. Updates `counts`."""
        found = self._kernels(blob, counts)
        if self._options.unique:
            found = self._distinct(found, blob)
        if self._options.locate or self._options.arguments:
            found = self._detailed(found, blob)
        if self._options.count_instructions:
            found = self._counted(found, blob, counts)
        for one in found:
            if not isinstance(one, Kernel):
                yield one
                continue
            try:
                item = self._result(one, counts)
            except Exception as error:
                item = problem(blob, in_kernel(one.symbol, bug(error)))
            if item:
                yield item

    def _kernels(self, blob: Blob, counts: PathCounts) -> Iterator[FoundInBlob]:
        """Kernels and problems of one blob. A code object that copies an assembly is a repeat."""
        found = self.reader.read(blob, counts)
        if self._copies is None or blob.kind != "code-object":
            yield from found
            return
        kernels = []
        for item in found:
            if isinstance(item, Problem):
                yield item
            else:
                kernels.append(item)
        if kernels:
            yield from self._copies.merged(kernels)

    def _result(self, kernel: Kernel, counts: PathCounts) -> Result | Problem | None:
        """The result of a kernel, or the problem of judging it; None if it is filtered out."""
        if not self._options.asks_for(kernel.name, kernel.symbol):
            counts.pass_over(kernel.name)
            return None
        if len(counts.met) < self._asked:  # until each option has matched a kernel
            target, member = kernel.code_object.target_id, kernel.code_object.member
            counts.met |= self._options.met(kernel.name, kernel.symbol, target, member)
        result = self._judge.judge(kernel)
        if isinstance(result, Problem):
            return result
        counts.found += 1
        counts.of_other_sizes += self._judge.passes_over(result)
        if self._options.shows(result):
            return result
        counts.not_shown += 1
        return None

    def _asks_for(self, symbol: str) -> bool:
        return self._options.asks_for(demangle(symbol), symbol)

    def _distinct(self, found: Iterator[FoundInBlob], blob: Blob) -> Iterator[FoundInBlob]:
        """The kernels of a blob, or one `Repeat` if an equal code object was read before."""
        from hashlib import blake2b  # OpenSSL: 17 million instructions, for --unique alone

        content = blake2b()
        for piece in blob.data.pieces():
            content.update(piece)
        digest = content.digest()
        if first := self._first_copies.get(digest):
            yield Repeat(first, blob.path, blob.containers, blob.member, blob.offset)
            return
        for item in found:
            if isinstance(item, Kernel):
                self._first_copies[digest] = item.code_object
            yield item

    def _counted(
        self, found: Iterator[FoundInBlob], blob: Blob, counts: PathCounts
    ) -> Iterator[FoundInBlob]:
        """The kernels with their instructions by class, and problems of counting."""
        items = list(found)
        wanted = [
            item
            for item in items
            if isinstance(item, Kernel) and self._options.asks_for(item.name, item.symbol)
        ]
        assert self._options.count_instructions is not None
        try:
            of_kernels, remarks = self._options.count_instructions(blob, wanted)
        except Exception as error:
            yield problem(blob, bug(error))
            of_kernels, remarks = [None] * len(wanted), []
        known = {id(kernel): one for kernel, one in zip(wanted, of_kernels, strict=True)}
        for item in items:
            if isinstance(item, Kernel):
                item = item._replace(instructions=known.get(id(item)))
            yield item
        counts.notes += (one for one in remarks if isinstance(one, Note))
        yield from (one for one in remarks if isinstance(one, Problem))

    def _detailed(self, found: Iterator[FoundInBlob], blob: Blob) -> Iterator[FoundInBlob]:
        """The kernels, with source line and arguments if the options choose them."""
        locate, list_arguments = self._options.locate, self._options.arguments
        lines: dict[str, SourceLine] | None = None
        arguments: Arguments | None = None
        for item in found:
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
