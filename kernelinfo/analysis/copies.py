"""Copies of one compilation: code objects whose kernels an assembly next to them states, too.

hipcc --save-temps leaves each kernel as `.s`, `.o` and `.out`, in `.hipfb` and in the executable.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from kernelinfo.analysis.inputs import Events, run
from kernelinfo.analysis.kernels import read_kernels
from kernelinfo.analysis.options import Options
from kernelinfo.errors import ReadError
from kernelinfo.kernel import Kernel, Repeat
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.containers.files import is_read

ASSEMBLY = (".s", ".amdgcn")
_DEVICE = "amdgcn"
"""Part of the names of clang's temporary files for the device."""
_MARKS = ("-hip-amdgcn-", "-openmp-amdgcn-", "-host-")
"""Marks that end the source's name in names of temporary files."""
_SUFFIXES = (
    *ASSEMBLY, ".o", ".out", ".co", ".hsaco", ".hipfb", ".so", ".exe", ".obj",
    ".hip", ".cpp", ".cc", ".cxx", ".cu", ".cl",
)  # fmt: skip
_MOST_KERNELS = 1 << 16
"""Most kernels of assemblies to remember; further assemblies have no copies."""

StatedKernels = dict[tuple[str | None, str], Kernel]
"""(target, symbol) -> kernel."""


class Copies:
    """Assemblies of a run, read when a code object lies next to them."""

    def __init__(self, among: Sequence[str], options: Options) -> None:
        """`among` are all paths of the run."""
        self._among, self._options = among, options
        self._folders: dict[str, dict[str, str]] = {}
        """Folder -> path of each assembly in it -> name of its source."""
        self._stated: dict[str, StatedKernels] = {}
        """Path of an assembly -> its kernels."""

    def merged(self, kernels: Sequence[Kernel]) -> Iterator[Kernel | Repeat]:
        """The kernels of a code object, or one `Repeat` if an assembly states the same numbers for
        all of them."""
        path, containers, member, offset = kernels[0].code_object[:4]
        assemblies = self._candidates(kernels[0].code_object)
        if first := self._original(kernels, assemblies):
            yield Repeat(first, path, containers, member, offset, is_exact=False)
        else:
            yield from self._compared(kernels, assemblies)

    def _original(self, kernels: Sequence[Kernel], assemblies: list[str]) -> CodeObject | None:
        """The code of an assembly with exactly these kernels and numbers; None without one."""
        for path in assemblies:
            stated = self._stated_in(path)
            first = stated.get(_key(kernels[0]))
            if first and all(_is_stated(kernel, stated) for kernel in kernels):
                target = first.code_object.target
                if sum(name == target for name, _ in stated) == len(kernels):
                    return first.code_object
        return None

    def _compared(self, kernels: Sequence[Kernel], assemblies: list[str]) -> Sequence[Kernel]:
        """The kernels; if an assembly of the same source is there, with the differences from it."""
        source = source_name(kernels[0].code_object.path)
        for path in assemblies:
            stated = self._stated_in(path) if source_name(path) == source else {}
            twins = filter(None, (stated.get(_key(kernel)) for kernel in kernels))
            if any(_may_be_one(kernels[0].code_object, other.code_object) for other in twins):
                return [_contradicted(kernel, path, stated) for kernel in kernels]
        return kernels

    def _candidates(self, code_object: CodeObject) -> list[str]:
        """Paths of assemblies next to a code object: those of its own source first, then other
        device code."""
        path, target = code_object.path, code_object.target or ""
        source, assemblies = source_name(path), self._assemblies(os.path.dirname(path))
        fitting = (p for p in assemblies if target in p or "gfx" not in p)
        return sorted(
            (p for p in fitting if assemblies[p] == source or _DEVICE in p),
            key=lambda p: assemblies[p] != source,
        )

    def _assemblies(self, folder: str) -> dict[str, str]:
        """Path of each assembly in a folder that the run reads -> name of its source."""
        if folder not in self._folders:
            names: list[str] = []
            with suppress(OSError):
                names = sorted(os.listdir(folder or "."))
            paths = (os.path.join(folder, name) for name in names if name.endswith(ASSEMBLY))
            read = (path for path in paths if is_read(path, self._among))
            self._folders[folder] = {path: source_name(path) for path in read}
        return self._folders[folder]

    def _stated_in(self, path: str) -> StatedKernels:
        """The kernels of an assembly. Empty if it cannot be read, or if too many kernels are
        remembered."""
        if path not in self._stated:
            is_full = sum(map(len, self._stated.values())) >= _MOST_KERNELS
            self._stated[path] = {}
            with suppress(ReadError):  # reported when the assembly itself is read
                kernels = () if is_full else self._kernels_at(path)
                self._stated[path] = {_key(kernel): kernel for kernel in kernels}
        return self._stated[path]

    def _kernels_at(self, path: str) -> Iterator[Kernel]:
        """All kernels of an assembly, without any filter. Raises `ReadError` if a part cannot be
        read."""
        options = Options(arch=self._options.arch, bounds=self._options.bounds)
        read = partial(read_kernels, options=options, entries={})
        for item in run([(path, Events())], read, options, required=False):
            if isinstance(item, Problem):
                raise ReadError(item.message)
            if item.code_object.kind == "assembly":  # not a code object that is named .s
                yield item


def _key(kernel: Kernel) -> tuple[str | None, str]:
    return kernel.code_object.target, kernel.symbol


def _is_stated(kernel: Kernel, stated: StatedKernels) -> bool:
    """True if the assembly states the kernel with the same numbers."""
    other = stated.get(_key(kernel))
    return (
        other is not None
        and _may_be_one(kernel.code_object, other.code_object)
        and not _differences(kernel, other)
    )


def _may_be_one(code_object: CodeObject, other: CodeObject) -> bool:
    """True if no target feature is on in one and off in the other."""
    features = zip(code_object.features, other.features, strict=True)
    return all(None in pair or len({*pair}) == 1 for pair in features)


def source_name(path: str) -> str:
    """The name, without suffix, of the source file that a file was compiled from."""
    name = os.path.basename(path)
    for mark in _MARKS:
        name = name.partition(mark)[0]
    while (parts := os.path.splitext(name))[1] in _SUFFIXES:
        name = parts[0]
    return name


def _statement(kernel: Kernel) -> dict[str, Any]:
    """For each noun (`VGPRs`), the amount that the kernel states."""
    numbers = kernel.numbers
    return {
        "VGPRs used": numbers.vgprs,
        "AGPRs used": numbers.agprs,
        "SGPRs used": numbers.sgprs,
        "B of LDS": numbers.lds_bytes,
        "B of scratch": numbers.scratch_bytes_per_lane,
        "VGPRs allocated": numbers.reserved_vgprs,
        "VGPRs before the first AGPR": numbers.accum_offset,
    }


def _differences(kernel: Kernel, stated: Kernel) -> list[str]:
    """Differences between assembly and code object in words: `96 VGPRs used, not 94`."""
    there = _statement(stated)
    return [
        f"{there[noun]} {noun}, not {here}"
        for noun, here in _statement(kernel).items()
        if None not in (here, there[noun]) and here != there[noun]
    ]


def _contradicted(kernel: Kernel, path: str, stated: StatedKernels) -> Kernel:
    """The kernel, with the differences between it and the assembly in words."""
    file, other = os.path.basename(path), stated.get(_key(kernel))
    if other is None:
        return kernel._replace(contradiction=f"{file} has no such kernel")
    differences = _differences(kernel, other)
    if not differences:
        return kernel
    return kernel._replace(contradiction=f"{file} states {', '.join(differences)}")
