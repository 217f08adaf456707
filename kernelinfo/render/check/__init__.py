"""Output formats of a check, one module each: a function from the outcome to pieces of text."""

from __future__ import annotations

from importlib.util import find_spec

from kernelinfo.render import Renderer, renderer


def check_renderer(name: str) -> Renderer:
    """The `render` function of one of `CHECK_FORMATS`.

    A format without a module here is the report's, with the findings of the gate added."""
    if find_spec(f"{__name__}.{name}"):
        return renderer(f"check.{name}")
    render = renderer(name)
    return lambda outcome, view: render(outcome.report.results, view)
