"""Output formats of a comparison: one module each, as for reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Literal, cast

from kernelinfo.compare import Comparison
from kernelinfo.render import View

DiffFormatName = Literal["text", "json", "jsonl", "csv", "markdown", "html"]

Renderer = Callable[[Comparison, View], Iterator[str]]


def renderer(name: DiffFormatName) -> Renderer:
    """The `render` function of the format's module, which is imported only now."""
    return cast(Renderer, import_module(f"kernelinfo.render.diff.{name}").render)
