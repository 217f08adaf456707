"""Find and compile the grammars, in a checkout and in an installed package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lark import Lark

_CHECKOUT = Path(__file__).resolve().parent.parent / "grammars"


@cache
def load_parser(name: str) -> Lark:
    """The LALR parser of `grammars/NAME.lark`, compiled once.

    Lark is imported here and not before: most inputs never need it.
    """
    from lark import Lark

    installed = files("kernelinfo").joinpath("grammars", f"{name}.lark")
    grammar = installed if installed.is_file() else _CHECKOUT / f"{name}.lark"
    return Lark(grammar.read_text("utf-8"), parser="lalr")
