"""The words of the options that say how an answer is written."""

from __future__ import annotations

from typing import Literal

RecordFormat = Literal["text", "json", "jsonl", "csv", "markdown"]
"""Formats of answers that hold no kernels."""
FormatName = Literal[RecordFormat, "html"]
NameStyle = Literal["short", "full", "mangled"]
