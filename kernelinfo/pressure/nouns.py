"""Records of one function's register pressure, as renderers print them."""

from __future__ import annotations

from typing import Literal, NamedTuple

from kernelinfo.kernel.instruction_counts import InstructionCounts
from kernelinfo.model.calculator import VgprStep
from kernelinfo.pressure.registers import Counts, RegisterClass
from kernelinfo.reading.facts import SourceLine

Region = Literal["entry", "before the loop", "in the loop", "after the loop", "elsewhere"]


class CodeLocation(NamedTuple):
    """Position of an instruction in its function, its file and its source."""

    number: int  # 0-based, among the instructions of its function
    line: int | None  # 1-based, in the assembly text; None in a code object
    address: int | None  # bytes, as symbols of the code object count; None in assembly
    source: SourceLine | None
    region: Region  # relative to the loop of interest, mostly the peak's; `elsewhere` without one


class Pressure(NamedTuple):
    """Most live registers at any one instruction, each class for itself."""

    vector: int
    """Vector registers that occupancy depends on, see `Counts.vector`."""
    vgprs: int
    agprs: int
    sgprs: int


class InstructionMix(NamedTuple):
    """Counts of the instructions of a function, a loop or a line, and their peak."""

    counts: InstructionCounts
    peak: Pressure
    spill_stores: int
    spill_reloads: int


class Peak(NamedTuple):
    """The peak of a function, and the first instruction with most live vector registers."""

    pressure: Pressure
    at: CodeLocation
    instruction: str
    loop: str | None  # label of the innermost loop around it; None outside loops or without a label
    instructions: int  # number of instructions with as many vector registers


class LiveValues(NamedTuple):
    """Live registers of one class that are written at the same place and read at the same place."""

    register_class: RegisterClass
    registers: tuple[str, ...]
    total: int
    variable: str | None
    """Variable of the source; None if no compiler comment names it."""
    written: CodeLocation | None
    """Nearest write before `Story.at`, the first in the text if the registers differ. None if live
    since function entry or not followed."""
    written_last: CodeLocation | None
    """Nearest write before `Story.at`, the last in the text."""
    next_read: CodeLocation | None
    """Nearest read after `Story.at`, the first in the text if the registers differ. None if no path
    leads to a read, because the flow is inexact."""
    next_read_last: CodeLocation | None
    """Nearest read after `Story.at`, the last in the text."""
    next_turn: bool
    """True if the next read is in a later iteration of a loop around `Story.at`."""
    untouched: int | None
    """Fewest instructions between the last access and the next read; None without a next read."""
    untouched_most: int | None
    in_loop: Literal["through", "constant", "changed"] | None
    """Accesses in the loop around `Story.at`: none, reads only, writes. None outside loops."""


class LinePressure(NamedTuple):
    """Counts and peak of one source line."""

    source: SourceLine | None
    """None for the row of all instructions without a source line."""
    code: InstructionMix


class CodeRange(NamedTuple):
    """Instructions that stand one behind the other in the text."""

    first: CodeLocation
    last: CodeLocation


class LoopPressure(NamedTuple):
    """Counts and live registers of one loop, inner loops included."""

    label: str | None
    depth: int  # 1 for an outermost loop
    at: CodeLocation  # first instruction of its header
    live_in: Counts  # at its header
    constant: Counts  # of `live_in`, registers only read in the loop
    constant_registers: tuple[str, ...]
    through: Counts  # of `live_in`, registers neither read nor written in the loop
    through_registers: tuple[str, ...]
    code: InstructionMix
    ranges: tuple[CodeRange, ...]
    """Its instructions in the order of the text. LLVM puts blocks of a loop before its header, or
    blocks of no loop between them. More than `story.MOST_RANGES` are one, from first to last."""


class BlockPressure(NamedTuple):
    """One basic block, and the registers live at its begin."""

    labels: tuple[str, ...]
    at: CodeLocation
    instructions: int
    successors: tuple[int, ...]  # indices of blocks
    live_in: tuple[str, ...]


class Advice(NamedTuple):
    """Instructions and values that keep a function above an occupancy step."""

    at_most: int
    """Vector registers per lane that the step allows."""
    waves_per_simd: float
    above: int
    """Number of instructions with more live vector registers."""
    fewer: int
    """Vector registers that must go at the peak; if AGPRs have their own file, of both files."""
    idle: tuple[LiveValues, ...]
    """Values live at the peak, longest untouched first, that together free enough registers."""
    freed: tuple[int, ...]
    """How many registers of each of `idle` must go; their sum is `fewer`."""


class Story(NamedTuple):
    """Register pressure of one function: peak, live values, lines, loops, blocks and curve."""

    files: str
    """The target's `agprs.file`: AGPRs share the VGPRs' file (`unified`), have their own or do not
    exist."""

    code: InstructionMix
    exact: bool
    reasons: tuple[str, ...]
    """Reasons why the peak is a lower bound; empty if it is exact."""
    used: Counts
    """Highest register number of each class in the text, plus one."""
    peak: Peak
    entry: tuple[str, ...]
    """Registers live at function entry."""
    at: CodeLocation
    """Location of `live_across`: the peak, or the line that the user chose."""
    live_across: tuple[LiveValues, ...]
    """All values live at `at`, longest untouched first."""
    lines: tuple[LinePressure, ...]
    """Highest peak first."""
    loops: tuple[LoopPressure, ...]
    """In the order of the text."""
    loops_left_out: int
    """Loops of lower peaks, if only the highest ones were asked for."""
    blocks: tuple[BlockPressure, ...]
    """Empty if they were not asked for."""
    curve: tuple[Counts, ...]
    """Live registers of each instruction; zeros for unreachable instructions."""
    steps: tuple[VgprStep, ...]
    """VGPR steps of the target, highest occupancy first."""
    advice: tuple[Advice, ...]
    """One entry for each step below the peak, nearest first; empty if `at` is not the peak."""
    has_source: bool
    has_variables: bool

    @property
    def instructions(self) -> int:
        """Number of instructions of the function."""
        return self.code.counts.instructions
