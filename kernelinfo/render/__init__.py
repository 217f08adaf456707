"""Output formats, one module each: a function from a stream of results to pieces of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from kernelinfo.kernel.columns import NamedColumn
    from kernelinfo.pressure.registers import RegisterClass
    from kernelinfo.pressure.source_text import SourceText
    from kernelinfo.rules import Selection

NameStyle = Literal["short", "full", "mangled"]
"""Values of `--names`."""


class View(NamedTuple):
    """Settings of the output. Formats other than text use only the names."""

    names: NameStyle = "full"
    width: int = 100  # columns
    fold: bool = False  # long names may take their own line, on terminals only
    color: bool = False
    top: int = 50  # kernels shown; 0 shows all
    quiet: bool = False  # the table alone
    group: bool = False  # all targets of one kernel stand together
    may_shorten: bool = False  # the user chose no name style: many kernels get short names
    is_sorted: bool = False  # the user chose the order of kernels
    also: tuple[NamedColumn, ...] = ()  # columns that the user sorts by; tables show them
    selection: Selection | None = None  # rules that a page runs again; None: the default ones
    whole: bool = False  # live registers: show whole kernels, because the user named one
    register_class: RegisterClass | None = None  # None: vector registers
    source: SourceText | None = None  # source text to show beside live registers, if asked for
    instructions: bool = False  # rows have the columns of instructions by class


FORMATS = ("text", "json", "jsonl", "csv", "markdown", "html")
"""Formats of reports, modules of this package with a function `render`; of comparisons, modules of
`render.diff`; and of calculations."""
ROW_FORMATS = ("csv", "jsonl")  # those with one row a kernel
SHOW_INSTRUCTIONS = ("json", "html")  # formats that need instruction counts of every kernel
BLOCK_FORMATS = ("text", "jsonl", "csv", "markdown")  # those, in which reports may follow another
CHECK_FORMATS = (*FORMATS, "sarif", "github", "gitlab", "junit")
"""Formats of `check`: a module of `kernelinfo.render.check`, or else the report's module."""
PRESSURE_FORMATS = ("text", "json", "jsonl", "csv", "html")  # of `render.pressure`
SWEEP_FORMATS = ("text", "json", "csv", "markdown")  # of `render.sweep`
TREND_FORMATS = ("text", "json", "csv", "markdown", "html")  # of `render.trend`
WATCH_FORMATS = ("text", "jsonl")  # of `render.watch`
RECORD_FORMATS = ("text", "json", "jsonl", "csv", "markdown")  # answers without kernels

Renderer = Callable[[Any, View], Iterator[str]]


def format_module(name: str) -> Any:
    """The module of one of `FORMATS`, imported on first use. Its `render` writes a whole report.

    A module with `rows`, and maybe `first_line`, can also write a report in parts."""
    # `importlib.import_module` does the same, and is a module to import itself.
    return __import__(f"{__name__}.{name}", fromlist=["render"])


def renderer(name: str) -> Renderer:
    """The `render` function of a format: one of `FORMATS`, or `diff.json` and the like."""
    render: Renderer = format_module(name).render
    return render
