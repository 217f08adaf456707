"""Suffixes of the files that can be compiled."""

from __future__ import annotations

import os
from typing import Literal

SourceLanguage = Literal["hip", "cl", "ir"]
_LANGUAGES: dict[str, SourceLanguage] = {
    ".hip": "hip",
    ".cu": "hip",
    ".cl": "cl",
    ".ll": "ir",
    ".bc": "ir",
}
SOURCE_SUFFIXES = tuple(_LANGUAGES)
IR_SOURCES = (".ll", ".bc")


def language_of(path: str) -> SourceLanguage:
    """The language that a source's suffix states, as compilers call it."""
    return _LANGUAGES[os.path.splitext(path)[1]]


def is_source(path: str) -> bool:
    """True for a path with the suffix of a source that is no folder."""
    return path.endswith(SOURCE_SUFFIXES) and not os.path.isdir(path)
