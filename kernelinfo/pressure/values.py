"""Values live at one instruction: last write, next read, time untouched in between, and role."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal

from kernelinfo.pressure import roles
from kernelinfo.pressure.curve import named_registers
from kernelinfo.pressure.function import CodeLocation, LiveFunction
from kernelinfo.pressure.listing import Instruction
from kernelinfo.pressure.loops import Loop
from kernelinfo.pressure.nouns import BillLine, LiveValues, Role
from kernelinfo.pressure.registers import (
    AGPRS,
    OF_CLASS,
    VGPRS,
    RegisterClass,
    each,
    named,
    ranges,
    union,
    whole,
)

FAR = "far values"
"""Reason for inexact results: a value is written or used too far from the instruction."""
_MOST_STEPS = 200_000
"""Most steps for one instruction's values. Compiled code needs 2 per instruction of the kernel,
which has up to 30,000."""
_SIMILAR = 0.9  # within a group, shortest time untouched / longest

_InLoop = Literal["through", "constant", "changed"] | None


def live_values(function: LiveFunction, index: int) -> tuple[tuple[LiveValues, ...], bool]:
    """Values live at an instruction, longest untouched first; False if the search was cut short.

    Registers with the same history are one group.
    """
    live = LiveRegisters(function, index, live_at(function, index))
    groups = map(_together, _grouped(live.values(_variables(function, index))))
    longest_first = sorted(groups, key=lambda v: (-(v.untouched or 0), -v.total, v.registers[0]))
    return tuple(longest_first), live.is_followed


def live_at(function: LiveFunction, index: int) -> int:
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


class LiveRegisters:
    """Registers that are live at one instruction: their nearest accesses, and what their values are
    for."""

    def __init__(self, function: LiveFunction, start: int, registers: int) -> None:
        self._function = function
        self._start = start
        self._registers = registers
        self._loop = function.loop_around(start)
        self._trace = roles.ValueTrace(function, self._loop, _MOST_STEPS)
        self._reads: dict[int, tuple[int, int, bool]] = {}
        """Register → distance of its next read, index, and True if it is in a later iteration."""
        self._touches: dict[int, int] = {}
        """Register → instructions since its last access; −1 if the instruction itself writes it."""
        self._writes: dict[int, tuple[int, int]] = {}
        """Register → distance of its last write, and index."""
        self._loaded = 0
        """Registers that a load wrote, and that nothing on some way from there reads."""
        self._sums_of: dict[int, tuple[int, dict[int, int]]] = {}
        """Position of a loop → its sums."""
        self._search_back()

    @property
    def is_followed(self) -> bool:
        """False if the search was cut short."""
        return self._trace.left > 0

    def values(self, variables: Mapping[int, str]) -> Iterator[LiveValues]:
        """The value in each live register. `variables` maps registers to the variables that they
        hold.

        Distances count instructions along the shortest path.
        """
        block = self._function.block_of(self._start)
        indices = range(self._start, self._function.flow.instructions(block).stop)
        self._trace.follow(self._registers, block, indices, self._read_in, 1)
        for register, in_loop, role in self.with_roles():
            yield self._value(register, variables.get(register), in_loop, role)

    def with_roles(self) -> Iterator[tuple[int, _InLoop, Role | None]]:
        """Each register, what the loop around the instruction does with it, and the role of its
        value."""
        function, loop = self._function, self._loop
        inside = [n for n in function.flow.order if loop and function.loops.holds(loop, n)]
        reads, writes = function.touched_in(inside)
        uses = self._uses()
        for register in each(self._registers):
            in_loop = _in_loop(register, loop, reads, writes)
            yield register, in_loop, self._role(register, uses, in_loop == "constant")

    def _search_back(self) -> None:
        """Search backwards for the last access and the last write of each live register."""
        block = self._function.block_of(self._start)
        indices = self._function.flow.instructions(block)
        here = self._function.instructions[self._start]
        written = whole(here.effect.writes) & self._registers
        for register in each(written):
            self._touches[register], self._writes[register] = -1, (-1, self._start)
        if roles.is_load(here):
            self._loaded = written
        indices = indices[: self._start - indices.start][::-1]
        for look in (self._touched_in, self._written_in):
            self._trace.follow(self._registers & ~written, block, indices, look, -1)

    def _value(
        self, register: int, variable: str | None, in_loop: _InLoop, role: Role | None
    ) -> LiveValues:
        until, read, is_next_turn = self._reads.get(register, (0, None, False))
        _, written = self._writes.get(register, (0, None))
        if not self.is_followed and None in (read, written):
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
        """Records where each sought register is first read. Returns the registers that were neither
        read nor overwritten, and the distance at the end of the instructions."""
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
        """Records where each sought register was last accessed. Returns the registers that are
        still sought, and the distance at the end of the instructions."""
        for index in indices:
            if not sought:
                break
            instruction = self._function.instructions[index]
            if touched := sought & (instruction.effect.reads | instruction.effect.writes):
                touched = whole(touched)
                for register in each(touched):
                    self._touches[register] = min(self._touches.get(register, distance), distance)
                if touched & instruction.effect.writes and roles.is_load(instruction):
                    self._loaded |= touched & whole(instruction.effect.writes)
                sought &= ~touched
            distance += instruction.is_code
        return sought, distance

    def _written_in(self, indices: range, distance: int, sought: int, _: bool) -> tuple[int, int]:
        """Records where each sought register was last written. Returns the registers that are still
        sought, and the distance at the end of the instructions."""
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

    def _role(self, register: int, uses: Mapping[roles.Use, int], is_constant: bool) -> Role | None:
        """The role of a register with these uses; None for an SGPR. `is_constant` is True if the
        loop only reads the register."""
        if not register & (VGPRS | AGPRS):
            return None
        _, index = self._writes.get(register, (0, None))
        writer = None if index is None else self._function.instructions[index]
        is_single = not register & uses["other"]
        if register & uses["sum"] or self._is_sum(register, index, writer):
            return "accumulators"
        if register & uses["fragment"]:
            return "fragments"
        if register & uses["lane"] and is_single:
            return "spill lanes"
        if register & self._loaded and not is_constant:
            return "loaded"
        if register & uses["address"] and is_single:
            return "addresses"
        return "loop constants" if is_constant else "others"

    def _is_sum(self, register: int, index: int | None, writer: Instruction | None) -> bool:
        """True if the register holds a sum of a loop, or a result of a matrix instruction."""
        if self._loop and register & self._sums(self._loop)[0]:
            return True
        if writer is None or index is None:
            return False
        loop = self._function.loop_around(index)
        if loop and loop != self._loop and register & self._sums(loop)[1].get(index, 0):
            return True
        if writer.effect.instruction_class == "copy":
            return bool(writer.effect.reads & self._results)
        return writer.effect.instruction_class == "matrix"

    @cached_property
    def _results(self) -> int:
        """AGPRs that some matrix instruction writes."""
        code = self._function.instructions
        effects = (
            instruction.effect
            for instruction in code
            if instruction.effect.instruction_class == "matrix"
        )
        return AGPRS & union(effect.writes for effect in effects)

    def _sums(self, loop: Loop) -> tuple[int, dict[int, int]]:
        """(registers that hold the loop's sums at the start, index of each instruction of the loop
        → registers in which it writes sums). The first is 0 if the start is outside the loop."""
        if loop.position not in self._sums_of:
            self._sums_of[loop.position] = roles.sums_of(self._function, loop, self._start)
        return self._sums_of[loop.position]

    def _uses(self) -> Mapping[roles.Use, int]:
        """Use → the vector registers whose value, or a copy of it, is used in this way."""
        function, start = self._function, self._start
        trace = roles.ValueTrace(function, self._loop, roles.MOST_STEPS)
        uses, uses_of_copies = defaultdict[roles.Use, int](int), defaultdict[roles.Use, int](int)
        copies, copies_of_copies = defaultdict[int, int](int), defaultdict[int, int](int)
        """Register → those that its value is copied to."""
        copied: dict[int, set[int]] = defaultdict(set)
        """Block → indices of its copies."""
        fresh = set[int]()
        """Blocks with copies that were not followed."""

        def look(indices: range, distance: int, sought: int, of_copies: bool) -> tuple[int, int]:
            into = (uses_of_copies, copies_of_copies) if of_copies else (uses, copies)
            for index in indices:
                instruction = function.instructions[index]
                effect = instruction.effect
                if effect.reads & sought:
                    roles.note_uses(instruction, sought, *into)
                    block = function.block_of(index)
                    if effect.instruction_class == "copy" and index not in copied[block]:
                        copied[block].add(index)
                        fresh.add(block)
                if effect.writes & sought and index != start:
                    sought &= ~(whole(effect.writes) & ~roles.changed(instruction))
                if of_copies and index in copied[function.block_of(index)]:
                    sought |= whole(effect.writes)
                distance += instruction.is_code
            return sought, distance

        block = function.block_of(start)
        end, vectors = function.flow.firsts[block + 1], self._registers & (VGPRS | AGPRS)
        trace.follow(vectors, block, range(start, end), lambda i, d, s, _: look(i, d, s, False), 1)
        while trace.left and fresh:
            block = fresh.pop()
            indices = range(min(copied[block]), function.flow.firsts[block + 1])
            trace.follow(0, block, indices, lambda i, d, s, _: look(i, d, s, True), 1)
        for register, targets in copies.items():
            every_copy = roles.closure(targets, copies_of_copies)
            for use, registers in uses_of_copies.items():
                uses[use] |= register if every_copy & registers else 0
        return uses


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


def _grouped(values: Iterable[LiveValues]) -> Iterator[list[LiveValues]]:
    """Groups of values with the same class, role, variable and use in the loop, and with the same
    source lines of last write and next read.

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
    """The values of a group, merged into one."""
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
