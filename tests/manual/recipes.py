"""The recipes that the manual gives, as whoever copies them has them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
REPOSITORY: str = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"][
    "Repository"
]
_RECIPE = re.compile(r"<!-- recipe: (\S+) -->\n+```\w+\n(.*?)```", re.DOTALL)


def recipe(name: str) -> str:
    """The block after the comment of that name, on whichever page."""
    pages = (ROOT / "kernelinfo" / "manual").glob("*.md")
    text = "\n".join(page.read_text("utf-8") for page in pages)
    found: dict[str, str] = dict(_RECIPE.findall(text))
    return found[name]
