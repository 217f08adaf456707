"""A short run of what `python -m tests.differential` does at length."""

from __future__ import annotations

from random import Random

import pytest

from .__main__ import table
from .clang import missing
from .compare import run


@pytest.mark.parametrize("version", [15, 19, 22])
def test_every_number_is_explained(version: int) -> None:
    if absent := missing(version):
        pytest.skip(f"not installed: {', '.join(absent)}")
    tally = run(version, 90, Random(f"test {version}"))
    assert tally.faults == []
    assert tally.kernels == tally.same_facts == tally.same_formula == 90
    assert tally.agree < tally.kernels
    assert table({version: tally}).endswith(" | 0 |")
