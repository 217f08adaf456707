"""Values of symbolic expressions in assembly text, evaluated as LLVM's assembler does."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from kernelinfo.hardware.targets import Target
from kernelinfo.reading.assembly.arithmetic import Evaluated, Unresolved, apply, wrap
from kernelinfo.reading.assembly.scan import is_directive, unquoted
from kernelinfo.reading.budget import UNBOUNDED, KernelBudget
from kernelinfo.reading.grammar import MOST_TOKENS, Builders, NoMatch, TooLong, load_tables, parse
from kernelinfo.reading.text import Lines, Text, before, decode, line_at, lines_from


class SymbolSetting(NamedTuple):
    """One setting of a symbol: the line, and the expression as written."""

    line: int
    """1-based."""
    expression: str


class Call(NamedTuple):
    """A function or an operator, applied to the last `arguments` values before it."""

    function: str
    arguments: int


Term = Evaluated | str | Call
"""A constant, a symbol's name, or a call."""

# The assembler counts these as it meets registers (AMDGPUAsmParser, KernelScopeInfo). People only
# reset them to 0.
_COUNTED = {
    ".amdgcn.next_free_vgpr",
    ".amdgcn.next_free_sgpr",
    ".kernel.vgpr_count",
    ".kernel.sgpr_count",
}
_SHORT = 512
_DEEPEST = 100_000
"""Longest chain of symbols defined by symbols; LLVM's recursion ends sooner."""
_USUAL_TERMS = 64
_MOST_TERMS_BEYOND = 1 << 20
"""Most terms of a module beyond the first 64 of each expression; they take about a second."""
_SET = re.compile(
    rb"[ \t]*\.(?:set|equ)\b(?:[ \t]+(\"(?:\\.|[^\"\\])*\"|[^\s,\"]+)[ \t]*,)?(.*)", re.DOTALL
)
_EQUATED = rb"\s*([\w.$@]+)\s*"


class Definitions(dict[str, list[SymbolSetting]]):
    """Definitions by symbol, from `.set NAME, VALUE` and `NAME = VALUE`, in the text's order."""

    def add_sets(
        self, text: Text, offset: int, lines: Lines, budget: KernelBudget = UNBOUNDED
    ) -> int:
        """Add the consecutive `.set` directives at `offset`; return the byte offset of their end.

        Raises `TooManyKernelsError`.
        """
        first, end = lines.number(offset), offset
        for line, written in enumerate(lines_from(text, offset), first):
            if not (found := _SET.match(written)):
                break
            budget.spend_statements(line > first)
            end += len(written) + 1
            if found[1] and (line > first or is_directive(text, offset)):
                definition = SymbolSetting(line, decode(found[2]))
                self.setdefault(unquoted(found[1]), []).append(definition)
        return end

    def add_assignment(self, text: Text, offset: int, lines: Lines) -> None:
        """Add the assignment whose `=` stands at `offset`; nothing if it is no assignment."""
        prefix = before(text, offset)
        if prefix and (name := re.fullmatch(_EQUATED, prefix)):
            expression = decode(line_at(text, offset + 1))
            definition = SymbolSetting(lines.number(offset), expression)
            self.setdefault(decode(name[1]), []).append(definition)


class _Frame(NamedTuple):
    """One definition under evaluation."""

    symbol: tuple[str, int]
    line: int
    terms: Iterator[Term]
    values: list[Evaluated]
    """Stack of the values so far."""


class Evaluator:
    """Evaluator for the expressions of one module.

    Integers have 64 bits, are signed, and wrap around (LLVM MCExpr::evaluateAsRelocatableImpl). A
    function of the target (`extrasgprs`, `totalnumvgprs` with AGPRs) is unresolved without one.
    """

    def __init__(
        self, definitions: Mapping[str, Sequence[SymbolSetting]], target: Target | None
    ) -> None:
        self._definitions = definitions
        self._target = target
        self._known: dict[tuple[str, int], Evaluated] = {}
        self._terms_left = _MOST_TERMS_BEYOND

    def value(self, expression: str, line: int) -> int | Unresolved:
        """Value of `expression` as of a 1-based line of the text.

        A symbol has its last value set before that line, or else its first one set after it. Takes
        time linear in the text, and no recursion.
        """
        if (plain := number(expression)) is not None:
            return plain
        frames = [_Frame(("", 0), line, self._terms(expression), [])]
        while True:
            frame = frames[-1]
            for term in frame.terms:
                if isinstance(term, Call):
                    first = len(frame.values) - term.arguments
                    result = apply(term.function, frame.values[first:], self._target)
                    frame.values[first:] = [result]
                elif isinstance(term, str):
                    symbol = self._symbol(term, frame.line)
                    if len(frames) > _DEEPEST:
                        symbol = Unresolved(f"{term!r} is more than {_DEEPEST} definitions away")
                    if isinstance(symbol, _Frame):
                        frames.append(symbol)
                        break
                    frame.values.append(symbol)
                else:
                    frame.values.append(term)
            else:
                (result,) = frame.values
                self._known[frame.symbol] = result
                frames.pop()
                if not frames:
                    return result
                frames[-1].values.append(result)

    def _terms(self, expression: str) -> Iterator[Term]:
        if len(expression) > _USUAL_TERMS and self._terms_left < 0:
            return iter((Unresolved("the module's expressions are too long in total"),))
        terms = read_terms(expression)
        self._terms_left -= max(0, len(terms) - _USUAL_TERMS)
        return iter(terms)

    def _symbol(self, name: str, line: int) -> Evaluated | _Frame:
        """Value of a symbol as of a line, or the definition to evaluate first."""
        if name in _COUNTED:
            return Unresolved(f"{name} is counted from the instructions")
        definitions = self._definitions.get(name)
        if not definitions:
            return Unresolved(f"symbol {name!r} is not defined")
        index = max(bisect_left(definitions, line, key=attrgetter("line")) - 1, 0)
        symbol = (name, index)
        if symbol in self._known:
            return self._known[symbol]
        # Replaced when the value is found; reading it before means that the symbols form a circle.
        self._known[symbol] = Unresolved(f"symbol {name!r} is defined by itself")
        definition = definitions[index]
        return _Frame(symbol, definition.line, self._terms(definition.expression), [])


def leading_numbers(expression: str, function: str, count: int) -> tuple[int, ...] | None:
    """First `count` arguments of a call of `function`; None if not a call of it, or not numbers."""
    *terms, last = read_terms(expression)
    numbers = tuple(term for term in terms[:count] if isinstance(term, int))
    is_call = isinstance(last, Call) and last.function == function
    return numbers if is_call and len(numbers) == count else None


def number(expression: str) -> int | None:
    """Value of an expression that is a single number, as nearly all are; None for others."""
    if len(expression) >= _SHORT:
        return None
    term, *more = read_terms(expression)
    return term if isinstance(term, int) and not more else None


def read_terms(expression: str) -> tuple[Term, ...]:
    """Terms of an expression (mc_expression.lark) in postfix order; `Unresolved` if it is none."""
    # Only short ones are cached, so that a hostile text cannot fill the memory.
    read = _read_terms if len(expression) < _SHORT else _read_terms.__wrapped__
    return read(expression)


@lru_cache(maxsize=4096)
def _read_terms(expression: str) -> tuple[Term, ...]:
    terms: list[Term] = []
    try:
        parse(load_tables("mc_expression"), expression, build_into(terms))
    except TooLong:
        return (Unresolved(f"an expression of more than {MOST_TOKENS} tokens"),)
    except NoMatch:
        shown = expression.strip()[:60]
        return (Unresolved(f"{shown!r} is no expression" if shown else "the value is missing"),)
    return tuple(terms)


def build_into(terms: list[Term]) -> Builders:
    """Functions that append terms: rules of mc_expression.lark are complete in postfix order."""
    add = terms.append
    return {
        "integer": lambda digits: add(_integer(digits)),
        "symbol": add,
        "quoted": lambda name: add("".join(re.split(r"\\(.)", name[1:-1]))),
        "unary": lambda operator, operand: add(Call(operator, 1)),
        "binary": lambda left, operator, right: add(Call(operator, 2)),
        "call": lambda function, *arguments: add(Call(function, len(arguments))),
    }


def _integer(digits: str) -> Evaluated:
    base = {"0x": 16, "0b": 2}.get(digits[:2].lower(), 8 if digits[0] == "0" else 10)
    try:
        # The longest spelling of 64 bits is binary: 0b and 64 digits.
        value = int(digits, base) if len(digits) <= 66 else 1 << 64
    except ValueError:
        return Unresolved(f"{digits!r} is no octal number")
    return wrap(value) if value < 1 << 64 else Unresolved("a number of more than 64 bits")
