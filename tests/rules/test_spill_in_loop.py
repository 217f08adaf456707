"""KI106: spills in loops, by the compiler's own comments."""

from __future__ import annotations

import pytest

from ..conftest import needs_corpus
from .reading import TUTORIAL, messages_of, of_corpus


@pytest.mark.parametrize("kernel", ["empty", "vgprbound", "ldsbound"])
def test_kernels_that_do_not_spill_are_left_alone(kernel: str) -> None:
    assert messages_of(TUTORIAL, "KI106", kernel) == []


@needs_corpus
def test_spills_outside_of_loops_are_not_its_business() -> None:
    assert list(of_corpus("core/*.s", "KI106")) == []
    assert len(list(of_corpus("core/*.s", "KI101"))) > 20


@pytest.mark.parametrize(
    ("file", "reloads"),
    [
        (TUTORIAL, 14),
        ("occupancy-clang19-gfx90a.s", 14),
        ("occupancy-clang22-gfx90a.s", 12),
    ],
)
def test_reloads_in_a_loop_are_counted_and_placed(file: str, reloads: int) -> None:
    assert messages_of(file, "KI106", "sgprbound") == [
        f"{reloads} spill reloads inside loop .LBB3_2 (14 VGPRs spilled, 56 of 60 B)"
    ]


def test_it_takes_the_place_of_vgpr_spill() -> None:
    assert messages_of(TUTORIAL, "KI101", "sgprbound") == []


def test_the_source_line_of_the_most_reloads_is_named() -> None:
    assert messages_of("../lines/attention-clang22-gfx942.s", "KI106", "attention") == [
        "5 spill reloads inside loop .LBB0_2, 3 of these at attention.hip:87 "
        "(12 VGPRs spilled, 48 of 52 B)"
    ]
