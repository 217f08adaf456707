"""Evaluate the symbolic values of assembly text, as LLVM's assembler does."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from kernelinfo.light_typing import TYPE_CHECKING, NamedTuple
from kernelinfo.occupancy.targets import Target
from kernelinfo.reading.assembly.arithmetic import Unresolved, Value, apply, wrap
from kernelinfo.reading.assembly.postfix import Call, Step, postfix
from kernelinfo.reading.grammar import load_parser

if TYPE_CHECKING:
    from lark import Token, Tree


class Definition(NamedTuple):
    """Where a symbol is set, and to what."""

    line: int
    """1-based."""
    expression: str


Definitions = Mapping[str, Sequence[Definition]]
"""By symbol, those of one symbol in the order of the text."""

MOST_NESTING = 1000
"""Compilers nest a few dozen deep; deeper text is made to exhaust its readers."""
MOST_CHARACTERS = 1 << 20
"""Enough for a call graph of thousands of functions with long names."""
MOST_OPERATORS = 1 << 14
"""Commas and parentheses among them; a fifth of a second's work."""

# Set by the assembler itself as it meets registers (AMDGPUAsmParser, KernelScopeInfo); people only
# set them back to 0.
_COUNTED = {
    ".amdgcn.next_free_vgpr",
    ".amdgcn.next_free_sgpr",
    ".kernel.vgpr_count",
    ".kernel.sgpr_count",
}
# 18 digits always fit 64 bits.
_PLAIN = re.compile(r"\s*(0|[1-9][0-9]{0,17})\s*(?:;|//|/\*|$)", re.ASCII)
_SHORT = 4096
_OPERATOR = r"(?a)[^\w\s.$@]"


class _Frame(NamedTuple):
    """One definition half evaluated."""

    symbol: tuple[str, int]
    line: int
    steps: Iterator[Step]
    values: list[Value]
    """Of the steps done."""


class Evaluator:
    """Values of expressions in one module, where symbols and target are known.

    Arithmetic is that of 64-bit signed integers that wrap (LLVM MCExpr::evaluateAsRelocatableImpl).
    Functions of the target (`extrasgprs`, `totalnumvgprs` with AGPRs) need `target`.
    """

    def __init__(self, definitions: Definitions, target: Target | None) -> None:
        self._definitions = definitions
        self._target = target
        self._known: dict[tuple[str, int], Value] = {}

    def value(self, expression: str, line: int) -> int | Unresolved:
        """What `expression` is worth on a line of the module's text.

        A symbol has the value last given to it before that line, or else the first one given after
        it. Takes time linear in the text and no recursion, whatever the nesting.
        """
        plain = number(expression)
        if plain is not None:
            return plain
        frames = [_Frame(("", 0), line, iter(_steps(expression)), [])]
        while True:
            frame = frames[-1]
            for step in frame.steps:
                if isinstance(step, Call):
                    first = len(frame.values) - step.arguments
                    result = apply(step.function, frame.values[first:], self._target)
                    frame.values[first:] = [result]
                elif isinstance(step, str):
                    symbol = self._symbol(step, frame.line)
                    if isinstance(symbol, _Frame):
                        frames.append(symbol)
                        break
                    frame.values.append(symbol)
                else:
                    frame.values.append(step)
            else:
                (result,) = frame.values
                self._known[frame.symbol] = result
                frames.pop()
                if not frames:
                    return result
                frames[-1].values.append(result)

    def _symbol(self, name: str, line: int) -> Value | _Frame:
        """What the symbol is worth on that line, or the definition to evaluate for it first."""
        if name in _COUNTED:
            return Unresolved(f"{name} is counted from the instructions")
        definitions = self._definitions.get(name)
        if not definitions:
            return Unresolved(f"symbol {name!r} is not defined")
        index = max(bisect_left(definitions, line, key=_line) - 1, 0)
        symbol = (name, index)
        if symbol in self._known:
            return self._known[symbol]
        # Stands until the value is found; who meets it before has come round in a circle.
        self._known[symbol] = Unresolved(f"symbol {name!r} is defined by itself")
        definition = definitions[index]
        return _Frame(symbol, definition.line, iter(_steps(definition.expression)), [])


def leading_numbers(expression: str, function: str, count: int) -> tuple[int, ...] | None:
    """The first arguments of a call of `function` where they are plain numbers; None otherwise."""
    *steps, last = _steps(expression)
    numbers = tuple(step for step in steps[:count] if isinstance(step, int))
    is_call = isinstance(last, Call) and last.function == function
    return numbers if is_call and len(numbers) == count else None


def number(expression: str) -> int | None:
    """The number that nearly all expressions are, which needs no parser; None for all others."""
    return _plain(expression) if len(expression) < _SHORT else _plain.__wrapped__(expression)


@lru_cache(maxsize=4096)
def _plain(expression: str) -> int | None:
    plain = _PLAIN.match(expression)
    return int(plain[1]) if plain else None


def _line(definition: Definition) -> int:
    return definition.line


def _steps(expression: str) -> tuple[Step, ...]:
    # Only short ones are remembered, so that a hostile text cannot fill the memory.
    return _parse(expression) if len(expression) < _SHORT else _parse.__wrapped__(expression)


@lru_cache(maxsize=4096)
def _parse(expression: str) -> tuple[Step, ...]:
    """The expression in postfix order, or the reason why there is none."""
    if len(expression) > MOST_CHARACTERS:
        return (Unresolved(f"an expression of {len(expression)} characters"),)
    if _nesting(expression) > MOST_NESTING:
        return (Unresolved(f"an expression nested more than {MOST_NESTING} deep"),)
    if len(expression) > MOST_OPERATORS and len(re.findall(_OPERATOR, expression)) > MOST_OPERATORS:
        return (Unresolved(f"an expression of more than {MOST_OPERATORS} operators"),)
    return postfix(expression) or by_grammar(expression)


def by_grammar(expression: str) -> tuple[Step, ...]:
    """What mc_expression.lark makes of it, or the reason why it is none."""
    from lark import UnexpectedInput

    try:
        tree = load_parser("mc_expression").parse(expression)
    except UnexpectedInput:
        shown = expression.strip()[:60]
        return (Unresolved(f"{shown!r} is no expression" if shown else "the value is missing"),)
    return _of_tree(tree)


def _nesting(expression: str) -> int:
    if expression.count("(") <= MOST_NESTING:
        return 0
    depth = deepest = 0
    for parenthesis in re.findall(r"[()]", expression):
        depth += 1 if parenthesis == "(" else -1
        deepest = max(deepest, depth)
    return deepest


def _of_tree(tree: Tree[Token] | Token) -> tuple[Step, ...]:
    # Walking down with the last child first meets everything in the reverse of postfix order.
    # The parser nests left-associative chains as deep as they are long: hence no recursion.
    reverse: list[Step] = []
    pending: list[Tree[Token] | Token | None] = [tree]
    while pending:
        node = pending.pop()
        if node is None:
            continue
        if isinstance(node, str):
            reverse.append(_leaf(node))
            continue
        operands = [child for child in node.children if child is not None]
        function = operands.pop(1 if node.data == "binary" else 0)
        reverse.append(Call(str(function), len(operands)))
        pending += operands
    return tuple(reversed(reverse))


def _leaf(token: Token) -> Step:
    if token.type == "QUOTED":
        return re.sub(r"\\(.)", r"\1", token[1:-1])
    if token.type == "SYMBOL":
        return str(token)
    digits = token.lower()
    base = {"0x": 16, "0b": 2}.get(digits[:2], 8 if digits[0] == "0" else 10)
    try:
        # 64 binary digits are the longest way to write 64 bits.
        value = int(digits, base) if len(digits) <= 66 else 1 << 64
    except ValueError:
        return Unresolved(f"{digits!r} is no octal number")
    return wrap(value) if value < 1 << 64 else Unresolved("a number of more than 64 bits")
