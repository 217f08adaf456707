"""Parts of an assembly text that only an assembler expands: macros, repetitions, conditions, files.

Source: LLVM AsmParser.cpp, parseDirectiveMacro, parseDirectiveIf, parseDirectiveRept,
parseDirectiveInclude.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from typing import NamedTuple

from kernelinfo.reading.data import decode

_SIGNS = (b".macro", b".include", b".if", b".rep", b".irp")
# Not compiled at import: few texts need it.
_STATEMENT = (
    rb"(?m)^[ \t]*+(?:[\w.$]++:[ \t]++)*+(?:"
    rb"\.(?:macro[ \t]++([^\s,]++)|(include|if\w*+|endif|rept?|irpc?|endr|endm(?:acro)?)\b"
    rb"|(?:set|equ|equiv)[ \t]++([^\s,]++))|([\w.$\\]++)[ \t]*+=(?!=))"
)
_FIRST_WORD = rb"(?m)^[ \t]*+(?:[\w.$]++:[ \t]++)*+([\w.$]++)"
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

    def before(self, offset: int) -> dict[str, int]:
        """Directives that make the code at an offset depend on other text → their number."""
        included = bisect_left(self.includes, offset)
        found = {".include": included} if included else {}
        at = bisect_left(self.ranges, (offset, 0, "")) - 1
        if at >= 0 and offset < self.ranges[at][1]:
            found[f".{self.ranges[at][2]}"] = 1
        return found


_NOTHING = Expansion()


def read_expansion(text: bytes) -> Expansion:
    """The macros, repetitions, conditions and included files of a text without comments."""
    if not any(sign in text for sign in _SIGNS):
        return _NOTHING
    macros, symbols, setting = set[str](), set[str](), set[str]()
    includes, ranges = list[int](), list[tuple[int, int, str]]()
    open_kinds: list[str] = []
    opened = Counter[str]()
    first, last_macro = (0, ""), ""
    for found in re.finditer(_STATEMENT, text):
        macro, directive, *names = (decode(part) if part else "" for part in found.groups())
        if kind := _ENDS.get(directive):
            while opened[kind]:
                closed = open_kinds.pop()
                opened[closed] -= 1
                if closed == kind:
                    break
            else:
                continue
            if not open_kinds:
                ranges.append((first[0], found.end(), first[1]))
        elif directive == "include":
            includes.append(found.start())
        elif macro or directive:
            kind = "macro" if macro else "if" if directive.startswith("if") else "rep"
            if macro:
                macros.add(macro)
                last_macro = macro
            if not open_kinds:
                first = found.start(), directive or kind
            open_kinds.append(kind)
            opened[kind] += 1
        elif open_kinds:
            symbols.update(filter(None, names))
            if any("\\" in name for name in names):
                setting.add(last_macro if opened["macro"] else "")
    if open_kinds:
        ranges.append((first[0], len(text), first[1]))
    called = (decode(word[1]) for word in re.finditer(_FIRST_WORD, text)) if setting else ()
    return Expansion(
        frozenset(macros),
        tuple(includes),
        tuple(ranges),
        frozenset(symbols),
        any_symbol="" in setting or any(word in setting for word in called),
    )
