"""One kernel as an assembly text states it, and the facts that its statements come to."""

from __future__ import annotations

from collections.abc import Mapping

from kernelinfo.facts import directives, info_block
from kernelinfo.facts.arithmetic import Unresolved
from kernelinfo.facts.assembly_text import Statement
from kernelinfo.facts.expressions import Definitions, Evaluator
from kernelinfo.model import Code, Fact, FactName, Facts, KernelFacts, Remark, SourceLine
from kernelinfo.targets import Target

SYMBOLS: Mapping[str, FactName] = {
    "has_indirect_call": "indirect_call",
    "has_recursion": "recursion",
    "has_dyn_sized_stack": "dynamic_stack",
    "num_named_barrier": "named_barriers",
}
"""NAME.has_recursion and so on, set after each function (LLVM AMDGPUMCResourceInfo)."""

_UINT32 = 0xFFFFFFFF


class KernelText:
    """What was found of one kernel, not yet evaluated."""

    def __init__(self, symbol: str) -> None:
        self.symbol = symbol
        self.label: int | None = None
        """Byte offset of the kernel's label."""
        self.line: int | None = None
        """Its 1-based number."""
        self.info: list[Statement] = []
        self.directives: list[Statement] = []
        self.code_t: list[Statement] = []
        self.metadata: list[Fact] = []
        self.code: Code | None = None
        self.source: SourceLine | None = None


class Evaluation:
    """Evaluates the kernels of one module, once all its symbols and its target are known."""

    def __init__(self, definitions: Definitions, target: Target | None, *, xnack: bool) -> None:
        self.remarks: list[Remark] = []
        """What could not be evaluated, and why."""
        self._definitions = definitions
        self._values = Evaluator(definitions, target)
        self._target = target
        self._xnack = xnack
        """Code for the module's target id may run with XNACK on."""

    def kernel(self, kernel: KernelText) -> KernelFacts:
        """All facts of one kernel, from every source, none of them preferred."""

        def value(statement: Statement) -> int | None:
            return self._value(kernel.symbol, statement)

        self._remark_repeated(kernel)
        described = directives.kernel_facts(
            kernel.directives, value, self._target, xnack=self._xnack
        ) + directives.code_t_facts(kernel.code_t, value, self._target)
        wave_size = next(
            (f.value for f in (*described, *kernel.metadata) if f.name == "wave_size"), None
        )
        vgpr_file = directives.vgpr_file(self._target, wave_size)
        facts = [
            *info_block.facts(kernel.info, value, self._target, vgpr_file),
            *described,
            *kernel.metadata,
            *self._symbols(kernel.symbol),
        ]
        return KernelFacts(
            kernel.symbol,
            Facts(fact for fact in facts if fact.name != "code_bytes"),
            next((fact for fact in facts if fact.name == "code_bytes"), None),
            line=kernel.line,
            code=kernel.code,
            source=kernel.source,
        )

    def _symbols(self, symbol: str) -> list[Fact]:
        facts: dict[FactName, Fact] = {}
        for suffix, name in SYMBOLS.items():
            # Local functions have the prefix of local symbols; LLVM 24 gives it to all.
            for written in (f"{symbol}.{suffix}", f".L{symbol}.{suffix}"):
                if written not in self._definitions:
                    continue
                place, expression, line = self._definitions[written][-1]
                count = self._value(symbol, Statement(suffix, expression, line, place))
                if count is not None:
                    barriers = -(-count // directives.NAMED_BARRIERS) * directives.NAMED_BARRIERS
                    known = barriers if name == "named_barriers" else bool(count)
                    facts[name] = Fact(name, known, "symbol", line)
                break
        if (recursion := facts.get("recursion")) and recursion.value:
            # LLVM puts recursion down as a dynamic stack (SIProgramInfo::DynamicCallStack).
            facts["dynamic_stack"] = recursion._replace(name="dynamic_stack")
        return list(facts.values())

    def _value(self, symbol: str, statement: Statement) -> int | None:
        value = self._values.value(statement.value, statement.place)
        if isinstance(value, Unresolved):
            wrong = f"is unresolved: {value.reason}"
        elif not 0 <= value <= _UINT32:
            wrong = f"is {value}, which no kernel can have"
        else:
            return value
        self._remark(symbol, f"{statement.field} {wrong}", statement.line)
        return None

    def _remark_repeated(self, kernel: KernelText) -> None:
        for statements in (kernel.info, kernel.directives, kernel.code_t):
            seen: set[str] = set()
            if len({statement.field for statement in statements}) == len(statements):
                continue
            for statement in statements:
                if statement.field in seen:
                    again = f"{statement.field} is stated again; the last one counts"
                    self._remark(kernel.symbol, again, statement.line)
                seen.add(statement.field)

    def _remark(self, symbol: str, message: str, line: int) -> None:
        self.remarks.append(Remark(f"kernel {symbol!r}: {message}", line))
