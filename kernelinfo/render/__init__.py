"""Output formats: one module each, a function from the stream of results to pieces of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from kernelinfo.pressure.registers import RegisterClass
    from kernelinfo.render.name_style import NameStyle
    from kernelinfo.rules import Selection


class View(NamedTuple):
    """How the output is to look; only text heeds more than the names."""

    names: NameStyle = "full"
    width: int = 100  # columns
    fold: bool = False  # long names may take a line of their own: for people, not for grep
    color: bool = False
    top: int = 50  # kernels shown; 0 shows all
    quiet: bool = False  # the table alone
    group: bool = False  # kernels of the same name stand together, whatever their target
    may_shorten: bool = False  # many kernels go by their short names: no style was chosen
    is_sorted: bool = False  # kernels come in the order that the user wants
    selection: Selection | None = None  # rules that a page asks again; None: those on by default
    whole: bool = False  # of live registers, kernels are shown whole: the user has named one
    register_class: RegisterClass | None = None  # whose live values are shown; None: vector ones


FORMATS = ("text", "json", "jsonl", "csv", "markdown", "html")
"""Of reports: each a module of this package with a function `render`."""
SHOW_INSTRUCTIONS = ("json", "html")  # those, in which the instructions of every kernel are counted
CHECK_FORMATS = (*FORMATS, "sarif", "github", "gitlab", "junit")
"""Of `check`: each a module of `kernelinfo.render.check`, or else the report's."""
DIFF_FORMATS = ("text", "json", "jsonl", "csv", "markdown", "html")  # modules of `render.diff`
PRESSURE_FORMATS = ("text", "json", "csv", "html")  # of `render.pressure`
SWEEP_FORMATS = ("text", "json", "csv", "markdown", "html")  # of `render.sweep`
TREND_FORMATS = ("text", "json", "csv", "html")  # of `render.trend`
RECORD_FORMATS = ("text", "json", "jsonl", "csv", "markdown")  # of answers that hold no kernels

Renderer = Callable[[Any, View], Iterator[str]]


def format_module(name: str) -> Any:
    """The module of a format of `FORMATS`, imported only now. Its `render` writes a whole report.
    One with `HEADING` and `rows` can write it in parts."""
    # `importlib.import_module` does the same, and is a module to import itself.
    return __import__(f"{__name__}.{name}", fromlist=["render"])


def renderer(name: str) -> Renderer:
    """The `render` function of a format of `FORMATS`; of other answers by `diff.json` and so on."""
    render: Renderer = format_module(name).render
    return render
