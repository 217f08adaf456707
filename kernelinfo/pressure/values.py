"""The values that are live at one step: where written, where read next, how long untouched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from kernelinfo.light_typing import Literal, NamedTuple
from kernelinfo.pressure.function import Function
from kernelinfo.pressure.liveness import Live
from kernelinfo.pressure.locations import Locations
from kernelinfo.pressure.loops import Loop
from kernelinfo.pressure.nouns import LiveValues
from kernelinfo.pressure.registers import (
    OF_CLASS,
    RegisterClass,
    count,
    each,
    ranges,
    whole,
)
from kernelinfo.pressure.touches import Search, Touches

_SIMILAR = 0.9
"""Of values in one group, the shortest time untouched as a part of the longest."""

_Lines = tuple[object, ...]
"""Where a value is written and read next: source lines, or their relation to the loop."""
_InLoop = Literal["through", "constant", "changed"] | None


class _Value(NamedTuple):
    """One register."""

    register: int
    touches: Touches
    variable: str | None
    in_loop: _InLoop

    @property
    def untouched(self) -> int:
        """Instructions from the last touch to the next read; 0 where there is no such read."""
        if self.touches.until_read is None:
            return 0
        return max(self.touches.until_read + (self.touches.since_touch or 0), 0)


def live_values(function: Function, locations: Locations, at: int) -> tuple[LiveValues, ...]:
    """The values live at one step, grouped by their history, the longest untouched first."""
    live = function.live[at]
    if live is None:
        return ()
    loop = locations.loop_around(at)
    registers = whole(_larger(live))
    search = Search(function, at, registers)
    variables = _variables(function, at)
    reads, writes = locations.touched_in(loop) if loop else (0, 0)
    values = [
        _Value(r, search.of(r), variables.get(r), _in_loop(r, loop, reads, writes))
        for r in each(registers)
    ]
    groups = _grouped(values, locations, loop)
    found = [_values(group, locations, loop) for group in groups]
    return tuple(sorted(found, key=_longest_first))


def _larger(live: Live) -> int:
    """The set of the two that has more vector registers."""
    before, after = count(live.before), count(live.after)
    more = before.vgprs + before.agprs >= after.vgprs + after.agprs
    return live.before if more else live.after


def _in_loop(register: int, loop: Loop | None, reads: int, writes: int) -> _InLoop:
    if loop is None:
        return None
    if register & writes:
        return "changed"
    return "constant" if register & reads else "through"


def _variables(function: Function, at: int) -> dict[int, str]:
    """The variable of the source in each register at a step, as far as comments name it.

    Copies of an inlined function have the same names, so a name may hold several registers, each
    until it is overwritten. The compiler repeats what holds at the begin of a block.
    """
    firsts = {block.first for block in function.blocks}
    stated: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for step, name, registers in function.listing.variables:
        stated[step].append((name, registers))
    found: dict[int, str] = {}
    for index in range(at + 1):
        if index in firsts:
            found.clear()
        for name, registers in stated.get(index, ()):
            found.update(dict.fromkeys(each(registers), name))
        if found and index < at:
            for register in each(function.steps[index].effect.writes):
                found.pop(register, None)
    return found


def _grouped(
    values: Iterable[_Value], locations: Locations, loop: Loop | None
) -> Iterator[list[_Value]]:
    """Values of one class and variable that are written and read next at the same lines.

    Where source lines are unknown, those in the same place relative to the loop that are untouched
    for about as long.
    """
    groups: dict[tuple[object, _Lines], list[_Value]] = defaultdict(list)
    for value in values:
        ways = (value.touches.written, value.touches.next_read)
        where = [None if step is None else locations.of(step, loop) for step in ways]
        lines: _Lines = tuple(at and (at.source or at.region) for at in where)
        kind = _class_of(value.register), value.variable, value.in_loop, value.touches.next_turn
        groups[kind, lines].append(value)
    for (_, lines), group in groups.items():
        by_region = any(isinstance(line, str) for line in lines)
        yield from _of_similar_length(group) if by_region else [group]


def _of_similar_length(group: list[_Value]) -> Iterator[list[_Value]]:
    group.sort(key=lambda value: -value.untouched)
    start = 0
    for position, value in enumerate(group):
        if value.untouched < _SIMILAR * group[start].untouched:
            yield group[start:position]
            start = position
    yield group[start:]


def _values(group: Sequence[_Value], locations: Locations, loop: Loop | None) -> LiveValues:
    registers = 0
    for value in group:
        registers |= value.register
    least = min(group, key=lambda value: value.untouched)
    spans = [v.untouched for v in group if v.touches.until_read is not None]
    written, read = least.touches.written, least.touches.next_read
    return LiveValues(
        register_class=_class_of(registers),
        registers=ranges(registers),
        total=sum(count(registers)),
        variable=least.variable,
        written=None if written is None else locations.of(written, loop),
        next_read=None if read is None else locations.of(read, loop),
        next_turn=least.touches.next_turn,
        untouched=min(spans, default=None),
        untouched_most=max(spans, default=None),
        in_loop=least.in_loop,
    )


def _class_of(registers: int) -> RegisterClass:
    return next(name for name, every in OF_CLASS.items() if registers & every)


def _longest_first(value: LiveValues) -> tuple[int, int, str]:
    return -(value.untouched or 0), -value.total, value.registers[0]
