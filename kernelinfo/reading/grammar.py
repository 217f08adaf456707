"""LALR(1) parser driven by the tables that Lark makes of `grammars/*.lark`; runs without Lark.

Lark's own parser of such tables would take 150 million instructions more to import, half of the
report of a small file.
"""

from __future__ import annotations

import marshal
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from os.path import dirname, exists, join
from typing import TYPE_CHECKING, Any
from zlib import crc32

if TYPE_CHECKING:
    from kernelinfo.reading.grammar_tables import GrammarRule, ParseTables

TABLES_VERSION = 1
"""Part of the file names. Raise it with each change of the tables: older files are ignored."""
MOST_TOKENS = 1 << 15
"""Most tokens of one text, which take 0.2 s. Only hostile text has more."""
END = "$END"
"""Lark's name for the end of the text."""
START = ACCEPT = 0
"""Number of the first state. No action leads back to it, so as an action it means "accepted"."""
ERROR = 1 << 30
"""Action for a terminal that a state does not allow."""

_INSTALLED = join(dirname(dirname(__file__)), "grammars")
"""Folder of the grammars and their tables in an installed package."""
_CHECKOUT = join(dirname(dirname(dirname(__file__))), "grammars")
"""Folder of the grammars in a checkout."""

Builders = Mapping[str, Callable[..., object]]
"""Functions by the name of a rule, or by the `-> name` of an alternative.

A function gets the values of the rule's parts and returns the rule's value. A terminal's value is
its text.
"""


class NoMatch(ValueError):
    """The text does not follow the grammar."""

    def __init__(self, offset: int = 0, *, is_too_long: bool = False) -> None:
        """`offset` is the position of the mistake, in characters; a text with more than
        `MOST_TOKENS` `is_too_long`."""
        super().__init__(offset)
        self.offset = offset
        self.is_too_long = is_too_long


@cache
def load_tables(name: str) -> ParseTables:
    """Parse tables of `grammars/NAME.lark`, as the build made them; if it made none, Lark makes
    them now."""
    grammar = _read(f"{name}.lark")
    try:
        tables: ParseTables = marshal.loads(_read(tables_name(name, grammar)))
        return tables
    except FileNotFoundError:
        from kernelinfo.reading.grammar_tables import make_tables

        return make_tables(grammar.decode())


def tables_name(name: str, grammar: bytes) -> str:
    """Name of the tables' file, with a checksum of the grammar's text."""
    return f"{name}-{crc32(grammar, TABLES_VERSION):08x}.tables"


def _read(name: str) -> bytes:
    """Content of a file in the grammars' folder. Raises `FileNotFoundError`."""
    folder = _INSTALLED if exists(_INSTALLED) else _CHECKOUT
    with open(join(folder, name), "rb") as file:
        return file.read()


def parse(tables: ParseTables, text: str, build: Builders) -> Any:
    """Value of the whole text, built by `build`.

    Each rule's value is built as soon as the rule is complete. Takes time linear in the text, and
    no recursion. Raises `NoMatch`.
    """
    patterns, actions, rules = tables
    states: list[int] = [START]
    values: list[Any] = []
    offset = 0
    for terminal, token, offset in _tokens(patterns, text, states):
        while (action := actions[states[-1]].get(terminal, ERROR)) < 0:
            rule = origin, length, _, _, _ = rules[~action]
            first = len(values) - length
            values[first:] = [_value(rule, values[first:], build)]
            states[first + 1 :] = [actions[states[first]][origin]]
        if action == ACCEPT:
            return values[0]
        if action == ERROR:
            raise NoMatch(offset)
        states.append(action)
        values.append(token)
        offset += len(token)
    raise NoMatch(offset)


def _tokens(
    patterns: Sequence[str], text: str, states: list[int]
) -> Iterator[tuple[str, str, int]]:
    """(name, text, offset in characters) of each terminal.

    The last of `states`, which the parser changes between terminals, decides which terminals are
    tried. Stops if none of them matches. Raises `NoMatch` for a text that is too long.
    """
    offset = count = 0
    while offset < len(text):
        match = re.compile(patterns[states[-1]]).match(text, offset)
        if match is None:
            return
        offset = match.end()
        if terminal := match.lastgroup:
            if (count := count + 1) > MOST_TOKENS:
                raise NoMatch(match.start(), is_too_long=True)
            yield terminal, match[0], match.start()
    yield END, "", len(text)


def _value(rule: GrammarRule, values: list[Any], build: Builders) -> Any:
    """Value of a rule, from the values of all its terminals and rules."""
    _, _, function, kept, unwraps = rule
    parts: list[Any] = []
    for index, is_list in kept:
        if not is_list:
            parts.append(values[index])
        elif parts:
            parts += values[index]
        else:
            parts = values[index]  # a long list grows item by item: never copy it
    if unwraps and len(parts) == 1:
        return parts[0]
    return build[function](*parts) if function else parts
