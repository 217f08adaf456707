"""What the live registers of a function come to: peak, values there, lines, loops, a curve."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from kernelinfo.light_typing import NamedTuple
from kernelinfo.pressure.flow import Loop
from kernelinfo.pressure.function import Function
from kernelinfo.pressure.nouns import (
    Advice,
    BlockPressure,
    Instructions,
    LinePressure,
    LiveValues,
    Location,
    LoopPressure,
    Peak,
    Pressure,
    Step,
    Story,
)
from kernelinfo.pressure.registers import Counts, count, each, ranges, union, used, whole
from kernelinfo.pressure.values import live_values
from kernelinfo.reading.facts import SourceLine

_NOTHING = Counts(0, 0, 0)
MOST_POINTS = 2000  # of a curve, more than a screen has columns


class Storyteller:
    """Everything that is worked out of one function."""

    def __init__(self, function: Function, files: str, steps: Sequence[Step]) -> None:
        """`files` is the target's `agprs.file`; `steps` are those of its occupancy."""
        self._function = function
        self._code = function.code
        self._files = files
        self._targets = tuple(steps)
        self._counts = [live.counts if live else _NOTHING for live in function.live]

    def story(self, at: int | None = None) -> Story:
        """The story of the function; live values at the step `at` instead of the peak."""
        function = self._function
        peak = self._peak()
        advised = at is None and peak is not None
        if at is None and peak is not None:
            at = function.code[peak.at.number]
        values = () if at is None else live_values(function, at)
        named = union(step.effect.writes | step.effect.reads for step in function.steps)
        return Story(
            files=self._files,
            instructions=len(self._code),
            exact=not function.reasons,
            reasons=function.reasons,
            used=used(named),
            peak=peak,
            entry=ranges(function.live_in.get(0, 0)),
            at=None if at is None else function.location(at, function.loop_around(at)),
            live_across=values,
            lines=tuple(self._lines()),
            loops=tuple(self._loop(loop) for loop in function.loops),
            blocks=tuple(self._blocks()),
            curve=tuple(self._counts[step] for step in self._code),
            steps=self._targets,
            advice=tuple(self._advice(peak, values)) if peak and advised else (),
            has_source=any(step.source for step in function.steps),
            has_variables=bool(function.listing.variables),
        )

    def _vector(self, counts: Counts) -> int:
        if self._files == "unified":
            return counts.vgprs + counts.agprs
        return max(counts.vgprs, counts.agprs)

    def _pressure(self, steps: Iterable[int]) -> Pressure:
        found = [self._counts[step] for step in steps] or [_NOTHING]
        return Pressure(max(map(self._vector, found)), *map(max, zip(*found, strict=True)))

    def _peak(self) -> Peak | None:
        if not self._code:
            return None
        pressure = self._pressure(self._code)
        highest = [s for s in self._code if self._vector(self._counts[s]) == pressure.vector]
        first = highest[0]
        loop = self._function.loop_around(first)
        label = self._function.labels.get(loop.header) if loop else None
        text = self._function.steps[first].text
        return Peak(pressure, self._function.location(first, loop), text, label, len(highest))

    def _instructions(self, steps: Sequence[int]) -> Instructions:
        """Counts of some instructions."""
        code = [self._function.steps[step] for step in steps]
        kinds = Counter(step.effect.kind for step in code if not step.spill)
        return Instructions(
            len(code),
            self._pressure(steps),
            sum(step.spill == "Spill" for step in code),
            sum(step.spill == "Reload" for step in code),
            *(kinds[kind] for kind in ("copy", "matrix", "lds", "memory", "scalar_memory")),
        )

    def _lines(self) -> list[LinePressure]:
        by_line: dict[SourceLine, list[int]] = defaultdict(list)
        for step in self._code:
            if source := self._function.steps[step].source:
                by_line[source].append(step)
        found = [LinePressure(line, self._instructions(steps)) for line, steps in by_line.items()]
        return sorted(found, key=lambda one: (-one.code.peak.vector, -one.code.instructions))

    def _loop(self, loop: Loop) -> LoopPressure:
        function = self._function
        steps = [step for number in sorted(loop.blocks) for step in function.code_of(number)]
        live_in = function.live_in[loop.header]
        reads, writes = function.touched_in(loop)
        constant, through = live_in & reads & ~writes, live_in & ~reads & ~writes
        return LoopPressure(
            label=function.labels.get(loop.header),
            depth=loop.depth,
            at=function.location(function.blocks[loop.header].first, loop),
            live_in=count(live_in),
            constant=count(constant),
            constant_registers=ranges(constant),
            through=count(through),
            through_registers=ranges(through),
            code=self._instructions(steps),
            last=function.number[steps[-1]] if steps else 0,
        )

    def _blocks(self) -> Iterator[BlockPressure]:
        function = self._function
        labels: dict[int, list[str]] = defaultdict(list)
        for label, step in function.listing.labels.items():
            labels[step].append(label)
        for number, block in enumerate(function.blocks):
            yield BlockPressure(
                tuple(labels[block.first]),
                function.location(block.first),
                len(list(function.code_of(number))),
                block.successors,
                ranges(function.live_in.get(number, 0)),
            )

    def _advice(self, peak: Peak, values: Sequence[LiveValues]) -> Iterator[Advice]:
        vectors = [value for value in values if value.register_class != "sgpr"]
        for step in self._targets[::-1]:
            if step.at_most >= peak.pressure.vector:
                continue
            above = sum(self._vector(self._counts[i]) > step.at_most for i in self._code)
            idle, excess = [], peak.pressure.vector - step.at_most
            for value in vectors:
                if excess <= 0:
                    break
                idle.append(value)
                excess -= value.total
            yield Advice(step.at_most, step.waves_per_simd, above, tuple(idle))


class Point(NamedTuple):
    """One instruction; of several that share a point the one with most vector registers."""

    at: Location
    counts: Counts
    instruction: str
    spills: int  # spill stores and reloads that share the point


class Span(NamedTuple):
    """Registers that are live at all of some points, and neither before nor behind them."""

    first: int
    last: int
    registers: tuple[str, ...]


class Curve(NamedTuple):
    """Points in the order of the text."""

    points: tuple[Point, ...]
    spans: tuple[Span, ...]  # along the points


def curve(function: Function) -> Curve:
    """At most `MOST_POINTS` points, each with the highest instruction that it stands for."""
    code = function.code
    size = -(-len(code) // MOST_POINTS) or 1
    shares = [code[i : i + size] for i in range(0, len(code), size)]
    highest = [max(share, key=lambda step: _height(function, step)) for share in shares]
    points = tuple(_point(function, *both) for both in zip(shares, highest, strict=True))
    return Curve(points, _spans(function, highest))


def _height(function: Function, step: int) -> int:
    live = function.live[step]
    return live.counts.vgprs + live.counts.agprs if live else 0


def _point(function: Function, share: Sequence[int], step: int) -> Point:
    live = function.live[step]
    counts = live.counts if live else _NOTHING
    spills = sum(function.steps[other].spill is not None for other in share)
    return Point(function.location(step), counts, function.steps[step].text, spills)


def _spans(function: Function, steps: Iterable[int]) -> tuple[Span, ...]:
    """The spans along these steps, which are numbered from 0, in the order of the text."""
    found: dict[tuple[int, int], int] = defaultdict(int)
    begun: dict[int, int] = {}
    live = point = 0
    for point, step in enumerate(steps):
        around = function.live[step]
        now = whole(around.before | around.after) if around else 0
        for register in each(live & ~now):
            found[begun.pop(register), point - 1] |= register
        begun.update(dict.fromkeys(each(now & ~live), point))
        live = now
    for register in each(live):
        found[begun.pop(register), point] |= register
    return tuple(Span(*ends, ranges(registers)) for ends, registers in sorted(found.items()))
