"""Lark's own parse of a text by the project's grammars, the reference for `grammar.parse`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from lark import Lark, Tree, UnexpectedInput

from kernelinfo.errors import Message

from ..messages import says
from .inside import MOST_TOKENS, Builders, NoMatch, StatedValue, blocks, expressions

GRAMMARS = Path(__file__).parents[2] / "grammars"


def value_by_lark(lark: Lark, text: str, build: Builders) -> Any:
    """The value of the text by Lark's parse tree. Raises NoMatch."""
    try:
        tree: Any = lark.parse(text)
    except UnexpectedInput:
        raise NoMatch from None
    done: list[Any] = []
    pending: list[tuple[Any, bool]] = [(tree, False)]
    while pending:
        node, is_complete = pending.pop()
        if not isinstance(node, Tree):
            done.append(str(node))
        elif is_complete:
            first = len(done) - len(node.children)
            done[first:] = [build[node.data](*done[first:])]
        else:
            pending.append((node, True))
            pending += [(child, False) for child in reversed(node.children)]
    return done[0]


@cache
def load_lark(name: str) -> Lark:
    """Lark's own parser of `grammars/NAME.lark`."""
    return make_lark((GRAMMARS / f"{name}.lark").read_text("utf-8"))


def make_lark(text: str) -> Lark:
    """Lark's own parser, which leaves absent options out as the tables do."""
    return Lark(text, parser="lalr", maybe_placeholders=False)


def line_by_lark(line: bytes) -> str | StatedValue | None:
    """The same as `blocks.read_line`."""
    comment = line[line.find(b";") :].decode("utf-8", "backslashreplace")
    try:
        read: str | StatedValue = value_by_lark(load_lark("kernel_info"), comment, blocks.BUILD)
    except NoMatch:
        return None
    return read


def assert_read_as_by_lark(expression: str) -> None:
    """Its terms, or the reason why there are none; Lark has no bound for what is too long."""
    read, terms = expressions.read_terms(expression), _terms_by_lark(expression)
    reason = read[0] if isinstance(read[0], Message) else ""
    if says(reason, f"expression-too-long {MOST_TOKENS}"):
        return
    if terms is None:
        shown = expression.strip()[:60]
        assert says(reason, f"expression-malformed {shown!r}" if shown else "expression-missing")
    else:
        assert read == terms


def _terms_by_lark(expression: str) -> tuple[expressions.Term, ...] | None:
    terms: list[expressions.Term] = []
    try:
        value_by_lark(load_lark("mc_expression"), expression, expressions.build_into(terms))
    except NoMatch:
        return None
    return tuple(terms)
