"""What each wait of a function waits for: a forward flow analysis of the wait counters.

The state of a block is, for each queue of operations, their ages: the operations that may be the
youngest, the second youngest and so on, each with the fewest instructions since its issue. Source:
LLVM SIInsertWaitcnts.cpp, whose score brackets say the same of registers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import heappop, heappush
from typing import get_args

from kernelinfo.hardware.counters import WaitCounter
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.loops import Loop
from kernelinfo.pressure.memory import (
    ANY_ORDER,
    Memory,
    Queue,
    is_load,
    kinds_of,
    loaded_bytes,
    memory_of,
    queues_of,
    waits_of,
)
from kernelinfo.pressure.nouns import InFlight, LoopPressure, Story, Wait
from kernelinfo.pressure.rules import CALLS, DIRECT_CALLS

_QUIET = {"vector", "matrix", "scalar", "copy", "barrier"}
"""Classes whose instructions neither add to a counter nor wait for one, except `v_interp`."""
_MOST_VISITS = 8  # of each block, on average; compiled code needs 2
_MOST_BLOCKS = 1 << 15  # of compiled code, the largest function has some thousands
_MOST_TOGETHER = 1024  # loads that may have one age, on different ways or in any order
_ONE = 1 << 40
"""One load in a sum of loads and their bytes."""

MANY_BLOCKS = f"more than {_MOST_BLOCKS} blocks: what is in flight was not followed through them"
TANGLED = "tangled branches: what is in flight was not followed through every way"
UNREAD_WAIT = "a wait whose count is no number"
UNKNOWN_CALL = "calls of functions that may return with loads in flight"
NO_COUNTERS = "no target whose counters are known"

_Change = tuple[int, int, Sequence[Queue], Sequence[tuple[int, int]]]
"""An instruction that adds to counters or waits for them: its index, the instructions of its block
before it, the queues that it is in, and the counters that it waits for, each with how many of its
operations may stay. A call has no queues and no counters."""
_Ages = dict[Queue, list[dict[int, int]]]
"""Queue → by age, youngest first: index of each load → when it was issued, in instructions of the
block, negative before it. In a queue whose operations complete in any order, all loads have one
age."""
_Most = dict[tuple[Queue, Memory], list[int]]
"""Queue and memory → the most loads among the youngest 0, 1, 2 … operations of the queue, with
their bytes (see `_ONE`); the last number also holds for more operations. Only for queues whose
operations complete in order."""
Flight = tuple[_Ages, _Most]
_Completed = dict[int, int]
"""Index of each load that a wait completes → fewest instructions between the two."""
_Gap = tuple[int, int, int]
"""Instructions between a load and a wait for it, the wait's index and the load's."""
_NOWHERE: _Gap = 1 << 40, -1, -1
_FAR = 1 << 60
OUTSIDE = -1
"""Position of the whole function, as of a loop around all loops."""
BESIDE_LOOPS = -2
"""Position of the code outside all loops, and of waits where no loop holds both wait and load."""
_EVERY: tuple[Memory, ...] = get_args(Memory)


class WaitFlow:
    """The loads in flight at each instruction of a function."""

    def __init__(
        self, function: LiveFunction, counters: Sequence[WaitCounter], trusts_calls: bool
    ) -> None:
        """With `trusts_calls`, callees are assumed to wait for all loads when they begin and to
        have none in flight when they return, as functions compiled by LLVM do."""
        self._function = function
        self._counters = counters
        self.queues: dict[int, tuple[Queue, ...]] = {}
        """Index of each load → the queues in which it is until it is complete."""
        self._loads: dict[int, tuple[Memory, int]] = {}
        """Index of each load → what it loads from, and `_ONE` plus its bytes."""
        self.waiting: set[int] = set()
        """Indices of the waits."""
        self.steps: list[list[_Change]] = []
        """Steps of each block."""
        self.begins: dict[int, Flight] = {}
        """State at the begin of each block that is reached."""
        self.unknown = self._doubt() or self._read(trusts_calls) or self._solve()
        """Reason why nothing is known; empty if all is."""

    def _doubt(self) -> str:
        """The reason why loads are not followed: too many blocks, no known counters, or code or
        flow that is not known; empty without one."""
        function = self._function
        if function.size > _MOST_BLOCKS:
            return MANY_BLOCKS
        if not self._counters:
            return NO_COUNTERS
        return next(iter((*function.listing.unread, *function.flow_reasons)), "")

    def _read(self, trusts_calls: bool) -> str:
        """Record what each instruction adds to counters and waits for. Returns a reason if that is
        unknown."""
        function, by_kind, unknown = self._function, queues_of(self._counters), ""
        self.steps = [[] for _ in range(function.size)]
        by_mnemonic: dict[tuple[str, bool, bool], tuple[Queue, ...]] = {}
        firsts, number, block_of = function.flow.firsts, function.number, function.flow.block_of
        for index in function.code:
            instruction = function.instructions[index]
            effect = instruction.effect
            mnemonic = effect.mnemonic
            if effect.instruction_class in _QUIET and not mnemonic.startswith(
                ("v_interp", "s_get")
            ):
                continue
            block = block_of[index]
            clock = number[index] - number[firsts[block]]
            if mnemonic in CALLS or mnemonic in DIRECT_CALLS:
                unknown = unknown or ("" if trusts_calls else UNKNOWN_CALL)
                self.steps[block].append((index, clock, (), ()))
                continue
            waits = waits_of(instruction, self._counters)
            if waits is None:
                unknown = unknown or UNREAD_WAIT
            key = mnemonic, bool(effect.writes), instruction.text.endswith(" gds")
            if (queues := by_mnemonic.get(key)) is None:
                kinds = kinds_of(*key)
                queues = tuple(queue for kind in kinds for queue in by_kind.get(kind, ()))
                by_mnemonic[key] = queues
            if queues and is_load(effect):
                self.queues[index] = queues
                self._loads[index] = memory_of(instruction), _ONE + loaded_bytes(effect)
            if waits:
                self.waiting.add(index)
            if queues or waits:
                self.steps[block].append((index, clock, queues, waits or ()))
        return unknown

    def _solve(self) -> str:
        """Find the state at the beginning of each block, with about `_MOST_VISITS` visits a block
        at most. Returns a reason if that does not suffice or too many loads share one age, else an
        empty text."""
        flow = self._function.wave_flow
        blocks = flow.order[::-1]
        rank = {block: position for position, block in enumerate(blocks)}
        self.begins[blocks[0]] = {}, {}
        pending, is_pending = [0], bytearray(len(blocks))
        left = _MOST_VISITS * len(blocks) + 2000
        while pending:
            position = heappop(pending)
            is_pending[position] = 0
            end = self._end(blocks[position])
            if any(len(age) > _MOST_TOGETHER for ages in end[0].values() for age in ages):
                return TANGLED
            for way in flow.after.of(blocks[position]):
                if self._merge(way, end) and not is_pending[rank[way]]:
                    is_pending[rank[way]] = 1
                    heappush(pending, rank[way])
            left -= 1
            if left < 0:
                return TANGLED
        return ""

    def _merge(self, block: int, end: Flight) -> bool:
        """Merge the state at the end of a predecessor into the state at the beginning of a block.
        True if that changed."""
        changed = block not in self.begins
        ages, most = self.begins.setdefault(block, ({}, {}))
        for queue, new_ages in end[0].items():
            mine = ages.setdefault(queue, [])
            mine += ({} for _ in new_ages[len(mine) :])
            for old, new in zip(mine, new_ages, strict=False):
                for load, issued in new.items():
                    if old.get(load, -_FAR) < issued:
                        old[load] = issued
                        changed = True
        for key, numbers in end[1].items():
            before = most.get(key, [0])
            if before != numbers:
                size = max(len(before), len(numbers))
                joined = [*map(max, _extended(before, size), _extended(numbers, size))]
                if joined != before:
                    most[key] = joined
                    changed = True
        return changed

    def _end(self, block: int) -> Flight:
        """The state at the end of a block as the following blocks need it: with ages counted from
        that end."""
        function = self._function
        state = self._copy(self.begins[block])
        for step in self.steps[block]:
            self._apply(step, state)
        firsts, number = function.flow.firsts, function.number
        length = number[firsts[block + 1]] - number[firsts[block]]
        ages = {
            queue: [{load: issued - length for load, issued in age.items()} for age in each]
            for queue, each in state[0].items()
        }
        return ages, state[1]

    def _copy(self, state: Flight) -> Flight:
        return {queue: [{**age} for age in ages] for queue, ages in state[0].items()}, {**state[1]}

    def walk(self, block: int) -> Iterator[tuple[int, _Completed, Flight]]:
        """For each instruction of a reachable block that adds to counters or waits: its index, the
        loads that it completes, and the state after it."""
        state = self._copy(self.begins[block])
        for step in self.steps[block]:
            yield step[0], self._apply(step, state), state

    def _apply(self, step: _Change, state: Flight) -> _Completed:
        """Apply an instruction to a state. Returns the loads that it completes."""
        index, clock, queues, waits = step
        ages, most = state
        completed: _Completed = {}
        for counter, stays in waits:
            for queue in [queue for queue in ages if queue[0] == counter]:
                if not stays or queue[1] != ANY_ORDER:
                    for age in ages[queue][stays:]:
                        for load, issued in age.items():
                            distance = clock - issued - 1
                            if self.queues[load][0] == queue:
                                completed[load] = min(completed.get(load, distance), distance)
                    _shorten(ages, queue, stays)
            for key in [key for key in most if key[0][0] == counter]:
                most[key] = most[key][: stays + 1]
                if not stays:
                    del most[key]
        if not queues:
            if not waits:  # a call
                ages.clear()
                most.clear()
            return completed
        memory, number = self._loads.get(index, (None, 0))
        for queue in queues:
            self._issue(queue, index if memory else None, clock, ages)
        if memory and queues[0][1] != ANY_ORDER:
            most.setdefault((queues[0], memory), [0])
        for key in [key for key in most if key[0] in queues]:
            added = number if key == (queues[0], memory) else 0
            most[key] = self._aged(key[0], [0, *(before + added for before in most[key])])
        return completed

    def _issue(self, queue: Queue, load: int | None, clock: int, ages: _Ages) -> None:
        """Add an operation to a queue. If it is a load, earlier loads of the same queues whose
        registers it overwrites are no longer waited for."""
        if queue[1] == ANY_ORDER:
            if load is not None:
                ages.setdefault(queue, [{}])[0][load] = clock
            return
        of_queue = ages.setdefault(queue, [])
        if load is not None and (writes := self._writes(load)):
            for age in of_queue:
                for other in [other for other in age if self._writes(other)]:
                    if (
                        not self._writes(other) & ~writes
                        and self.queues[other] == self.queues[load]
                    ):
                        del age[other]
        of_queue.insert(0, {} if load is None else {load: clock})
        _shorten(ages, queue, self._counters[queue[0]].most)

    def _writes(self, index: int) -> int:
        return self._function.instructions[index].effect.writes

    def _aged(self, queue: Queue, numbers: list[int]) -> list[int]:
        """`numbers`, an entry of `_Most`, cut to what the queue's counter can represent; of equal
        numbers at the end, only the first is kept."""
        end = min(len(numbers), self._counters[queue[0]].most + 1)
        while end > 1 and numbers[end - 1] == numbers[end - 2]:
            end -= 1
        return numbers[:end]

    @cached_property
    def report(self) -> tuple[tuple[Wait, ...], Mapping[int, tuple[InFlight, ...]]]:
        """The waits in the order of the text, and the loads in flight by loop position: `OUTSIDE`
        is the whole function, `BESIDE_LOOPS` the code outside all loops. Empty if they are
        unknown."""
        if self.unknown:
            return (), {}
        loops = self._function.loops
        waits: list[Wait] = []
        most: dict[tuple[int, Memory], int] = defaultdict(int)
        nearest: dict[tuple[int, Memory], _Gap] = defaultdict(lambda: _NOWHERE)
        counts: dict[tuple[int, Memory], int] = defaultdict(int)
        loading = set[tuple[int, Memory]]()
        for block in sorted(self.begins):
            loop = loops.around(block)
            inside = loop.position if loop else OUTSIDE
            self._note(inside, self.begins[block], most)
            following = [*self.steps[block][1:], None]
            for step, (index, completed, flight) in zip(following, self.walk(block), strict=False):
                if step is None or not step[2]:  # most are in flight before a wait
                    self._note(inside, flight, most)
                if index in self._loads:
                    loading.add((inside, self._loads[index][0]))
                if index not in self.waiting:
                    continue
                waits.append(self._wait(index, completed, flight))
                for memory in {self._loads[load][0] for load in completed}:
                    counts[inside, memory] += 1
                apart = [load for load in completed if not self._around_both(loop, load)]
                for memory in {self._loads[load][0] for load in apart}:
                    counts[BESIDE_LOOPS, memory] += 1
                for load, distance in completed.items():
                    around = self._around_both(loop, load)
                    key = around.position if around else OUTSIDE, self._loads[load][0]
                    nearest[key] = min(nearest[key], (distance, index, load))
        rows: dict[int, list[InFlight]] = defaultdict(list)
        for memory in [memory for memory in _EVERY if (OUTSIDE, memory) in loading]:
            key, number = (OUTSIDE, memory), counts[BESIDE_LOOPS, memory]
            rows[BESIDE_LOOPS].append(self._row(memory, most[key], number, nearest[key]))
        for position in reversed(range(len(loops))):
            parent = loops[position].parent
            outer = OUTSIDE if parent is None else parent
            for memory in _EVERY:
                key, around_it = (position, memory), (outer, memory)
                if key in loading:
                    loading.add(around_it)
                if key in most:
                    most[around_it] = max(most[around_it], most[key])
                if key in counts:
                    counts[around_it] += counts[key]
                if key in nearest:
                    nearest[around_it] = min(nearest[around_it], nearest[key])
        for key in loading:
            rows[key[0]].append(self._row(key[1], most[key], counts[key], nearest[key]))
        order = _EVERY.index
        return tuple(waits), {
            position: tuple(sorted(of_loop, key=lambda row: order(row.memory)))
            for position, of_loop in rows.items()
        }

    def _in_flight(self, flight: Flight) -> dict[Memory, int]:
        """(most loads in flight) × `_ONE` plus their bytes, for each memory. Loads that complete in
        any order all count as in flight."""
        ages, most = flight
        loads: dict[Memory, int] = defaultdict(int)
        for (_, memory), numbers in most.items():
            if numbers[-1]:
                loads[memory] += numbers[-1]
        for queue, of_queue in ages.items():
            for load in of_queue[0] if queue[1] == ANY_ORDER else ():
                if self.queues[load][0] == queue:
                    memory, number = self._loads[load]
                    loads[memory] += number
        return loads

    def _note(self, loop: int, flight: Flight, most: dict[tuple[int, Memory], int]) -> None:
        """Record the loads in flight at an instruction of a loop if there are more than recorded so
        far."""
        for memory, number in self._in_flight(flight).items():
            if number > most.get((loop, memory), 0):
                most[loop, memory] = number

    def _around_both(self, loop: Loop | None, load: int) -> Loop | None:
        """The innermost loop that contains a load and is `loop` or contains it; None without
        one."""
        function = self._function
        block = function.block_of(load)
        for around in function.loops_around(loop):
            if function.loops.holds(around, block):
                return around
        return None

    def _wait(self, index: int, completed: _Completed, flight: Flight) -> Wait:
        function = self._function
        loads = sorted(completed.items(), key=lambda item: (item[1], item[0]))
        in_flight = self._in_flight(flight)
        return Wait(
            function.location(index),
            function.instructions[index].text,
            tuple((function.location(load), distance) for load, distance in loads),
            tuple(
                (memory, *divmod(in_flight[memory], _ONE))
                for memory in _EVERY
                if memory in in_flight
            ),
        )

    def _row(self, memory: Memory, number: int, waits: int, place: _Gap) -> InFlight:
        function, (distance, wait, load) = self._function, place
        loads, size = divmod(number, _ONE)
        if place == _NOWHERE:
            return InFlight(memory, loads, size, waits, None, None, None)
        locations = function.location(wait), function.location(load)
        return InFlight(memory, loads, size, waits, distance, *locations)


def _shorten(ages: _Ages, queue: Queue, size: int) -> None:
    """Keep the `size` youngest ages of a queue, without trailing ones that have no load."""
    of_queue = ages[queue]
    del of_queue[size:]
    while of_queue and not of_queue[-1]:
        of_queue.pop()
    if not of_queue:
        del ages[queue]


def _extended(numbers: list[int], size: int) -> list[int]:
    return numbers + numbers[-1:] * (size - len(numbers))


FAR: tuple[Memory, ...] = ("global", "FLAT")
"""Memories behind the caches, whose latency loads in flight hide."""


def far(rows: Iterable[InFlight]) -> tuple[int | None, int | None]:
    """(most loads in flight from far memory, fewest instructions between such a load and the wait
    for it); each is None if there is none."""
    loads = [row.loads for row in rows if row.memory in FAR]
    distances = [row.distance for row in rows if row.memory in FAR and row.distance is not None]
    return max(loads, default=None), min(distances, default=None)


def soonest_outside(story: Story) -> InFlight | None:
    """Among the loads in flight outside all loops, the row with the fewest instructions between a
    load and its wait. Scalar loads, such as those of arguments, are left out. None if no wait
    completes a load that is not scalar."""
    rows = [row for row in story.in_flight_outside if row.memory != "scalar"]
    waited = [row for row in rows if row.distance is not None]
    return min(waited, key=lambda row: row.distance or 0, default=None)


def tightest(story: Story) -> tuple[LoopPressure | None, InFlight] | None:
    """(loop, loads in flight in it) of the loop with the fewest instructions between a load from
    far memory and a wait for it; of several, an innermost one.

    For code without loops the loop is None and the loads are those of the whole function. None
    without such a load and wait.
    """
    rows: list[tuple[LoopPressure | None, InFlight]]
    inner_first = sorted(story.loops, key=lambda loop: -loop.depth)
    rows = [(loop, row) for loop in inner_first for row in loop.in_flight]
    if not story.loops:
        rows = [(None, row) for row in story.in_flight]
    waited = [pair for pair in rows if pair[1].memory in FAR and pair[1].distance is not None]
    return min(waited, key=lambda pair: pair[1].distance or 0, default=None)
