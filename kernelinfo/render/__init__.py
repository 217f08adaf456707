"""Output formats: functions from a stream of results, or from another answer, to pieces of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from kernelinfo.kernel.columns import NamedColumn
    from kernelinfo.pressure.debug_information import SourceText
    from kernelinfo.pressure.registers import RegisterClass
    from kernelinfo.rules import Selection

REPOSITORY = "https://github.com/kernelinfo/kernelinfo"
"""The address that pyproject.toml also states."""

NameStyle = Literal["short", "full", "mangled"]
"""Values of `--names`."""


class View(NamedTuple):
    """Settings of the output. Formats other than text use only `names`."""

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
    whole: bool = (
        False  # show all that is stated of each kernel: the user named one, or asks for it
    )
    register_class: RegisterClass | None = None  # None: vector registers
    source: SourceText | None = None  # source text to show beside live registers, if asked for
    instructions: bool = False  # rows have the columns of instructions by class
    heading: bool = True  # CSV begins with the names of its columns


Renderer = Callable[..., Iterator[str]]
"""(answer, view) → pieces of text. The `OUTPUTS` of a command have one for each of its formats; it
imports what it needs when it is called, so that no answer pays for the other formats."""
