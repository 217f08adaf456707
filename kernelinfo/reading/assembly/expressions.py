"""Values of symbolic expressions in assembly text, evaluated as LLVM's assembler does."""

from __future__ import annotations

import operator
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Generator, Sequence
from functools import cached_property, lru_cache, reduce
from operator import attrgetter
from typing import NamedTuple

from kernelinfo.errors import Message
from kernelinfo.hardware.llvm_registers import SGPR_STEPS
from kernelinfo.hardware.targets import Target, align, extra_sgprs, total_vgprs
from kernelinfo.reading.assembly.scan import is_directive, unquoted
from kernelinfo.reading.blob import UNBOUNDED, FileBudget
from kernelinfo.reading.data import Lines, Text, before, decode, integer, line_at, lines_from
from kernelinfo.reading.facts import Callees, StatedValue
from kernelinfo.reading.grammar import MOST_TOKENS, Builders, NoMatch, load_tables, parse
from kernelinfo.reading.messages import say

Evaluated = int | Message
"""The value of an expression, or the reason why it has none."""


def wrap(value: int) -> int:
    """`value` wrapped around to a signed 64-bit integer."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def apply(name: str, values: Sequence[Evaluated], target: Target | None) -> Evaluated:
    """The result of an operator or function, or the reason why it has none: the first reason among
    `values`, else the call's own."""
    numbers: list[int] = []
    for value in values:
        if isinstance(value, Message):
            return value
        numbers.append(value)
    try:
        if name in _BINARY and len(numbers) == 2:
            result: Evaluated = _BINARY[name](*numbers)
        elif name in _UNARY and len(numbers) == 1:
            result = _UNARY[name](*numbers)
        else:
            result = _function(name, numbers, target)
    except ZeroDivisionError:
        return say("expression-division-by-zero")
    except OverflowError:
        return say("expression-shift", amount=numbers[1])
    return wrap(result) if isinstance(result, int) else result


def _shift_amount(amount: int) -> int:
    # Beyond 63 bits the assembler's result depends on its host processor.
    if not 0 <= amount < 64:
        raise OverflowError
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


def _function(name: str, values: list[int], target: Target | None) -> Evaluated:
    """Result of a target's function (LLVM AMDGPUMCExpr::evaluateAsRelocatableImpl and callees)."""
    match name, values:
        case "max", [_, *_]:
            return max(values)
        case "min", [_, *_]:
            return min(values)
        case "or", [_, *_]:
            return reduce(operator.or_, values)
        case "alignto", [value, granule]:
            return align(value, granule)
        case "totalnumvgprs", [agprs, vgprs]:
            if target is not None:
                return total_vgprs(target, vgprs, agprs)
            return say("expression-totalnumvgprs") if agprs else max(agprs, vgprs)
        case "extrasgprs", [vcc, flat_scratch, xnack]:
            if target is None:
                return say("expression-extrasgprs")
            flat = bool(flat_scratch) or target.sgprs.architected_flat_scratch
            return extra_sgprs(target, vcc=bool(vcc), flat_scratch=flat, xnack=bool(xnack))
        case "occupancy", [waves, granule, total, generation, initial, sgprs, vgprs]:
            by_sgprs = _waves_of_generation(generation, sgprs, waves)
            by_vgprs = _waves(total, vgprs, granule, waves)
            return _least(initial, (sgprs, by_sgprs), (vgprs, by_vgprs))
        case "occupancy", [waves, granule, total, initial, file, step, trap, sgprs, vgprs]:
            by_sgprs = min(max(file // (align(sgprs, step) + trap), 1), waves)
            by_vgprs = _waves(total, vgprs, granule, waves)
            return _least(initial, (sgprs, by_sgprs), (vgprs, by_vgprs))
        case "instprefsize", _:
            return say("expression-code-size")
        case (("max" | "min" | "or" | "alignto" | "totalnumvgprs" | "extrasgprs" | "occupancy"), _):
            return say("expression-arguments", function=name, count=len(values))
    return say("expression-function", function=name)


def _waves(total: int, registers: int, granule: int, limit: int) -> int:
    """Waves per SIMD that VGPRs allow (LLVM IsaInfo::getNumWavesPerEUWithNumVGPRs)."""
    return limit if registers < granule else min(max(total // align(registers, granule), 1), limit)


def _waves_of_generation(generation: int, sgprs: int, limit: int) -> int:
    """Waves per SIMD that SGPRs allow (LLVM 20 to 23, IsaInfo::getOccupancyWithNumSGPRs)."""
    if generation >= 9:  # AMDGPUSubtarget::GFX10: SGPRs are not shared
        return limit
    steps = SGPR_STEPS[800 if generation >= 7 else 512]
    return min(next((waves for upto, waves in steps if sgprs <= upto), steps[-1][1]), limit)


def _least(initial: int, *limits: tuple[int, int]) -> int:
    # A register count of zero is unknown and limits nothing.
    return min([initial, *(waves for used, waves in limits if used)])


class Call(NamedTuple):
    """A function or an operator, applied to the last `arguments` values before it."""

    function: str
    arguments: int


Term = Evaluated | str | Call
"""A constant, a symbol's name, or a call; or the reason why the expression has no terms."""

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


MOST_VGPRS = "amdgpu.max_num_vgpr"
"""Symbol for the most VGPRs per lane of any function of the module that is not a kernel."""

_Definition = tuple[str, int]
"""A symbol, and the index of one of its definitions."""
_Steps = Generator[_Definition, Evaluated, Evaluated]
"""Asks for the value of each definition in an expression, and returns the expression's value."""


class Definitions(dict[str, list[StatedValue]]):
    """Definitions by symbol, from `.set NAME, VALUE` and `NAME = VALUE`, in the text's order; and
    the values of a module's expressions, once it has been read.

    Integers have 64 bits, are signed, and wrap around (LLVM MCExpr::evaluateAsRelocatableImpl). A
    target-dependent function (`extrasgprs`, `totalnumvgprs` with AGPRs) has no value without a
    target.
    """

    def __init__(self) -> None:
        super().__init__()
        self.target: Target | None = None
        """The module's, to be set before the first value is sought."""
        self.kernels: Collection[str] = ()
        """Symbols of all kernels of the module, to be set likewise."""
        self._values: dict[tuple[str, int], Evaluated | None] = {}
        """None while the value is sought: reading it then means that the symbols form a circle."""
        self._terms_left = _MOST_TERMS_BEYOND

    def add_sets(
        self, text: Text, offset: int, lines: Lines, budget: FileBudget = UNBOUNDED
    ) -> int:
        """Add the consecutive `.set` directives at `offset`; return the byte offset of their end.

        Raises `BoundError`.
        """
        first, end = lines.number(offset), offset
        for line, written in enumerate(lines_from(text, offset), first):
            if not (statement := _SET.match(written)):
                break
            budget.spend_statements(line > first)
            end += len(written) + 1
            if statement[1] and (line > first or is_directive(text, offset)):
                self._add(unquoted(statement[1]), decode(statement[2]), line)
        return end

    def of_function(self, symbol: str, suffix: str) -> StatedValue | None:
        """The last definition of the symbol `SYMBOL.SUFFIX`, which LLVM sets for a function; None
        without one."""
        # A local function has the prefix of local symbols; LLVM 24 gives it to every function.
        stated = self.get(f"{symbol}.{suffix}") or self.get(f".L{symbol}.{suffix}")
        return stated[-1] if stated else None

    def callees(self, symbol: str) -> Callees | None:
        """The registers that the compiler counts for the kernel's indirect call; None if the text
        does not state them.

        .set kernel.num_vgpr, max(41, amdgpu.max_num_vgpr)
        """
        stated = self.of_function(symbol, "num_vgpr")
        alone = leading_numbers(stated.value, "max", 1) if stated else None
        return Callees(alone[0], *self._largest) if alone and self._largest else None

    @cached_property
    def _largest(self) -> tuple[int, str] | None:
        """The most VGPRs of any function that is not a kernel, and its symbol; None if unknown.

        Source: LLVM AMDGPUMCResourceInfo, `amdgpu.max_num_vgpr`.
        """
        stated = self.get(MOST_VGPRS)
        vgprs = number(stated[-1].value) if stated else None
        for name, settings in self.items():
            function = name.removesuffix(".num_vgpr")
            if function == name or function.removeprefix(".L") in self.kernels:
                continue
            _, expression, line = settings[-1]
            if self.value(expression, line) == vgprs is not None:
                return vgprs, function.removeprefix(".L")
        return None

    def add_assignment(self, text: Text, offset: int, lines: Lines) -> None:
        """Add the assignment whose `=` is at `offset`; nothing if it is not an assignment."""
        prefix = before(text, offset)
        if prefix and (name := re.fullmatch(_EQUATED, prefix)):
            self._add(decode(name[1]), decode(line_at(text, offset + 1)), lines.number(offset))

    def _add(self, name: str, value: str, line: int) -> None:
        self.setdefault(name, []).append(StatedValue(name, value, line))

    def value(self, expression: str, line: int) -> Evaluated:
        """Value of `expression` at a 1-based line of the text.

        A symbol has the last value set before that line, or else the first one set after it. Takes
        time linear in the text, and no recursion.
        """
        if (plain := number(expression)) is not None:
            return plain
        stack: list[tuple[_Definition, _Steps]] = [(("", 0), self._evaluate(expression, line))]
        value: Evaluated | None = None
        while True:
            definition, evaluation = stack[-1]
            try:
                name, index = next(evaluation) if value is None else evaluation.send(value)
            except StopIteration as result:
                value = self._values[definition] = result.value
                stack.pop()
                if not stack:
                    return value
            else:
                if len(stack) > _DEEPEST:
                    value = say("expression-depth", term=name, deepest=_DEEPEST)
                else:
                    value = self._values[name, index] = None
                    _, expression, line = self[name][index]
                    evaluation = self._evaluate(expression, line)
                    stack.append(((name, index), evaluation))

    def _evaluate(self, expression: str, line: int) -> _Steps:
        """A generator that returns the value of an expression at a line. It yields each definition
        whose value is still unknown, and expects to be sent that value."""
        values: list[Evaluated] = []
        for term in self._terms(expression):
            if isinstance(term, Call):
                first = len(values) - term.arguments
                values[first:] = [apply(term.function, values[first:], self.target)]
            elif isinstance(term, str) and not isinstance(term, Message):
                value = self._symbol(term, line)
                values.append((yield value) if isinstance(value, tuple) else value)
            else:
                values.append(term)
        (result,) = values
        return result

    def _terms(self, expression: str) -> tuple[Term, ...]:
        if len(expression) > _USUAL_TERMS and self._terms_left < 0:
            return (say("expressions-too-long"),)
        terms = read_terms(expression)
        self._terms_left -= max(0, len(terms) - _USUAL_TERMS)
        return terms

    def _symbol(self, name: str, line: int) -> Evaluated | _Definition:
        """Value of a symbol at a line, or the definition to evaluate first."""
        if name in _COUNTED:
            return say("symbol-of-assembler", name=name)
        definitions = self.get(name)
        if not definitions:
            return say("symbol-undefined", name=name)
        definition = name, max(bisect_left(definitions, line, key=attrgetter("line")) - 1, 0)
        if definition not in self._values:
            return definition
        value = self._values[definition]
        return say("symbol-circular", name=name) if value is None else value


def leading_numbers(expression: str, function: str, count: int) -> tuple[int, ...] | None:
    """The first `count` arguments of an expression that calls `function`; None for any other
    expression, or if one of these arguments is not a plain number."""
    *terms, last = read_terms(expression)
    numbers = tuple(term for term in terms[:count] if isinstance(term, int))
    is_call = isinstance(last, Call) and last.function == function
    return numbers if is_call and len(numbers) == count else None


def number(expression: str) -> int | None:
    """Value of an expression that is a single number, as nearly all are; None for others."""
    if len(expression) >= _SHORT:
        return None
    term, *rest = read_terms(expression)
    return term if isinstance(term, int) and not rest else None


def read_terms(expression: str) -> tuple[Term, ...]:
    """Terms of an expression (mc_expression.lark) in postfix order. An expression that cannot be
    read gives one term: the reason."""
    # Only short ones are cached, so that a hostile text cannot fill the memory.
    read = _read_terms if len(expression) < _SHORT else _read_terms.__wrapped__
    return read(expression)


@lru_cache(maxsize=4096)
def _read_terms(expression: str) -> tuple[Term, ...]:
    terms: list[Term] = []
    try:
        parse(load_tables("mc_expression"), expression, build_into(terms))
    except NoMatch as error:
        if error.is_too_long:
            return (say("expression-too-long", most=MOST_TOKENS),)
        shown = expression.strip()[:60]
        malformed = say("expression-malformed", written=shown)
        return (malformed if shown else say("expression-missing"),)
    return tuple(terms)


def build_into(terms: list[Term]) -> Builders:
    """Functions, by the rules of mc_expression.lark, that append to `terms`. The parser completes
    the rules in postfix order."""
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
    try:
        value = integer(digits, 0)
    except ValueError:
        return say("expression-octal", digits=digits)
    return wrap(value) if value < 1 << 64 else say("expression-number")
