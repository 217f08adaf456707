"""Parts of an assembly text that only an assembler expands: macros, repetitions, conditions, files.

Source: LLVM AsmParser.cpp, parseDirectiveMacro, parseDirectiveIf, parseDirectiveRept,
parseDirectiveInclude.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kernelinfo.reading.data import decode

_SIGNS = (b".macro", b".include", b".if", b".rep", b".irp")
# Not compiled at import: few texts need it.
_STATEMENT = (
    rb"(?m)^[ \t]*+(?:[\w.$]++:[ \t]++)*+(?:"
    rb"\.(?:macro[ \t]++([^\s,]++)|(include|if\w*+|endif|rept?|irpc?|endr|endm(?:acro)?)\b"
    rb"|(?:set|equ|equiv)[ \t]++([^\s,]++))|([\w.$\\]++)[ \t]*+=(?!=))"
)
_ENDS = {"endif": "if", "endr": "rep", "endm": "macro", "endmacro": "macro"}


class Expansion(NamedTuple):
    """What an assembler would expand before it reads the code."""

    macros: frozenset[str] = frozenset()
    """Names that the text defines as macros."""
    includes: tuple[int, ...] = ()
    """Byte offset of each `.include`."""
    ranges: tuple[tuple[int, int, str], ...] = ()
    """Byte offsets of the begin and the end of each outermost macro, repetition or condition, and
    its directive."""
    symbols: frozenset[str] = frozenset()
    """Symbols that may be set in them."""
    any_symbol: bool = False
    """True if macros set symbols that are named by their arguments."""

    def before(self, offset: int) -> list[str]:
        """Directives that make the code at an offset depend on other text."""
        included = [".include" for start in self.includes if start < offset]
        around = [f".{kind}" for start, end, kind in self.ranges if start < offset < end]
        return included + around


_NOTHING = Expansion()


def read_expansion(text: bytes) -> Expansion:
    """The macros, repetitions, conditions and included files of a text without comments."""
    if not any(sign in text for sign in _SIGNS):
        return _NOTHING
    macros, symbols, setting = set[str](), set[str](), set[str]()
    includes, ranges = list[int](), list[tuple[int, int, str]]()
    open_kinds: list[str] = []
    first, last_macro = (0, ""), ""
    for found in re.finditer(_STATEMENT, text):
        macro, directive, *names = (decode(part) if part else "" for part in found.groups())
        kind = "macro" if macro else directive
        if end_of := _ENDS.get(kind):
            ended = [at for at, one in enumerate(open_kinds) if one.startswith(end_of)]
            if ended or (end_of == "rep" and open_kinds):
                del open_kinds[ended[-1] if ended else -1 :]
                if not open_kinds:
                    ranges.append((first[0], found.end(), first[1]))
        elif kind == "include":
            includes.append(found.start())
        elif kind:
            if macro:
                macros.add(macro)
                last_macro = macro
            if not open_kinds:
                first = found.start(), kind
            open_kinds.append(kind)
        elif open_kinds:
            symbols.update(filter(None, names))
            if any("\\" in name for name in names):
                setting.add(last_macro if "macro" in open_kinds else "")
    if open_kinds:
        ranges.append((first[0], len(text), first[1]))
    return Expansion(
        frozenset(macros),
        tuple(includes),
        tuple(ranges),
        frozenset(symbols),
        any_symbol=any(not name or _is_called(text, name) for name in setting),
    )


def _is_called(text: bytes, macro: str) -> bool:
    """True if a line begins with the name of a macro."""
    called = rb"(?m)^[ \t]*+(?:[\w.$]++:[ \t]++)*+%b(?![\w.$])" % re.escape(macro.encode())
    return re.search(called, text) is not None
