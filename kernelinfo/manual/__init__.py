"""The manual: one Markdown page a topic, printed by `kernelinfo explain TOPIC`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def topics() -> dict[str, str]:
    """The title of each page by its topic, sorted by topic."""
    pages = (page for page in _folder().iterdir() if page.name.endswith(".md"))
    titles = {
        page.name.removesuffix(".md"): page.read_text("utf-8").partition("\n")[0].lstrip("# ")
        for page in pages
    }
    return dict(sorted(titles.items()))


def page(topic: str) -> str:
    """The Markdown text of one page. Raises `KeyError` for a topic without a page."""
    if topic not in topics():
        raise KeyError(topic)
    return _folder().joinpath(f"{topic}.md").read_text("utf-8")


def _folder() -> Traversable:
    from importlib.resources import files  # 10 million instructions, for pages alone

    return files(__name__)
