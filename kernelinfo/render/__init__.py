"""Output formats: one module each, a function from the stream of results to pieces of text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module

from kernelinfo.kernel import Item
from kernelinfo.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kernelinfo.render.formats import FormatName, NameStyle


class View(NamedTuple):
    """How the output is to look; only text heeds more than the names."""

    names: NameStyle = "full"
    width: int = 100
    """Columns."""
    fold: bool = False
    """Long names may take a line of their own: for people, not for grep."""
    color: bool = False
    top: int = 50
    """Kernels shown; 0 shows all."""
    quiet: bool = False
    """The table alone."""
    group: bool = False
    """Kernels of the same name stand together, whatever their target."""


Renderer = Callable[[Iterable[Item], View], Iterator[str]]

MODULES: dict[FormatName, str] = {
    "text": "kernelinfo.render.text",
    "json": "kernelinfo.render.json",
    "jsonl": "kernelinfo.render.jsonl",
    "csv": "kernelinfo.render.csv",
    "markdown": "kernelinfo.render.markdown",
    "html": "kernelinfo.render.html",
}


def renderer(name: FormatName) -> Renderer:
    """The `render` function of the format's module, which is imported only now."""
    render: Renderer = import_module(MODULES[name]).render
    return render
