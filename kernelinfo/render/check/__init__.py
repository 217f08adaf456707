"""Output formats of a check, one module each: a function from the outcome to pieces of text."""

from __future__ import annotations

from kernelinfo.render import ROW_FORMATS, Renderer, renderer


def check_renderer(name: str) -> Renderer:
    """The `render` function of one of `CHECK_FORMATS`.

    Rows are the report's, with the findings of the gate added."""
    if name not in ROW_FORMATS:
        return renderer(f"check.{name}")
    render = renderer(name)
    return lambda outcome, view: render(outcome.report.results, view)
