"""Evaluate the symbolic values of assembly text, as LLVM's assembler does."""

from __future__ import annotations

import operator
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, NamedTuple

from kernelinfo._grammars import load_parser
from kernelinfo.targets import Target

if TYPE_CHECKING:
    from lark import Token, Tree


class Definition(NamedTuple):
    """Where a symbol is set, and to what."""

    place: int
    """Byte offset in the text."""
    expression: str
    line: int
    """1-based."""


Definitions = Mapping[str, Sequence[Definition]]
"""By symbol, those of one symbol in the order of the text."""

MOST_NESTING = 1000
"""Compilers nest a few dozen deep; deeper text is made to exhaust its readers."""
MOST_CHARACTERS = 1 << 20
"""Enough for a call graph of thousands of functions with long names."""

# Plain numbers are nearly all there is, and need no parser; 18 digits always fit 64 bits.
_PLAIN = re.compile(r"\s*(0|[1-9][0-9]{0,17})\s*(?:;|//|/\*|$)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A value that the text does not give."""

    reason: str


class _Call(NamedTuple):
    function: str
    arguments: int


_Value = int | Unresolved
_Step = _Value | str | _Call  # a constant, a symbol's name, or a call on the values before it


@dataclass(slots=True)
class _Frame:
    """One definition half evaluated."""

    symbol: tuple[str, int]
    place: int
    steps: Iterator[_Step]
    values: list[_Value] = field(default_factory=list)


class Evaluator:
    """Values of expressions in one module, where symbols and target are known.

    Arithmetic is that of 64-bit signed integers that wrap (LLVM MCExpr::evaluateAsRelocatableImpl).
    Functions of the target (`extrasgprs`, `totalnumvgprs` with AGPRs) need `target`.
    """

    def __init__(self, definitions: Definitions, target: Target | None) -> None:
        self._definitions = definitions
        self._target = target
        self._known: dict[tuple[str, int], _Value] = {}

    def value(self, expression: str, place: int) -> int | Unresolved:
        """What `expression` is worth at `place`, a byte offset in the module's text.

        A symbol has the value last given to it before `place`, or else the first one given after
        it. Takes time linear in the text and no recursion, whatever the nesting.
        """
        if plain := _PLAIN.match(expression):
            return int(plain[1])
        frames = [_Frame(("", 0), place, iter(_steps(expression)))]
        while True:
            frame = frames[-1]
            for step in frame.steps:
                if isinstance(step, _Call):
                    first = len(frame.values) - step.arguments
                    frame.values[first:] = [_apply(step, frame.values[first:], self._target)]
                elif not isinstance(step, str):
                    frame.values.append(step)
                elif opened := self._definition(step, frame):
                    frames.append(opened)
                    break
            else:
                (result,) = frame.values
                self._known[frame.symbol] = result
                frames.pop()
                if not frames:
                    return result
                frames[-1].values.append(result)

    def _definition(self, name: str, user: _Frame) -> _Frame | None:
        """The definition to evaluate first, unless the symbol's value is known already."""
        definitions = self._definitions.get(name)
        if not definitions:
            user.values.append(Unresolved(f"symbol {name!r} is not defined"))
            return None
        index = max(bisect_left(definitions, user.place, key=_place) - 1, 0)
        symbol = (name, index)
        if symbol in self._known:
            user.values.append(self._known[symbol])
            return None
        # Stands until the value is found; who meets it before has come round in a circle.
        self._known[symbol] = Unresolved(f"symbol {name!r} is defined by itself")
        definition = definitions[index]
        return _Frame(symbol, definition.place, iter(_steps(definition.expression)))


def _place(definition: Definition) -> int:
    return definition.place


def _steps(expression: str) -> tuple[_Step, ...]:
    # Only short ones are remembered, so that a hostile text cannot fill the memory.
    return _parse(expression) if len(expression) < 4096 else _parse.__wrapped__(expression)


@lru_cache(maxsize=4096)
def _parse(expression: str) -> tuple[_Step, ...]:
    """The expression in postfix order, or the reason why there is none."""
    if len(expression) > MOST_CHARACTERS:
        return (Unresolved(f"an expression of {len(expression)} characters"),)
    if _nesting(expression) > MOST_NESTING:
        return (Unresolved(f"an expression nested more than {MOST_NESTING} deep"),)
    from lark import UnexpectedInput

    try:
        tree = load_parser("mc_expression").parse(expression)
    except UnexpectedInput:
        shown = expression.strip()[:60]
        return (Unresolved(f"{shown!r} is no expression" if shown else "the value is missing"),)
    return _postfix(tree)


def _nesting(expression: str) -> int:
    if expression.count("(") <= MOST_NESTING:
        return 0
    depth = deepest = 0
    for parenthesis in re.findall(r"[()]", expression):
        depth += 1 if parenthesis == "(" else -1
        deepest = max(deepest, depth)
    return deepest


def _postfix(tree: Tree[Token] | Token) -> tuple[_Step, ...]:
    # Walking down with the last child first meets everything in the reverse of postfix order.
    # The parser nests left-associative chains as deep as they are long: hence no recursion.
    reverse: list[_Step] = []
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
        reverse.append(_Call(str(function), len(operands)))
        pending += operands
    return tuple(reversed(reverse))


def _leaf(token: Token) -> _Step:
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
    return _wrap(value) if value < 1 << 64 else Unresolved("a number of more than 64 bits")


def _wrap(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _apply(call: _Call, values: list[_Value], target: Target | None) -> _Value:
    numbers: list[int] = []
    for value in values:
        if isinstance(value, Unresolved):
            return value
        numbers.append(value)
    try:
        if call.function in _BINARY and len(numbers) == 2:
            result: _Value = _BINARY[call.function](*numbers)
        elif call.function in _UNARY and len(numbers) == 1:
            result = _UNARY[call.function](*numbers)
        else:
            result = _function(call.function, numbers, target)
    except ZeroDivisionError:
        return Unresolved("a division by zero")
    except _ShiftError as error:
        return Unresolved(str(error))
    return _wrap(result) if isinstance(result, int) else result


class _ShiftError(ValueError):
    pass


def _shift_amount(amount: int) -> int:
    # What the assembler gives beyond is what its host's processor happens to do.
    if not 0 <= amount < 64:
        raise _ShiftError(f"a shift by {amount} of 64 bits")
    return amount


def _truncated(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_BINARY: dict[str, Callable[[int, int], int]] = {
    "||": lambda left, right: int(bool(left or right)),
    "&&": lambda left, right: int(bool(left and right)),
    "==": lambda left, right: -(left == right),
    "!=": lambda left, right: -(left != right),
    "<>": lambda left, right: -(left != right),
    "<": lambda left, right: -(left < right),
    "<=": lambda left, right: -(left <= right),
    ">": lambda left, right: -(left > right),
    ">=": lambda left, right: -(left >= right),
    "+": operator.add,
    "-": operator.sub,
    "|": operator.or_,
    "!": lambda left, right: left | ~right,
    "^": operator.xor,
    "&": operator.and_,
    "*": operator.mul,
    "/": _truncated,
    "%": lambda left, right: left - right * _truncated(left, right),
    "<<": lambda left, right: left << _shift_amount(right),
    ">>": lambda left, right: left % (1 << 64) >> _shift_amount(right),
}
_UNARY: dict[str, Callable[[int], int]] = {
    "-": operator.neg,
    "~": operator.invert,
    "!": lambda value: int(not value),
    "+": operator.pos,
}


def _function(name: str, values: list[int], target: Target | None) -> _Value:
    """LLVM AMDGPUMCExpr::evaluateAsRelocatableImpl and the functions it calls."""
    match name, values:
        case "max", [_, *_]:
            return max(values)
        case "min", [_, *_]:
            return min(values)
        case "or", [_, *_]:
            return reduce(operator.or_, values)
        case "alignto", [value, granule]:
            return _align(value, granule)
        case "totalnumvgprs", [agprs, vgprs]:
            if agprs == 0 or (target and target.agprs.file != "unified"):
                return max(agprs, vgprs)
            if target is None:
                return Unresolved("totalnumvgprs of an unknown target")
            return _align(vgprs, target.agprs.offset_granule) + agprs
        case "extrasgprs", [vcc, flat_scratch, xnack]:
            if target is None:
                return Unresolved("extrasgprs of an unknown target")
            flat = bool(flat_scratch) or target.sgprs.architected_flat_scratch
            return extra_sgprs(target, vcc=bool(vcc), flat_scratch=flat, xnack=bool(xnack))
        case "occupancy", [waves, granule, total, generation, initial, sgprs, vgprs]:
            by_sgprs = _waves_of_generation(generation, sgprs, waves)
            by_vgprs = _waves(total, vgprs, granule, waves)
            return _least(initial, (sgprs, by_sgprs), (vgprs, by_vgprs))
        case "occupancy", [waves, granule, total, initial, file, step, trap, sgprs, vgprs]:
            by_sgprs = min(max(file // (_align(sgprs, step) + trap), 1), waves)
            by_vgprs = _waves(total, vgprs, granule, waves)
            return _least(initial, (sgprs, by_sgprs), (vgprs, by_vgprs))
        case "instprefsize", _:
            return Unresolved("the size of the code is not in the text")
        case (("max" | "min" | "or" | "alignto" | "totalnumvgprs" | "extrasgprs" | "occupancy"), _):
            return Unresolved(f"{name} does not take {len(values)} arguments")
    return Unresolved(f"{name!r} is no function of the assembler")


def extra_sgprs(target: Target, *, vcc: bool, flat_scratch: bool, xnack: bool) -> int:
    """SGPRs that a wave has beyond the numbered ones (LLVM IsaInfo::getNumExtraSGPRs)."""
    sgprs = target.sgprs
    extra = sgprs.with_vcc if vcc else 0
    for used, count in ((xnack, sgprs.with_xnack), (flat_scratch, sgprs.with_flat_scratch)):
        # Targets that spend nothing on it state the same count as with VCC alone.
        if used and count > sgprs.with_vcc:
            extra = max(extra, count)
    return extra


def _align(value: int, granule: int) -> int:
    return -(-value // granule) * granule


def _waves(total: int, registers: int, granule: int, most: int) -> int:
    """Waves per SIMD that VGPRs allow (LLVM IsaInfo::getNumWavesPerEUWithNumVGPRs)."""
    return most if registers < granule else min(max(total // _align(registers, granule), 1), most)


def _waves_of_generation(generation: int, sgprs: int, most: int) -> int:
    """Waves per SIMD that SGPRs allow (LLVM 20 to 23, IsaInfo::getOccupancyWithNumSGPRs)."""
    if generation >= 9:  # AMDGPUSubtarget::GFX10: SGPRs are not shared
        return most
    volcanic_islands = ((80, 10), (88, 9), (100, 8), (None, 7))
    before = ((48, 10), (56, 9), (64, 8), (72, 7), (80, 6), (None, 5))
    steps = volcanic_islands if generation >= 7 else before
    return min(next(waves for upto, waves in steps if upto is None or sgprs <= upto), most)


def _least(initial: int, *limits: tuple[int, int]) -> int:
    # A count of zero is unknown and does not limit.
    return min([initial, *(waves for used, waves in limits if used)])
