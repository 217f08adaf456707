"""Formats of an outcome: one module each, a function from the outcome to pieces of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Literal, cast

from kernelinfo.gate.outcome import Outcome
from kernelinfo.render import View, renderer

CheckFormatName = Literal[
    "text", "json", "jsonl", "csv", "markdown", "html", "sarif", "github", "gitlab", "junit"
]
CheckRenderer = Callable[[Outcome, View], Iterator[str]]


def check_renderer(name: CheckFormatName) -> CheckRenderer:
    """The `render` function of the format's module, which is imported only now.

    JSON lines, CSV and HTML are the report's, with what the gate found among the findings.
    """
    if name == "jsonl" or name == "csv" or name == "html":
        render = renderer(name)
        return lambda outcome, view: render(outcome.report.results, view)
    return cast(CheckRenderer, import_module(f"{__name__}.{name}").render)
