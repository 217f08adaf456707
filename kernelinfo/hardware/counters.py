"""Counters of operations in flight."""

from __future__ import annotations

from typing import Literal, NamedTuple

OperationKind = Literal[
    "load",
    "store",
    "flat load",
    "flat store",
    "sample",
    "bvh",
    "lds",
    "lds direct",
    "gds",
    "scalar",
    "message",
    "export",
    "async",
    "tensor",
    "cache invalidate",
    "cache writeback",
]
"""What a wait counter counts. load, store: vector memory without FLAT addresses. flat load, flat
store: with FLAT addresses. sample: images. bvh: ray tracing. lds direct: reads of LDS by vector
instructions. scalar: scalar memory. async, tensor: copies to and from LDS. An atomic that returns
no value is a store."""


class WaitCounter(NamedTuple):
    """A counter of operations that a wave has issued and that are not complete."""

    name: str  # in waits
    most: int  # its largest value; the issue of one operation more stalls
    source: str  # document and line that state these numbers
    bits: tuple[int, ...] = ()
    """Bits of s_waitcnt's immediate that hold the counter, lowest first; empty if the counter has a
    wait instruction of its own, or no wait at all."""
    in_order: tuple[tuple[OperationKind, ...], ...] = ()
    """Groups of operations. The operations of one group complete in the order of their issue."""
    any_order: tuple[OperationKind, ...] = ()
    """Operations that complete in any order: only a wait for all of them shows that one is done."""

    @property
    def of_llvm(self) -> WaitCounter:
        """The counter as LLVM-compiled code uses it, with FLAT accesses in order with loads.

        LLVM waits for all operations if a FLAT address may be in LDS, and counts the access as
        global if it knows that the address is not (SIInsertWaitcnts.cpp `determineWait`,
        `getEventsFor`).
        """
        flat = tuple(kind for kind in self.any_order if kind in ("flat load", "flat store"))
        if not flat or not self.in_order or "load" not in self.in_order[0]:
            return self
        first, *others = self.in_order
        rest = tuple(kind for kind in self.any_order if kind not in flat)
        return self._replace(in_order=((*first, *flat), *others), any_order=rest)
