"""The symbols that an assembly text sets, by `.set NAME, VALUE` or `NAME = VALUE`."""

from __future__ import annotations

import re

from kernelinfo.reading.assembly.expressions import Definition
from kernelinfo.reading.assembly.labels import unquoted
from kernelinfo.reading.assembly.scan import Lines, Text, before, decode, is_directive, line_at

_SETS = re.compile(rb"\.(?:set|equ)\b.*+(?:\n[ \t]*+\.(?:set|equ)\b.*+)*+")
_SET = re.compile(
    rb"^[ \t]*\.(?:set|equ)\b(?:[ \t]+(\"(?:\\.|[^\"\\\n])*\"|[^\s,\"]+)[ \t]*,)?(.*)$",
    re.MULTILINE,
)
_EQUATED = rb"\s*([\w.$@]+)\s*"


class Definitions(dict[str, list[Definition]]):
    """By symbol, those of one symbol in the order of the text."""

    def take_sets(self, text: Text, place: int, lines: Lines) -> int:
        """Take up the directives that follow each other from `place` on; where they end."""
        found = _SETS.match(text, place)
        assert found
        first = lines.number(place)
        for line, (name, expression) in enumerate(_SET.findall(found[0]), first):
            if name and (line > first or is_directive(text, place)):
                self._define(unquoted(name), Definition(line, decode(expression)))
        return found.end()

    def take_assignment(self, text: Text, place: int, lines: Lines) -> None:
        """Take up what the sign of equality at `place` assigns, if it does."""
        prefix = before(text, place)
        if prefix and (name := re.fullmatch(_EQUATED, prefix)):
            expression = decode(line_at(text, place + 1))
            self._define(decode(name[1]), Definition(lines.number(place), expression))

    def _define(self, symbol: str, definition: Definition) -> None:
        self.setdefault(symbol, []).append(definition)
