"""The page on occupancy shows the numbers that its sentences speak of."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parents[2] / "kernelinfo" / "manual" / "occupancy.md"


def test_the_numbers_in_its_sentences_are_those_of_its_commands() -> None:
    text = PAGE.read_text("utf-8")
    for output in (
        "4 workgroups/CU · 16 of 32 waves/CU · 50 %",
        "≤ 512  1           12.5 %",
        "1 workgroup/CU · 4 of 32 waves/CU · 12.5 %",
        "6 workgroups/WGP · 48 of 64 waves/WGP · 75 %",
        "1 workgroup/CU · 8 of 32 waves/CU · 25 %",
        "MI250 GCD: 104 CUs · 416 workgroups fill it · 1664 of 3328 waves",
        "cannot   launch: vgpr: room for 8 of the 16 waves of a workgroup",
    ):
        assert output in text, output
