"""The recipes that the manual gives for CI, as whoever copies them has them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
_RECIPE = re.compile(r"<!-- recipe: (\S+) -->\n+```\w+\n(.*?)```", re.DOTALL)


def recipe(name: str) -> str:
    """The block after the comment of that name."""
    found: dict[str, str] = dict(
        _RECIPE.findall((ROOT / "kernelinfo" / "manual" / "ci.md").read_text("utf-8"))
    )
    return found[name]
