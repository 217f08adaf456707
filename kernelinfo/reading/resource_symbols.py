"""Numbers in the resource symbols that LLVM 20 and later define: NAME.has_recursion and others.

In assembly `.set` defines them. An object keeps them in its symbol table until it is stripped.
Source: LLVM AMDGPUMCResourceInfo::getSymbol.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernelinfo.hardware.targets import align
from kernelinfo.reading.facts import Numbers

SYMBOLS: Mapping[str, str] = {
    "has_indirect_call": "indirect_call",
    "has_recursion": "recursion",
    "has_dyn_sized_stack": "dynamic_stack",
    "num_named_barrier": "named_barriers",
}
"""Field of `Numbers` by the end of a symbol's name, behind the last dot."""

NAMED_BARRIERS = 4
"""Granule of named barriers in the descriptor (AMDHSAKernelDescriptor.h, NAMED_BAR_CNT)."""


def symbol_numbers(values: Mapping[str, int]) -> Numbers:
    """Numbers of one function; `values` maps the ends of its symbols' names to their values."""
    found = {SYMBOLS[suffix]: bool(count) for suffix, count in values.items()}
    barriers = values.get("num_named_barrier")
    # LLVM reports recursion as a dynamic stack (SIProgramInfo::DynamicCallStack).
    return Numbers(
        dynamic_stack=found.get("recursion") or found.get("dynamic_stack"),
        recursion=found.get("recursion"),
        indirect_call=found.get("indirect_call"),
        named_barriers=None if barriers is None else align(barriers, NAMED_BARRIERS),
    )
