"""Symbols that LLVM 20 and later define for each function: NAME.has_recursion and so on.

LLVM AMDGPUMCResourceInfo::getSymbol. In assembly `.set` defines them, and they stay in the symbol
table of an object until it is stripped.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernelinfo.occupancy.placement import align
from kernelinfo.reading.facts import Numbers

SYMBOLS: Mapping[str, str] = {
    "has_indirect_call": "indirect_call",
    "has_recursion": "recursion",
    "has_dyn_sized_stack": "dynamic_stack",
    "num_named_barrier": "named_barriers",
}
"""What a symbol's name ends with, after a dot."""

NAMED_BARRIERS = 4
"""What the descriptor counts named barriers in (AMDHSAKernelDescriptor.h, NAMED_BAR_CNT)."""


def symbol_numbers(values: Mapping[str, int]) -> Numbers:
    """The numbers of one function, by the ends of its symbols' names and their values."""
    found = {SYMBOLS[suffix]: bool(count) for suffix, count in values.items()}
    barriers = values.get("num_named_barrier")
    # LLVM puts recursion down as a dynamic stack (SIProgramInfo::DynamicCallStack).
    return Numbers(
        dynamic_stack=found.get("recursion") or found.get("dynamic_stack"),
        recursion=found.get("recursion"),
        indirect_call=found.get("indirect_call"),
        named_barriers=None if barriers is None else align(barriers, NAMED_BARRIERS),
    )
