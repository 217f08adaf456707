"""The manual: one Markdown page a topic, printed by `kernelinfo explain TOPIC`."""

from __future__ import annotations

import os
import re

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


def sections() -> dict[str, str]:
    """Name → Markdown text of each section that can be explained by name. The heading `## Waits, in
    flight: what …` gives the names `waits` and `in-flight`."""
    named = {}
    for topic in topics():
        for section in re.findall(r"^## .*(?:\n(?!## ).*)*", _text(topic), re.MULTILINE):
            names, colon, _ = section.partition("\n")[0].removeprefix("## ").partition(":")
            for name in names.split(", ") if colon else ():
                named[name.casefold().replace(" ", "-")] = f"{section.rstrip()}\n"
    return dict(sorted(named.items()))


def _text(topic: str) -> str:
    with open(os.path.join(_FOLDER, topic + _SUFFIX), encoding="utf-8") as file:
        return file.read()
