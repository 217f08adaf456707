"""Reports with numbers of choice, made from a real one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from hypothesis import strategies as st

from kernelinfo import CodeObject, Report, Result, load

from ..conftest import FIXTURES
from ..contract.compiled import assembly

_REAL = load(FIXTURES / "assembly" / "occupancy-clang22-gfx90a.s").results[1]


@dataclass(frozen=True)
class Numbers:
    """Numbers of a kernel: gated by default, and not gated."""

    name: str = "k"
    waves: float = 4
    vgpr_spills: int | None = 0
    sgpr_spills: int | None = 0
    scratch: int | None = 0
    vgprs: int | None = 100
    path: str = "build/a.s"
    stamps: tuple[str, ...] = ("clang version 19.1.7 (https://example.com/llvm)",)


@cache
def code_object(path: str, stamps: tuple[str, ...]) -> CodeObject:
    """Text of the compilers that left these stamps."""
    text = assembly("k", f"stamp={'|'.join(stamps)}")
    return load(text.encode()).kernels[0].code_object._replace(path=path)


def result(numbers: Numbers) -> Result:
    assert _REAL.occupancy is not None
    kernel = _REAL.kernel
    return Result(
        kernel._replace(
            name=f"{numbers.name}(int)",
            symbol=f"_Z{numbers.name}",
            code_object=code_object(numbers.path, numbers.stamps),
            traits=kernel.traits._replace(
                numbers=kernel.numbers._replace(
                    vgprs=numbers.vgprs,
                    scratch_bytes_per_lane=numbers.scratch,
                    vgpr_spills=numbers.vgpr_spills,
                    sgpr_spills=numbers.sgpr_spills,
                ),
            ),
        ),
        _REAL.occupancy._replace(waves=int(numbers.waves * _REAL.occupancy.simds)),
    )


def report(builds: Sequence[Numbers]) -> Report:
    return Report(tuple(map(result, builds)), ())


COUNTS = st.integers(0, 5)
NUMBERS = st.builds(
    Numbers,
    name=st.sampled_from(["a", "b", "ns::c", "d<1>", "d<2>", "größe"]),
    waves=st.sampled_from([0.5, 1, 2, 4, 8]),
    vgpr_spills=COUNTS,
    sgpr_spills=COUNTS,
    scratch=COUNTS,
    vgprs=COUNTS,
    path=st.sampled_from(["build/a.s", "build/b.s"]),
)
BUILDS = st.lists(NUMBERS, min_size=1, max_size=6)
"""Builds in which kernels may share a name, like static kernels."""
DISTINCT = st.lists(NUMBERS, min_size=1, max_size=6, unique_by=lambda one: one.name)
