"""KI202 and KI203: LDS a little above a step, and what its granule costs."""

from __future__ import annotations

import pytest

from ..conftest import needs_corpus
from .reading import TUTORIAL, messages_of, results

VARIETY = "variety-clang22-gfx90a.s"


@pytest.mark.parametrize("rule", ["KI202", "KI203"])
def test_half_of_the_lds_too_much_is_not_near(rule: str) -> None:
    assert messages_of(TUTORIAL, rule, "ldsbound") == []
    assert messages_of(TUTORIAL, rule, "empty") == []


@pytest.mark.parametrize("rule", ["KI202", "KI203"])
def test_whole_granules_cost_nothing(rule: str) -> None:
    assert messages_of(VARIETY, rule, "exact_block", dynamic_lds=32 << 10) == []


@needs_corpus
def test_one_workgroup_beside_ten_is_not_worth_a_word() -> None:
    assert messages_of("variants/wave64-llvm19-gfx1100.co", "KI202", "lds") == []


def test_ten_percent_above_a_step_is_near() -> None:
    assert messages_of(VARIETY, "KI202", "lds_both", dynamic_lds=14600) == [
        "264 B of LDS less would give 4 instead of 3 waves/SIMD"
    ]


def test_a_granule_that_costs_a_workgroup() -> None:
    third = (64 << 10) // 3
    assert messages_of(VARIETY, "KI203", "exact_block", dynamic_lds=third) == [
        f"{third} B of LDS are rounded to 22016: 2 workgroups per CU fit; without rounding 3 would"
    ]
    assert messages_of(VARIETY, "KI203", "exact_block", dynamic_lds=21504) == []
    assert messages_of(VARIETY, "KI202", "exact_block", dynamic_lds=third) == []


def test_beside_many_workgroups_it_is_a_note() -> None:
    def severities(size: int, lds: int) -> list[str]:
        found = results(VARIETY, "KI203", workgroup_size=size, dynamic_lds=lds)
        return [f.severity for r in found if r.kernel.name.startswith("exact") for f in r.findings]

    assert severities(256, (64 << 10) // 3) == ["warning"]
    assert severities(64, 6400) == ["note"]
