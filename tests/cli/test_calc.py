"""The curves of `calc` and `limits` are as high as the waves are."""

from __future__ import annotations

import json

from ..test_golden import run


def heights(out: str) -> list[int]:
    """Height of each column of the drawn curve."""
    rows = [line.partition("|")[2].ljust(64) for line in out.splitlines() if "|" in line]
    return [sum(row[column] == "■" for row in rows) for column in range(64)]


def test_a_curve_is_drawn_as_high_as_the_waves_are() -> None:
    """512 VGPRs on 64 columns: one for each granule."""
    out, _, _ = run("calc", "--arch", "gfx90a", "--vary", "vgpr")
    drawn = heights(out)
    for column in (0, 7, 8, 15, 16, 20, 21, 31, 32, 63):
        total = 8 * (column + 1)  # of which a wave names 256 as VGPRs, the rest as AGPRs
        registers = ("--vgpr", str(min(total, 256)), "--agpr", str(max(total - 256, 0)))
        answer, _, _ = run("calc", "--arch", "gfx90a", *registers, "--format", "json")
        assert drawn[column] == json.loads(answer)["waves_per_simd"], column
    assert heights(run("limits", "--arch", "gfx90a")[0]) == drawn
