"""Values live at one instruction: last write, next read, time untouched in between."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from typing import Literal, NamedTuple

from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.loops import Loop
from kernelinfo.pressure.nouns import CodeLocation, LiveValues
from kernelinfo.pressure.registers import OF_CLASS, RegisterClass, count, each, ranges, union, whole

FAR = "far values"
"""Reason for inexact results: a value is written or used too far from the instruction."""
_MOST_STEPS = 200_000
"""For one instruction's values. Compiled code needs 2 an instruction; kernels have up to 30,000."""
_BLOCK_STEPS = 4
_SIMILAR = 0.9  # within a group, shortest time untouched / longest

_InLoop = Literal["through", "constant", "changed"] | None


class _LiveRegister(NamedTuple):
    """One live register and its nearest accesses.

    Distances count instructions along the shortest path.
    """

    register: int
    next_read: CodeLocation | None  # None if no path leads to a read
    next_turn: bool  # the way to the read leads through the head of a loop around the instruction
    untouched: int  # instructions from the last access to the next read; 0 without a read
    written: CodeLocation | None  # None if it is live since function entry
    variable: str | None
    in_loop: _InLoop


def live_values(function: LiveFunction, at: int) -> tuple[tuple[LiveValues, ...], bool]:
    """Values live at an instruction, longest untouched first; False if the search was cut short.

    Registers with the same history are one group.
    """
    loop = function.loop_around(at)
    registers = whole(max(*function.live_at(at), key=lambda live: sum(count(live)[:2])))
    search = _Search(function, at, registers, loop)
    variables = _variables(function, at)
    inside = [n for n in function.graph.order if loop and function.loops.holds(loop, n)]
    reads, writes = function.touched_in(inside)
    values = [
        _LiveRegister(r, *search.of(r), variables.get(r), _in_loop(r, loop, reads, writes))
        for r in each(registers)
    ]
    found = map(_values, _grouped(values))
    groups = sorted(found, key=lambda v: (-(v.untouched or 0), -v.total, v.registers[0]))
    return tuple(groups), search.left > 0


class _Search:
    """The nearest accesses of some registers before and after one instruction."""

    def __init__(
        self, function: LiveFunction, start: int, registers: int, loop: Loop | None
    ) -> None:
        self._function = function
        self._loop = loop
        self._start = start
        self._block = function.block_of(start)
        self.left = _MOST_STEPS
        """Steps that may still be taken: one for an instruction, `_BLOCK_STEPS` for a block. 0 if
        the search was cut short."""
        self._heads = {one.header for one in function.loops_around(loop)}
        self._reads: dict[int, tuple[int, int, bool]] = {}
        """Register → distance of its next read, index, and True if it is in a later iteration."""
        self._touches: dict[int, int] = {}
        """Register → instructions since its last access; −1 if the instruction itself writes it."""
        self._writes: dict[int, tuple[int, int]] = {}
        indices = function.flow.instructions(self._block)
        self._follow(registers, indices[start - indices.start :], self._read_in, 1)
        own = whole(function.instructions[start].effect.writes) & registers
        for register in each(own):
            self._touches[register], self._writes[register] = -1, (-1, start)
        indices = indices[: start - indices.start][::-1]
        self._follow(registers & ~own, indices, self._written_in, -1)

    def of(self, register: int) -> tuple[CodeLocation | None, bool, int, CodeLocation | None]:
        """Next read, True if it is in the next iteration, time untouched, last write of a
        register."""
        until, read, is_next_turn = self._reads.get(register, (0, None, False))
        _, written = self._writes.get(register, (0, None))
        if not self.left and None in (read, written):
            return None, False, 0, None
        untouched = 0 if read is None else max(until + self._touches.get(register, 0), 0)
        return self._location(read), is_next_turn, untouched, self._location(written)

    def _location(self, index: int | None) -> CodeLocation | None:
        return None if index is None else self._function.location(index, self._loop)

    def _follow(
        self,
        sought: int,
        indices: range,
        look: Callable[[range, int, int, bool], tuple[int, int]],
        direction: Literal[1, -1],
    ) -> None:
        """Visit `indices`, then the blocks in which the registers are live, nearest first.

        `look(indices, distance, sought, is_later)` notes accesses; `is_later` is True in a later
        iteration of a loop around the start. It returns the registers that are still sought and the
        distance at the end of the indices.
        """
        function = self._function
        starts, ways = function.graph.after if direction == 1 else function.graph.before
        number, is_later, (sought, distance) = self._block, False, look(indices, 0, sought, False)
        seen: dict[int, int] = {}
        pending: list[tuple[int, bool, int]] = []
        coming: dict[tuple[int, bool, int], int] = {}
        """Distance, `is_later` and block that are pending → registers sought there."""
        while self.left:
            if direction == -1:
                sought = self._live(sought, number)
            for way in ways[starts[number] : starts[number + 1]] if sought else ():
                known = seen.get(way, 0)
                new = sought & ~known
                if new and direction == 1:
                    new = self._live(new, way)
                if new and function.graph.is_reached(way):
                    seen[way] = known | new
                    visit = distance, is_later or way in self._heads, way
                    if visit not in coming:
                        heappush(pending, visit)
                    coming[visit] = coming.get(visit, 0) | new
            if not pending:
                return
            visit = distance, is_later, number = heappop(pending)
            sought = coming.pop(visit)
            indices = function.flow.instructions(number)
            self.left = max(self.left - _BLOCK_STEPS, 0)
            reads, writes = function.touched_in((number,))
            if sought & (reads | writes):
                self.left = max(self.left - len(indices), 0)
                sought, distance = look(indices[::direction], distance, sought, is_later)
            else:
                distance += len(indices)

    def _live(self, sought: int, block: int) -> int:
        """The sought registers that are live at the begin of a block; usually all of them."""
        live = self._function.live_in(block)
        return sought & whole(live) if sought & ~live else sought

    def _read_in(
        self, indices: range, distance: int, sought: int, is_later: bool
    ) -> tuple[int, int]:
        """Note first reads. Returns the registers still sought, and the distance at the end."""
        for index in indices:
            if not sought:
                break
            instruction = self._function.instructions[index]
            if sought & instruction.effect.reads:
                found = whole(instruction.effect.reads) & sought
                for register in each(found):
                    known = self._reads.get(register)
                    if known is None or distance < known[0]:
                        self._reads[register] = distance, index, is_later
                sought &= ~found
            if index != self._start or distance:
                sought &= ~instruction.effect.writes
            distance += instruction.is_code
        return sought, distance

    def _written_in(self, indices: range, distance: int, sought: int, _: bool) -> tuple[int, int]:
        """Note last accesses and writes. Returns the registers still sought, and the distance."""
        untouched = sought
        for index in indices:
            if not sought:
                break
            instruction = self._function.instructions[index]
            if touched := untouched & (instruction.effect.reads | instruction.effect.writes):
                for register in each(touched):
                    self._touches[register] = min(self._touches.get(register, distance), distance)
                untouched &= ~whole(touched)
            if written := sought & instruction.effect.writes:
                for register in each(written):
                    if distance < self._writes.get(register, (distance + 1, 0))[0]:
                        self._writes[register] = distance, index
                sought &= ~whole(written)
            distance += instruction.is_code
        return sought, distance


def _in_loop(register: int, loop: Loop | None, reads: int, writes: int) -> _InLoop:
    if loop is None:
        return None
    if register & writes:
        return "changed"
    return "constant" if register & reads else "through"


def _variables(function: LiveFunction, at: int) -> dict[int, str]:
    """Register → source variable at an instruction, by the compiler's comments.

    Copies of an inlined function share their names, so one name may hold several registers. A name
    lasts until its register is overwritten. The compiler repeats the names at the begin of a block.
    """
    first = function.flow.firsts[function.block_of(at)]
    stated: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for index, name, registers in function.listing.variables:
        if first <= index <= at:
            stated[index].append((name, registers))
    found: dict[int, str] = {}
    for index in range(first, at + 1):
        for name, registers in stated.get(index, ()):
            found.update(dict.fromkeys(each(registers), name))
        if found and index < at:
            for register in each(function.instructions[index].effect.writes):
                found.pop(register, None)
    return found


def _grouped(values: Iterable[_LiveRegister]) -> Iterator[list[_LiveRegister]]:
    """Groups of values with equal class, variable, and source lines of last write and next read.

    Without source lines, values of one group have the same region relative to the loop and a
    similar time untouched.
    """
    groups: dict[tuple[object, tuple[object, ...]], list[_LiveRegister]] = defaultdict(list)
    for value in values:
        ways = (value.written, value.next_read)
        lines = tuple(at and (at.source or at.region) for at in ways)
        kind = _class_of(value.register), value.variable, value.in_loop, value.next_turn
        groups[kind, lines].append(value)
    for (_, where), group in groups.items():
        by_region = any(isinstance(one, str) for one in where)
        yield from _of_similar_length(group) if by_region else [group]


def _of_similar_length(group: list[_LiveRegister]) -> Iterator[list[_LiveRegister]]:
    group.sort(key=lambda value: -value.untouched)
    start = 0
    for position, value in enumerate(group):
        if value.untouched < _SIMILAR * group[start].untouched:
            yield group[start:position]
            start = position
    yield group[start:]


def _values(group: Sequence[_LiveRegister]) -> LiveValues:
    registers = union(value.register for value in group)
    least = min(group, key=lambda value: value.untouched)
    spans = [value.untouched for value in group if value.next_read]
    written, written_last = _ends(value.written for value in group)
    next_read, next_read_last = _ends(value.next_read for value in group)
    return LiveValues(
        register_class=_class_of(registers),
        registers=ranges(registers),
        total=sum(count(registers)),
        variable=least.variable,
        written=written,
        written_last=written_last,
        next_read=next_read,
        next_read_last=next_read_last,
        next_turn=least.next_turn,
        untouched=min(spans, default=None),
        untouched_most=max(spans, default=None),
        in_loop=least.in_loop,
    )


def _ends(places: Iterable[CodeLocation | None]) -> tuple[CodeLocation | None, CodeLocation | None]:
    """The first and last location in the text; None for both if no location is known."""
    known = sorted((at for at in places if at), key=lambda at: at.number)
    return (known[0], known[-1]) if known else (None, None)


def _class_of(registers: int) -> RegisterClass:
    return next(name for name, every in OF_CLASS.items() if registers & every)
