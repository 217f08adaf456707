"""Tables on narrow terminals: they keep to the width and lose no word."""

from __future__ import annotations

import pytest

from ..test_golden import run

TEXTS = "assembly/occupancy-clang19-gfx90a.s assembly/spills-clang22-gfx90a.s"
SPILLING = "assembly/spills-clang22-gfx90a.s *without_bound*"
LINES = {
    "assembly --by library": {"library"},
    "assembly --by limiter": {"limiter"},
    "assembly --columns kernel,vgpr,VGPR_Count,LDS_Block_Size,waves": {"kernel"},
    "diff code_object code_object --by library": {"library"},
    "arch": set(),
    "rules": set(),
    "explain": set(),
    "limits gfx942": {"|"},  # a lower step of the plot
    "calc gfx1100 --vgpr 96 --best": set(),
    "calc gfx90a --sgpr 20 --vary vgpr,lds": set(),
    f"compare-profile profile/kernel_trace.csv {TEXTS}": {"kernel"},
    "pressure assembly/spills-clang22-gfx90a.s --names short": {"kernel"},
}
"""Command line → words of the heading that may be missing, above what stands on its own lines."""


@pytest.mark.parametrize("line", LINES)
def test_a_table_keeps_to_the_width_of_a_terminal(line: str) -> None:
    whole = run(*line.split(), "--width", "400")[0]
    for width in (60, 80):
        narrow = run(*line.split(), "--width", str(width))[0]
        assert [text for text in narrow.splitlines() if len(text) > width] == []
        lost = {*whole.replace("■", "").split()} - {*narrow.split()}
        assert lost <= LINES[line], width


@pytest.mark.parametrize(("width", "lines"), [(100, 25), (80, 29)])
@pytest.mark.parametrize("kernel", ["lines/attention-clang22-gfx942.s attention", SPILLING])
def test_a_kernel_that_spills_is_explained_on_one_screen(
    kernel: str, width: int, lines: int
) -> None:
    out, _, code = run("explain", *kernel.split(), "--width", str(width))
    assert code == 0
    assert len(out.splitlines()) <= lines
