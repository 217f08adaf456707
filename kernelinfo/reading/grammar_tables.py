"""Tables of a grammar, made by Lark for a wheel, an editable install, or a checkout at run time."""

from __future__ import annotations

import marshal
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from lark import Lark
from lark.grammar import NonTerminal, Terminal
from lark.grammar import Rule as LarkRule
from lark.lexer import BasicLexer, TerminalDef
from lark.parsers.lalr_analysis import Shift

_END = "$END"
"""Lark's name for the end of the text."""

GrammarRule = tuple[str, int, str, tuple[tuple[int, bool], ...], bool]
"""One alternative of a rule, as a tuple:

- name of the rule;
- number of its terminals and rules;
- name of its function in `grammar.Builders`, or empty: then its value is the list of its parts;
- index of each terminal or rule that counts as a part, with True if its value is such a list;
- True if a single part's value becomes the rule's value (`?rule`).
"""

ParseTables = tuple[tuple[str, ...], tuple[dict[str, int], ...], tuple[GrammarRule, ...]]
"""An LALR(1) parser and its contextual lexer, as a tuple:

- regular expression of the terminals that may follow, by state: alternatives in order of
  preference, each a group with the terminal's name; ignored terminals are unnamed groups;
- action by state, then by terminal: the next state, `grammar.ACCEPT`, or `~index` of a complete
  rule; by state, then by rule: the next state;
- rules, by index.
"""

State = dict[str, tuple[object, Any]]
"""A state of Lark's parser: symbol → (`Shift`, state) or (`Reduce`, rule). A terminal's name is
upper case."""
States = Mapping[object, State]
"""State by Lark's number for it. The numbers differ from run to run."""


def dump_tables(grammar: str) -> bytes:
    """Bytes of the tables, as `load_tables` reads them."""
    # Version 2 is the last without references, which differ from build to build.
    return marshal.dumps(make_tables(grammar), 2)


def make_tables(grammar: str) -> ParseTables:
    """Tables of a grammar, the same in every run.

    Raises `ValueError` for a grammar that `parse` would read differently from Lark.
    """
    parser = Lark(grammar, parser="lalr", maybe_placeholders=False).parser
    table = parser.parser.parser.parse_table
    (start,), (end,) = table.start_states.values(), table.end_states.values()
    states = table.states
    states[end][_END] = Shift, start  # `parse` accepts here
    lexers = [(state, parser.lexer.lexers[number]) for number, state in states.items()]
    order = _reached(states, start)
    rules = sorted(parser.parser_conf.rules, key=lambda rule: (rule.origin.name, rule.order))

    def action(state: State, symbol: str) -> int:
        kind, to = state[symbol]
        return order.index(_next(states, state, symbol)) if kind is Shift else ~rules.index(to)

    return (
        tuple(_pattern(state, lexers) for state in order),
        tuple({str(name): action(state, name) for name in sorted(state)} for state in order),
        tuple(map(_rule, rules)),
    )


def _reached(states: States, start: object) -> list[State]:
    """Reachable states, in the order of a walk from `start`."""
    order = [states[start]]
    for state in order:
        for symbol in sorted(state):
            if state[symbol][0] is not Shift:
                continue
            if (successor := _next(states, state, symbol)) not in order:
                order.append(successor)
    return order


def _next(states: States, state: State, symbol: str) -> State:
    """The state after `symbol`. After a rule, the state's actions skip rules that only pass a value
    on (`?sum: product`), which would be most of a parser's steps."""
    successor = states[state[symbol][1]]
    if symbol.isupper():
        return successor
    return {name: _passed_on(states, state, name, action) for name, action in successor.items()}


def _passed_on(
    states: States, state: State, symbol: str, action: tuple[object, Any]
) -> tuple[object, Any]:
    kind, rule = action
    if kind is Shift or not _passes(rule):
        return action
    successor = states[state[rule.origin.name][1]]
    if symbol not in successor or not all(map(str.isupper, successor)):
        return action
    return _passed_on(states, state, symbol, successor[symbol])


def _passes(rule: LarkRule) -> bool:
    _, length, function, _, unwraps = _rule(rule)
    return length == 1 and unwraps and not function


def _pattern(state: State, lexers: Sequence[tuple[State, BasicLexer]]) -> str:
    """A regular expression of the terminals that Lark's lexer tries in a state, in Lark's order.

    Empty after a rule, where the next terminal is known. Raises `ValueError` for terminals that
    Lark would tell apart by a callback.
    """
    lexer = next((lexer for owner, lexer in lexers if owner == state), None)
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


def _rule(rule: LarkRule) -> GrammarRule:
    """A rule in the form of the tables. Its parts and its name are those of Lark's trees
    (lark.parse_tree_builder)."""
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
