"""Output formats of a sweep: one module each, as for reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Literal, cast

from kernelinfo.render import View
from kernelinfo.sweep.variants import Sweep

SweepFormat = Literal["text", "json", "csv", "markdown", "html"]

Renderer = Callable[[Sweep, View], Iterator[str]]


def renderer(name: SweepFormat) -> Renderer:
    """The `render` function of the format's module, which is imported only now."""
    return cast(Renderer, import_module(f"kernelinfo.render.sweep.{name}").render)
