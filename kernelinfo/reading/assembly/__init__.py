"""Modules of an assembly text, read from the compiler's comments, directives and metadata."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import TypeVar

from kernelinfo.errors import BoundError, Message, bug, survived
from kernelinfo.reading.assembly import blocks, directives, kernel_text, metadata_yaml, scan
from kernelinfo.reading.assembly.directives import TextBlock
from kernelinfo.reading.assembly.expressions import Definitions
from kernelinfo.reading.assembly.instructions import function_text, read_code, with_proven
from kernelinfo.reading.assembly.kernel_text import KernelText
from kernelinfo.reading.assembly.scan import SourceFiles, is_directive
from kernelinfo.reading.assembly.scan import assembly_text as assembly_text
from kernelinfo.reading.blob import UNBOUNDED, FileBudget
from kernelinfo.reading.data import Lines, Text, before, decode, integer, line_at, line_end
from kernelinfo.reading.facts import Features, KernelFacts, Module, ReadWarning, ReadWarnings
from kernelinfo.reading.messages import in_kernel, say
from kernelinfo.reading.metadata import (
    NOT_LINKED,
    LinkedFunction,
    code_object_version,
    unknown_version,
)
from kernelinfo.reading.target_id import TargetId, distinct, parse_isa_version, parse_target_id

_METADATA, _METADATA_V2 = "amdgpu_metadata", "amd_amdgpu_hsa_metadata"
_BLOCKS = {_METADATA, _METADATA_V2, "amdgpu_pal_metadata"}
# Sources of a module's target, the best first.
_TARGET_SOURCES = ("amdgcn_target", "metadata", "amd_amdgpu_isa", "hsa_code_object_isa")

_Named = TypeVar("_Named", KernelText, KernelFacts)

_STRING = re.compile(rb'"((?:\\.|[^"\\])*)"')


class ModuleText:
    """State of one module while its text is read."""

    def __init__(
        self,
        text: Text,
        lines: Lines,
        warnings: ReadWarnings,
        budget: FileBudget,
        start: int,
        bundle_id: str,
    ) -> None:
        """All modules of a text share its lines, warnings and budget."""
        self._text, self._lines = text, lines
        self._warnings, self._budget = warnings, budget
        self._start = start
        self._bundle_id = bundle_id
        self._targets: dict[str, TargetId] = {}
        self._version: int | None = None
        self._stamps: list[str] = []
        self._definitions = Definitions()
        self._kernels: dict[str, KernelText] = {}
        self._files: SourceFiles | None = None
        """None without a `.file`: only a text with source lines has them."""
        # Metadata is read at its end. Until then: its directive, and the offset of its text.
        self._metadata: tuple[str, int] | None = None
        self._is_hsa = self._has_metadata = False
        # Functions by name and LDS variables, bytes by name, of code that is not linked yet.
        self._functions: dict[str, LinkedFunction] = {}
        self._variables: dict[str, int] = {}
        # Registers of the next function; registers of all functions; each with its line.
        self._config: tuple[TextBlock, int] | None = None
        self._pal: tuple[blocks.NumbersByFunction, int] | None = None
        # Marks before this offset are already read.
        self._read = start
        # A name is searched for after the last info block, the last begun function, and the last
        # kernel with a descriptor.
        self._informed = start
        self._begin = -1
        self._described = "", start

    @property
    def begun(self) -> bool:
        """True if the module has a kernel, a target or metadata, so that a new target ends it."""
        return bool(self._kernels or self._targets or self._metadata)

    def take(self, offset: int, kind: str) -> None:
        """Read the statement of this kind at a byte offset; `scan.marks` gives both.

        A statement in a block that is already read is skipped. Raises `BoundError`.
        """
        if offset < self._read:
            return
        if kind == scan.BEGIN:
            self._begin = offset
            return
        if kind == "file":
            self._files = self._files or SourceFiles()
            self._files.take(self._text, offset)
            return
        ends = kind.startswith("end_")
        if self._metadata and (ends or kind in _BLOCKS) and is_directive(self._text, offset):
            self._close_metadata(offset, ended=ends)
        if self._metadata:
            return  # other marks inside metadata are its text
        if kind == scan.INFO:
            self._take_info(offset)
        elif kind == scan.UNEXPANDED:
            begins = decode(line_at(self._text, offset)[:60].strip())
            self.warn(say("kernels-of-macro", begins=begins), offset)
        elif kind == scan.ASSIGNMENT:
            self._definitions.add_assignment(self._text, offset, self._lines)
        elif kind in ("set", "equ"):
            self._read = self._definitions.add_sets(self._text, offset, self._lines, self._budget)
        elif is_directive(self._text, offset):
            self._take_directive(offset, kind)

    def _take_directive(self, offset: int, kind: str) -> None:
        line = line_at(self._text, offset)
        operand = line[len(kind) + 1 :].strip()
        string = _STRING.match(operand) if b'"' in operand else None
        match kind:
            case "amdhsa_kernel":
                self._take_descriptor(offset, scan.described_kernel(operand))
            case "amd_kernel_code_t":
                self._take_code_t(offset)
            case "amdgcn_target" | "amd_amdgpu_isa":
                named = decode(string[1] if string else operand)
                self._is_hsa |= "amdhsa" in named
                if target := parse_target_id(named):
                    self._targets[kind] = target
                else:
                    self.warn(say("target-not-named", directive=kind, named=named), offset)
            case "hsa_code_object_isa":
                if target := parse_isa_version(decode(operand)):
                    self._targets[kind] = target
            case "amdhsa_code_object_version" | "hsa_code_object_version":
                number = re.match(rb"\d{1,4}", operand)
                self._version = integer(number[0]) if number else None
            case "ident":
                if string:
                    self._stamps.append(decode(string[1]))
            case "amdgpu_lds":
                self._variables |= kernel_text.read_lds_variable(operand)
            case "amdgpu_info":
                self._budget.spend_kernels()
                name = scan.described_kernel(operand)
                self._functions[name], ended = kernel_text.read_function(self._text, offset)
                if not ended:
                    self.warn(say("linking-info-endless", kernel=name), offset)
            case "AMDGPU.config":
                block = blocks.read_config(self._text, offset)
                self._config = block, self._lines.number(offset)
            case "amd_amdgpu_pal_metadata":
                try:
                    numbers = blocks.read_pal_pairs(decode(operand))
                except ValueError as error:
                    self.warn(say("directive-unreadable", directive=kind, error=error), offset)
                else:
                    self._pal = numbers, self._lines.number(offset)
            case "amdgpu_metadata" | "amd_amdgpu_hsa_metadata" | "amdgpu_pal_metadata":
                self._metadata = kind, line_end(self._text, offset) + 1

    def _kernel(self, symbol: str) -> KernelText:
        """The kernel with this symbol; created if no statement named it before. Raises
        `BoundError`."""
        if symbol not in self._kernels:
            self._budget.spend_kernels()
            self._kernels[symbol] = KernelText(symbol, self._definitions, self._warnings)
        return self._kernels[symbol]

    def _label(self, kernel: KernelText, offset: int | None) -> None:
        """Set the kernel's label to a byte offset, and its line to match; nothing for None."""
        if offset is not None:
            kernel.label, kernel.line = offset, self._lines.number(offset)

    def _take_info(self, offset: int) -> None:
        prefix = before(self._text, offset)
        stated = blocks.read_block(self._text, offset - len(prefix)) if prefix else None
        if stated is None:
            return
        kind, block, unread, code_bytes, end = stated
        floor, self._informed, self._read = self._informed, end, end
        config, self._config = self._config, None
        if kind != "Kernel":
            return
        line = self._lines.number(offset)
        symbol, label = self._function(floor, offset) or (say("kernel-at-line", line=line), None)
        kernel = self._kernel(symbol)
        if "kernel-info" in kernel.blocks:
            self.warn(say("kernel-info-repeated", kernel=symbol), offset)
            return
        if kernel.line is None:
            self._label(kernel, label)
        kernel.add("kernel-info", block, line)
        if config:
            kernel.add("AMDGPU.config", *config)
        kernel.code_bytes = code_bytes
        for within, comment in unread:
            message = say("kernel-info-unknown", kernel=symbol, comment=decode(comment[:60]))
            self._warnings.add(message, line + within)

    def _function(self, floor: int, offset: int) -> tuple[str, int | None] | None:
        """Name and label offset of the function whose info block is at `offset`; None if unknown.

        The label offset is None if it is already known, or not found.
        """
        if self._begin >= floor:
            # The comment holds the name without quotes or escapes.
            name = decode(line_at(self._text, self._begin + len(scan.BEGIN)).rstrip())
            if (kernel := self._kernels.get(name)) and kernel.line is not None:
                return name, None
            return name, scan.label_offset(self._text, name, self._begin, offset)
        name, described = self._described
        if name and described > floor:
            return name, None
        return scan.last_label(self._text, floor, offset)

    def _take_descriptor(self, offset: int, symbol: str) -> None:
        block, ended = directives.read_block(self._text, offset, "amdhsa_kernel")
        floor = max(self._described[1], self._informed)
        self._described = symbol, offset
        kernel = self._kernel(symbol)
        if "amdhsa_kernel" in kernel.blocks:
            self.warn(say("kernel-descriptor-repeated", kernel=symbol), offset)
            return
        self._label(kernel, scan.label_offset(self._text, symbol, floor, offset))
        kernel.add("amdhsa_kernel", block, self._lines.number(offset))
        if not ended:
            self.warn(say("kernel-descriptor-endless", kernel=symbol), offset)

    def _take_code_t(self, offset: int) -> None:
        # The structure comes first in the code, right after the kernel's label.
        floor, line = max(self._informed, offset - 4096), self._lines.number(offset)
        label = scan.last_label(self._text, floor, offset)
        symbol, begin = label or (say("kernel-at-line", line=line), None)
        block, _ = directives.read_block(self._text, offset, "amd_kernel_code_t")
        kernel = self._kernel(symbol)
        kernel.add("amd_kernel_code_t", block, line)
        self._label(kernel, begin)

    def _close_metadata(self, offset: int, *, ended: bool) -> None:
        """Read the open metadata block, which ends at `offset`; `ended` is False if it is cut."""
        assert self._metadata
        (kind, start), self._metadata = self._metadata, None
        self._has_metadata = True
        yaml, complete = metadata_yaml.document(decode(self._text[start:offset]))
        if not (ended or complete):
            self.warn(say("metadata-endless"), start)
        line = self._lines.number(start)
        try:
            if kind == "amdgpu_pal_metadata":
                root, _ = metadata_yaml.root_of(yaml)
                self._pal = blocks.read_pal_metadata(root), line
                return
            is_v2 = kind == _METADATA_V2
            limit = self._budget.kernel_limit + 1
            kernels, named, version = metadata_yaml.parse(yaml, limit, is_v2=is_v2)
        except ValueError as error:
            self.warn(say("metadata-unreadable", error=error), start)
            return
        if target := parse_target_id(named or ""):
            self._targets["metadata"] = target
        if warning := unknown_version(version):
            self.warn(warning, start)
        self._version = self._version or (2 if is_v2 else code_object_version(version))
        for symbol, numbers, complaints, within in kernels:
            for complaint in complaints:
                wrong = in_kernel(symbol, complaint)
                self._warnings.add(wrong, line + within)
            if not symbol:
                self._warnings.add(say("metadata-without-name"), line + within)
                continue
            kernel = self._kernel(symbol)
            if kernel.metadata[1]:
                kernel.warn(say("metadata-repeated"), line + within)
            kernel.metadata = numbers, line + within
        self._budget.check_list(len(kernels))

    def _find_code(self, end: int) -> None:
        """Set each kernel's instructions and source line; a kernel ends at the next one's label."""
        for kernel, label in kernel_text.far_labels(self._kernels, self._text, self._start, end):
            self._label(kernel, label)
        starts = {k.label: k for k in self._kernels.values() if k.label is not None}
        if self._files:
            self._files.read_declarations(self._text, self._start, end)
        for offset, after in pairwise([*sorted(starts), end]):
            kernel, function = starts[offset], partial(function_text, self._text, offset, after)
            kernel.end = after
            kernel.read_code = partial(read_code, function, self._definitions)
            try:
                kernel.source = self._files.position(function) if self._files else None
            except Exception as error:
                kernel.warn(bug(error), kernel.line)

    def _each(
        self, read: Callable[[_Named], KernelFacts], kernels: Iterable[_Named]
    ) -> Iterator[KernelFacts]:
        """What `read` returns for each kernel; a kernel that cannot be read becomes a warning."""
        for kernel in kernels:
            try:
                yield read(kernel)
            except Exception as error:
                self._warnings.add(in_kernel(kernel.symbol, bug(error)), kernel.line)

    def _may_be_cut(self, end: int) -> bool:
        """True if a compiler wrote the module, without comments, and its metadata is missing."""
        if self._has_metadata or not self._is_hsa or self._begin >= 0:
            return False
        kernels, stamps = self._kernels.values(), self._stamps
        return kernel_text.is_of_compiler(kernels, stamps, self._text, self._start, end)

    def warn(self, message: Message, offset: int) -> None:
        """Add a warning at a byte offset of the text."""
        self._warnings.add(message, self._lines.number(offset))

    def finish(self, end: int, arch: str | None) -> Iterator[Module]:
        """The module up to the byte offset `end`; nothing if it has no kernel, warning or target.
        `arch` is the target of a module that names none."""
        if self._metadata:
            self._close_metadata(end, ended=False)
        warnings = self._warnings.take()
        if self._is_hsa and self._begin >= 0 and not warnings:  # else by hand, or known damaged
            line = self._lines.number(end)
            kernel_text.check_metadata(
                self._kernels.values(), self._has_metadata, line, self._warnings
            )
        if not (self._kernels or warnings or self._targets):
            return
        stated = (self._targets[who] for who in _TARGET_SOURCES if who in self._targets)
        target_id = next(stated, parse_target_id(self._bundle_id))
        given = parse_target_id(arch or "")
        if target_id and given and given.processor != target_id.processor:
            self._warnings.add(say("target-not-of-text", arch=arch, processor=target_id.processor))
        target_id = target_id or given
        features = target_id.features(self._version) if target_id else Features()
        target = target_id.hardware if target_id else None
        # An unknown version is taken for a new one: the code may run with XNACK.
        xnack = features.xnack not in ("off", "unsupported")
        self._definitions.target, self._definitions.kernels = target, self._kernels.keys()
        self._find_code(end)
        texts = kernel_text.without_shaders(self._kernels.values(), self._warnings)
        if self._pal:
            stages, line = self._pal
            for kernel in texts:
                kernel.metadata = blocks.pal_numbers(stages, kernel.symbol, target), line
        kernels = [*self._each(lambda stated: stated.facts(xnack=xnack), texts)]
        if self._functions:
            kernels = kernel_text.with_linking_info(
                kernels, self._functions, self._variables, target, xnack=xnack
            )
        kernels = [
            *self._each(
                lambda k: with_proven(k, self._text, self._kernels[k.symbol], target), kernels
            )
        ]
        yield Module(
            kind="assembly",
            target=target_id.processor if target_id else None,
            features=features,
            code_object_version=self._version,
            stamps=distinct(self._stamps),
            kernels=tuple(kernels),
            warnings=warnings + self._warnings.take(),
            notes=(NOT_LINKED,) if self._functions else (),
            doubts=(kernel_text.CUT,) if self._may_be_cut(end) else (),
            offset=self._start,
        )


_DIRECTIVE = 3
"""Statements counted for one directive, by the time that it takes to read."""


def read(
    text: Text, *, arch: str | None = None, budget: FileBudget = UNBOUNDED
) -> Iterator[Module]:
    """Modules of an assembly text, in its order.

    A module ends at the next `.amdgcn_target` or at the next part of a text bundle. A part with
    nothing for an AMD GPU gives no module. `arch` is the target of modules that name none. A
    statement that cannot be read becomes a warning of its module; nothing in a text raises. Takes
    time linear in the text. Raises `ReadError` if the file of a long text can no longer be read.
    """
    warnings = ReadWarnings()
    begin_module = partial(ModuleText, text, Lines(text), warnings, budget)
    part = ""
    unended: list[tuple[str, int]] = []
    module = begin_module(0, part)
    offset, end = 0, len(text)
    try:
        for offset, kind in scan.outside_macros(text, _counted(scan.marks(text), budget)):
            if kind == scan.BUNDLE:
                mark, _, entry = decode(line_at(text, offset)).partition(" ")
                begins = mark == f"{scan.BUNDLE}START__"
                if part and begins:
                    unended.append((part, offset))
                elif not begins and entry != part:
                    module.warn(say("part-not-open", entry=entry, part=part), offset)
                yield from _finished(module, offset, arch)
                part = entry if begins else ""
                module = begin_module(offset, part)
            else:
                if kind == "amdgcn_target" and module.begun and is_directive(text, offset):
                    yield from _finished(module, offset, arch)
                    module = begin_module(offset, part)
                try:
                    module.take(offset, kind)
                except Exception as error:
                    module.warn(bug(error), offset)
        if part:
            unended.append((part, end))
    except BoundError as error:
        module.warn(error.message, offset)
        end = offset
    if unended:
        further = say("part-and-more", count=len(unended) - 1) if len(unended) > 1 else ""
        module.warn(say("part-endless", part=unended[0][0], more=further), unended[0][1])
    yield from _finished(module, end, arch)
    if rest := warnings.rest():
        yield _only_warnings(rest)


def _finished(module: ModuleText, end: int, arch: str | None) -> Iterator[Module]:
    return survived(
        module.finish(end, arch), lambda message: _only_warnings([ReadWarning(message)])
    )


def _only_warnings(warnings: Iterable[ReadWarning]) -> Module:
    return Module("assembly", None, Features(), None, (), (), tuple(warnings))


def _counted(marks: Iterable[tuple[int, str]], budget: FileBudget) -> Iterator[tuple[int, str]]:
    """The marks, unchanged; each counts against the budget. Raises `BoundError` if they exceed
    it."""
    for offset, kind in marks:
        budget.spend_statements(1 if kind in (scan.ASSIGNMENT, scan.BEGIN) else _DIRECTIVE)
        yield offset, kind
