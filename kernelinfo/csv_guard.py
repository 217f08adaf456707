"""An apostrophe before each CSV cell that a spreadsheet or a CI service would run."""

from __future__ import annotations

import re

_FORMULA = re.compile(r"'*\s*(?:[=+\-@＝＋－＠]|::)")
"""Start of a cell that a spreadsheet takes for a formula, or a CI service for a command.

The pattern skips the cell's own apostrophes, so that every cell reads back unchanged."""


def guarded(cell: str) -> str:
    """The cell, with an apostrophe before it if a spreadsheet would run it as a formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unguarded(cell: str) -> str:
    """The cell as it was before `guarded`."""
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell, 1) else cell
