"""Thirty changes of a repository: no loss passes, and no unrelated line of the baseline changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from .thirty_changes import TAKEN_BACK, live

ANSWERS = {
    "nothing": (0, 0),
    'new kernel, `new = "error"`': (1, 0),
    "new kernel": (0, 1),
    "new target of a library": (1, 3),
    "new target of all": (1, 7),
    "target gone": (2, 10),
    "rename without a loss": (2, 2),
    "rename with a loss, compared": (1, 0),
    "rename with a loss, dropped": (2, 0),
    "rename with a loss": (2, 0),
    "another namespace": (0, 2),
    "improvement, not pinned": (0, 0),
    "improvement, `--strict-baseline`": (1, 0),
    "slack taken back": (0, 1),
    "its loss": (1, 0),
    "spills ended, beside a new kernel": (0, 1),
    "the new kernel": (0, 1),
    "waves lost": (1, 0),
    "spills": (1, 0),
    "scratch": (1, 0),
    "fewer registers within a step": (0, 0),
    "another compiler, no waves moved": (0, 1),
    "another compiler, waves lost: told": (0, 0),
    "another compiler, spills": (1, 0),
    "pinned": (1, 1),
    "library removed": (2, 3),
    "kernel removed": (2, 1),
    "library renamed": (0, 8),
    "header edited, waves lost": (1, 0),
    "header edited, waves gained": (0, 1),
    "damaged night": (2, 0),
    "merge conflict": (2, 0),
    "baseline with a key twice": (2, 0),
    "nothing built": (2, 0),
}
"""Change -> exit code, and lines of the baseline that changed, of three libraries."""
TOLD = {
    "new target of a library": "· gfx1100 is new: 3 kernels unpinned ·",
    "target gone": "error KI502 gfx1100: all 10 pinned kernels are gone; ",
    "rename with a loss": "axpy_v2 → axpy_v3 likely: VGPR: 64 → 112 allocated, 64 → 100 used",
    "improvement, not pinned": "until then the old number still passes",
    "library removed": "error KI502 build/lib02-{target}.s: all 9 pinned kernels are gone; ",
    "header edited, waves lost": "include/tl.h:3: error KI501 tile0 (gfx1030) and 5 more kernels: ",
    "damaged night": "build/libnew-gfx942.s:",
}


@pytest.mark.parametrize("libraries", [3, pytest.param(40, marks=pytest.mark.nightly)])
def test_no_loss_passes_and_no_unrelated_line_changes(libraries: int, tmp_path: Path) -> None:
    changes = {change.title: change for change in live(tmp_path, libraries)}
    assert {title: change.code for title, change in changes.items()} == {
        title: code for title, (code, _) in ANSWERS.items()
    }
    for change in changes.values():
        assert change.code or not change.is_loss, change.title
        assert change.lines <= {
            key
            for key in change.before.keys() | change.after.keys()
            if key.rpartition(" ")[2] in change.touched
        }, change.title
        assert change.response not in ("–", TAKEN_BACK) or not change.lines, change.title
    everywhere = {"new target of all", "target gone"}
    for title, (_, lines) in ANSWERS.items():
        if title not in everywhere and not title.startswith(("library", "header")):
            assert len(changes[title].lines) == lines, title
    if libraries == 3:
        assert all(len(changes[title].lines) == lines for title, (_, lines) in ANSWERS.items())
        assert {title for title, text in TOLD.items() if text not in changes[title].out} == set()
