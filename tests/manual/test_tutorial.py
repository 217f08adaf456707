"""The occupancy limiters tutorial, from a real hipcc build of kernels of the same character."""

from __future__ import annotations

import pytest

import kernelinfo
from kernelinfo import Kernel

from ..conftest import FIXTURES

NAME = "occupancy-hip-amdgcn-amd-amdhsa-gfx90a"
FILES = [f"assembly/{NAME}.s", f"code_object/{NAME}.out", "container/occupancy"]


@pytest.fixture(params=FILES)
def kernels(request: pytest.FixtureRequest) -> dict[str, Kernel]:
    report = kernelinfo.load(FIXTURES / request.param)
    return {kernel.name.split("(")[0]: kernel for kernel in report.kernels}


@pytest.mark.parametrize(
    ("name", "vgprs", "accum_offset", "lds", "scratch", "percent", "limiters"),
    [
        ("vgprbound", 122, 124, 0, 0, 50.0, ("vgpr",)),
        ("ldsbound", 96, 96, 65536, 0, 12.5, ("lds",)),
        ("sgprbound", 64, 64, 0, 60, 100.0, ("slots", "vgpr", "sgpr", "scratch")),
    ],
)
def test_limiters_when_launched_with_256_threads(
    kernels: dict[str, Kernel],
    name: str,
    vgprs: int,
    accum_offset: int,
    lds: int,
    scratch: int,
    percent: float,
    limiters: tuple[str, ...],
) -> None:
    kernel = kernels[name]
    assert kernel.numbers.vgprs == vgprs
    assert kernel.numbers.accum_offset == accum_offset
    assert kernel.numbers.lds_bytes == lds
    assert kernel.numbers.scratch_bytes_per_lane == scratch
    found = kernel.occupancy(workgroup_size=256)
    assert found.percent == percent
    assert found.limiters == limiters
    assert found.exact
    # The profiler showed 124 + 4, 96 + 0 and 64 + 0 VGPRs, and 80 SGPRs.
    allocated = found.allocated
    assert (allocated.arch_vgprs, allocated.sgprs) == (accum_offset, 80)
    assert allocated.vgprs == accum_offset + (allocated.agprs or 0)


def test_next_steps(kernels: dict[str, Kernel]) -> None:
    (vgpr,) = kernels["vgprbound"].occupancy(workgroup_size=256).next
    assert (vgpr.at_most, vgpr.change, vgpr.waves_per_simd) == (96, -26, 5)
    (lds,) = kernels["ldsbound"].occupancy(workgroup_size=256).next
    assert (lds.at_most, lds.change, lds.percent) == (32768, -32768, 25)
    assert kernels["sgprbound"].occupancy(workgroup_size=256).next == ()


def test_spills(kernels: dict[str, Kernel]) -> None:
    spills = {name: kernel.numbers.vgpr_spills for name, kernel in kernels.items()}
    assert spills == {"empty": 0, "vgprbound": 0, "ldsbound": 0, "sgprbound": 14}


def test_sizes_that_the_kernels_declare(kernels: dict[str, Kernel]) -> None:
    sizes = {name: kernel.numbers.max_workgroup_size for name, kernel in kernels.items()}
    assert sizes == {"empty": 1024, "vgprbound": 256, "ldsbound": 256, "sgprbound": 1024}
