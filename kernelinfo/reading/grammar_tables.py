"""Make the tables of a grammar, with Lark: for a wheel, an editable install, or a checkout now."""

from __future__ import annotations

import marshal
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

from lark import Lark
from lark.grammar import NonTerminal, Terminal
from lark.grammar import Rule as LarkRule
from lark.lexer import BasicLexer, TerminalDef
from lark.parsers.lalr_analysis import Shift

from kernelinfo.reading.grammar import END, Rule, Tables

Row = dict[str, tuple[object, Any]]
"""What Lark's parser does in a state: by terminal `Shift` to a state, or `Reduce` of a rule; by
rule `Shift`. Names of terminals are upper case."""
Rows = Mapping[object, Row]
"""By Lark's states, which it numbers as its sets happen to be ordered."""


def dump_tables(grammar: str) -> bytes:
    """The tables of a grammar as `load_tables` reads them."""
    # The format's last version without references, which are not the same in every build.
    return marshal.dumps(tuple(make_tables(grammar)), 2)


def make_tables(grammar: str) -> Tables:
    """The tables of a grammar, the same in every run. Raises ValueError if `parse` would not give
    what Lark gives."""
    parser = Lark(grammar, parser="lalr", maybe_placeholders=False).parser
    table = parser.parser.parser.parse_table
    (start,), (end,) = table.start_states.values(), table.end_states.values()
    rows = table.states
    rows[end][END] = Shift, start  # which `parse` takes for the end
    lexers = [(row, parser.lexer.lexers[state]) for state, row in rows.items()]
    order = _reached(rows, start)
    rules = sorted(parser.parser_conf.rules, key=lambda rule: (rule.origin.name, rule.order))

    def action(row: Row, symbol: str) -> int:
        kind, to = row[symbol]
        return order.index(_next(rows, row, symbol)) if kind is Shift else ~rules.index(to)

    return Tables(
        patterns=tuple(_pattern(row, lexers) for row in order),
        actions=tuple({str(name): action(row, name) for name in sorted(row)} for row in order),
        rules=tuple(map(_rule, rules)),
    )


def _reached(rows: Rows, start: object) -> list[Row]:
    """The rows that are used, in the order in which they are reached from the first."""
    order = [rows[start]]
    for row in order:
        for symbol in sorted(row):
            if row[symbol][0] is Shift and (found := _next(rows, row, symbol)) not in order:
                order.append(found)
    return order


def _next(rows: Rows, row: Row, symbol: str) -> Row:
    """The row of the next state. Behind a rule it has the actions that come after all rules that
    only pass a value on (`?sum: product`), which would be most of a parser's steps."""
    found = rows[row[symbol][1]]
    if symbol.isupper():
        return found
    return {name: _passed_on(rows, row, name, action) for name, action in found.items()}


def _passed_on(rows: Rows, row: Row, symbol: str, action: tuple[object, Any]) -> tuple[object, Any]:
    kind, rule = action
    if kind is Shift or not _passes(rule):
        return action
    found = rows[row[rule.origin.name][1]]
    if symbol not in found or not all(map(str.isupper, found)):
        return action
    return _passed_on(rows, row, symbol, found[symbol])


@cache
def _passes(rule: LarkRule) -> bool:
    _, length, function, _, unwraps = _rule(rule)
    return length == 1 and unwraps and not function


def _pattern(row: Row, lexers: Sequence[tuple[Row, BasicLexer]]) -> str:
    """The terminals that Lark's lexer tries in a state, in its order; empty behind a rule, where
    the next terminal is known already."""
    lexer = next((lexer for own, lexer in lexers if own == row), None)
    if lexer is None:
        return ""
    terminals = lexer.scanner.terminals
    if lexer.callback:
        quoted = ", ".join(lexer.callback)
        raise ValueError(f"{quoted} also match quoted words; make those terminals of priority 1")
    return "|".join(_group(terminal, lexer.ignore_types) for terminal in terminals)


def _group(terminal: TerminalDef, ignored: Collection[str]) -> str:
    name = ":" if terminal.name in ignored else f"P<{terminal.name}>"
    return f"(?{name}{terminal.pattern.to_regexp()})"


def _rule(rule: LarkRule) -> Rule:
    """Parts and name as Lark's parse trees have them (lark.parse_tree_builder)."""
    parts = tuple(
        (index, isinstance(symbol, NonTerminal) and symbol.name.startswith("_"))
        for index, symbol in enumerate(rule.expansion)
        if rule.options.keep_all_tokens or not (isinstance(symbol, Terminal) and symbol.filter_out)
    )
    unwraps = rule.options.expand1 and not rule.alias
    is_list = rule.origin.name.startswith("_")
    is_only_part = unwraps and [several for _, several in parts] == [False]
    name = rule.alias or rule.options.template_source or rule.origin.name
    function = "" if is_list or is_only_part else str(name)
    return str(rule.origin.name), len(rule.expansion), function, parts, unwraps
