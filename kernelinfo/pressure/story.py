"""A kernel's function -> what it touches and needs, and its register pressure."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from heapq import nsmallest
from itertools import chain, pairwise
from typing import NamedTuple

from kernelinfo.kernel import Kernel
from kernelinfo.kernel.code_object import InstructionCounts, TouchedRegisters
from kernelinfo.model.calculator import Rung
from kernelinfo.pressure import nouns
from kernelinfo.pressure.calls import CalledFunctions
from kernelinfo.pressure.curve import loop_counts, tally_instructions, untallied
from kernelinfo.pressure.function import CodeLocation, LiveFunction
from kernelinfo.pressure.in_flight import BESIDE_LOOPS, OUTSIDE
from kernelinfo.pressure.kernel_code import unwritten, wait_flow
from kernelinfo.pressure.loops import Loop
from kernelinfo.pressure.places import Places, needs_of, places_of
from kernelinfo.pressure.registers import (
    Counts,
    RegisterClass,
    count,
    entry_registers,
    named,
    ranges,
    union,
    used,
)
from kernelinfo.pressure.values import FAR, bill, live_values
from kernelinfo.reading.facts import SourceLine

MOST_RANGES = 16
"""Ranges of one loop. Each of 25,374 loops of rocSPARSE has one."""
_MOST_SHARED = 1 << 12
"""Most mixes that are kept, so that loops and lines with equal ones share them."""


_Sets = tuple[Counts, Counts, tuple[str, ...], Counts, tuple[str, ...]]
"""Registers live at the header of a loop: fields of `LoopPressure` in its order."""


class KernelCode:
    """The code of a kernel, or of a device function in a file with kernels; it has instructions."""

    def __init__(
        self,
        kernel: Kernel,
        function: LiveFunction,
        callees: CalledFunctions,
        *,
        with_shares: bool = True,
    ) -> None:
        """`callees` are the functions that the code may call. `with_shares` also computes the
        shares of the needs, which takes as long as all the rest."""
        self.function = function
        self.files = kernel.target.agprs.file if kernel.target else "unified"
        self._read_kernel = kernel
        self._callees = callees
        self._body = callees.body_of(function)
        self._with_shares = with_shares
        self._tallies = tally_instructions(function.instructions)
        self._waits = wait_flow(kernel, function)
        self._sets: dict[tuple[int, int, int], _Sets] = {}
        self._mixes: dict[tuple[int, nouns.Pressure], nouns.InstructionMix] = {}
        """Results that thousands of small loops and lines share."""

    @property
    def counts(self) -> InstructionCounts:
        """The kernel's instructions by class."""
        return untallied(sum(self._tallies))[0]

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel with the registers that its code touches and needs, and its loops."""
        function, places = self.function, self._places
        needs = None
        if not isinstance(places, str):
            needs = needs_of(function, places, self.files, with_shares=self._with_shares)
        loops = loop_counts(function, self._tallies, self._in_flight)
        return self._read_kernel._replace(touched=self._touched, loops=loops, needs=needs)

    @property
    def _touched(self) -> TouchedRegisters | None:
        """The registers that the function and its callees touch; None if some of the code is
        unknown."""
        function, uses = self.function, self._callees.used(self._body)
        if uses is None:
            return None
        at_entry, never_written = entry_registers(function.entry), ranges(unwritten(function))
        return TouchedRegisters(*uses[0], *at_entry, uses[1], never_written)

    @cached_property
    def _places(self) -> Places | str:
        """The kernel's spill slots and lanes, or the reason why they are unknown."""
        return places_of(self.function, self._read_kernel.traits)

    @property
    def _in_flight(self) -> Mapping[int, tuple[nouns.InFlight, ...]]:
        """Loads in flight in each loop, by its position."""
        return self._waits.report[1]

    @cached_property
    def _pressures(self) -> dict[Counts, nouns.Pressure]:
        """Counts of live registers → the same as a `Pressure`, one object for all instructions with
        equal counts."""
        return {
            live: nouns.Pressure(live.vector(self.files), *live) for live in {*self.function.counts}
        }

    def story(
        self,
        steps: tuple[Rung, ...],
        chosen: int | None = None,
        blocks: bool = False,
        most_loops: int | None = None,
    ) -> nouns.Story:
        """The register pressure of the code, with its `blocks` if asked for.

        `steps` are those of the kernel's occupancy. `chosen` is the index of the instruction whose
        live values are wanted; None for the peak. `most_loops` is as in `measure.Look`.
        """
        function = self.function
        peak = self._peak()
        is_peak = chosen is None
        chosen = function.code[peak.at.number] if chosen is None else chosen
        values, are_all_followed = live_values(function, chosen)
        reasons = function.reasons if are_all_followed else (*function.reasons, FAR)
        places, touched = self._places, self.kernel.touched
        never_written = touched.unwritten if touched else ()
        loops = self._loops(self._highest(most_loops, function.code[peak.at.number]))
        proven = None if isinstance(places, str) else places
        curve = needs_curve = tuple(map(function.counts.__getitem__, function.code))
        if proven and proven.counts is not function.counts:
            needs_curve = tuple(map(proven.counts.__getitem__, function.code))
        named_in_text = union(
            instruction.effect.writes | instruction.effect.reads
            for instruction in function.instructions
        )
        return nouns.Story(
            files=self.files,
            code=self._mix(function.code),
            exact=not reasons,
            reasons=reasons,
            used=used(named_in_text),
            peak=peak,
            entry=ranges(function.live_in(0)),
            unwritten=never_written,
            unwritten_at=self._first_read(union(map(named, never_written))),
            at=function.location(chosen, function.loop_around(chosen)),
            live_across=values,
            calls=self._callees.needs(function, self._body, self.files),
            bill=bill([value for value in values if value.role]),
            lines=tuple(self._lines()),
            loops=tuple(loops),
            in_flight=self._in_flight.get(OUTSIDE, ()),
            in_flight_outside=self._in_flight.get(BESIDE_LOOPS, ()),
            waits=self._waits.report[0],
            waits_unknown=self._waits.unknown or None,
            loops_left_out=len(function.loops) - len(loops),
            blocks=tuple(self._blocks()) if blocks else (),
            curve=curve,
            needs=self.kernel.needs,
            needs_unknown=places if isinstance(places, str) else "",
            needs_curve=needs_curve if proven else (),
            steps=steps,
            advice=tuple(self._advice(peak, values, steps)) if is_peak else (),
            has_source=any(instruction.source for instruction in function.instructions),
            has_variables=bool(function.listing.variables),
        )

    def _pressure(self, indices: Sequence[int]) -> nouns.Pressure:
        """Most live registers at some instructions."""
        counts = set(map(self.function.counts.__getitem__, indices))
        return _most({self._pressures[live] for live in counts} or {_NO_PRESSURE})

    def _peak(self) -> nouns.Peak:
        function = self.function
        pressure = self._pressure(function.code)
        peaks = {live for live in self._pressures if live.vector(self.files) == pressure.vector}
        highest = array("I", (i for i in function.code if function.counts[i] in peaks))
        first = highest[0]
        loop = function.loop_around(first)
        label = function.label(loop.header) if loop else None
        text = function.instructions[first].text
        return nouns.Peak(pressure, function.location(first, loop), text, label, len(highest))

    def _first_read(self, registers: int) -> CodeLocation | None:
        function = self.function
        reads = (i for i in function.code if function.instructions[i].effect.reads & registers)
        first = next(reads, None)
        return None if first is None else function.location(first)

    def _mix(self, indices: Sequence[int]) -> nouns.InstructionMix:
        """Counts and peak of some instructions."""
        return _mix(self._tally(indices), self._pressure(indices))

    def _tally(self, indices: Sequence[int]) -> int:
        return sum(map(self._tallies.__getitem__, indices))

    def _lines(self) -> list[nouns.LinePressure]:
        instructions, code = self.function.instructions, self.function.code
        if not any(instructions[index].source for index in code):
            return []
        by_line: dict[SourceLine | None, array[int]] = defaultdict(partial(array, "I"))
        for index in code:
            by_line[instructions[index].source].append(index)
        lines = [
            nouns.LinePressure(line, self._share_mix(self._tally(indices), self._pressure(indices)))
            for line, indices in by_line.items()
        ]
        lines.sort(key=lambda row: (-row.code.peak.vector, -row.code.counts.instructions))
        return lines

    def _highest(self, limit: int | None, peak: int) -> Sequence[int]:
        """Positions, descending, of the `limit` loops with the highest peaks and of the loop around
        the function's peak; of all loops if `limit` is None.

        Records of 300,000 loops take 4 s and 200 MiB.
        """
        function, loops = self.function, self.function.loops
        if limit is None or limit >= len(loops):
            return range(len(loops))[::-1]
        peaks = self._loop_peaks()

        def rank(position: int) -> tuple[int, int]:
            first = function.flow.firsts[loops[position].header]
            return -peaks[position], function.number[first]

        around = function.loop_around(peak)
        highest = {*nsmallest(limit, peaks, key=rank), *([around.position] if around else [])}
        return sorted(highest, reverse=True)

    def _loop_peaks(self) -> dict[int, int]:
        """The most vector registers live in each loop, by its position."""
        function, loops = self.function, self.function.loops
        live = [
            self._pressures[counts].vector if instruction.is_code else 0
            for counts, instruction in zip(function.counts, function.instructions, strict=True)
        ]
        in_block = [max(live[first:end]) for first, end in pairwise(function.flow.firsts)]

        def most(blocks: Sequence[int]) -> int:
            return max(map(in_block.__getitem__, blocks))

        return dict(loops.gathered(range(len(loops))[::-1], most, lambda peaks: max(peaks)))

    def _loops(self, positions: Sequence[int]) -> list[nouns.LoopPressure]:
        """Pressure of the loops at these positions, which descend; in the order of the text."""
        loops = self.function.loops
        parts = loops.gathered(positions, self._part, _together)
        pressures = [self._loop(loops[position], part) for position, part in parts]
        pressures.sort(key=lambda loop: loop.at.number)
        return pressures

    def _part(self, blocks: Sequence[int]) -> _LoopPart:
        """The part of a loop that consists of some blocks."""
        function = self.function
        indices: Sequence[int] = function.code_of(blocks[0])
        if len(blocks) > 1:
            indices = [index for block in blocks for index in function.code_of(block)]
        firsts, number = function.flow.firsts, function.number
        ranges = _joined((number[firsts[inner]], number[firsts[inner + 1]]) for inner in blocks)
        reads, writes = function.touched_in(blocks)
        return _LoopPart(reads, writes, self._tally(indices), self._pressure(indices), ranges)

    def _loop(self, loop: Loop, part: _LoopPart) -> nouns.LoopPressure:
        function = self.function
        live_in, touched = function.live_in(loop.header), part.reads | part.writes
        constant, through = live_in & part.reads & ~part.writes, live_in & ~touched
        header = function.location(function.flow.firsts[loop.header], loop)

        def place(number: int) -> CodeLocation:
            return (
                header
                if number == header.number
                else function.location(function.code[number], loop)
            )

        return nouns.LoopPressure(
            function.label(loop.header),
            loop.depth,
            header,
            *self._share_sets(live_in, constant, through),
            self._share_mix(part.tally, part.peak),
            self._in_flight.get(loop.position, ()),
            tuple(nouns.CodeRange(place(begin), place(end - 1)) for begin, end in part.ranges),
        )

    def _blocks(self) -> Iterator[nouns.BlockPressure]:
        function = self.function
        names: dict[int, tuple[str, ...]] = {}
        for block, labels in enumerate(function.labels):
            live_in = function.live_in(block)
            if live_in not in names:
                names[live_in] = ranges(live_in)
            yield nouns.BlockPressure(
                labels,
                function.location(function.flow.firsts[block]),
                len(function.code_of(block)),
                tuple(function.flow.after.of(block)),
                names[live_in],
            )

    def _advice(
        self, peak: nouns.Peak, values: Sequence[nouns.LiveValues], steps: Sequence[Rung]
    ) -> Iterator[nouns.Advice]:
        code, counts = self.function.code, self.function.counts
        vgprs, agprs, _ = counts[code[peak.at.number]]
        live = Counter({"vgpr": vgprs})
        live[self._file("agpr")] += agprs
        at_most = Counter(counts[index].vector(self.files) for index in code)
        for step in steps[::-1]:
            if step.vgprs >= peak.pressure.vector:
                continue
            above = sum(number for vectors, number in at_most.items() if vectors > step.vgprs)
            excess = {file: max(number - step.vgprs, 0) for file, number in live.items()}
            fewer, idle, freed = sum(excess.values()), [], []
            for value in values:
                file = self._file(value.register_class)
                if number := min(value.total, excess.get(file, 0)):
                    excess[file] -= number
                    idle.append(value)
                    freed.append(number)
            yield nouns.Advice(
                step.vgprs, step.waves_per_simd, above, fewer, tuple(idle), tuple(freed)
            )

    def _share_sets(self, live_in: int, constant: int, through: int) -> _Sets:
        """The numbers and names of a loop's register sets; equal ones share one object."""
        key = live_in, constant, through
        if key not in self._sets:
            of_loop = count(constant), ranges(constant), count(through), ranges(through)
            self._sets[key] = count(live_in), *of_loop
        return self._sets[key]

    def _share_mix(self, tally: int, peak: nouns.Pressure) -> nouns.InstructionMix:
        """The counts and peak of a loop or line; equal ones share one object."""
        shared = self._mixes.get((tally, peak))
        if shared is None:
            shared = _mix(tally, peak)
            if len(self._mixes) < _MOST_SHARED:
                self._mixes[tally, peak] = shared
        return shared

    def _file(self, register_class: RegisterClass) -> RegisterClass:
        """The class whose register file a class of registers uses: VGPRs for AGPRs in a unified
        file."""
        return "vgpr" if register_class == "agpr" and self.files == "unified" else register_class


_NO_PRESSURE = nouns.Pressure(0, 0, 0, 0)


def _most(pressures: Collection[nouns.Pressure]) -> nouns.Pressure:
    """For each number, its maximum over these pressures."""
    if len(pressures) == 1:
        return next(iter(pressures))
    return nouns.Pressure(*map(max, zip(*pressures, strict=True)))


class _LoopPart(NamedTuple):
    """A part of a loop."""

    reads: int  # register set, as `writes`
    writes: int
    tally: int
    peak: nouns.Pressure
    ranges: _Ranges


_Ranges = Sequence[tuple[int, int]]
"""Begin and end of runs of instructions, by `CodeLocation.number`, in the order of the text."""


def _together(parts: Sequence[_LoopPart]) -> _LoopPart:
    """The parts of a loop, merged into one."""
    ranges = _joined(chain.from_iterable(part.ranges for part in parts))
    return _LoopPart(
        union(part.reads for part in parts),
        union(part.writes for part in parts),
        sum(part.tally for part in parts),
        _most({part.peak for part in parts}),
        ranges if len(ranges) <= MOST_RANGES else [(ranges[0][0], ranges[-1][1])],
    )


def _joined(ranges: Iterable[tuple[int, int]]) -> _Ranges:
    """The ranges in order; adjacent ones are joined, empty ones left out."""
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        elif begin < end:
            joined.append((begin, end))
    return joined


def _mix(tally: int, peak: nouns.Pressure) -> nouns.InstructionMix:
    counts, spill_stores, spill_reloads, _, size = untallied(tally)
    return nouns.InstructionMix(counts, peak, spill_stores, spill_reloads, size)
