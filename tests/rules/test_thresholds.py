"""Thresholds of each rule: the last silent number and the first reported one.

Kernels are made from a compiled one of gfx90a, whose SIMD has 512 VGPRs by 8, 8 wave slots, and
whose CU has 64 KiB of LDS by 512. Figures are by hand from those.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from kernelinfo import Kernel, load
from kernelinfo.errors import OptionError
from kernelinfo.hardware.targets import find
from kernelinfo.kernel import Finding
from kernelinfo.reading.facts import Code, Fact, LoopSpills, Source
from kernelinfo.rules import Selection, findings, named

from ..conftest import FIXTURES


@cache
def compiled() -> Kernel:
    (one, *_) = load(FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co").kernels
    return one


def kernel(
    vgprs: int = 32,
    *,
    used: int | None = None,
    spilled: int = 0,
    sgpr_spills: int = 0,
    lds: int = 0,
    scratch: int = 0,
    agprs: int = 0,
    numbers: dict[str, Any] | None = None,
    **traits: Any,
) -> Kernel:
    """A kernel that any workgroup may start; `used` VGPRs if they differ from the allocated."""
    own = compiled().traits
    assert own.demand is not None
    demand = own.demand._replace(
        vgprs=vgprs,
        arch_vgprs=min(vgprs, 256),
        agprs=agprs,
        lds_bytes=lds,
        scratch_bytes_per_lane=scratch,
        least_workgroup=1,
        most_workgroup=1024,
        used_vgprs=used,
    )
    changed = own._replace(
        numbers=own.numbers._replace(
            vgprs=vgprs if used is None else used,
            agprs=agprs,
            sgprs=16,
            lds_bytes=lds,
            scratch_bytes_per_lane=scratch,
            reserved_vgprs=None,
            vgpr_spills=spilled,
            sgpr_spills=sgpr_spills,
        )._replace(**(numbers or {})),
        demand=demand,
        disagreements=(),
    )
    return compiled()._replace(traits=changed._replace(**traits))


def found(rule: str, one: Kernel, size: int = 64, **selection: Any) -> list[Finding]:
    chosen = Selection(select=(rule,), **selection).rules()
    return list(findings(one, one.occupancy(workgroup_size=size), chosen))


def messages_of(rule: str, one: Kernel, size: int = 64) -> list[str]:
    return [finding.message for finding in found(rule, one, size)]


@pytest.mark.parametrize(
    ("one", "messages"),
    [
        (kernel(129), ["1 VGPR fewer than 129 would give 4 instead of 3 waves/SIMD"]),
        (kernel(136), ["8 VGPRs fewer than 136 would give 4 instead of 3 waves/SIMD"]),
        (kernel(137), []),
        (kernel(268), ["12 VGPRs fewer than 268 would give 2 instead of 1 wave/SIMD"]),
        (kernel(269), []),
        (kernel(88), ["8 VGPRs fewer than 88 would give 6 instead of 5 waves/SIMD"]),
        (kernel(80), []),
        (kernel(136, used=100), []),
        (kernel(136, spilled=1), []),
        (kernel(136, lds=16384 + 512), []),
    ],
    ids=[
        "one",
        "one granule",
        "more than a granule and 5 %",
        "5 % of a wide step",
        "beyond 5 % of a wide step",
        "a fifth more waves",
        "a sixth more waves",
        "padded registers",
        "spills",
        "LDS limits more",
    ],
)
def test_near_the_next_step(one: Kernel, messages: list[str]) -> None:
    assert messages_of("KI201", one) == messages


@pytest.mark.parametrize(
    ("lds", "messages"),
    [
        (11000, ["248 B of LDS less would give 1.5 instead of 1.25 waves/SIMD"]),
        (11827, ["1075 B of LDS less would give 1.5 instead of 1.25 waves/SIMD"]),
        (11828, []),
        (9500, []),
    ],
    ids=["a fifth more waves", "10 % of a step", "beyond 10 %", "a sixth more waves"],
)
def test_lds_near_the_next_step(lds: int, messages: list[str]) -> None:
    assert messages_of("KI202", kernel(lds=lds)) == messages


def test_spills_that_just_fit() -> None:
    """64 KiB of LDS let 256 workitems in once, a wave a SIMD: 128 of 512 VGPRs leave 384."""
    assert messages_of("KI304", kernel(128, lds=65536, spilled=384), 256) == [
        "384 VGPRs spilled, though 512 VGPRs would keep the same 1 wave/SIMD"
    ]
    assert messages_of("KI304", kernel(128, lds=65536, spilled=385), 256) == []


@pytest.mark.parametrize(("spilled", "severity"), [(4, "note"), (5, "warning")])
def test_a_few_spills_are_a_note(spilled: int, severity: str) -> None:
    one = kernel(spilled=spilled, scratch=64)._replace(code=None)
    assert [finding.severity for finding in found("KI101", one)] == [severity]
    (chosen,) = found("KI101", one, severities=(("KI101", "error"),))
    assert chosen.severity == "error"


@pytest.mark.parametrize("scratch", [0, 48])
def test_the_known_part_of_a_stack_that_grows(scratch: int) -> None:
    one = kernel(scratch=scratch, numbers={"dynamic_stack": True})
    assert messages_of("KI104", one) == [
        f"scratch grows at run time; only {scratch} B per lane are known"
    ]


def code(**counts: Any) -> Code:
    zeros = dict.fromkeys(Code._fields, 0)
    return Code(**{**zeros, "loops": (), **counts})


@pytest.mark.parametrize(
    ("moves", "held"),
    [
        (0, ""),
        (1, ": they hold spilled VGPRs (1 move)"),
        (2, ": they hold spilled VGPRs (2 moves)"),
    ],
)
def test_what_agprs_hold(moves: int, held: str) -> None:
    one = kernel(72, agprs=40)._replace(code=code(agpr_moves=moves))
    assert messages_of("KI301", one) == [f"40 AGPRs without a matrix instruction{held}"]


def test_the_worst_loop_is_the_innermost_then_the_busiest() -> None:
    loops = (
        LoopSpills(".LBB0_1", 1, 9, 9),
        LoopSpills(".LBB0_2", 2, 1, 2),
        LoopSpills(".LBB0_3", 2, 0, 1),
    )
    one = kernel(spilled=8)._replace(code=code(loops=loops))
    (text,) = messages_of("KI106", one)
    assert text.startswith("2 spill reloads and 1 spill store inside loop .LBB0_2 at depth 2, ")


@pytest.mark.parametrize(("version", "count"), [(3, 0), (4, 1), (5, 1), (None, 0)])
def test_features_are_left_open_from_code_object_v4_on(version: int | None, count: int) -> None:
    code_object = compiled().code_object._replace(
        member="hip-amdgcn-amd-amdhsa--gfx90a:xnack+",
        conflicting_entry="hip-amdgcn-amd-amdhsa--gfx90a",
        code_object_version=version,
    )
    one = kernel()._replace(code_object=code_object)
    assert len(messages_of("KI305", one)) == count


def statements(name: str, *values: tuple[Source, int], target: str | None = "gfx90a") -> Kernel:
    one, other = (Fact(name, value, source) for source, value in values)
    traits = {"target": find(target)} if target else {"target": None}
    return kernel(disagreements=((one, other),), **traits)


@pytest.mark.parametrize(
    ("name", "one", "other", "disagree"),
    [
        ("reserved_sgprs", ("descriptor", 17), ("metadata", 32), False),
        ("reserved_sgprs", ("descriptor", 16), ("metadata", 17), True),
        ("vgprs", ("descriptor", 17), ("metadata", 24), True),
        ("reserved_sgprs", ("kernel-info", 24), ("directive", 32), False),
        ("reserved_sgprs", ("kernel-info", 24), ("directive", 40), True),
        ("reserved_sgprs", ("kernel-info", 40), ("directive", 24), True),
        ("reserved_sgprs", ("descriptor", 24), ("directive", 40), True),
    ],
    ids=[
        "one granule",
        "two granules",
        "no SGPRs",
        "XNACK's SGPRs",
        "more than XNACK's",
        "fewer",
        "another source",
    ],
)
def test_sources_that_come_to_the_same(
    name: str, one: tuple[Source, int], other: tuple[Source, int], disagree: bool
) -> None:
    messages = messages_of("KI004", statements(name, one, other))
    noun = name.replace("reserved_", "allocated ").replace("gprs", "GPRs")
    noun = noun.replace("sGPRs", "SGPRs").replace("vGPRs", "VGPRs")
    expected = f"{one[0]} says {noun} {one[1]}, but {other[0]} says {noun} {other[1]}"
    assert messages == ([f"{expected}; the first counts"] if disagree else [])


def test_a_rule_is_chosen_by_name_number_or_its_beginning() -> None:
    assert [rule.number for rule in named("vgpr-spill")] == ["KI101"]
    assert {rule.number[:4] for rule in named("KI1")} == {"KI10"}
    for name in ("KI9", "", "spill"):
        with pytest.raises(OptionError, match="no such rule; `kernelinfo rules` lists them"):
            named(name)


@pytest.mark.parametrize(
    ("selection", "is_on"),
    [
        (Selection(), False),
        (Selection(severities=(("KI207", "warning"),)), True),
        (Selection(severities=(("compiler-disagrees", "note"),)), True),
        (Selection(severities=(("KI2", "error"),)), False),
        (Selection(ignore=("KI207",), severities=(("KI207", "warning"),)), False),
        (Selection(select=("KI1",), severities=(("KI207", "warning"),)), False),
    ],
)
def test_a_severity_turns_on_the_rule_that_it_names(selection: Selection, is_on: bool) -> None:
    chosen = {rule.number for rule in selection.rules()}
    assert ("KI207" in chosen) == is_on
    assert ("KI208" in chosen) == (not selection.select)


def test_findings_of_the_gate_are_chosen_like_the_rules() -> None:
    ignored, kept = (Finding(number, "x", "warning", "", "") for number in ("KI501", "KI502"))
    selection = Selection(ignore=("KI501",), severities=(("KI502", "note"),))
    assert list(selection.chosen([ignored, kept])) == [kept._replace(severity="note")]


def test_every_rule_has_a_first_line() -> None:
    (rule,) = named("KI101")
    assert rule.summary == "VGPRs did not fit and are kept in scratch memory or in AGPRs"


@pytest.mark.parametrize(("compiled_for", "count"), [("gfx90a", 1), ("gfx908", 0)])
def test_xnacks_sgprs_count_on_the_target_that_the_file_is_for(
    compiled_for: str, count: int
) -> None:
    """80 SGPRs are 96 with the trap handler's, 8 waves of 800; 88 are 112, and 7 waves."""
    one = statements("reserved_sgprs", ("kernel-info", 80), ("directive", 88))
    assert one.traits.demand is not None
    demand = one.traits.demand._replace(sgprs=80)
    one = one._replace(
        traits=one.traits._replace(demand=demand),
        code_object=one.code_object._replace(target=compiled_for),
    )
    notes = found("KI004", one)
    assert [note.severity for note in notes] == ["note"] * count
    for note in notes:
        assert "assembled from this file run 7 waves/SIMD, compiled directly 8" in note.message


def test_what_is_checked_elsewhere_is_on() -> None:
    assert all(rule.on for name in ("KI003", "KI206", "KI5") for rule in named(name))
