"""KI001, KI002, KI204: whether a workgroup can start, and how whole ones fill the slots."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kernelinfo import arch, load
from kernelinfo.model import occupancy
from kernelinfo.model.limits import Launch
from kernelinfo.rules.failures import unlaunchable_workgroup

from ..conftest import FIXTURES
from .reading import TUTORIAL, messages_of, results

VARIETY = "variety-clang22-gfx90a.s"


@pytest.mark.parametrize("rule", ["KI001", "KI002"])
@pytest.mark.parametrize("kernel", ["empty", "vgprbound", "ldsbound", "sgprbound"])
def test_what_the_tutorial_launched_can_start(kernel: str, rule: str) -> None:
    assert messages_of(TUTORIAL, rule, kernel) == []


@pytest.mark.parametrize("kernel", ["vgprbound", "ldsbound", "sgprbound"])
def test_a_stated_bound_and_other_limits_leave_no_slots_to_blame(kernel: str) -> None:
    assert messages_of(TUTORIAL, "KI204", kernel) == []


def test_nothing_is_claimed_of_a_size_that_is_not_known() -> None:
    assert messages_of(TUTORIAL, "KI204", "empty") == []


def test_a_size_that_does_not_divide_the_slots() -> None:
    assert messages_of(TUTORIAL, "KI204", "empty", workgroup_size=512) == []
    assert messages_of(TUTORIAL, "KI204", "empty", workgroup_size=704) == [
        "workgroups of 704 fill 22 of 32 wave slots"
    ]
    asked, *_ = results(TUTORIAL, "KI204", workgroup_size=704)
    assert [finding.severity for finding in asked.findings] == ["note"]


def test_more_registers_than_a_cu_has_for_one_workgroup() -> None:
    assert messages_of(VARIETY, "KI001", "unlaunchable") == [
        "a workgroup of 1024 cannot start: vgpr: room for 8 of the 16 waves of a workgroup"
    ]
    assert messages_of(VARIETY, "KI001", "unlaunchable", workgroup_size=512) == []


def test_more_lds_than_a_workgroup_may_have() -> None:
    assert messages_of(VARIETY, "KI002", "lds_64k") == []
    assert messages_of(VARIETY, "KI002", "lds_64k", dynamic_lds=4) == [
        "a workgroup has at most 65536 bytes of LDS, not 65540"
    ]
    assert messages_of(VARIETY, "KI001", "lds_64k", dynamic_lds=4) == []


def test_more_agprs_than_a_wave_can_name() -> None:
    report = load(FIXTURES / "code_object" / "accumulators.co")
    impossible = next(kernel for kernel in report.kernels if kernel.name == "impossible")
    found = impossible.occupancy()
    assert not found.launchable
    (remark,) = unlaunchable_workgroup(impossible.traits, found)
    assert "a wave has at most 256 AGPRs, not 300" in remark.message


@pytest.mark.parametrize("target", ["gfx90a", "gfx942", "gfx950", "gfx9-4-generic"])
@pytest.mark.parametrize(
    ("registers", "messages_of"),
    [
        ({"vgprs": 257}, "at most 256 architectural VGPRs, not 257"),
        ({"vgprs": 4, "agprs": 257}, "at most 256 AGPRs, not 257"),
    ],
)
def test_a_unified_file_has_as_many_names_as_a_split_one(
    target: str, registers: dict[str, Any], messages_of: str
) -> None:
    found = arch(target).occupancy(workgroup_size=64, **registers)
    assert messages_of in found.obstacles[0]
    assert arch(target).occupancy(workgroup_size=64, vgprs=256, agprs=256).waves_per_simd == 1


def test_a_register_too_many_is_too_many_at_every_size() -> None:
    (result,) = results("toomany.s", "KI001")
    assert result.occupancy is not None
    assert result.occupancy.range is None
    (finding,) = result.findings
    assert finding.severity == "error"
    assert finding.message == (
        "a workgroup of 256 cannot start: a wave has at most 104 SGPRs, not 108"
    )
    assert finding.hint == "nor can one of any other size"


def test_smaller_sizes_that_can_start_are_told_to_the_largest() -> None:
    """200 VGPRs leave gfx90a room for 8 waves; 16 waves are declared."""
    (result,) = [r for r in results(VARIETY, "KI001") if r.kernel.name.startswith("unlaunchable")]
    (finding,) = result.findings
    assert (finding.severity, finding.hint) == ("warning", "smaller ones to 512 can")
    kernel = result.kernel
    assert kernel.occupancy(workgroup_size=512).launchable
    assert not kernel.occupancy(workgroup_size=513).launchable


@pytest.mark.parametrize(
    ("declared", "severity"),
    [
        ("{max}: 1024", "warning"),  # the host may launch less
        ("{max}: 1024\n    .reqd_workgroup_size: [1024, 1, 1]", "error"),
        ("{max}: 64", None),
    ],
)
def test_a_size_that_is_the_only_one_is_an_error(
    declared: str, severity: str | None, tmp_path: Path
) -> None:
    """256 VGPRs leave gfx90a room for 8 of the 16 waves of 1024 workitems."""
    whole = (FIXTURES / "assembly" / VARIETY).read_text("utf-8")
    text = re.sub(r"(\.max_flat_workgroup_size): 1024", declared.format(max=r"\1"), whole)
    (tmp_path / "k.s").write_text(text)
    found = [
        one.severity
        for result in load(tmp_path / "k.s").results
        if result.kernel.name.startswith("unlaunchable")
        for one in result.findings
        if one.rule == "KI001"
    ]
    assert found == ([severity] if severity else [])


@pytest.mark.parametrize(("required", "most", "told"), [(256, 64, True), (64, 64, False)])
def test_a_required_size_above_the_declared_maximum_contradicts_it(
    required: int, most: int, told: bool, tmp_path: Path
) -> None:
    whole = (FIXTURES / "assembly" / "shaped-clang22-gfx942.s").read_text("utf-8")
    text = re.sub(r"(\.max_flat_workgroup_size:) *\d+", rf"\1 {most}", whole)
    text = re.sub(
        r"(\.reqd_workgroup_size:)(\s+- \d+){3}",
        rf"\1\n      - {required}\n      - 1\n      - 1",
        text,
    )
    (tmp_path / "k.s").write_text(text)
    found = [one for result in load(tmp_path / "k.s").results for one in result.findings]
    messages = [one.message for one in found if one.rule == "KI004"]
    assert any("above the declared maximum of 64" in one for one in messages) == told


def test_no_range_goes_beyond_the_largest_workgroup() -> None:
    target = arch("gfx90a")
    found = occupancy(target.target, target.demand(vgprs=32), Launch(2048, smallest_size=64))
    assert found.range is not None
    assert found.range.best_workgroup_size <= 1024
    most = Launch(1024, smallest_size=768)
    assert occupancy(target.target, target.demand(vgprs=200), most).range is None
