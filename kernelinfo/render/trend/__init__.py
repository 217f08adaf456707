"""Output formats of a trend: one module each, as for reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import cast

from kernelinfo.fleet.history import Trend
from kernelinfo.render import View

Renderer = Callable[[Trend, View], Iterator[str]]


def renderer(name: str) -> Renderer:
    """The `render` function of a format of `TREND_FORMATS`; its module is imported only now."""
    return cast(Renderer, import_module(f"kernelinfo.render.trend.{name}").render)
