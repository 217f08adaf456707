"""Find and compile the grammars, in a checkout and in an installed package."""

from __future__ import annotations

import os
from functools import cache
from zlib import crc32

from kernelinfo.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lark import Lark

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_INSTALLED = os.path.join(_PACKAGE, "grammars")
_CHECKOUT = os.path.join(os.path.dirname(_PACKAGE), "grammars")


@cache
def load_parser(name: str) -> Lark:
    """The LALR parser of `grammars/NAME.lark`, compiled once: by the wheel's build, or here.

    Lark is imported here and not before: most inputs never need it.
    """
    from lark import Lark

    folder = _INSTALLED if os.path.isdir(_INSTALLED) else _CHECKOUT
    with open(os.path.join(folder, f"{name}.lark"), encoding="utf-8") as file:
        grammar = file.read()
    compiled = os.path.join(_INSTALLED, compiled_name(name, grammar))
    if not os.path.exists(compiled):
        return compile(grammar)
    with open(compiled, "rb") as data:
        return Lark.load(data)


def compile(grammar: str) -> Lark:
    """The parser of a grammar."""
    from lark import Lark

    return Lark(grammar, parser="lalr")


def compiled_name(name: str, grammar: str) -> str:
    """The file with the parser of just this grammar, by just this version of Lark."""
    from lark import __version__

    return f"{name}-{crc32(grammar.encode()):08x}-lark-{__version__}.parser"
