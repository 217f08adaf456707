"""`--as`: the same kernel on another target, always called a what-if."""

from __future__ import annotations

import pytest

from kernelinfo import Kernel, LaunchError, arch, load

from ..conftest import FIXTURES
from ..messages import refused

GENERIC = "code_object/tiny-v6-clang22-gfx9-4-generic.co"
PADDED = "code_object/occupancy-clang22-gfx90a.co"


def test_padding_belongs_to_the_own_target() -> None:
    """clang 22 encodes 257 VGPRs for 64 KiB of LDS; 210 are used."""
    report = load(FIXTURES / PADDED)
    (padded,) = [k for k in report.kernels if k.name.startswith("ldsbound")]
    assert padded.traits.demand is not None
    assert padded.traits.demand.vgprs == 264
    elsewhere = padded.on("gfx950")
    assert elsewhere.traits.demand is not None
    assert elsewhere.traits.demand.vgprs == 210
    assert padded.on("gfx90a").traits.demand == padded.traits.demand


@pytest.mark.parametrize("member", ["gfx942", "gfx950"])
def test_code_for_a_generic_target_runs_on_a_member_as_it_is(member: str) -> None:
    for kernel in load(FIXTURES / GENERIC).kernels:
        bound = kernel.occupancy(workgroup_size=256)
        assert not bound.exact
        there = kernel.on(member)
        assert there.traits.demand == kernel.traits.demand
        found = there.occupancy(workgroup_size=256)
        assert found.exact
        assert found.target == member
        assert found.percent <= bound.percent
        assert kernel.traits.demand is not None
        alone = arch(member).occupancy(workgroup_size=256, vgprs=kernel.traits.demand.vgprs or 0)
        assert found.waves_per_simd == alone.waves_per_simd


def test_a_members_waves_have_to_be_of_that_size() -> None:
    kernel = load(FIXTURES / "code_object" / "tiny-v6-clang22-gfx1030.co").kernels[0]
    with refused("kernel-wave-size 32", LaunchError):
        kernel.on("gfx942")


def moved(name: str, kernel: str, target: str) -> Kernel:
    found = [k for k in load(FIXTURES / name).kernels if k.name.startswith(kernel)]
    return found[0].on(target)


def test_a_split_register_file_counts_the_larger_of_both_kinds() -> None:
    """`agpr_and_vgpr` uses 46 AGPRs and twice the VGPRs, in one file on gfx90a, two on gfx908."""
    name = "code_object/variety-clang22-gfx90a.co"
    unified = moved(name, "agpr_and_vgpr", "gfx90a")
    assert unified.traits.demand is not None
    arch_vgprs, agprs = unified.traits.demand.arch_vgprs, unified.traits.demand.agprs
    assert (arch_vgprs, agprs) == (92, 46)
    there = moved(name, "agpr_and_vgpr", "gfx908")
    assert there.traits.demand is not None
    assert there.traits.demand.vgprs == there.numbers.vgprs == 92
    found = there.occupancy(workgroup_size=256)
    assert found.waves_per_simd == 2
    asked = arch("gfx908").occupancy(
        workgroup_size=256, vgprs=92, agprs=46, sgprs=there.traits.demand.sgprs or 0
    )
    assert found == asked._replace(placement=asked.placement._replace(demand=found.demand))


def test_a_unified_register_file_counts_the_sum() -> None:
    for target in ("gfx90a", "gfx942", "gfx950", "gfx9-4-generic"):
        there = moved("assembly/variety-clang19-gfx908.s", "agpr_heavy", target)
        assert there.traits.demand is not None
        assert there.traits.demand.agprs == 72
        assert there.traits.demand.vgprs == (there.traits.demand.accum_offset or 0) + 72


def test_a_count_of_both_kinds_together_does_not_tell_them_apart() -> None:
    """gfx908's metadata has the larger count: with more AGPRs that says nothing of the VGPRs."""
    there = moved("code_object/variety-clang19-gfx908.co", "agpr_heavy", "gfx90a")
    assert there.traits.demand is not None
    assert there.traits.demand.vgprs is None
    found = there.occupancy(workgroup_size=256)
    assert found.at_most_because == ("the input does not say: VGPRs",)
