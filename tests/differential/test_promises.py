"""A short run of what `python -m tests.differential.promises` does at length."""

from __future__ import annotations

from random import Random

from ..conftest import require
from .clang import Clang
from .promises import run


def test_what_next_says_and_nothing_else_gives_the_promised_waves() -> None:
    require(*Clang(22).needed)
    found = run(Clang(22), 72, Random("promises"))
    assert found.broken == []
    assert found.kept["lds"] >= 20
    assert found.padded >= 20
