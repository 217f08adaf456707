"""What called functions need on top of the registers that are live across their calls."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.pressure.calls import CalledFunctions, Callee, FunctionBody, body
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.nouns import CallNeed
from kernelinfo.pressure.registers import EVERY, count

_CALLS = "calls"
"""The reason for inexact results that following calls settles."""
_DEEPEST = 64  # calls inside calls


def call_needs(
    function: LiveFunction, callees: CalledFunctions, files: str
) -> tuple[CallNeed, ...]:
    """The calls of a function to others of its file, those that need most first. `files` is the
    target's `agprs.file`.

    Arguments count as the callee's.
    """
    needs = _Needs(callees, files)
    code = body(function.listing, function.flow, function.flow_reasons, callees.is_linked)
    found = [
        CallNeed(callee.symbol, function.location(index), live, *needs.of(callee, 1))
        for index, callee, live in needs.calls(function, code)
    ]
    return tuple(sorted(found, key=lambda call: (-call.together, call.at.number)))


class _Needs:
    """The needs of functions, each computed once."""

    def __init__(self, callees: CalledFunctions, files: str) -> None:
        self._callees = callees
        self._files = files
        self._known: dict[str, tuple[int, bool]] = {}

    def of(self, callee: Callee, depth: int) -> tuple[int, bool]:
        """Most vector registers live in a function and in what it calls; false for a lower bound,
        as with recursion."""
        if callee.symbol not in self._known:
            self._known[callee.symbol] = 0, False  # while it is computed: a circle of calls
            self._known[callee.symbol] = self._computed(callee, depth)
        return self._known[callee.symbol]

    def _computed(self, callee: Callee, depth: int) -> tuple[int, bool]:
        function = LiveFunction(callee.listing, EVERY)
        most = max((counts.vector(self._files) for counts in function.counts), default=0)
        is_exact = callee.body is not None and not {*function.reasons} - {_CALLS}
        if depth == _DEEPEST:
            return most, is_exact and not (callee.body and callee.body.calls)
        for _, inner, live in self.calls(function, callee.body):
            needed, is_exact_inside = self.of(inner, depth + 1)
            most = max(most, live + needed)
            is_exact = is_exact and is_exact_inside
        return most, is_exact

    def calls(
        self, function: LiveFunction, code: FunctionBody | None
    ) -> Iterator[tuple[int, Callee, int]]:
        """Index, function, and vector registers live across it of each call to another function."""
        for index, place in code.calls if code else ():
            if callee := self._callees.at(place):
                before, after = function.live_at(index)
                written = function.instructions[index].effect.writes
                yield index, callee, count(before & after & ~written).vector(self._files)
