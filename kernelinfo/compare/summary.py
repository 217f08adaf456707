"""Summaries for comparing builds: resources and occupancy of each kernel."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from sys import intern
from typing import Any, NamedTuple

from kernelinfo.kernel import Result
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.kernel.library import member_file
from kernelinfo.kernel.record import INSTRUCTIONS, NUMBERS, compared_value
from kernelinfo.model.limits import Resource
from kernelinfo.reading.facts import SourceLine
from kernelinfo.reading.target_id import compilers as compilers_of
from kernelinfo.reading.target_id import target_id


class KernelNumbers(NamedTuple):
    """The numbers of a kernel; one is None if the input does not state it."""

    workgroup_size: int | None
    """Assumed workgroup size in workitems."""
    waves_per_simd: float | None
    """0 if no workgroup can start."""
    percent: float | None
    limiters: tuple[Resource, ...]
    vgprs: int | None
    """VGPRs used per lane; AGPRs included on targets with a unified file."""
    reserved_vgprs: int | None
    """VGPRs that the hardware allocates per lane."""
    agprs: int | None
    """AGPRs used per lane."""
    sgprs: int | None
    """SGPRs used per wave."""
    lds_bytes: int | None
    """Static and dynamic LDS per workgroup."""
    scratch_bytes_per_lane: int | None
    """Bytes; None also if scratch grows at run time, since its known part does not compare."""
    vgpr_spills: int | None
    sgpr_spills: int | None
    code_bytes: int | None
    reserved_agprs: int | None = None
    """AGPRs that the hardware allocates per lane."""
    reserved_sgprs: int | None = None
    """SGPRs that the hardware allocates per wave, without those of the trap handler."""
    wave_size: int | None = None
    """Lanes."""
    exact: bool | None = None
    """False if the occupancy is an upper bound."""
    instructions: int | None = None
    """This and the next 16 are counts of instructions; None if they are not counted."""
    vector: int | None = None
    matrix: int | None = None
    scalar: int | None = None
    lds_instructions: int | None = None
    loads: int | None = None
    stores: int | None = None
    atomics: int | None = None
    scalar_loads: int | None = None
    scratch_instructions: int | None = None
    branches: int | None = None
    waits: int | None = None
    barriers: int | None = None
    copies: int | None = None
    other: int | None = None
    load_bytes: int | None = None
    store_bytes: int | None = None


class KernelSummary(NamedTuple):
    """One kernel of one build. Each of its numbers is read by its own name, too: `kernel.vgprs`."""

    target: str
    """Processor with the features that the code sets: `gfx90a:sramecc+:xnack-`."""
    name: str
    """Demangled, with template arguments."""
    symbol: str
    """Mangled."""
    code_object: str
    """Path relative to the build, and the member inside the file."""
    numbers: KernelNumbers
    """One object for all kernels of a build with equal numbers."""
    source: SourceLine | None = None
    """Source line; shown, not compared."""
    accepted: tuple[tuple[str, str], ...] = ()
    """(rule, severity) of findings that a baseline accepts; not compared."""
    options: tuple[tuple[str, str], ...] = ()
    """Triton's constants and compile options; shown, not compared."""

    def __getattr__(self, name: str) -> Any:
        """A number by its own name."""
        return getattr(self.numbers, name)

    @property
    def content(self) -> tuple[object, ...]:
        """The compared values, in the order of `COMPARED`."""
        return self.target, self.name, self.symbol, self.code_object, *self.numbers

    @property
    def processor(self) -> str:
        """The target without features."""
        return self.target.partition(":")[0]

    @property
    def place(self) -> tuple[str, str]:
        """(path, member) in the build; the path is empty if the build is one file."""
        path, separator, member = self.code_object.partition(" › ")
        if not separator and member_file(path) != path:  # the entry of a bundle
            return "", path
        return path, member

    @property
    def unit(self) -> str:
        """Path and member without the target, so that all targets of a file share it."""
        return _unit(self.code_object, self.processor)


_COUNTED = tuple(number.field for number in INSTRUCTIONS)
IDENTITY = ("target", "name", "symbol", "code_object")
COMPARED = (*IDENTITY, *KernelNumbers._fields)


class Build(NamedTuple):
    """One build: its kernels in reading order."""

    kernels: tuple[KernelSummary, ...]
    compilers: tuple[str, ...]
    """Stamps of all compilers, linked libraries included; sorted."""
    notes: tuple[str, ...] = ()
    """Sentences on numbers that the saved file does not store."""
    targets: tuple[str, ...] = ()
    """Targets of left-out kernels, which are equal in both builds."""


def build(
    results: Iterable[Result],
    name_of: Callable[[CodeObject], str],
    known: dict[KernelSummary, KernelSummary] | None = None,
) -> Build:
    """The build of these kernels; `name_of` names a code object in it.

    Equal kernels of several builds that share `known` are one object.
    """
    compilers: set[str] = set()
    numbers: dict[KernelNumbers, KernelNumbers] = {}
    kernels = (
        one._replace(numbers=numbers.setdefault(one.numbers, one.numbers))
        for one in summaries(results, name_of, compilers)
    )
    if known is not None:
        kernels = (known.setdefault(one, one) for one in kernels)
    return Build(tuple(kernels), tuple(sorted(compilers)))


def summaries(
    results: Iterable[Result], name_of: Callable[[CodeObject], str], compilers: set[str]
) -> Iterator[KernelSummary]:
    """The summary of each kernel, as in `build`. Adds the stamps of compilers to `compilers`."""
    of: CodeObject | None = None
    for result in results:
        if result.kernel.code_object is not of:
            of = result.kernel.code_object
            called, target = name_of(of), target_id(of.target, of.features)
            compilers.update(compilers_of(of.stamps))
        kernel = result.kernel
        yield KernelSummary(
            target=target,
            name=intern(kernel.name),  # 12,591 different names of 88,137 kernels
            symbol=intern(kernel.symbol),
            code_object=called,
            numbers=_numbers(result),
            source=kernel.source,
            options=of.options,
        )


def _numbers(result: Result) -> KernelNumbers:
    """The numbers of a kernel under the launch of its occupancy."""
    kernel, occupancy = result.kernel, result.occupancy
    found: dict[str, Any] = {number.field: compared_value(number, result) for number in NUMBERS}
    if kernel.instructions:
        found |= zip(_COUNTED, kernel.instructions, strict=True)
    return KernelNumbers(
        limiters=occupancy.limiters if occupancy else (),
        exact=occupancy.exact if occupancy else None,
        **found,
    )


def _unit(code_object: str, processor: str) -> str:
    return re.sub(rf"{re.escape(processor)}(?![\da-f])(:\w+[+-])*", "", code_object)


def path_under(root: str, path: str, member: str | None) -> str:
    """Path relative to `root` (empty for `root` itself) and member, joined by ` › `."""
    if path == root:
        path = ""
    elif path.startswith(folder := os.path.join(root, "")) and root:
        path = path[len(folder) :]
    return " › ".join(part for part in (path, member) if part)


def place_under(root: str, code_object: CodeObject) -> str:
    """The path of a code object relative to `root`, and its member."""
    return path_under(root, code_object.path, code_object.member)


def common_root(paths: set[str]) -> str:
    """The only file, or the folder that contains all files."""
    try:
        return os.path.commonpath(paths) if paths else ""
    except ValueError:  # some absolute, some not
        return ""
