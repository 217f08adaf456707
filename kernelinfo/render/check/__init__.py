"""Formats of an outcome: one module each, a function from the outcome to pieces of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from kernelinfo.gate.outcome import Outcome
from kernelinfo.render import View, renderer

CheckRenderer = Callable[[Outcome, View], Iterator[str]]


def check_renderer(name: str) -> CheckRenderer:
    """The `render` function of a format of `CHECK_FORMATS`; its module is imported only now.

    Formats without a module here are the report's, with what the gate found among the findings.
    """
    module = f"{__name__}.{name}"
    if find_spec(module):
        return cast(CheckRenderer, import_module(module).render)
    render = renderer(name)
    return lambda outcome, view: render(outcome.report.results, view)
