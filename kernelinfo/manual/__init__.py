"""The manual: one Markdown page a topic, printed by `kernelinfo explain TOPIC`."""

from __future__ import annotations

import os

_FOLDER = os.path.dirname(__file__)
_SUFFIX = ".md"


def topics() -> dict[str, str]:
    """The title of each page by its topic, sorted by topic."""
    names = sorted(name for name in os.listdir(_FOLDER) if name.endswith(_SUFFIX))
    pages = (name.removesuffix(_SUFFIX) for name in names)
    return {topic: _text(topic).partition("\n")[0].lstrip("# ") for topic in pages}


def page(topic: str) -> str:
    """The Markdown text of one page. Raises `KeyError` for a topic without a page."""
    if topic not in topics():
        raise KeyError(topic)
    return _text(topic)


def _text(topic: str) -> str:
    with open(os.path.join(_FOLDER, topic + _SUFFIX), encoding="utf-8") as file:
        return file.read()
