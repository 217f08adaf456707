"""One kernel as an assembly text states it, and the facts that its statements come to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from kernelinfo.occupancy.targets import Target
from kernelinfo.reading.assembly import directives, info_block
from kernelinfo.reading.assembly.directives import Block, Stated, Statement
from kernelinfo.reading.assembly.expressions import Definitions, Evaluator, Unresolved, number
from kernelinfo.reading.assembly.scan import Lines, Text, labels
from kernelinfo.reading.budget import KernelBudget
from kernelinfo.reading.facts import Code, Fact, Facts, KernelFacts, ReadWarnings, SourceLine
from kernelinfo.reading.metadata import UINT32
from kernelinfo.reading.resource_symbols import SYMBOLS, symbol_facts
from kernelinfo.reading.stamps import is_of_clang

_NOTHING = Facts()
_Reading = Callable[..., Iterable[Fact]]
_Begun = tuple[Facts, int]
"""Facts whose lines count from one of the text, and that line."""


class WholeText(NamedTuple):
    """An assembly text, and what its modules share."""

    text: Text
    lines: Lines
    warnings: ReadWarnings
    budget: KernelBudget


class KernelText:
    """What was found of one kernel, not yet evaluated."""

    def __init__(self, symbol: str) -> None:
        self.symbol = symbol
        self.label: int | None = None
        """Byte offset of the kernel's label."""
        self.end = 0
        """Byte offset up to which its instructions can reach."""
        self.line: int | None = None
        """Its 1-based number."""
        self.info: Stated | None = None
        self.code_size: Fact | None = None
        self.directives: Stated | None = None
        self.code_t: Stated | None = None
        self.config: Stated | None = None
        self.metadata: _Begun = _NOTHING, 0
        self.read_code: Callable[[], Code | None] | None = None
        self.source: SourceLine | None = None


class KernelTexts(dict[str, KernelText]):
    """The kernels of a module by symbol; one that is asked for and not there begins."""

    def __init__(self, budget: KernelBudget) -> None:
        self._budget = budget

    def __missing__(self, symbol: str) -> KernelText:
        """Raises `TooManyKernelsError`."""
        self._budget.spend()
        kernel = self[symbol] = KernelText(symbol)
        return kernel

    def far_labels(self, text: Text, start: int, end: int) -> Iterator[tuple[KernelText, int]]:
        """The kernels whose label is not known, as it stands far from their descriptor, each with
        the offset of its label in that part of the text."""
        lost = {kernel.symbol for kernel in self.values() if kernel.directives and not kernel.line}
        for name, offset in labels(text, start, end) if lost else ():
            if name in lost:
                lost.remove(name)
                yield self[name], offset


def check_metadata(
    kernels: Iterable[KernelText], is_there: bool, last_line: int, warnings: ReadWarnings
) -> None:
    """Note a module for HSA that breaks off, which the compiler ends with metadata, or has kernels
    that these do not list."""
    described = [kernel for kernel in kernels if kernel.directives]
    if described and not is_there:
        warnings.add("no metadata ends the module: it is cut off; build it again", last_line)
        return
    for kernel in described:
        if kernel.directives and not kernel.metadata[1]:
            message = f"kernel {kernel.symbol!r}: not in the module's metadata; build it again"
            warnings.add(message, kernel.directives.line)


def doubt(stamps: Iterable[str], lacks_metadata: bool) -> tuple[str, ...]:
    """Why a module that lacks metadata may not be whole: clang, by its stamp, writes it last."""
    cut = "no metadata ends the module, as clang writes it: it may be cut off; build it again"
    return (cut,) if lacks_metadata and any(map(is_of_clang, stamps)) else ()


def without_shaders(
    functions: Collection[KernelText], warnings: ReadWarnings
) -> Collection[KernelText]:
    """The kernels among functions with kernel info; the others are added to `warnings`.

    Graphics shaders print kernel info as well. Where kernels have an .amd_kernel_code_t (mesa3d),
    that tells them apart; amdpal has nothing that does.
    """
    kernels = [function for function in functions if function.code_t]
    for function in functions if kernels else ():
        if function.info and not function.code_t:
            message = f"{function.symbol!r} has no descriptor: passed over as a shader"
            warnings.add(message, function.info.line)
    return kernels or functions


class Evaluation:
    """Evaluates the kernels of one module, once all its symbols and its target are known."""

    def __init__(
        self,
        definitions: Definitions,
        target: Target | None,
        warnings: ReadWarnings,
        *,
        xnack: bool,
    ) -> None:
        self._warnings = warnings
        """What could not be evaluated is added there."""
        self._definitions = definitions
        self._values = Evaluator(definitions, target)
        self._target = target
        self._xnack = xnack
        """Code for the module's target id may run with XNACK on."""

    def kernel(self, kernel: KernelText) -> KernelFacts:
        """All facts of one kernel, from every source, none of them preferred."""
        symbol, target = kernel.symbol, self._target
        for stated in (kernel.info, kernel.directives, kernel.code_t, kernel.config):
            if stated and not stated.block.is_plain:
                self._remark_repeated(symbol, stated)
        described = (
            self._facts(symbol, kernel.directives, directives.kernel_facts, target, self._xnack),
            self._facts(symbol, kernel.code_t, directives.code_t_facts, target),
            self._facts(symbol, kernel.config, _config_facts, target),
        )
        known = [fact for facts, _ in (*described, kernel.metadata) for fact in facts]
        wave_size = next((fact for fact in known if fact.name == "wave_size"), None)
        info = self._facts(symbol, kernel.info, info_block.facts, target, wave_size)
        symbols = self._symbols(symbol)
        # One source, which begins once.
        begin = next((begin for _, begin in described if begin), 0)
        parts = [_counted_from(begin, *part) for part in described]
        facts, size = _together(info[0], *parts, kernel.metadata[0], symbols[0])
        return KernelFacts(
            symbol,
            facts,
            size or kernel.code_size,
            {
                "kernel-info": info[1],
                "directive": begin,
                "metadata": kernel.metadata[1],
                "symbol": symbols[1],
            },
            line=kernel.line,
            read_code=kernel.read_code,
            source=kernel.source,
        )

    def _facts(
        self,
        symbol: str,
        stated: Stated | None,
        reading: _Reading,
        *circumstances: object,
    ) -> _Begun:
        """What `reading` finds in a block, which it is given with all else that counts."""
        if stated is None:
            return _NOTHING, 0
        block, line = stated
        if block.is_plain:
            return _of_plain(block, reading, *circumstances), line

        def value(statement: Statement) -> int | None:
            at = line + statement.line
            return self._value(symbol, statement.field, statement.value, line, at)

        return Facts(reading(block.by_field, value, *circumstances)), line

    def _symbols(self, symbol: str) -> _Begun:
        found = []
        for suffix in SYMBOLS:
            # Local functions have the prefix of local symbols; LLVM 24 gives it to all.
            global_name, local_name = f"{symbol}.{suffix}", f".L{symbol}.{suffix}"
            stated = self._definitions.get(global_name) or self._definitions.get(local_name)
            if stated:
                line, expression = stated[-1]
                if (count := self._value(symbol, suffix, expression, line, line)) is not None:
                    found.append((suffix, count, line))
        begin = found[0][2] if found else 0
        return symbol_facts(
            tuple((name, count, line - begin) for name, count, line in found)
        ), begin

    def _value(self, symbol: str, field: str, written: str, line: int, at: int) -> int | None:
        """What is stated at one line of a block that begins on `line`, or earlier in it."""
        value = self._values.value(written, line)
        if isinstance(value, Unresolved):
            wrong = f"is unresolved: {value.reason}"
        elif not 0 <= value <= UINT32:
            wrong = f"is {value}, which no kernel can have"
        else:
            return value
        self._remark(symbol, f"{field} {wrong}", at)
        return None

    def _remark_repeated(self, symbol: str, stated: Stated) -> None:
        seen: set[str] = set()
        for statement in stated.block.statements:
            if statement.field in seen:
                again = f"{statement.field} is stated again; the last one counts"
                self._remark(symbol, again, stated.line + statement.line)
            seen.add(statement.field)

    def _remark(self, symbol: str, message: str, line: int) -> None:
        self._warnings.add(f"kernel {symbol!r}: {message}", line)


@lru_cache(maxsize=1 << 12)
def _of_plain(block: Block, reading: _Reading, *circumstances: Any) -> Facts:
    """What a block says that needs no symbols, under the same circumstances the same object."""

    def value(statement: Statement) -> int | None:
        return number(statement.value)

    return Facts(reading(block.by_field, value, *circumstances))


def _config_facts(*arguments: Any) -> list[Fact]:
    from kernelinfo.reading.assembly.shader_registers import config_facts  # of drivers of graphics

    return config_facts(*arguments)


def _counted_from(line: int, facts: Facts, begin: int) -> Facts:
    """The facts whose lines count from `begin`, with lines that count from `line`."""
    if not facts or begin == line:
        return facts
    return Facts(fact._replace(line=(fact.line or 0) + begin - line) for fact in facts)


@lru_cache(maxsize=1 << 12)
def _together(*parts: Facts) -> tuple[Facts, Fact | None]:
    """All but the size of the code, and that."""
    facts = [fact for part in parts for fact in part]
    size = next((fact for fact in facts if fact.name == "code_bytes"), None)
    return Facts(fact for fact in facts if fact is not size), size
