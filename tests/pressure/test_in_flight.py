"""What each wait waits for, against a machine that runs all ways of random codes."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from .in_flight_simulator import TARGETS, Line, random_code, run, written
from .texts import measured


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("codes", [6, pytest.param(400, marks=pytest.mark.nightly)])
def test_waits_complete_what_a_machine_completes(target: str, codes: int, tmp_path: Path) -> None:
    random, simulated = Random(f"{target} {codes}"), list[tuple[list[Line], Any]]()
    while len(simulated) < codes:
        code = random_code(target, random)
        if (waits := run(target, code)) is not None:
            simulated.append((code, waits))
    kernels = measured(tmp_path, *(written(code) for code, _ in simulated), target=target)
    for (code, waits), kernel in zip(simulated, kernels, strict=True):
        assert kernel["waits_unknown"] is None
        seen = {wait["index"]: wait for wait in kernel["waits"]}
        assert seen.keys() == waits.keys(), written(code)
        for index, wait in seen.items():
            told = {load["index"]: load["distance"] for load in wait["completes"]}
            assert told == waits[index].completes, (index, written(code))
            stays = {row["memory"]: [row["loads"], row["bytes"]] for row in wait["stays"]}
            assert stays == waits[index].left(code), (index, written(code))
