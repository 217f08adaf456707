"""Parse text with the tables that Lark makes of `grammars/*.lark`, without Lark."""

from __future__ import annotations

import marshal
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from os.path import dirname, join
from typing import Any, NamedTuple
from zlib import crc32

from kernelinfo.package_file import read_package_file

TABLES_VERSION = 1
"""Raise it with every change of `Tables`, so that older files are not loaded."""
MOST_TOKENS = 1 << 15
"""Text of more is made to exhaust its readers; so many take a fifth of a second."""
END = "$END"
"""Lark's name for the terminal behind the text."""
START = ACCEPT = 0
"""The first state. Nothing leads back to it: as an action its number means that all is parsed."""
ERROR = 1 << 30
"""The action where a state has none."""

_PACKAGE = dirname(dirname(__file__))
_FOLDERS = (join(_PACKAGE, "grammars"), join(dirname(_PACKAGE), "grammars"))
"""Of an installed package and of a checkout."""

Build = Mapping[str, Callable[..., object]]
"""By the name of a rule (or the `-> name` of an alternative), what makes its value of the values of
its parts. A terminal's value is its text."""

Rule = tuple[str, int, str, tuple[tuple[int, bool], ...], bool]
"""One alternative of a rule, as tables keep it:

- the rule's name;
- the number of terminals and rules that it consists of;
- the name of its function in `Build`; empty if it has none: its value is the list of its parts;
- which of those count as parts, and whether the value of each is such a list;
- whether the value of an only part is that of the rule (`?rule`).
"""


class Tables(NamedTuple):
    """An LALR(1) parser and its contextual lexer."""

    patterns: tuple[str, ...]
    """By state: the terminals that may follow, the preferred first, each a group with its name, and
    those that are ignored, without."""
    actions: tuple[dict[str, int], ...]
    """By state and terminal: the next state, `ACCEPT`, or `~index` of the rule that is complete.
    By state and rule: the next state."""
    rules: tuple[Rule, ...]


class NoMatch(ValueError):
    """The grammar does not describe the text."""


class TooLong(NoMatch):
    """The text has more than `MOST_TOKENS`."""


@cache
def load_tables(name: str) -> Tables:
    """The tables of `grammars/NAME.lark`: from the build or, where it left none, from Lark now."""
    grammar = _read(f"{name}.lark")
    try:
        return Tables(*marshal.loads(_read(tables_name(name, grammar))))
    except FileNotFoundError:
        from kernelinfo.reading.grammar_tables import make_tables

        return make_tables(grammar.decode())


def tables_name(name: str, grammar: bytes) -> str:
    """The file with the tables of just this grammar."""
    return f"{name}-{crc32(grammar, TABLES_VERSION):08x}.tables"


def _read(name: str) -> bytes:
    """A file of the grammars' folder, which may be in a zipped package."""
    for folder in _FOLDERS:
        try:
            return read_package_file(join(folder, name))
        except OSError:
            continue
    raise FileNotFoundError(name)


def parse(tables: Tables, text: str, build: Build) -> Any:
    """The value of the whole text; that of each part is made as soon as the part is complete. Takes
    time linear in the text, and no recursion. Raises NoMatch."""
    patterns, actions, rules = tables
    states: list[int] = [START]
    values: list[Any] = []
    for terminal, token in _tokens(patterns, text, states):
        while (action := actions[states[-1]].get(terminal, ERROR)) < 0:
            rule = origin, length, _, _, _ = rules[~action]
            first = len(values) - length
            values[first:] = [_value(rule, values[first:], build)]
            states[first + 1 :] = [actions[states[first]][origin]]
        if action == ACCEPT:
            return values[0]
        if action == ERROR:
            break
        states.append(action)
        values.append(token)
    raise NoMatch


def _tokens(patterns: Sequence[str], text: str, states: list[int]) -> Iterator[tuple[str, str]]:
    """Name and text of each terminal, one that the latest state allows; ends where none fits."""
    offset = count = 0
    while offset < len(text):
        match = _lexer(patterns[states[-1]])(text, offset)
        if match is None:
            return
        offset = match.end()
        if terminal := match.lastgroup:
            if (count := count + 1) > MOST_TOKENS:
                raise TooLong
            yield terminal, match[0]
    yield END, ""


@cache
def _lexer(pattern: str) -> Callable[[str, int], re.Match[str] | None]:
    return re.compile(pattern).match


def _value(rule: Rule, values: list[Any], build: Build) -> Any:
    """The value of a rule by those of all its terminals and rules."""
    _, _, function, kept, unwraps = rule
    parts: list[Any] = []
    for index, is_list in kept:
        if not is_list:
            parts.append(values[index])
        elif parts:
            parts += values[index]
        else:
            parts = values[index]  # long lists are made item by item, and must not be copied
    if unwraps and len(parts) == 1:
        return parts[0]
    return build[function](*parts) if function else parts
