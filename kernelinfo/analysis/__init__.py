"""The one path through the house: paths -> code -> kernels -> occupancy -> findings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from kernelinfo import reading
from kernelinfo.analysis.copies import Copies
from kernelinfo.analysis.counts import PathCounts, conclusions, notes
from kernelinfo.analysis.judge import Judge
from kernelinfo.analysis.options import Options
from kernelinfo.analysis.source_lines import lines_of
from kernelinfo.errors import ReadError, UnknownTargetError
from kernelinfo.hardware import targets
from kernelinfo.hardware.targets import Target
from kernelinfo.kernel import Item, Kernel, Repeat, Result
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.kernel.combine import combine
from kernelinfo.kernel.names import demangle, has_demangler
from kernelinfo.kernel.report import Report
from kernelinfo.reading import containers
from kernelinfo.reading.blob import Blob, Elsewhere, Found, Missing, Note, Problem
from kernelinfo.reading.containers import open_paths
from kernelinfo.reading.containers.parts import UNKNOWN_DATA, problem
from kernelinfo.reading.containers.triton import with_launch
from kernelinfo.reading.facts import Asked, KernelFacts, Module, SourceLine
from kernelinfo.reading.stamps import compiler_of
from kernelinfo.reading.target_id import parse_target_id
from kernelinfo.rules import may_ask_for_code

if TYPE_CHECKING:
    from kernelinfo.analysis.copies import Copies
    from kernelinfo.reading.arguments import Arguments

    FoundInBlob = Kernel | Problem | Repeat


def analyse(paths: Iterable[str], options: Options, *, required: bool = True) -> Iterator[Item]:
    """Results, repeats, problems and notes of the paths, in the order of reading.

    If kernels are `required`, a path without any is a problem. A path whose kernels are all
    filtered out is a problem only if the other paths have no chosen kernel either. Raises
    `UnknownTargetError` for an unknown target in `options`.
    """
    paths = tuple(paths)
    analysis, counts = Analysis(options, paths), [PathCounts(path) for path in paths]
    among = paths if required else ()
    for one in counts:
        for blob in open_paths([one.path], required=required, among=among, within=options.bounds):
            yield from analysis.analyse_blob(blob, one)
    yield from conclusions(counts, options) if required else notes(counts)


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
        raise ReadError(f"{first.path}: {first.message}")
    return report


class Analysis:
    """One run over several paths. Raises `UnknownTargetError` for an unknown target in `options`,
    and `OptionError` for an unknown rule."""

    def __init__(self, options: Options, among: Sequence[str] = ()) -> None:
        """`among` are all paths of the run. Copies of one compilation in them count once; without
        paths every copy counts."""
        for name in (options.arch, options.run_as, *options.targets):
            if name is not None:
                targets.find(name)
        self._options = options
        self._copies: Copies | None = None
        if not options.all_copies and among and not (len(among) == 1 and os.path.isfile(among[0])):
            self._copies = Copies(among, options)
        self._judge = Judge(options)
        self._names_kernels = bool(options.asked)
        self._asked: Asked | None = None
        """The choice of kernels for readers. None without filters, or if code objects are compared
        whole."""
        is_filtered = bool(options.kernels or options.exclude or options.targets)
        if is_filtered and self._copies is None and not options.unique:
            self._asked = Asked(options.targets, self._asks_for)
        self._first_copies: dict[bytes, CodeObject] = {}
        """BLAKE2b digest of a code object's bytes -> the first code object with it."""
        self._has_cxx_names = False  # True if a kernel read so far has one
        self._entries: dict[tuple[str, str], str] = {}
        """(path, processor) -> id of the first entry for it in the file."""

    def analyse_path(self, path: str, blobs: Iterable[Found]) -> Iterator[Item]:
        """Results and problems of one path. A path without a chosen kernel is a problem."""
        counts = PathCounts(path)
        for blob in blobs:
            yield from self.analyse_blob(blob, counts)
        yield from conclusions([counts], self._options)

    def analyse_blob(self, blob: Found, counts: PathCounts) -> Iterator[Item]:
        """Results and problems of one blob. Updates `counts`."""
        before = counts.found
        if isinstance(blob, Elsewhere):
            counts.found += 1
            return
        if isinstance(blob, Missing):
            counts.missing.append(blob)
            return
        if isinstance(blob, Note):
            counts.notes.append(blob)
            return
        for found in (blob,) if isinstance(blob, Problem) else self._found(blob, counts):
            item = self._result(found, counts) if isinstance(found, Kernel) else found
            counts.repeated += isinstance(item, Repeat)
            if item and (not isinstance(item, Problem) or counts.lists(item)):
                yield item
        if counts.found > before:
            counts.folders.add(os.path.dirname(blob.path))

    def _found(self, blob: Blob, counts: PathCounts) -> Iterator[FoundInBlob]:
        found = self.kernels(blob, counts)
        if self._options.unique:
            found = self._distinct(found, blob)
        if self._options.locate or self._options.arguments:
            found = self._detailed(found, blob)
        return found

    def _result(self, kernel: Kernel, counts: PathCounts) -> Result | Problem | None:
        """The result of a kernel, or the problem of judging it; None if it is filtered out."""
        if not self._options.asks_for(kernel.name, kernel.symbol):
            counts.pass_over(kernel.name)
            return None
        if self._names_kernels:
            target, member = kernel.code_object.target, kernel.code_object.member
            counts.met |= self._options.met(kernel.name, kernel.symbol, target, member)
        result = self._judge.judge(kernel)
        if isinstance(result, Problem):
            return result
        counts.found += 1
        if result.occupancy is None and result.kernel.target:
            counts.of_other_sizes += 1
        if self._options.shows(result):
            return result
        counts.not_shown += 1
        return None

    def _asks_for(self, symbol: str) -> bool:
        return self._options.asks_for(demangle(symbol), symbol)

    def conflicting_entry(self, blob: Blob) -> str | None:
        """The id of the first entry for the same processor in the file, if it names other features.

        None otherwise. Call it for every blob in the order of reading.
        """
        member = blob.member or ""
        entry = parse_target_id(member)
        if entry is None:
            return None
        first = self._entries.setdefault((blob.path, entry.processor), member)
        named = dict(entry.settings).keys()
        other = parse_target_id(first)
        return first if other and dict(other.settings).keys() != named else None

    def kernels(self, blob: Blob, counts: PathCounts) -> Iterator[FoundInBlob]:
        """Kernels of one blob without occupancy and findings, and problems."""
        try:
            for module in reading.read(blob, arch=self._options.arch, asked=self._asked):
                if UNKNOWN_DATA in blob.containers and module.target is None:
                    message = "holds code objects that name no target; give --arch"
                    counts.notes.append(Note(blob.path, message))
                    continue
                counts.notes += (Note(blob.path, note, blob.member) for note in module.notes)
                if self._options.is_gate:
                    yield from (Problem(blob.path, doubt, blob.member) for doubt in module.doubts)
                else:
                    counts.notes += (Note(blob.path, doubt, blob.member) for doubt in module.doubts)
                for warning in module.warnings:
                    offset = None if warning.offset is None else (blob.offset or 0) + warning.offset
                    yield Problem(blob.path, warning.message, blob.member, offset, warning.line)
                yield from self._of_module(module, blob, counts)
        except ReadError as error:
            yield problem(blob, str(error))

    def _distinct(self, found: Iterator[FoundInBlob], blob: Blob) -> Iterator[FoundInBlob]:
        """The kernels of a blob, or one `Repeat` if an equal code object was read before."""
        from hashlib import blake2b  # OpenSSL: 17 million instructions, for --unique alone

        digest = blake2b(blob.data.read()).digest()
        if first := self._first_copies.get(digest):
            yield Repeat(first, blob.path, blob.containers, blob.member, blob.offset)
            return
        for item in found:
            if isinstance(item, Kernel):
                self._first_copies[digest] = item.code_object
            yield item

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
                        yield problem(blob, str(error))
                item = item._replace(source=lines.get(item.symbol))
            if list_arguments and list_arguments(item):
                if arguments is None:
                    from kernelinfo.reading.arguments import arguments_of

                    try:
                        arguments = arguments_of(blob)
                    except ReadError:  # already reported by the reader
                        arguments = {}
                item = item._replace(arguments=arguments.get(item.symbol, ()))
            yield item

    def _of_module(self, module: Module, blob: Blob, counts: PathCounts) -> Iterator[FoundInBlob]:
        if not (module.kernels or module.passed_over):
            return
        count = len(module.kernels) + len(module.passed_over)
        arch, name = self._options.arch, module.target or self._options.arch
        if self._options.targets and name not in self._options.targets:
            counts.of_other_targets += count
            return
        member = " › ".join(filter(None, (blob.member, module.part))) or None
        if not self._options.asks_for_member(member):
            counts.of_other_members += count
            return
        target: Target | None = None
        if name is None and module.kind == "build-log":
            if not self._options.is_gate:  # the gate judges the rest and says so
                yield problem(blob, "a build log names no target; occupancy needs --arch")
        elif name is None:
            yield problem(blob, "the input names no target; give one by --arch")
        elif arch not in (None, name):
            yield problem(blob, f"is compiled for {name}, not for {arch}; leave --arch out")
            return
        else:
            try:
                target = targets.find(name)
            except UnknownTargetError as error:
                yield problem(blob, str(error))
        if (entry := parse_target_id(blob.member or "")) and name not in (None, entry.processor):
            contradiction = f"its id says {entry.processor}, the code says {name}"
            yield problem(blob, f"{contradiction}; read as the latter")
        kernels = module.kernels
        stated: tuple[tuple[str, str], ...] = ()
        try:
            kernels, stated = with_launch(module, blob, name)
        except ReadError as error:
            yield Problem(blob.path, str(error))
        code_object = CodeObject(
            path=blob.path,
            containers=blob.containers,
            member=member,
            offset=None if blob.offset is None else blob.offset + module.offset,
            size=len(blob.data),
            kind=module.kind,
            target=name,
            features=module.features,
            code_object_version=module.code_object_version,
            compiler=compiler_of(module.stamps),
            stamps=module.stamps,
            conflicting_entry=self.conflicting_entry(blob),
            kernel_count=count,
            options=stated,
        )
        for symbol in module.passed_over:
            counts.pass_over(demangle(symbol))
        self._check_demangler(module, blob, counts)
        combined = (self._with_code(combine(k, code_object, target), k) for k in kernels)
        if self._copies is None or code_object.kind != "code-object":
            yield from combined
        else:
            yield from self._copies.merged(list(combined))

    def _with_code(self, kernel: Kernel, facts: KernelFacts) -> Kernel:
        """The kernel, with its instructions if the options or a rule ask for them."""
        if facts.read_code and (self._options.instructions or may_ask_for_code(kernel.traits)):
            return kernel._replace(code=facts.read_code())
        return kernel

    def _check_demangler(self, module: Module, blob: Blob, counts: PathCounts) -> None:
        """Add one note per run if kernels have C++ names that cannot be demangled."""
        symbols = chain(module.passed_over, (kernel.symbol for kernel in module.kernels))
        if self._has_cxx_names or not any(symbol.startswith("_Z") for symbol in symbols):
            return
        self._has_cxx_names = True
        if not has_demangler():
            message = "C++ names stay mangled here; install pycxxfilt to read them"
            counts.notes.append(Note(blob.path, message))
