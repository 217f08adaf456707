"""A short run of what `python -m tests.differential` does at length."""

from __future__ import annotations

from random import Random

import pytest

from ..conftest import require
from .__main__ import COMPILERS, table
from .compare import run
from .compilers import Compiler


@pytest.mark.parametrize("compiler", COMPILERS.values(), ids=list(COMPILERS))
def test_every_number_is_explained(compiler: Compiler) -> None:
    require(*compiler.needed)
    tally = run(compiler, 90, Random(f"test {compiler.llvm}"))
    assert tally.faults == []
    assert tally.kernels == tally.same_facts == tally.same_formula == 90
    assert tally.agree < tally.kernels
    assert tally.unexplained == 0
    assert table({compiler.name: tally}).endswith(f" | {len(tally.refused)} |")
