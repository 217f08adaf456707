"""Texts as people write them, compared with the objects that llvm-mc makes of them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from ..test_golden import run
from . import two_routes
from .hand_written import INCLUDED, hand_written

TEXTS = 240
_KINDS = {
    "that only an assembler reads": {"macro", "setting", "include", "repeat", "condition"},
    "undecoded words": {"gap", "fill"},
    "a branch out of data words": {"far word"},
    "branch to an unknown label": {"far word"},
    "registers named by unknown symbols": {"setting", "repeat", "condition", "include"},
}
"""Part of a reason → parts of a text that give it."""


def assembled(text: Path, target: str) -> Path:
    """The linked object of a text."""
    linked = text.with_suffix(".co")
    options = ["-mattr=+real-true16"] if target[:5] in ("gfx11", "gfx12") else []
    made = two_routes.assembled(text, target, *options, "-I", str(text.parent))
    subprocess.run(["ld.lld-22", "-shared", str(made), "-o", str(linked)], check=True)
    return linked


@two_routes.needed
@pytest.mark.nightly
@pytest.mark.parametrize("part", range(8))
def test_random_texts_say_what_their_objects_say(part: int, tmp_path: Path) -> None:
    """Or they are not exact, by a reason that is true. No kernel is more or less."""
    text = tmp_path / "k.s"
    faults, exact, kernels = [], 0, 0
    for seed in range(part, TEXTS, 8):
        target, made = hand_written(seed)
        text.with_name(INCLUDED).write_text(made.included)
        text.write_text(made.text)
        paths = (text, assembled(text, target))
        of_text, of_object = map(two_routes.read, paths)
        assert of_text.keys() == of_object.keys()
        rows = [_rows(path) for path in paths]
        assert rows[0].keys() == rows[1].keys()
        for symbol, one in of_text.items():
            other = of_object[symbol]
            kernels += 1
            exact += not one.reasons
            if not one.reasons and (other.reasons or one.numbers != other.numbers):
                faults.append(f"{seed} {symbol}: {one.numbers}, {other.numbers} {other.reasons}")
            for why in {*one.reasons} - {*other.reasons}:
                kinds = [kinds for part, kinds in _KINDS.items() if part in why]
                if not any(found & made.kinds for found in kinds):
                    faults.append(f"{seed} {symbol}: untrue: {why}; has {sorted(made.kinds)}")
            counted, wanted = rows[0][symbol], rows[1][symbol]
            if counted not in (None, wanted):
                faults.append(f"{seed} {symbol}: {counted} counted, {wanted} in the object")
    assert faults == []
    assert kernels / 4 < exact < kernels


def _rows(path: Path) -> dict[str, object]:
    """Symbol → VGPRs and instructions of each kernel; None if they are not counted."""
    out, _, code = run("report", str(path), "--instructions", "--format", "jsonl")
    assert code == 0
    found = {one["Symbol"]: one for one in map(json.loads, out.splitlines())}
    return {
        symbol: None if one["Instructions"] is None else (one["VGPR_Count"], one["Instructions"])
        for symbol, one in found.items()
    }
