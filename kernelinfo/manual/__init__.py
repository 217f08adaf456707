"""The manual: one Markdown page a topic, printed by `kernelinfo explain TOPIC`."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent


def topics() -> dict[str, str]:
    """The title of each page by its topic, sorted by topic."""
    return {
        page.stem: page.read_text("utf-8").partition("\n")[0].lstrip("# ")
        for page in sorted(_FOLDER.glob("*.md"))
    }


def page(topic: str) -> str:
    """The Markdown text of one page. Raises `KeyError` for a topic without a page."""
    if topic not in topics():
        raise KeyError(topic)
    return (_FOLDER / f"{topic}.md").read_text("utf-8")
