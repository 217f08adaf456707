"""KI208: registers that are reserved and not used."""

from __future__ import annotations

import json
from functools import cache

import pytest

from kernelinfo import Kernel, load
from kernelinfo.hardware import targets
from kernelinfo.kernel.combine import settled
from kernelinfo.reading.facts import Numbers, StatedNumbers
from kernelinfo.rules.waves import padded_registers

from ..conftest import FIXTURES
from ..test_golden import run


@cache
def plain() -> Kernel:
    """A kernel to change: of gfx9-4-generic, 102 VGPRs, workgroups to 256, no LDS."""
    report = load(FIXTURES / "code_object" / "tiny-v6-clang22-gfx9-4-generic.co")
    return next(kernel for kernel in report.kernels if kernel.name.startswith("claim"))


def kernel(
    vgprs: int = 102,
    encoded: int | None = 104,
    lds: int = 0,
    compiled: str = "gfx9-4-generic",
    agprs: int = 0,
    sgprs: int = 16,
    encoded_sgprs: int | None = None,
) -> Kernel:
    """What metadata and descriptor state; with AGPRs, so many of the VGPRs are AGPRs."""
    offset = max(4, (vgprs - agprs + 3) // 4 * 4)
    stated = Numbers(vgprs=vgprs, agprs=agprs, sgprs=sgprs, lds_bytes=lds, max_workgroup_size=256)
    stated = stated._replace(scratch_bytes_per_lane=0)
    described = Numbers(
        reserved_vgprs=encoded, reserved_sgprs=encoded_sgprs or sgprs, accum_offset=offset
    )
    known: tuple[StatedNumbers, ...] = (("descriptor", described), ("metadata", stated))
    return plain()._replace(traits=settled(known, compiled, compiled))


def messages_of(one: Kernel, workgroup_size: int = 256) -> list[str]:
    found = one.occupancy(workgroup_size=workgroup_size)
    return [f"{r.message}; {r.hint}".rstrip("; ") for r in padded_registers(one.traits, found)]


@pytest.mark.parametrize(
    "one",
    [
        plain(),
        kernel(vgprs=97),
        kernel(vgprs=0, encoded=8),
        kernel(encoded=None),
        kernel(vgprs=102, encoded=104, lds=40000),
    ],
    ids=[
        "as compiled",
        "rounded up to the granule",
        "nothing used, and one granule",
        "no descriptor was read",
        "much LDS and nothing padded",
    ],
)
def test_what_is_only_rounded_is_not_padded(one: Kernel) -> None:
    assert messages_of(one) == []


RAISE = "raise the upper bound of amdgpu_waves_per_eu, if there is one"


def test_padding_without_lds_has_no_likely_cause() -> None:
    """`amdgpu_waves_per_eu` asked for at most two waves."""
    assert messages_of(kernel(vgprs=2, encoded=176)) == [
        "176 VGPRs (172 AGPRs) are allocated, 2 (0) are used: 2 instead of 8 waves/SIMD; " + RAISE
    ]


def test_lds_that_does_not_bind_as_hard_is_not_the_cause() -> None:
    assert messages_of(kernel(vgprs=2, encoded=264, lds=96, compiled="gfx90a")) == [
        "264 VGPRs (260 AGPRs) are allocated, 2 (0) are used: 1 instead of 8 waves/SIMD; " + RAISE
    ]


def test_lds_that_binds_as_hard_is_the_likely_cause() -> None:
    """clang 22, gfx90a: 64 KiB and 256 threads are encoded with 264 VGPRs."""
    (text,) = messages_of(kernel(vgprs=1, encoded=264, lds=65536, compiled="gfx90a"))
    assert text.endswith("likely padded to the occupancy that LDS allows; less LDS ends it")


def test_a_generic_target_pads_for_less_lds_than_some_devices_have() -> None:
    """clang 22, gfx9-4-generic: 40000 bytes and 256 threads are encoded with 264 VGPRs."""
    (text,) = messages_of(kernel(vgprs=1, encoded=264, lds=40000))
    assert "padded for the 64 KiB of LDS that gfx9-4-generic assumes" in text
    assert "there is more on gfx950; compile for the device" in text


def test_a_generic_target_of_equal_devices_is_no_cause() -> None:
    one = kernel(vgprs=1, encoded=264, lds=40000, compiled="gfx9-generic")
    assert all("assumes" not in text for text in messages_of(one))


def test_the_trap_costs_a_gfx950_three_of_four_workgroups() -> None:
    generic = kernel(vgprs=1, encoded=264, lds=40000)
    on_device = generic.on(targets.find("gfx950"))
    assert on_device.occupancy(workgroup_size=256).percent == 12.5
    (text,) = messages_of(on_device)
    assert "assumes" in text
    own = kernel(vgprs=1, encoded=104, lds=40000, compiled="gfx950")
    assert own.occupancy(workgroup_size=256).percent == 50


def of_fixture(name: str) -> Kernel:
    """Hand-written kernels whose `.vgpr_count` leaves the AGPRs out."""
    report = load(FIXTURES / "code_object" / "accumulators.co")
    return next(kernel for kernel in report.kernels if kernel.name == name)


@pytest.mark.parametrize("name", ["counted", "uncounted"])
def test_what_agprs_explain_or_may_explain_is_not_padded(name: str) -> None:
    assert messages_of(of_fixture(name)) == []


def test_agprs_beside_a_count_that_leaves_them_out_are_used_and_reserved() -> None:
    counted = of_fixture("counted")
    assert counted.used.vgprs == 457
    found = counted.occupancy(workgroup_size=256)
    assert (found.allocated.arch_vgprs, found.allocated.agprs) == (256, 208)
    assert found.limits[1].used == 457


def test_padding_beside_agprs_is_still_told() -> None:
    """8 VGPRs and 8 AGPRs of 264 that are reserved."""
    (text,) = messages_of(kernel(vgprs=16, encoded=264, compiled="gfx90a", agprs=8))
    assert text.startswith("264 VGPRs (256 AGPRs) are allocated, 16 (8) are used: 1 instead of 8")


def test_sgprs_are_padded_like_vgprs() -> None:
    """clang 22, gfx942: with 20 KiB of LDS and 132 VGPRs, 20 SGPRs are encoded as 104."""
    one = kernel(132, 136, 20480, "gfx942", sgprs=20, encoded_sgprs=104)
    found = one.occupancy(workgroup_size=256)
    assert found.limiters == ("vgpr", "lds")
    assert messages_of(one) == [
        "112 SGPRs are allocated, 20 are used; "
        "likely padded to the occupancy that LDS allows; less LDS ends it"
    ]


def test_sgprs_that_the_assembler_adds_are_no_padding() -> None:
    """Hand-written metadata leaves out VCC, flat scratch and XNACK: 6 SGPRs on gfx942."""
    assert messages_of(kernel(sgprs=16, encoded_sgprs=24, compiled="gfx942")) == []
    assert messages_of(kernel(sgprs=16, encoded_sgprs=40, compiled="gfx942"))


def test_padding_for_lds_limits_nothing() -> None:
    """clang 22, gfx942, 16 KiB and 256 threads: 50 VGPRs, 15 SGPRs are encoded as 104, 104."""
    one = kernel(50, 104, 16384, "gfx942", sgprs=15, encoded_sgprs=104)
    found = one.occupancy(workgroup_size=256)
    assert (found.waves_per_simd, found.limiters, found.filled) == (4, ("lds",), ("vgpr", "lds"))
    assert [(step.resource, step.at_most) for step in found.next] == [("lds", 12800)]
    used = {limit.resource: (limit.used, limit.allocated) for limit in found.limits}
    assert (used["vgpr"], used["sgpr"]) == ((50, 104), (15, 128))
    assert (found.headroom.vgprs, found.headroom.sgprs) == (128 - 50, 112 - 15)


def test_padding_that_costs_waves_limits_and_has_no_step() -> None:
    """`amdgpu_waves_per_eu(1, 2)`: no smaller number of registers in use ends it."""
    found = kernel(vgprs=2, encoded=176, compiled="gfx90a").occupancy(workgroup_size=256)
    assert (found.waves_per_simd, found.limiters, found.next) == (2, ("vgpr",), ())


PADDED = [f"padded-clang22-{name}" for name in ("gfx908", "gfx942", "gfx950", "gfx1100", "gfx1201")]


@pytest.mark.parametrize("path", [*(f"assembly/{name}.s" for name in PADDED),
                                  *(f"code_object/{name}.co" for name in PADDED)])  # fmt: skip
def test_with_the_lds_of_the_next_step_the_compiler_gives_the_promised_waves(path: str) -> None:
    """The same kernel, compiled with less LDS and nothing else changed."""
    kernels = {kernel.used.lds_bytes: kernel for kernel in load(FIXTURES / path).kernels}
    assert [len(kernel.next) for kernel in kernels.values()] == [1, 1, 1, 1]
    steps = [kernel.next[0] for kernel in kernels.values()]
    promises = [(step, kernels.get(step.at_most)) for step in steps]
    kept = [step.waves_per_simd for step, after in promises if after]
    assert kept == [after.waves_per_simd for _, after in promises if after]
    assert len(kept) == 3
    assert {kernel.limiters for kernel in kernels.values()} == {("lds",)}
    assert {kernel.used.vgprs for kernel in kernels.values()} == {40}


def test_filters_tables_counters_and_other_targets_agree() -> None:
    path = f"assembly/{PADDED[1]}.s"
    assert "tile_" not in run(path, "--limited-by", "vgpr", "--allow-empty")[0]
    assert len(run(path, "--limited-by", "lds", "--format", "jsonl")[0].splitlines()) == 4
    counts = json.loads(run(path, "--by", "limiter", "--format", "json")[0])["counts"]
    assert [(row["limiter"], row["kernels"]) for row in counts] == [("LDS", 4)]
    told = run("explain", path, "tile_16384")[0]
    assert "6.2.7 Insufficient CU LDS > 0" in told
    assert "6.2.5 Insufficient SIMD VGPRs too, by padding alone" in " ".join(told.split())
    assert "padded, else 12 waves/SIMD" in told
    for kernel in load(FIXTURES / path).kernels:
        assert kernel.on("gfx90a").limiters == ("lds",)
        assert kernel.on("gfx90a").next == kernel.next
