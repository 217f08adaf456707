"""Register pressure of a function: peak, live values, lines, loops and a curve."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from kernelinfo.kernel.instruction_counts import total
from kernelinfo.model.calculator import VgprStep
from kernelinfo.pressure.classes import InstructionClass
from kernelinfo.pressure.counting import class_of, counted
from kernelinfo.pressure.function import TANGLED, LiveFunction
from kernelinfo.pressure.loops import Loop
from kernelinfo.pressure.nouns import (
    Advice,
    BlockPressure,
    CodeLocation,
    InstructionMix,
    LinePressure,
    LiveValues,
    LoopPressure,
    Peak,
    Pressure,
    Story,
)
from kernelinfo.pressure.registers import (
    NO_REGISTERS,
    Counts,
    count,
    each,
    ranges,
    union,
    used,
    whole,
)
from kernelinfo.pressure.values import live_values
from kernelinfo.reading.facts import SourceLine

_T = TypeVar("_T")
MOST_POINTS = 2000  # of a curve; screens have fewer columns


class Storyteller(NamedTuple):
    """Computes the register pressure of a function that has instructions."""

    function: LiveFunction
    files: str  # the target's `agprs.file`
    steps: tuple[VgprStep, ...]  # of its occupancy

    def story(self, at: int | None = None, blocks: bool = False) -> Story:
        """The story of the function, with its `blocks` if asked for.

        `at` is the index of the instruction whose live values are wanted; None for the peak.
        """
        function = self.function
        peak = self._peak()
        is_peak = at is None
        at = function.code[peak.at.number] if at is None else at
        values, are_all_followed = live_values(function, at)
        tangled = () if are_all_followed else (TANGLED,)
        reasons = tuple(dict.fromkeys((*function.reasons, *tangled)))
        named = union(one.effect.writes | one.effect.reads for one in function.instructions)
        return Story(
            files=self.files,
            code=self._mix(function.code),
            exact=not reasons,
            reasons=reasons,
            used=used(named),
            peak=peak,
            entry=ranges(function.live_in(0)),
            at=function.location(at, function.loop_around(at)),
            live_across=values,
            lines=tuple(self._lines()),
            loops=tuple(self._loops()),
            blocks=tuple(self._blocks()) if blocks else (),
            curve=tuple(function.counts[index] for index in function.code),
            steps=self.steps,
            advice=tuple(self._advice(peak, values)) if is_peak else (),
            has_source=any(one.source for one in function.instructions),
            has_variables=bool(function.listing.variables),
        )

    def _vector(self, index: int) -> int:
        return self.function.counts[index].vector(self.files)

    def _pressure(self, indices: Sequence[int]) -> Pressure:
        counts = {self.function.counts[index] for index in indices} or {NO_REGISTERS}
        most = max(one.vector(self.files) for one in counts)
        highest = map(max, zip(*counts, strict=True)) if len(counts) > 1 else (*counts,)[0]
        return Pressure(most, *highest)

    def _peak(self) -> Peak:
        function = self.function
        pressure = self._pressure(function.code)
        most = {one for one in {*function.counts} if one.vector(self.files) == pressure.vector}
        highest = [index for index in function.code if function.counts[index] in most]
        first = highest[0]
        loop = function.loop_around(first)
        label = function.label(loop.header) if loop else None
        text = function.instructions[first].text
        return Peak(pressure, function.location(first, loop), text, label, len(highest))

    def _mix(self, indices: Sequence[int]) -> InstructionMix:
        """Counts and peak of some instructions."""
        code = [self.function.instructions[index] for index in indices]
        spills = [one.spill for one in code]
        return InstructionMix(
            counted(code), self._pressure(indices), spills.count("Spill"), spills.count("Reload")
        )

    def _lines(self) -> list[LinePressure]:
        by_line: dict[SourceLine | None, list[int]] = defaultdict(list)
        for index in self.function.code:
            by_line[self.function.instructions[index].source].append(index)
        if by_line.keys() == {None}:
            return []
        once = _Once()
        found = [LinePressure(line, once(self._mix(indices))) for line, indices in by_line.items()]
        return sorted(found, key=lambda one: (-one.code.peak.vector, -one.code.counts.instructions))

    def _loops(self) -> list[LoopPressure]:
        """Pressure of every loop, in the order of the text."""
        loops, once = self.function.loops, _Once()
        parts = loops.gathered(self._part, _together)
        found = [self._loop(loops[position], part, once) for position, part in parts]
        return sorted(found, key=lambda loop: loop.at.number)

    def _part(self, position: int) -> _LoopPart:
        """The part of a loop that is in no loop inside it."""
        blocks = self.function.loops.blocks.of(position)
        indices = [index for block in blocks for index in self.function.code_of(block)]
        last = self.function.number[max(indices, default=0)]
        return _LoopPart(*self.function.touched_in(blocks), self._mix(indices), last)

    def _loop(self, loop: Loop, part: _LoopPart, once: _Once) -> LoopPressure:
        function = self.function
        live_in, touched = function.live_in(loop.header), part.reads | part.writes
        constant, through = live_in & part.reads & ~part.writes, live_in & ~touched
        return LoopPressure(
            label=function.label(loop.header),
            depth=loop.depth,
            at=function.location(function.flow.firsts[loop.header], loop),
            live_in=once(count(live_in)),
            constant=once(count(constant)),
            constant_registers=once(ranges(constant)),
            through=once(count(through)),
            through_registers=once(ranges(through)),
            code=once(part.code),
            last=part.last,
        )

    def _blocks(self) -> Iterator[BlockPressure]:
        function = self.function
        for block, labels in enumerate(function.labels):
            yield BlockPressure(
                labels,
                function.location(function.flow.firsts[block]),
                len(function.code_of(block)),
                tuple(function.graph.after.of(block)),
                ranges(function.live_in(block)),
            )

    def _advice(self, peak: Peak, values: Sequence[LiveValues]) -> Iterator[Advice]:
        vectors = [value for value in values if value.register_class != "sgpr"]
        for step in self.steps[::-1]:
            if step.at_most >= peak.pressure.vector:
                continue
            above = sum(self._vector(index) > step.at_most for index in self.function.code)
            idle, excess = [], peak.pressure.vector - step.at_most
            for value in vectors:
                if excess <= 0:
                    break
                idle.append(value)
                excess -= value.total
            yield Advice(step.at_most, step.waves_per_simd, above, tuple(idle))


class _Once:
    """Keeps one object for equal values. Thousands of small loops and lines are alike."""

    def __init__(self) -> None:
        self._known: dict[type, dict[Any, Any]] = defaultdict(dict)

    def __call__(self, value: _T) -> _T:
        found: _T = self._known[type(value)].setdefault(value, value)
        return found


class _LoopPart(NamedTuple):
    """A part of a loop."""

    reads: int  # register set, as `writes`
    writes: int
    code: InstructionMix
    last: int  # `CodeLocation.number` of its last instruction in the text


def _together(one: _LoopPart, other: _LoopPart) -> _LoopPart:
    peak = Pressure(*map(max, one.code.peak, other.code.peak))
    code = InstructionMix(
        total((one.code.counts, other.code.counts)),
        one.code.peak if peak == one.code.peak else peak,
        one.code.spill_stores + other.code.spill_stores,
        one.code.spill_reloads + other.code.spill_reloads,
    )
    reads, writes = one.reads | other.reads, one.writes | other.writes
    return _LoopPart(reads, writes, code, max(one.last, other.last))


class PressurePoint(NamedTuple):
    """A point of the curve.

    If several instructions share it, the one with most vector registers.
    """

    at: CodeLocation
    counts: Counts
    instruction: str
    instruction_class: InstructionClass
    spills: int  # spill stores and reloads that share the point


class LiveSpan(NamedTuple):
    """Registers that are live from one point to another, and at neither point around that."""

    first: int
    last: int
    registers: tuple[str, ...]


class Curve(NamedTuple):
    """Points in the order of the text, and the spans along them."""

    points: tuple[PressurePoint, ...]
    spans: tuple[LiveSpan, ...]  # by index of point


def curve(function: LiveFunction, most: int = MOST_POINTS) -> Curve:
    """The curve of a function, of at most so many points."""
    code, counts = function.code, function.counts
    size = -(-len(code) // most) or 1
    shares = [code[i : i + size] for i in range(0, len(code), size)]
    highest = [max(share, key=lambda index: sum(counts[index][:2])) for share in shares]
    points = tuple(_point(function, *both) for both in zip(shares, highest, strict=True))
    return Curve(points, _spans(function, highest))


def _point(function: LiveFunction, share: Sequence[int], index: int) -> PressurePoint:
    spills = sum(function.instructions[other].spill is not None for other in share)
    one = function.instructions[index]
    return PressurePoint(
        function.location(index), function.counts[index], one.text, class_of(one), spills
    )


def _spans(function: LiveFunction, indices: Sequence[int]) -> tuple[LiveSpan, ...]:
    """Spans of registers along these instructions. An instruction's position is its point."""
    found: dict[tuple[int, int], int] = defaultdict(int)
    ended: dict[int, int] = {}
    """Register → last point of its span."""
    live, point = 0, len(indices)
    for now in _live_backwards(function, indices):
        for register in each(live & ~now):
            found[point, ended.pop(register)] |= register
        point -= 1
        ended.update(dict.fromkeys(each(now & ~live), point))
        live = now
    for register in each(live):
        found[point, ended.pop(register)] |= register
    return tuple(LiveSpan(*ends, ranges(registers)) for ends, registers in sorted(found.items()))


def _live_backwards(function: LiveFunction, indices: Sequence[int]) -> Iterator[int]:
    """Registers live around each of some instructions, last one first; none if unreachable."""
    for block, group in groupby(reversed(indices), function.block_of):
        wanted = set(group)
        if function.graph.is_reached(block):
            for index, *live in function.live(block):
                if index in wanted:
                    yield whole(union(live))
        else:
            yield from (0 for _ in wanted)
