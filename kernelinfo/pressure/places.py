"""Spill slots and lanes of a function: they hold values as registers do.

What the code needs: the registers and spill slots that are alive at once, each value once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from kernelinfo.kernel.needs import NeedsShare, RegisterNeeds
from kernelinfo.kernel.traits import Traits
from kernelinfo.pressure.flow import MOST_VISITS, may_be_written, needed_from
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.memory import SlotAccess, lanes_of, slots_of
from kernelinfo.pressure.nouns import Role
from kernelinfo.pressure.registers import AGPRS, VGPRS, Counts, count, each, union, whole
from kernelinfo.pressure.values import LiveRegisters, live_at

TO_AGPRS = "VGPRs are spilled to AGPRs, which have a file of their own"

Point = tuple[int, int, int]
"""Before or after an instruction: live registers, live places, and pairs of the same value."""


class Places:
    """The places of a function: which of them are live, and whose value is also in a register."""

    def __init__(
        self, function: LiveFunction, moves: Mapping[int, SlotAccess], agprs: int, lanes: int
    ) -> None:
        """`moves` maps the index of an instruction to what it moves. `agprs` and `lanes` are sets
        of places: those that hold AGPRs, and those that are lanes of VGPRs."""
        self._function = function
        self._moves = moves
        self._agprs, self._lanes = agprs, lanes
        every = [pair for move in moves.values() for pair in move.pairs]
        self._pairs = [*dict.fromkeys(pair for pair in every if pair[1])]
        self._bits = {pair: 1 << position for position, pair in enumerate(self._pairs)}
        self._of_place: dict[int, int] = {}
        self._of_register: dict[int, int] = {}
        """Pairs of each place and of each register."""
        for (place, register), bit in self._bits.items():
            self._of_place[place] = self._of_place.get(place, 0) | bit
            self._of_register[register] = self._of_register.get(register, 0) | bit
        self._paired = union(self._of_register)
        self._broken: dict[int, int] = {}
        """Registers that an instruction writes → pairs that end there."""
        self._last = 0, 0, 0
        """The places of the last call of `apart`, all their pairs, and the pairs that hold the same
        value; the next call differs little."""
        self._same: dict[int, tuple[int, int]] = {}
        """Position of each of the pairs that hold the same value → place and register."""
        self._held_by = self._holders()
        self._accesses: dict[int, tuple[int, int]] = {}
        """Instruction → places that it reads and that it overwrites; none if both are empty."""
        self._changes: dict[int, tuple[int, int]] = {}
        """Instruction → pairs that begin and that end there; none if both are empty."""
        self._written = self._needed = self._pairs_in = [0] * function.size
        """Places filled before each block, those that it or a later one may read, and pairs."""
        self.is_settled = True
        """False if the numbers are lower bounds, because values were not followed to their end."""
        if moves:
            indices = range(len(function.instructions))
            self._accesses = {i: both for i in indices if any(both := self._access(i))}
            reads, writes, fills = self._block_accesses()
            self._written = may_be_written(function.flow, fills, 0)
            if self._pairs:
                self._changes = {i: both for i in indices if any(both := self._change(i))}
            self._needed, is_settled = needed_from(function.flow, reads, writes)
            self._pairs_in, are_settled = self._same_values()
            self.is_settled = is_settled and are_settled
        self.has_slots = any(not place & lanes for place, _ in every)
        """True if some registers are spilled to the stack."""

    def _holders(self) -> dict[int, int]:
        """For each VGPR, its lanes that hold SGPRs."""
        held: dict[int, int] = {}
        for index, move in self._moves.items():
            for place, _ in move.pairs:
                if place & self._lanes:
                    effect = self._function.instructions[index].effect
                    vgpr = whole(effect.writes if move.is_store else effect.reads)
                    held[vgpr] = held.get(vgpr, 0) | place
        return held

    def _access(self, index: int) -> tuple[int, int]:
        """The places that an instruction reads, and those that it overwrites. Writing a VGPR, other
        than by a reload of it, overwrites all lanes in it."""
        if move := self._moves.get(index):
            return (0, move.places) if move.is_store else (move.places, 0)
        writes = self._function.instructions[index].effect.writes & self._all_holders
        if not writes:
            return 0, 0
        return 0, union(lanes for vgpr, lanes in self._held_by.items() if vgpr & writes)

    @cached_property
    def _all_holders(self) -> int:
        return union(self._held_by)

    def _block_accesses(self) -> tuple[list[int], list[int], list[int]]:
        """For each block: places that it reads before overwriting them, places that it overwrites,
        and places that it fills."""
        reads_of, writes_of, fills_of = list[int](), list[int](), list[int]()
        for block in range(self._function.size):
            reads = writes = fills = 0
            for index in reversed(self._function.flow.instructions(block)):
                if index in self._accesses:
                    read, overwritten = self._accesses[index]
                    reads, writes = reads & ~overwritten | read, writes | overwritten
                    fills |= overwritten if index in self._moves else 0
            reads_of.append(reads)
            writes_of.append(writes)
            fills_of.append(fills)
        return reads_of, writes_of, fills_of

    def _change(self, index: int) -> tuple[int, int]:
        """(pairs that hold the same value from an instruction on, pairs that no longer do). A pair
        is a place and a register."""
        move = self._moves.get(index)
        if move is None:
            writes = self._function.instructions[index].effect.writes & self._paired
            if not writes:
                return 0, 0
            if writes not in self._broken:
                self._broken[writes] = union(
                    self._of_register.get(register, 0) for register in each(writes)
                )
            ends = self._broken[writes]
            _, lost = self._accesses.get(index, (0, 0))
            return 0, ends | union(self._of_place.get(lane, 0) for lane in _bits(lost))
        begins = union(self._bits[pair] for pair in move.pairs if pair[1])
        if move.is_store:
            return begins, union(self._of_place.get(place, 0) for place, _ in move.pairs)
        return begins, union(self._of_register.get(register, 0) for _, register in move.pairs)

    def _same_values(self) -> tuple[list[int], bool]:
        """(pairs that hold the same value on every path to each block, False if not all paths were
        followed)."""
        function, flow = self._function, self._function.flow
        if not self._pairs:
            return [0] * function.size, True
        changes = []
        for block in range(function.size):
            begin = end = 0
            for index in function.flow.instructions(block):
                if index in self._changes:
                    begins, ends = self._changes[index]
                    begin, end = begin & ~ends | begins, end | ends
            changes.append((begin, end))
        every = (1 << len(self._pairs)) - 1
        before, after = [every] * function.size, [every] * function.size
        left, is_changed = MOST_VISITS * (len(flow.order) + 64), True
        while is_changed and left > 0:
            is_changed = False
            for block in reversed(flow.order):
                left -= 1
                same = every if block else 0
                for other in flow.before.of(block):
                    if flow.is_reached(other):
                        same &= after[other]
                begin, end = changes[block]
                before[block], leaving = same, same & ~end | begin
                if leaving != after[block]:
                    after[block], is_changed = leaving, True
        return (before, True) if not is_changed else ([0] * function.size, False)

    def entering(self, block: int) -> Point:
        """The live registers, live places and pairs of the same value at the beginning of a
        block."""
        places = self._needed[block] & self._written[block]
        return self._function.live_in(block), places, self._pairs_in[block]

    def points(self, block: int) -> Iterator[tuple[int, Point, Point]]:
        """For each instruction of a reachable block, last one first: its index, and the points
        before and after it."""
        function, written, pairs = self._function, self._written[block], self._pairs_in[block]
        changes = []  # (index, state before it) where the state changes
        for index in function.flow.instructions(block):
            move = self._moves.get(index)
            begins, ends = self._changes.get(index, (0, 0))
            if not move and not pairs & ends:
                continue
            before = written, pairs
            pairs = pairs & ~ends | begins
            if move and move.is_store:
                written |= move.places
            if (written, pairs) != before:
                changes.append((index, before))
        needed = union(self._needed[way] for way in function.flow.after.of(block))
        for index, live, after in function.live(block):
            later = after, needed & written, pairs
            if index in self._accesses:
                read, overwritten = self._accesses[index]
                needed = needed & ~overwritten | read
            if changes and changes[-1][0] == index:
                written, pairs = changes.pop()[1]
            yield index, (live, needed & written, pairs), later

    def apart(self, point: Point) -> int:
        """Live places whose value is in no live register."""
        registers, places, pairs = point
        last, of_places, were_same = self._last
        for place in _bits(places ^ last):
            of_places ^= self._of_place.get(place, 0)
        same = pairs & of_places
        for bit in _bits(same ^ were_same):
            position = bit.bit_length() - 1
            if self._same.pop(position, None) is None:
                self._same[position] = self._pairs[position]
        self._last = places, of_places, same
        both = 0
        for place, register in self._same.values():
            if register & registers:
                both |= place
        return places & ~both

    def number(self, places: int) -> Counts:
        """Number of places by the class of what they hold."""
        agprs, sgprs = (places & self._agprs).bit_count(), (places & self._lanes).bit_count()
        return Counts(places.bit_count() - agprs - sgprs, agprs, sgprs)

    def count(self, point: Point) -> Counts:
        """Number of values of each class at a point."""
        return _sum(count(point[0]), self.number(self.apart(point)))

    @cached_property
    def counts(self) -> list[Counts]:
        """The number of values of each class that are live at each instruction, before or after it,
        whichever is larger; zeros if it is unreachable."""
        function = self._function
        if not self._moves:
            return function.counts
        counted = [*function.counts]
        for block in filter(function.flow.is_reached, range(function.size)):
            if not self._is_used(block):
                continue
            later: Point | None = None
            apart_before = Counts(0, 0, 0)
            for index, before, after in self.points(block):
                apart_after = apart_before if after == later else self.number(self.apart(after))
                apart_before = apart_after if before == after else self.number(self.apart(before))
                later = before
                if apart_before == apart_after:
                    counted[index] = _sum(counted[index], apart_after)
                else:
                    sums = (
                        _sum(count(before[0]), apart_before),
                        _sum(count(after[0]), apart_after),
                    )
                    counted[index] = Counts(*map(max, *sums))
        return counted

    def _is_used(self, block: int) -> bool:
        """True if any place is live in a block."""
        indices = self._function.flow.instructions(block)
        return bool(self._needed[block] & self._written[block]) or any(
            index in self._moves for index in indices
        )

    def crossing(self, index: int, *, is_after: bool) -> tuple[int, int]:
        """The registers and places that, before an instruction, hold the values live at the
        beginning or end of its block; with `is_after`, those that hold them after the
        instruction."""
        function = self._function
        block = function.block_of(index)
        indices = function.flow.instructions(block)
        middle = index + is_after - indices.start
        came = self.entering(block)[:2]
        for position in indices[:middle]:
            came = self._moved(position, *came, is_back=False)
        ways = function.flow.after.of(block)
        leave = union(function.needed[way] for way in ways), union(self._needed[w] for w in ways)
        for position in reversed(indices[middle:]):
            leave = self._moved(position, *leave, is_back=True)
        return came[0] | leave[0], came[1] | leave[1]

    def _moved(self, index: int, registers: int, places: int, *, is_back: bool) -> tuple[int, int]:
        """The registers and places that hold, after an instruction, the values that `registers` and
        `places` hold before it. With `is_back`, before and after are swapped."""
        move = self._moves.get(index)
        if move is None:
            writes = self._function.instructions[index].effect.writes
            return registers & ~writes, places & ~self._accesses.get(index, (0, 0))[1]
        for place, register in move.pairs:
            is_held, is_placed = registers & register, places & place
            if move.is_store:
                places = places & ~place if is_back or not is_held else places | place
                registers |= register if is_back and is_placed else 0
            else:
                if is_back or not is_placed:
                    registers &= ~register
                else:
                    registers |= register
                places |= place if is_back and is_held else 0
        return registers, places


def _bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest
        number ^= lowest


def _sum(first: Counts, second: Counts) -> Counts:
    return Counts(
        first.vgprs + second.vgprs, first.agprs + second.agprs, first.sgprs + second.sgprs
    )


def places_of(function: LiveFunction, traits: Traits) -> Places | str:
    """The places of a kernel, or why they cannot be determined."""
    numbers, target = traits.numbers, traits.target
    spilled = 0 if numbers.scratch_bytes_per_lane == 0 else numbers.vgpr_spills
    if numbers.vgpr_spills and numbers.agprs and target and target.agprs.file == "separate":
        return TO_AGPRS
    slots = slots_of(function, spilled)
    if isinstance(slots, str):
        return slots
    agprs = union(
        place
        for index, move in slots.items()
        if move.is_store
        for place, register in move.pairs
        if register & AGPRS
    )
    size = 1 + max((place.bit_length() for a in slots.values() for place, _ in a.pairs), default=0)
    lanes = dict(lanes_of(function, size))
    return Places(
        function,
        {**slots, **lanes},
        agprs,
        union(move.places for move in lanes.values()),
    )


def needs_of(
    function: LiveFunction, places: Places, files: str, *, with_shares: bool = True
) -> RegisterNeeds:
    """The registers that the code of a function needs. `files` is the target's `agprs.file`.
    `with_shares` also computes the shares by role, which takes half of the time."""
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
    """Points (live registers, live places, pairs) at the beginning of a block, before and after one
    of its instructions, and at its end."""
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
    live = LiveRegisters(function, index, live_at(function, index) & (VGPRS | AGPRS))
    roles: dict[Role | None, int] = defaultdict(int)
    for register, _, role in live.with_roles():
        roles[role] |= register
    most = places.count(before), places.count(after)
    shares: dict[str | None, tuple[int, int]] = dict.fromkeys([*roles, None], (0, 0))
    for register_class, position in ((VGPRS, 0), (AGPRS, 1)):
        if not any(live_counts[position] for live_counts in most):
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
