"""What is known of one function's registers: the values that renderers print."""

from __future__ import annotations

from typing import Literal, NamedTuple

from kernelinfo.pressure.registers import Counts, RegisterClass
from kernelinfo.reading.facts import SourceLine

Region = Literal["entry", "before the loop", "in the loop", "after the loop", "elsewhere"]


class Location(NamedTuple):
    """Where an instruction stands."""

    number: int  # instructions of its function before it
    line: int | None  # 1-based, in the assembly text; None in a code object
    address: int | None  # bytes, as the symbols of a code object count; None in text
    source: SourceLine | None
    region: Region  # relative to the loop of the peak; `elsewhere` where the peak is in none


class Pressure(NamedTuple):
    """Live registers of each class."""

    vector: int
    """What counts against the steps of the occupancy, see `Counts.vector`."""
    vgprs: int
    agprs: int
    sgprs: int


class Instructions(NamedTuple):
    """What the instructions of a line or a loop are, and the most registers live at them."""

    instructions: int
    peak: Pressure
    spill_stores: int
    spill_reloads: int
    copies: int  # between VGPRs and AGPRs
    matrix: int  # MFMA, SMFMAC, WMMA and SWMMAC
    lds: int
    memory: int  # global, flat, buffer, image and scratch, without spills
    scalar_memory: int


class Peak(NamedTuple):
    """The largest number of each class, and the first instruction with most vector registers."""

    pressure: Pressure
    at: Location
    instruction: str
    loop: str | None  # the label of the innermost loop around it
    instructions: int  # how many hold as many vector registers


class LiveValues(NamedTuple):
    """Registers that are live at the peak and have a history in common."""

    register_class: RegisterClass
    registers: tuple[str, ...]
    total: int
    variable: str | None
    """As the source names it, where the compiler left it in a comment."""
    written: Location | None
    """The last write along the flow; None at the begin of the function. The first in the text of
    the group's."""
    written_last: Location | None
    """The last in the text of the group's."""
    next_read: Location | None
    """None where no path leads to a read: an inexact flow. The first in the text of the group's."""
    next_read_last: Location | None
    """The last in the text of the group's."""
    next_turn: bool
    """The next read is in a later turn of the peak's loop."""
    untouched: int | None
    """Instructions between the last read or write and the next read, the least of the group."""
    untouched_most: int | None
    in_loop: Literal["through", "constant", "changed"] | None
    """In the peak's loop: not touched; only read; written. None where the peak is in none."""


class LinePressure(NamedTuple):
    """One line of the source."""

    source: SourceLine | None
    """None for the instructions without a line, in a function where others have one."""
    code: Instructions


class LoopPressure(NamedTuple):
    """One loop, inner ones included."""

    label: str | None
    depth: int  # 1 for an outermost loop
    at: Location  # of its first instruction
    live_in: Counts  # at its head
    constant: Counts  # of those that are only read in it
    constant_registers: tuple[str, ...]
    through: Counts  # of those that are not touched in it
    through_registers: tuple[str, ...]
    code: Instructions
    last: int  # the index of the last instruction of its text


class BlockPressure(NamedTuple):
    """Instructions that run one after the other."""

    labels: tuple[str, ...]
    at: Location
    instructions: int
    successors: tuple[int, ...]  # indices of blocks
    live_in: tuple[str, ...]


class Advice(NamedTuple):
    """What reaching a step of the occupancy would take."""

    at_most: int
    """Vector registers."""
    waves_per_simd: float
    above: int
    """Instructions that hold more."""
    idle: tuple[LiveValues, ...]
    """Of those live at the peak the longest untouched, as many as are too many."""


class Step(NamedTuple):
    """A step of the occupancy."""

    at_most: int
    """Vector registers per lane."""
    waves_per_simd: float


class Story(NamedTuple):
    """Where the registers of one function are."""

    files: str
    """Whether AGPRs share the VGPRs' file, have their own or do not exist, as targets name it."""

    instructions: int
    exact: bool
    reasons: tuple[str, ...]
    """Why the peak is a lower bound."""
    used: Counts
    """The highest register that is named, plus one."""
    peak: Peak
    entry: tuple[str, ...]
    """Registers that are read before they are written."""
    at: Location
    """Where the values are live: the peak, if nowhere else was asked for."""
    live_across: tuple[LiveValues, ...]
    """All that is live there, the longest untouched first."""
    lines: tuple[LinePressure, ...]
    """By their peak, the largest first."""
    loops: tuple[LoopPressure, ...]
    blocks: tuple[BlockPressure, ...]
    curve: tuple[Counts, ...]
    """Of each instruction; zeros where none leads to it."""
    steps: tuple[Step, ...]
    """Of the target, the highest occupancy first."""
    advice: tuple[Advice, ...]
    """Of the steps below the peak, the nearest first."""
    has_source: bool
    has_variables: bool
