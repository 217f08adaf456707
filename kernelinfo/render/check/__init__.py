"""Formats of an outcome: one module each, a function from the outcome to pieces of text."""

from __future__ import annotations

from importlib.util import find_spec

from kernelinfo.render import Renderer, renderer


def check_renderer(name: str) -> Renderer:
    """The `render` function of a format of `CHECK_FORMATS`. Formats without a module here are the
    report's, with what the gate found among the findings."""
    if find_spec(f"{__name__}.{name}"):
        return renderer(f"check.{name}")
    render = renderer(name)
    return lambda outcome, view: render(outcome.report.results, view)
