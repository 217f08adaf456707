"""The outcome as text: folded on a terminal, one line a finding elsewhere."""

from __future__ import annotations

import pytest

from kernelinfo.render import View
from kernelinfo.render.check.text import render

from .outcomes import TUTORIAL, outcome_of


@pytest.mark.parametrize("width", [40, 80, 100])
def test_on_a_terminal_lines_are_folded(width: int) -> None:
    outcome = outcome_of(TUTORIAL)
    whole = "".join(render(outcome, View()))
    folded = "".join(render(outcome, View(width=width, fold=True)))
    assert max(map(len, whole.splitlines())) > 100
    assert folded.split() == whole.split()
    longest = max(map(len, whole.split()))
    assert max(map(len, folded.splitlines())) <= max(width, longest + 2)
