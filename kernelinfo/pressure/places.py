"""Spill slots and lanes of a function: what they hold is a value as in a register.

A slot is 4 bytes of a lane's stack that the compiler spilled a register to. LLVM's comments `Folded
Spill` and `Folded Reload` (AsmPrinter.cpp, emitComments) prove it; without comments, that the whole
stack is accessed at constant addresses. A lane that `v_writelane_b32` fills and `v_readlane_b32`
reads holds an SGPR.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from kernelinfo.kernel.traits import Traits
from kernelinfo.pressure.flow import MOST_VISITS, BlockEffects, may_be_written, needed_from
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.listing import Instruction, number
from kernelinfo.pressure.registers import AGPRS, Counts, count, each, named, union, whole
from kernelinfo.pressure.rules import bytes_of

UNPROVEN = "its spill slots cannot be told from the rest of its stack"
TO_AGPRS = "VGPRs are spilled to AGPRs, which have a file of their own"
MOVING = "the address of a spill slot is not constant"

_SLOT = re.compile(
    r"(scratch|buffer)_(load|store)_\w+\s+(?:off\s*,\s*)?"
    r"([va](?:\d+|\[\d+:\d+\])(?:\.[lh])?)\s*,\s*(?:off\s*,\s*)?"
    r"(?:s\[\d+:\d+\]\s*,\s*)?(off|0|s\d+)(?:\s+offset:(-?\w+))?(?:\s.*)?"
)
"""An access of the stack at a constant distance from a base."""
_STACK = re.compile(r"s\[\d+:\d+\]")
"""The resource by which `buffer_` instructions access the stack; a function keeps it."""
_LANE = re.compile(r"v_(read|write)lane_b32(?:_e64)?\s+(\w+)\s*,\s*(\w+)\s*,\s*(\d+)\s*")
_CONSTANT = re.compile(r"s_movk?_[bi]32\s+(s\d+)\s*,\s*(\w+)")
_FRAMES = ("s32", "s33")  # stack and frame pointer (AMDGPUUsage, "Function ABI")
SLOT_BYTES = 4
_BACK = 8  # most instructions between the constant of a base and its use; LLVM writes 1
_APERTURE = re.compile(r"src_private_base|SH_MEM_BASES|src_flat_scratch_base", re.IGNORECASE)
"""What makes a pointer of an address on the stack."""


class _SlotAccess(NamedTuple):
    """Registers that an instruction moves to or from places: slots, or a lane."""

    is_store: bool
    pairs: tuple[tuple[int, int], ...]
    """Place and register, a set of one each; no register if liveness does not follow it."""


_Point = tuple[int, int, int]
"""Before or after an instruction: live registers, live places, and pairs of the same value."""


class Places:
    """The places of a function: which are alive, and which values are in a register, too."""

    def __init__(
        self, function: LiveFunction, moves: Mapping[int, _SlotAccess], agprs: int, lanes: int
    ) -> None:
        """`moves` are those of each instruction; `agprs` and `lanes` are sets of places."""
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
        self._pairs_of: dict[int, int] = {0: 0}
        """Live places → their pairs."""
        self._held_by = self._holders()
        self._written = self._needed = self._pairs_in = [0] * function.size
        """Places filled before each block, those that it or a later one may read, and pairs."""
        self.is_settled = True
        """False if the numbers are lower bounds, because values were not followed to their end."""
        if moves:
            effects = self._effects()
            self._written = may_be_written(function.graph, effects.defines, 0)
            self._needed, is_settled = needed_from(function.graph, effects)
            self._pairs_in, are_settled = self._same_values()
            self.is_settled = is_settled and are_settled
        self.has_slots = any(not place & lanes for place, _ in every)
        """True if some registers are spilled to the stack."""

    def _holders(self) -> dict[int, int]:
        """VGPR → the lanes of it that hold SGPRs."""
        held: dict[int, int] = {}
        for index, move in self._moves.items():
            for place, _ in move.pairs:
                if place & self._lanes:
                    effect = self._function.instructions[index].effect
                    vgpr = whole(effect.writes if move.is_store else effect.reads)
                    held[vgpr] = held.get(vgpr, 0) | place
        return held

    def _lost(self, index: int) -> int:
        """Lanes whose VGPR an instruction overwrites, which is no reload of it."""
        instruction = self._function.instructions[index]
        if index in self._moves or not instruction.effect.writes & self._all_holders:
            return 0
        return union(
            lanes for vgpr, lanes in self._held_by.items() if vgpr & instruction.effect.writes
        )

    @cached_property
    def _all_holders(self) -> int:
        return union(self._held_by)

    def _effects(self) -> BlockEffects:
        """Places that each block reads first, overwrites, and fills."""
        effects = BlockEffects([], [], [])
        for block in range(self._function.size):
            reads = writes = fills = 0
            for index in reversed(self._function.flow.instructions(block)):
                move = self._moves.get(index)
                if move is None:
                    lost = self._lost(index) if self._held_by else 0
                    writes, reads = writes | lost, reads & ~lost
                    continue
                places = union(place for place, _ in move.pairs)
                if move.is_store:
                    writes, fills, reads = writes | places, fills | places, reads & ~places
                else:
                    reads |= places
            for values, registers in zip(effects, (reads, writes, fills), strict=True):
                values.append(registers)
        return effects

    def _change(self, index: int) -> tuple[int, int]:
        """Pairs that begin and that end at an instruction."""
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
            return 0, ends | union(self._of_place.get(lane, 0) for lane in _bits(self._lost(index)))
        begins = union(self._bits[pair] for pair in move.pairs if pair[1])
        if move.is_store:
            return begins, union(self._of_place.get(place, 0) for place, _ in move.pairs)
        return begins, union(self._of_register.get(register, 0) for _, register in move.pairs)

    def _same_values(self) -> tuple[list[int], bool]:
        """Pairs that hold the same value on every way to each block; False if not all was
        followed."""
        function, graph = self._function, self._function.graph
        if not self._pairs:
            return [0] * function.size, True
        changes = []
        for block in range(function.size):
            begin = end = 0
            for index in function.flow.instructions(block):
                begins, ends = self._change(index)
                if begins or ends:
                    begin, end = begin & ~ends | begins, end | ends
            changes.append((begin, end))
        every = (1 << len(self._pairs)) - 1
        before, after = [every] * function.size, [every] * function.size
        left, is_changed = MOST_VISITS * (len(graph.order) + 64), True
        while is_changed and left > 0:
            is_changed = False
            for block in reversed(graph.order):
                left -= 1
                same = every if block else 0
                for other in graph.before.of(block):
                    if graph.is_reached(other):
                        same &= after[other]
                begin, end = changes[block]
                before[block], leaving = same, same & ~end | begin
                if leaving != after[block]:
                    after[block], is_changed = leaving, True
        return (before, True) if not is_changed else ([0] * function.size, False)

    def points(self, block: int) -> Iterator[tuple[int, _Point, _Point]]:
        """Index of each instruction of a reachable block, last one first, and what is alive before
        and after it."""
        function, written, pairs = self._function, self._written[block], self._pairs_in[block]
        changes = []  # (index, state before it) where the state changes
        for index in function.flow.instructions(block):
            before = written, pairs
            begins, ends = self._change(index)
            pairs = pairs & ~ends | begins
            move = self._moves.get(index)
            if move and move.is_store:
                written |= union(place for place, _ in move.pairs)
            if (written, pairs) != before:
                changes.append((index, before))
        needed = union(self._needed[way] for way in function.graph.after.of(block))
        for index, live, after in function.live(block):
            later = after, needed & written, pairs
            move = self._moves.get(index)
            if move is None:
                needed &= ~self._lost(index) if self._held_by else -1
            elif move.is_store:
                needed &= ~union(place for place, _ in move.pairs)
            else:
                needed |= union(place for place, _ in move.pairs)
            if changes and changes[-1][0] == index:
                written, pairs = changes.pop()[1]
            yield index, (live, needed & written, pairs), later

    def apart(self, point: _Point) -> int:
        """Live places whose value is in no live register."""
        registers, places, pairs = point
        if places not in self._pairs_of:
            of_places = (self._of_place.get(place, 0) for place in _bits(places))
            self._pairs_of[places] = union(of_places)
        both = 0
        for bit in _bits(pairs & self._pairs_of[places]):
            place, register = self._pairs[bit.bit_length() - 1]
            if register & registers:
                both |= place
        return places & ~both

    def number(self, places: int) -> Counts:
        """Number of places by the class of what they hold."""
        agprs, sgprs = (places & self._agprs).bit_count(), (places & self._lanes).bit_count()
        return Counts(places.bit_count() - agprs - sgprs, agprs, sgprs)

    def count(self, point: _Point) -> Counts:
        """Number of values of each class at a point."""
        return _sum(count(point[0]), self.number(self.apart(point)))

    @cached_property
    def counts(self) -> list[Counts]:
        """Number of values of each class alive at each instruction, the larger of before and after
        it; zeros if unreachable."""
        function = self._function
        if not self._moves:
            return function.counts
        counted = [*function.counts]
        for block in filter(function.graph.is_reached, range(function.size)):
            if not self._is_used(block):
                continue
            later: _Point | None = None
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
        """True if places are alive in a block."""
        indices = self._function.flow.instructions(block)
        return bool(self._needed[block] & self._written[block]) or any(
            index in self._moves for index in indices
        )

    def crossing(self, index: int, *, is_after: bool) -> tuple[int, int]:
        """Registers and places with values that are alive at the begin or the end of the block of
        an instruction, as they stand before or after it."""
        function = self._function
        block = function.block_of(index)
        indices = function.flow.instructions(block)
        middle = index + is_after - indices.start
        came = function.live_in(block), self._needed[block] & self._written[block]
        for position in indices[:middle]:
            came = self._moved(position, *came, is_back=False)
        ways = function.graph.after.of(block)
        leave = union(function.needed[way] for way in ways), union(self._needed[w] for w in ways)
        for position in reversed(indices[middle:]):
            leave = self._moved(position, *leave, is_back=True)
        return came[0] | leave[0], came[1] | leave[1]

    def _moved(self, index: int, registers: int, places: int, *, is_back: bool) -> tuple[int, int]:
        """Where values are after an instruction that are in some registers and places before it; or
        the reverse."""
        move = self._moves.get(index)
        if move is None:
            writes = self._function.instructions[index].effect.writes
            return registers & ~writes, places & ~self._lost(index)
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
    """The places of a kernel, or why they cannot be told."""
    numbers, target = traits.numbers, traits.target
    spilled = 0 if numbers.scratch_bytes_per_lane == 0 else numbers.vgpr_spills
    if numbers.vgpr_spills and numbers.agprs and target and target.agprs.file == "separate":
        return TO_AGPRS
    slots = _slots(function, spilled)
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
    lanes = dict(_lanes(function, size))
    return Places(
        function,
        {**slots, **lanes},
        agprs,
        union(place for move in lanes.values() for place, _ in move.pairs),
    )


def _slots(function: LiveFunction, spilled: int | None) -> dict[int, _SlotAccess] | str:
    """The moves to and from spill slots by instruction, or why they cannot be told.

    `spilled` is LLVM's count of VGPRs stored to scratch (eliminateFrameIndex); None if unknown.
    """
    code = function.instructions
    marked = [index for index in function.code if code[index].spill]
    if not marked and spilled == 0:
        return {}
    bits: dict[tuple[str, int], int] = {}
    moves = dict[int, _SlotAccess]()
    for index in marked:
        move = _slot(code, index, bits)
        if move is None:
            return MOVING
        moves[index] = move
    unmarked = {index: _slot(code, index, bits) for index in _unmarked(code, function)}
    is_pointed_at = unmarked and any(_APERTURE.search(each.text) for each in code)
    is_all_constant = None not in unmarked.values() and not is_pointed_at
    if not marked and (not is_all_constant or not unmarked):
        return {} if spilled is None and not unmarked else UNPROVEN
    slots = -1 if is_all_constant else _places(moves.values())
    left = [(index, move) for index, move in unmarked.items() if move]
    while joining := {i: move for i, move in left if i not in moves and _places([move]) & slots}:
        moves |= joining
        slots |= _places(joining.values())
    stores = [move for move in moves.values() if move.is_store]
    if not is_all_constant and sum(len(move.pairs) for move in stores) < (spilled or 0):
        return UNPROVEN  # other slots than the marked ones hold spilled VGPRs, too
    # A marked slot that nothing fills is undefined, as half of a pair may be.
    return UNPROVEN if not marked and _places(moves.values()) & ~_places(stores) else moves


def _unmarked(code: Sequence[Instruction], function: LiveFunction) -> Iterator[int]:
    """Accesses of the stack without LLVM's comment, which LLVM 15 to 19 leave out in a clause."""
    marked = (code[index].text for index in function.code if code[index].spill)
    stacks = {stack[0] for text in marked if (stack := _STACK.search(text))}
    for index in function.code:
        kind = "" if code[index].spill else code[index].effect.mnemonic[:7]
        stack = _STACK.search(code[index].text) if kind == "buffer_" else None
        if kind == "scratch" or (stack and stack[0] in stacks):
            yield index


def _places(moves: Iterable[_SlotAccess]) -> int:
    return union(place for move in moves for place, _ in move.pairs)


def _slot(
    code: Sequence[Instruction], index: int, bits: dict[tuple[str, int], int]
) -> _SlotAccess | None:
    """The slots that an instruction accesses; None if they are not known. `bits` numbers slots by
    base and distance in bytes."""
    instruction = code[index]
    move, size = _SLOT.fullmatch(instruction.text), bytes_of(instruction.effect.mnemonic)
    if move is None or not size:
        return None
    base, distance = move[4], number(move[5] or "0")
    if base.startswith("s") and base not in _FRAMES:
        constant = _constant(code[max(index - _BACK, 0) : index], base)
        if constant is None or distance is None:
            return None
        # A buffer's base counts for all lanes of the wave.
        is_scratch = move[1] == "scratch"
        base, distance = ("off", distance + constant) if is_scratch else (str(constant), distance)
    registers = [*each(named(move[3]))]
    if distance is None or len(registers) != -(-size // SLOT_BYTES):
        return None
    first = distance // SLOT_BYTES
    keys = [("" if base in ("off", "0") else base, first + k) for k in range(len(registers))]
    places = [1 << bits.setdefault(key, len(bits)) for key in keys]
    return _SlotAccess(move[2] == "store", tuple(zip(places, registers, strict=True)))


def _constant(code: Sequence[Instruction], register: str) -> int | None:
    """The constant that an SGPR was set to last; None if it was set otherwise, or not near."""
    written = named(register)
    for instruction in reversed(code):
        if instruction.effect.writes & written:
            constant = _CONSTANT.fullmatch(instruction.text)
            return number(constant[2]) if constant else None
    return None


def _lanes(function: LiveFunction, first: int) -> Iterator[tuple[int, _SlotAccess]]:
    """The moves to and from lanes by instruction. Their places have bits from `first` on."""
    bits: dict[tuple[str, str], int] = {}
    written, read = dict[int, tuple[str, str, str]](), dict[int, tuple[str, str, str]]()
    for index in function.code:
        instruction = function.instructions[index]
        match = None
        if instruction.effect.mnemonic in ("v_readlane_b32", "v_writelane_b32"):
            match = _LANE.fullmatch(instruction.text)
        if match and match[1] == "write":
            written[index] = match[2], match[4], match[3]
        elif match:
            read[index] = match[3], match[4], match[2]
    both = {lane[:2] for lane in written.values()} & {lane[:2] for lane in read.values()}
    for is_store, moves in ((True, written), (False, read)):
        for index, (vgpr, lane, sgpr) in moves.items():
            if (vgpr, lane) in both:
                place = 1 << first + bits.setdefault((vgpr, lane), len(bits))
                yield index, _SlotAccess(is_store, ((place, named(sgpr)),))
