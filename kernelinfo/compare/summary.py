"""What two builds are compared by: what each kernel takes and what occupancy it reaches."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from kernelinfo.kernel import CodeObject, Result
from kernelinfo.kernel.numbers import NUMBERS
from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy import Occupancy
from kernelinfo.occupancy.limits import Resource
from kernelinfo.reading import stamps
from kernelinfo.reading.facts import SourceLine
from kernelinfo.reading.target_id import target_id


class KernelSummary(NamedTuple):
    """One kernel of one build; None where its input did not say."""

    target: str
    """With the features that the code insists on: `gfx90a:sramecc+:xnack-`."""
    name: str
    """Demangled, with template arguments."""
    symbol: str
    """Mangled."""
    code_object: str
    """Path, relative to where the build was looked for, and the member inside."""
    workgroup_size: int | None
    """Workitems assumed."""
    waves_per_simd: float | None
    """0 where no workgroup can start."""
    percent: float | None
    limiters: tuple[Resource, ...]
    vgprs: int | None
    """Used, per lane; AGPRs included where they share one file."""
    reserved_vgprs: int | None
    """By the hardware, per lane."""
    agprs: int | None
    sgprs: int | None
    """Per wave."""
    lds_bytes: int | None
    """Static and dynamic, per workgroup."""
    scratch_bytes_per_lane: int | None
    """None, too, where it grows at run time: the known part is not to be compared."""
    vgpr_spills: int | None
    sgpr_spills: int | None
    code_bytes: int | None
    source: SourceLine | None = None
    """Its source line, shown and not compared."""
    reserved_sgprs: int | None = None
    """By the hardware, per wave, without the trap handler's."""
    wave_size: int | None = None
    """Lanes."""
    exact: bool | None = None
    """False where the occupancy is an upper bound."""

    @property
    def content(self) -> tuple[object, ...]:
        """All that is compared, in the order of `COMPARED`."""
        return self[:_SOURCE] + self[_SOURCE + 1 :]

    @property
    def processor(self) -> str:
        """The target without features."""
        return self.target.partition(":")[0]

    @property
    def unit(self) -> str:
        """The code object's path and member without the target: one for all targets of a file."""
        return _unit(self.code_object, self.processor)


_SOURCE = KernelSummary._fields.index("source")
COMPARED = tuple(name for name in KernelSummary._fields if name != "source")


class Build(NamedTuple):
    """All kernels of one build, in the order of reading."""

    kernels: tuple[KernelSummary, ...]
    compilers: tuple[str, ...]
    """Stamps of all compilers, those of linked libraries among them; sorted."""
    unstated: tuple[str, ...] = ()
    """Fields that the file of the build does not store."""
    notes: tuple[str, ...] = ()
    """What cannot be known of the build, in words."""
    targets: tuple[str, ...] = ()
    """Of kernels that are left out, as the other build has the same ones."""


def build(results: Iterable[Result], name_of: Callable[[CodeObject], str]) -> Build:
    """The build that these kernels are; `name_of` names a code object in it."""
    kernels: list[KernelSummary] = []
    compilers: set[str] = set()
    of: CodeObject | None = None
    known: dict[tuple[Traits, int], tuple[Occupancy | None, KernelSummary]] = {}
    """The summary of equal traits under one occupancy, by the id of the occupancy. The occupancy is
    kept so that no other object can get its id."""
    for result in results:
        kernel, occupancy = result.kernel, result.occupancy
        if kernel.code_object is not of:
            of = kernel.code_object
            called, target = name_of(of), target_id(of.target, of.features)
            compilers.update(stamps.compilers(of.stamps))
        key = kernel.traits, id(occupancy)
        if key not in known:
            known[key] = occupancy, _summary(result)
        kernels.append(
            known[key][1]._replace(
                target=target,
                name=kernel.name,
                symbol=kernel.symbol,
                code_object=called,
                code_bytes=kernel.code_bytes,
                source=kernel.source,
            )
        )
    return Build(tuple(kernels), tuple(sorted(compilers)))


def _summary(result: Result) -> KernelSummary:
    """A kernel's numbers, without what is its own."""
    occupancy = result.occupancy
    numbers: dict[str, Any] = {number.field: number.of(result) for number in NUMBERS}
    return KernelSummary(
        target="",
        name="",
        symbol="",
        code_object="",
        limiters=occupancy.limiters if occupancy else (),
        exact=occupancy.exact if occupancy else None,
        **numbers,
    )


@lru_cache(maxsize=1 << 12)
def _unit(code_object: str, processor: str) -> str:
    return re.sub(rf"{re.escape(processor)}(?![\da-f])(:\w+[+-])*", "", code_object)


def path_under(root: str, path: str, member: str | None) -> str:
    """The path relative to `root`, empty where it is `root`, and the member inside the file."""
    if path == root:
        path = ""
    elif path.startswith(folder := os.path.join(root, "")) and root:
        path = path[len(folder) :]
    return " › ".join(part for part in (path, member) if part)


def common_root(paths: set[str]) -> str:
    """The one file, or the folder that all of them are in."""
    try:
        return os.path.commonpath(paths) if paths else ""
    except ValueError:  # some absolute, some not
        return ""
