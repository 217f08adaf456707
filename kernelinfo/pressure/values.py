"""Values live at one instruction: last write, next read, time untouched in between, and role.

What the code needs: the registers and spill slots that are alive at once, each value once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from kernelinfo.kernel.needs import NeedsShare, RegisterNeeds
from kernelinfo.pressure.function import CodeLocation, LiveFunction
from kernelinfo.pressure.loops import Loop
from kernelinfo.pressure.nouns import BillLine, LiveValues, Role
from kernelinfo.pressure.places import Places, Point
from kernelinfo.pressure.registers import (
    AGPRS,
    OF_CLASS,
    VGPRS,
    Counts,
    RegisterClass,
    count,
    each,
    named,
    ranges,
    union,
    whole,
)
from kernelinfo.pressure.roles import Roles, ValueTrace, is_load

FAR = "far values"
"""Reason for inexact results: a value is written or used too far from the instruction."""
_MOST_STEPS = 200_000
"""For one instruction's values. Compiled code needs 2 an instruction; kernels have up to 30,000."""
_SIMILAR = 0.9  # within a group, shortest time untouched / longest

_InLoop = Literal["through", "constant", "changed"] | None


def live_values(function: LiveFunction, index: int) -> tuple[tuple[LiveValues, ...], bool]:
    """Values live at an instruction, longest untouched first; False if the search was cut short.

    Registers with the same history are one group.
    """
    loop = function.loop_around(index)
    registers = _live_at(function, index)
    search = _Search(function, index, registers, loop)
    search.follow_reads()
    variables = _variables(function, index)
    values = [
        search.values(register, variables.get(register), in_loop, role)
        for register, in_loop, role in _roles(function, index, registers, loop, search)
    ]
    groups = map(_together, _grouped(values))
    longest_first = sorted(groups, key=lambda v: (-(v.untouched or 0), -v.total, v.registers[0]))
    return tuple(longest_first), search.left > 0


def _roles(
    function: LiveFunction, index: int, registers: int, loop: Loop | None, search: _Search
) -> Iterator[tuple[int, _InLoop, Role | None]]:
    """Each register, what the loop around an instruction does with it, and the role of its value.
    This does not require following next reads."""
    inside = [n for n in function.flow.order if loop and function.loops.holds(loop, n)]
    reads, writes = function.touched_in(inside)
    roles = Roles(function, index, registers, loop, search.writers, search.loaded)
    for register in each(registers):
        in_loop = _in_loop(register, loop, reads, writes)
        yield register, in_loop, roles.of(register, in_loop == "constant")


def _live_at(function: LiveFunction, index: int) -> int:
    """Registers live before or after an instruction: for each class, whichever are more."""
    around = [*map(whole, function.live_at(index))]
    return union(
        max((live & every for live in around), key=int.bit_count) for every in OF_CLASS.values()
    )


def bill(values: Sequence[LiveValues]) -> tuple[BillLine, ...]:
    """The values by role; the role with the most registers first."""
    by_role: dict[Role | None, list[LiveValues]] = defaultdict(list)
    for value in values:
        by_role[value.role].append(value)
    lines = [
        BillLine(
            role,
            sum(value.total for value in group),
            _registers(group),
            tuple(group),
        )
        for role, group in by_role.items()
    ]
    return tuple(sorted(lines, key=lambda line: -line.total))


class _Search:
    """The nearest accesses of some registers before and after one instruction."""

    def __init__(
        self, function: LiveFunction, start: int, registers: int, loop: Loop | None
    ) -> None:
        self._function = function
        self._loop = loop
        self._start = start
        self._registers = registers
        self._trace = ValueTrace(function, loop, _MOST_STEPS)
        self._reads: dict[int, tuple[int, int, bool]] = {}
        """Register → distance of its next read, index, and True if it is in a later iteration."""
        self._touches: dict[int, int] = {}
        """Register → instructions since its last access; −1 if the instruction itself writes it."""
        self._writes: dict[int, tuple[int, int]] = {}
        self.loaded = 0
        """Registers that a load wrote, and that nothing on some way from there reads."""
        block = function.block_of(start)
        indices = function.flow.instructions(block)
        here = function.instructions[start]
        written = whole(here.effect.writes) & registers
        for register in each(written):
            self._touches[register], self._writes[register] = -1, (-1, start)
        if is_load(here):
            self.loaded = written
        indices = indices[: start - indices.start][::-1]
        self._trace.follow(registers & ~written, block, indices, self._touched_in, -1)
        self._trace.follow(registers & ~written, block, indices, self._written_in, -1)

    def follow_reads(self) -> None:
        """Search the next reads, too."""
        block = self._function.block_of(self._start)
        indices = range(self._start, self._function.flow.instructions(block).stop)
        self._trace.follow(self._registers, block, indices, self._read_in, 1)

    @property
    def left(self) -> int:
        """0 if the search was cut short."""
        return self._trace.left

    @property
    def writers(self) -> dict[int, int]:
        """Register → index of its last write."""
        return {register: index for register, (_, index) in self._writes.items()}

    def values(
        self, register: int, variable: str | None, in_loop: _InLoop, role: Role | None
    ) -> LiveValues:
        """The value of one register.

        Distances count instructions along the shortest path."""
        until, read, is_next_turn = self._reads.get(register, (0, None, False))
        _, written = self._writes.get(register, (0, None))
        if not self.left and None in (read, written):
            read, written, is_next_turn = None, None, False
        untouched = None if read is None else max(until + self._touches.get(register, 0), 0)
        location_read, location_written = self._location(read), self._location(written)
        return LiveValues(
            register_class=_class_of(register),
            registers=ranges(register),
            total=1,
            variable=variable,
            written=location_written,
            written_last=location_written,
            next_read=location_read,
            next_read_last=location_read,
            next_turn=is_next_turn,
            untouched=untouched,
            untouched_most=untouched,
            in_loop=in_loop,
            role=role,
        )

    def _location(self, index: int | None) -> CodeLocation | None:
        return None if index is None else self._function.location(index, self._loop)

    def _read_in(
        self, indices: range, distance: int, sought: int, is_later: bool
    ) -> tuple[int, int]:
        """Record the first reads. Returns the registers still sought, and the distance at the
        end."""
        for index in indices:
            if not sought:
                break
            instruction = self._function.instructions[index]
            if sought & instruction.effect.reads:
                registers = whole(instruction.effect.reads) & sought
                for register in each(registers):
                    nearest = self._reads.get(register)
                    if nearest is None or distance < nearest[0]:
                        self._reads[register] = distance, index, is_later
                sought &= ~registers
            if index != self._start or distance:
                sought &= ~instruction.effect.writes
            distance += instruction.is_code
        return sought, distance

    def _touched_in(self, indices: range, distance: int, sought: int, _: bool) -> tuple[int, int]:
        """Record the last accesses. Returns the registers still sought, and the distance."""
        for index in indices:
            if not sought:
                break
            instruction = self._function.instructions[index]
            if touched := sought & (instruction.effect.reads | instruction.effect.writes):
                touched = whole(touched)
                for register in each(touched):
                    self._touches[register] = min(self._touches.get(register, distance), distance)
                if touched & instruction.effect.writes and is_load(instruction):
                    self.loaded |= touched & whole(instruction.effect.writes)
                sought &= ~touched
            distance += instruction.is_code
        return sought, distance

    def _written_in(self, indices: range, distance: int, sought: int, _: bool) -> tuple[int, int]:
        """Record the last writes. Returns the registers still sought, and the distance."""
        for index in indices:
            if not sought:
                break
            instruction = self._function.instructions[index]
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


def _variables(function: LiveFunction, index: int) -> dict[int, str]:
    """Register → source variable at an instruction."""
    block = function.block_of(index)
    return {
        register: name
        for register, name, first, last in named_registers(function, block)
        if first <= index <= last
    }


def named_registers(
    function: LiveFunction, block: int | None = None
) -> Iterator[tuple[int, str, int, int]]:
    """Each register that, by the compiler's comments, holds a source variable; the variable; and
    the first and last instruction at which it does, within a block or in all.

    Copies of an inlined function share their names, so one name may hold several registers. A name
    lasts until its register is overwritten. The compiler repeats the names at the beginning of each
    block.
    """
    stated: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for index, name, registers in function.listing.variables:
        if index < len(function.instructions):
            stated[index].append((name, registers))
    blocks = {function.block_of(index) for index in stated}
    for number in sorted(blocks & {block} if block is not None else blocks):
        names: dict[int, tuple[str, int]] = {}
        for index in function.flow.instructions(number):
            for name, registers in stated.get(index, ()):
                for register in each(registers):
                    if register in names:
                        yield register, *names[register], index - 1
                    names[register] = name, index
            for register in each(function.instructions[index].effect.writes) if names else ():
                if register in names:
                    yield register, *names.pop(register), index
        last = function.flow.instructions(number)[-1]
        yield from ((register, *named, last) for register, named in names.items())


def _grouped(values: Iterable[LiveValues]) -> Iterator[list[LiveValues]]:
    """Groups of values with the same class, variable, and source lines of last write and next read.

    Without source lines, the values of a group share a region relative to the loop, and have been
    untouched for a similar time.
    """
    groups: dict[tuple[object, tuple[object, ...]], list[LiveValues]] = defaultdict(list)
    for value in values:
        ways = (value.written, value.next_read)
        lines = tuple(place and (place.source or place.region) for place in ways)
        kind = (
            *(value.register_class, value.role),
            *(value.variable, value.in_loop, value.next_turn),
        )
        groups[kind, lines].append(value)
    for (_, where), group in groups.items():
        by_region = any(isinstance(part, str) for part in where)
        yield from _of_similar_length(group) if by_region else [group]


def _of_similar_length(group: list[LiveValues]) -> Iterator[list[LiveValues]]:
    group.sort(key=lambda value: -(value.untouched or 0))
    start = 0
    for position, value in enumerate(group):
        if (value.untouched or 0) < _SIMILAR * (group[start].untouched or 0):
            yield group[start:position]
            start = position
    yield group[start:]


def _together(group: Sequence[LiveValues]) -> LiveValues:
    """The values of a group as one."""
    spans = [value.untouched for value in group if value.untouched is not None]
    written, written_last = _ends(value.written for value in group)
    next_read, next_read_last = _ends(value.next_read for value in group)
    return group[0]._replace(
        registers=_registers(group),
        total=sum(value.total for value in group),
        written=written,
        written_last=written_last,
        next_read=next_read,
        next_read_last=next_read_last,
        untouched=min(spans, default=None),
        untouched_most=max(spans, default=None),
    )


def _registers(values: Iterable[LiveValues]) -> tuple[str, ...]:
    """Ranges of the registers of some values."""
    return ranges(union(named(" ".join(value.registers)) for value in values))


def _ends(places: Iterable[CodeLocation | None]) -> tuple[CodeLocation | None, CodeLocation | None]:
    """The first and last location in the text; None for both if no location is known."""
    locations = sorted(
        (location for location in places if location), key=lambda location: location.number
    )
    return (locations[0], locations[-1]) if locations else (None, None)


def _class_of(register: int) -> RegisterClass:
    return next(name for name, every in OF_CLASS.items() if register & every)


def needs_of(
    function: LiveFunction, places: Places, files: str, *, with_shares: bool = True
) -> RegisterNeeds:
    """The registers that the code of a function needs. `files` is the target's `agprs.file`.
    Computing the shares takes half of the time."""
    counts = places.counts
    at_once = [counts[index] for index in function.code]
    peak = max({*at_once}, key=lambda live: live.vector(files), default=Counts(0, 0, 0))
    vector = peak.vector(files)
    number = next(n for n, live in enumerate(at_once) if live.vector(files) == vector)
    index = function.code[number]
    block, location = function.block_of(index), function.location(index)
    border, shares = 0, tuple[NeedsShare, ...]()
    if vector:
        begin, before, after, end = _points(places, block, index)
        border = max(places.count(point).vector(files) for point in (begin, end))
        if with_shares and places.has_slots:
            shares = _shares(function, places, index, before, after)
    loop = function.loop_around(index)
    blocks = [other for other in function.flow.order if loop and function.loops.holds(loop, other)]
    vgprs, agprs, sgprs = map(max, zip(*{*at_once}, strict=True))
    return RegisterNeeds(
        vector=vector,
        vgprs=vgprs,
        agprs=agprs,
        sgprs=sgprs,
        in_memory=vector - function.counts[index].vector(files),
        exact=places.is_settled and not function.reasons,
        number=location.number,
        line=location.line,
        address=location.address,
        source=location.source,
        border=border,
        is_loop=blocks == [block],
        shares=shares,
    )


def _points(places: Places, block: int, index: int) -> tuple[Point, Point, Point, Point]:
    """The places live at the beginning of a block, before and after one of its instructions, and at
    its end."""
    points = places.points(block)  # the last instruction first
    place, before, end = next(points)
    after = end
    while place != index:
        place, before, after = next(points)
    return places.entering(block), before, after, end


def _shares(
    function: LiveFunction, places: Places, index: int, before: Point, after: Point
) -> tuple[NeedsShare, ...]:
    """The vector values live at an instruction, by role; the largest role first."""
    loop, vectors = function.loop_around(index), _live_at(function, index) & (VGPRS | AGPRS)
    search = _Search(function, index, vectors, loop)
    roles: dict[Role | None, int] = defaultdict(int)
    for register, _, role in _roles(function, index, vectors, loop, search):
        roles[role] |= register
    most = places.count(before), places.count(after)
    shares: dict[str | None, tuple[int, int]] = dict.fromkeys([*roles, None], (0, 0))
    for register_class, position in ((VGPRS, 0), (AGPRS, 1)):
        if not any(live[position] for live in most):
            continue
        is_after = most[1][position] > most[0][position]
        point = after if is_after else before
        crossing, crossing_places = places.crossing(index, is_after=is_after)
        for role, registers in roles.items():
            here = point[0] & registers & register_class
            both = count(here & crossing)[position]
            total = count(here)[position]
            shares[role] = shares[role][0] + both, shares[role][1] + total - both
        apart = places.apart(point)
        both = places.number(apart & crossing_places)[position]
        total = places.number(apart)[position]
        shares[None] = shares[None][0] + both, shares[None][1] + total - both
    every = (NeedsShare(role, *both) for role, both in shares.items() if any(both))
    return tuple(sorted(every, key=lambda share: -sum(share[1:])))
