"""Blobs to kernels: what the input states of each, without occupancy and findings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from kernelinfo.analysis.inputs import PathCounts, modules
from kernelinfo.analysis.options import Options
from kernelinfo.errors import ReadError, UnknownTargetError
from kernelinfo.hardware import targets
from kernelinfo.hardware.targets import Target
from kernelinfo.kernel import Kernel
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.kernel.combine import combine
from kernelinfo.kernel.names import demangle, has_demangler
from kernelinfo.reading.blob import Blob, Note, Problem
from kernelinfo.reading.containers.parts import UNKNOWN_DATA, problem
from kernelinfo.reading.containers.triton import with_launch
from kernelinfo.reading.facts import KernelFacts, Module, ReadFilter
from kernelinfo.reading.stamps import compiler_of
from kernelinfo.reading.target_id import parse_target_id
from kernelinfo.rules import may_ask_for_code


class CodeKernels(NamedTuple):
    """One code object, assembly text or build log with its kernels."""

    code_object: CodeObject
    kernels: Iterator[Kernel]
    """In the order of reading, each read when it is asked for."""


class KernelReader:
    """Reader of kernels, for one run over several files."""

    def __init__(self, options: Options, asked: ReadFilter | None = None) -> None:
        """`asked` is the choice of kernels for readers; None for all."""
        self._options, self._asked = options, asked
        self._has_cxx_names = False  # True if a kernel read so far has one
        self._entries: dict[tuple[str, str], str] = {}
        """(path, processor) -> id of the first entry for it in the file."""

    def read(self, blob: Blob, counts: PathCounts) -> Iterator[CodeKernels | Problem]:
        """Kernels of one blob, by code object, and problems. Updates `counts`."""
        for module in modules(blob, arch=self._options.arch, asked=self._asked):
            if isinstance(module, Problem):
                yield module
                continue
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

    def _of_module(
        self, module: Module, blob: Blob, counts: PathCounts
    ) -> Iterator[CodeKernels | Problem]:
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
            mend = f"leave --arch out; --as {arch} asks what if"
            yield problem(blob, f"is compiled for {name}, not for {arch}; {mend}")
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
            command=blob.command,
        )
        for symbol in module.passed_over:
            counts.pass_over(demangle(symbol))
        self._check_demangler(module, blob, counts)
        combined = (self._with_code(combine(k, code_object, target), k) for k in kernels)
        yield CodeKernels(code_object, combined)

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
