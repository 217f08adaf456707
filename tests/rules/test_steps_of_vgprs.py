"""KI201, KI302, KI303, KI304: where VGPRs stand among the steps of the register file."""

from __future__ import annotations

import pytest

from ..conftest import needs_corpus
from .reading import TUTORIAL, messages_of, of_corpus


@pytest.mark.parametrize("rule", ["KI201", "KI302", "KI303", "KI304"])
@pytest.mark.parametrize("kernel", ["empty", "vgprbound", "ldsbound"])
def test_no_blanket_advice_for_a_low_occupancy(kernel: str, rule: str) -> None:
    assert messages_of(TUTORIAL, rule, kernel) == []


def test_where_every_granule_is_a_step_nothing_is_near() -> None:
    assert messages_of("variety-clang22-gfx90a.s", "KI201", "agpr_heavy") == []


@needs_corpus
def test_a_kernel_that_spills_is_not_near_anything() -> None:
    assert not [k.name for k, _ in of_corpus("core/*.s", "KI201") if k.spills.vgprs]


@needs_corpus
def test_one_granule_above_a_wide_step_is_near() -> None:
    assert messages_of("core/llvm22-gfx90a.s", "KI201", "vgpr_heavy") == [
        "4 VGPRs fewer than 132 would give 4 instead of 3 waves/SIMD"
    ]


def test_an_allocation_that_stopped_at_a_step_and_spilled() -> None:
    assert messages_of(TUTORIAL, "KI302", "sgprbound") == [
        "allocation stopped exactly at the 64-VGPR step for 8 waves and spilled"
    ]


def test_a_stated_bound_is_not_missing() -> None:
    assert messages_of(TUTORIAL, "KI303", "sgprbound") == []


@needs_corpus
def test_the_default_bound_is_said_with_what_half_of_it_would_allow() -> None:
    assert messages_of("core/llvm16-gfx1030.s", "KI303", "spills") == [
        "the launch bound is 1024, as without one, which allows 128 VGPRs; 512 would allow 256"
    ]


@needs_corpus
def test_missing_launch_bound_never_stands_alone() -> None:
    stopped = {(k.code_object.path, k.symbol) for k, _ in of_corpus("core/*.s", "KI302")}
    missing = {(k.code_object.path, k.symbol) for k, _ in of_corpus("core/*.s", "KI303")}
    assert missing
    assert missing < stopped


@needs_corpus
def test_spills_that_buy_no_wave() -> None:
    assert messages_of("core/llvm15-gfx1100.s", "KI304", "spills") == [
        "12 VGPRs spilled, though 192 VGPRs would keep the same 8 waves/SIMD"
    ]
    assert messages_of("core/llvm16-gfx1100.s", "KI304", "spills") == []


def test_a_hint_that_is_reached_costs_what_it_costs() -> None:
    assert messages_of("spills-clang19-gfx90a.s", "KI304", "hint_reached") == []
    assert messages_of("spills-clang19-gfx90a.s", "KI303", "hint_reached") == []


def test_a_hint_for_more_waves_than_lds_has_room_for() -> None:
    assert messages_of("spills-clang19-gfx90a.s", "KI304", "hint_too_high") == [
        "26 VGPRs spilled, though 256 VGPRs would keep the same 2 waves/SIMD"
    ]


def test_the_default_bound_that_made_it_spill() -> None:
    assert messages_of("spills-clang22-gfx90a.s", "KI303", "without_bound") == [
        "the launch bound is 1024, as without one, which allows 128 VGPRs; 512 would allow 256"
    ]
