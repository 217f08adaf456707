"""Symbols that LLVM 20 and later define for each function: NAME.has_recursion and so on.

LLVM AMDGPUMCResourceInfo::getSymbol. In assembly `.set` defines them, and they stay in the symbol
table of an object until it is stripped.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from kernelinfo.reading.facts import Fact, FactName, Facts

SYMBOLS: Mapping[str, FactName] = {
    "has_indirect_call": "indirect_call",
    "has_recursion": "recursion",
    "has_dyn_sized_stack": "dynamic_stack",
    "num_named_barrier": "named_barriers",
}
"""What a symbol's name ends with, after a dot."""

NAMED_BARRIERS = 4
"""What the descriptor counts named barriers in (AMDHSAKernelDescriptor.h, NAMED_BAR_CNT)."""


@lru_cache(maxsize=1 << 12)
def symbol_facts(values: tuple[tuple[str, int, int | None], ...]) -> Facts:
    """The facts of one function: the ends of its symbols' names, their values, and in assembly the
    lines of their definitions."""
    facts: dict[FactName, Fact] = {}
    for suffix, count, line in values:
        name = SYMBOLS[suffix]
        barriers = -(-count // NAMED_BARRIERS) * NAMED_BARRIERS
        known = barriers if name == "named_barriers" else bool(count)
        facts[name] = Fact(name, known, "symbol", line)
    if (recursion := facts.get("recursion")) and recursion.value:
        # LLVM puts recursion down as a dynamic stack (SIProgramInfo::DynamicCallStack).
        facts["dynamic_stack"] = recursion._replace(name="dynamic_stack")
    return Facts(facts.values())
