"""Output formats of a sweep: one module each, as for reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import cast

from kernelinfo.render import View
from kernelinfo.sweep.variants import Sweep

Renderer = Callable[[Sweep, View], Iterator[str]]


def renderer(name: str) -> Renderer:
    """The `render` function of a format of `SWEEP_FORMATS`; its module is imported only now."""
    return cast(Renderer, import_module(f"kernelinfo.render.sweep.{name}").render)
