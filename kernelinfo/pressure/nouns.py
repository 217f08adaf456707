"""Records of one function's register pressure, as renderers print them."""

from typing import Literal, NamedTuple

from kernelinfo.kernel import in_html
from kernelinfo.kernel.code_object import InstructionCounts
from kernelinfo.kernel.needs import RegisterNeeds
from kernelinfo.model.calculator import Rung
from kernelinfo.pressure.function import CodeLocation
from kernelinfo.pressure.memory import Memory
from kernelinfo.pressure.registers import Counts, RegisterClass
from kernelinfo.reading.facts import SourceLine

Role = Literal[
    "accumulators", "fragments", "loaded", "addresses", "loop constants", "spill lanes", "others"
]
"""What the value of a vector register is for.

`accumulators` are operand C or the result of a matrix instruction, and floating-point registers
that each turn of a loop adds to; `fragments` its other operands; `loaded` was written by a load and
not read yet; `addresses` are addresses in memory and nothing else; `loop constants` are only read
in the loop; `spill lanes` hold SGPRs.
"""


class Pressure(NamedTuple):
    """The most live registers at any one instruction, each class counted by itself."""

    vector: int
    """Registers per lane that count against the steps of the occupancy: VGPRs and AGPRs together
    where they share one file, the larger where each has its own."""
    vgprs: int  # VGPRs per lane
    agprs: int  # AGPRs per lane
    sgprs: int  # SGPRs per wave


class InstructionMix(NamedTuple):
    """Instruction counts of a function, loop or line, and its peak."""

    counts: InstructionCounts
    peak: Pressure  # most registers of each class live at one of them
    spill_stores: int  # stores of spilled registers, by the compiler's comments
    spill_reloads: int  # loads of spilled registers
    code_bytes: int  # bytes of their code; of assembly, which does not say, at least so many


class Peak(NamedTuple):
    """The peak of a function, and the first instruction with the most live vector registers."""

    pressure: Pressure
    at: CodeLocation
    instruction: str  # its text
    loop: str | None  # label of the innermost loop around it; None outside loops or without a label
    instructions: int  # number of instructions with as many vector registers


class LiveValues(NamedTuple):
    """Live registers of one class that are written at the same place and read at the same place."""

    register_class: RegisterClass  # class of the registers
    registers: tuple[str, ...]  # ranges: `v[64:65]`, `a3`
    total: int  # number of registers
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
    untouched_most: int | None  # the same, the most of the registers
    in_loop: Literal["through", "constant", "changed"] | None
    """Accesses in the loop around `Story.at`: none, reads only, writes. None outside loops."""
    role: Role | None
    """What the values are for; None for SGPRs."""


class BillLine(NamedTuple):
    """Live registers of one role."""

    role: Role | None  # None for SGPRs
    total: int  # number of registers
    registers: tuple[str, ...]  # their ranges
    values: tuple[LiveValues, ...]  # longest untouched first


class InFlight(NamedTuple):
    """Loads from one memory that are in flight at once in a loop or function, and waits for them.

    Operations without a result in a register or in LDS do not count as loads."""

    memory: Memory  # what they load from
    loads: int  # most loads in flight at once, on any way through the code
    bytes: int  # their bytes: of one lane, from scalar memory of the wave
    waits: int  # number of waits that complete such loads
    distance: int | None
    """Fewest instructions between a load in it and a wait in it that completes the load; None if no
    wait does."""
    wait: CodeLocation | None  # that wait
    load: CodeLocation | None  # that load


class Wait(NamedTuple):
    """What an instruction waits for."""

    at: CodeLocation
    instruction: str  # its text
    completes: tuple[tuple[CodeLocation, int], ...]
    """Loads that it completes on some path, each with the fewest instructions between the load and
    the wait, nearest first."""
    stays: tuple[tuple[Memory, int, int], ...]
    """Most loads that stay in flight from each memory, and their bytes as in `InFlight`."""


class LinePressure(NamedTuple):
    """Counts and peak of one source line."""

    source: SourceLine | None
    """None for the row of all instructions without a source line."""
    code: InstructionMix


class CodeRange(NamedTuple):
    """Consecutive instructions in the text."""

    first: CodeLocation  # its first instruction
    last: CodeLocation  # its last instruction


class LoopPressure(NamedTuple):
    """Counts and live registers of one loop, inner loops included."""

    label: str | None  # of its first block
    depth: int  # 1 for an outermost loop
    at: CodeLocation  # first instruction of its header
    live_in: Counts  # at its header
    constant: Counts  # of `live_in`, registers only read in the loop
    constant_registers: tuple[str, ...]  # those of `constant`
    through: Counts  # of `live_in`, registers neither read nor written in the loop
    through_registers: tuple[str, ...]  # those of `through`
    code: InstructionMix
    in_flight: tuple[InFlight, ...]
    """Loads in flight in it, for each memory; empty if they are not known."""
    ranges: tuple[CodeRange, ...]
    """Its instructions in the order of the text. LLVM may put blocks of a loop before its header,
    and other blocks between them. More than `story.MOST_RANGES` ranges become one, from first to
    last."""


class BlockPressure(NamedTuple):
    """One basic block, and the registers live at its beginning."""

    labels: tuple[str, ...]  # of its first instruction
    at: CodeLocation
    instructions: int  # number of instructions
    successors: tuple[int, ...]  # blocks that may follow for some lane; indices of blocks.
    live_in: tuple[str, ...]  # registers live at its begin


class Advice(NamedTuple):
    """Instructions and values that keep a function above an occupancy step."""

    at_most: int
    """Vector registers per lane that the step allows."""
    waves_per_simd: float  # waves per SIMD that the step allows
    above: int
    """Number of instructions with more live vector registers."""
    fewer: int
    """Vector registers that must go at the peak; if AGPRs have their own file, of both files."""
    idle: tuple[LiveValues, ...]
    """Values live at the peak, longest untouched first, that together free enough registers."""
    freed: tuple[int, ...]
    """How many registers of each of `idle` must go; their sum is `fewer`."""


class CallNeed(NamedTuple):
    """A call, and the vector registers that the called function needs on top of the caller's."""

    function: str  # its symbol
    at: CodeLocation  # the first call of it
    live: int  # vector registers of the caller that are live across the call
    needs: int  # most vector registers live in the function and in what it calls
    exact: bool  # False: `needs` is a lower bound

    @property
    def together(self) -> int:
        """The vector registers that are live at the same time."""
        return self.live + self.needs


class Story(NamedTuple):
    """Register pressure of one function: peak, live values, lines, loops, blocks and curve."""

    files: str
    """The target's `agprs.file`: AGPRs share the VGPRs' file (`unified`), have their own or do not
    exist."""

    code: InstructionMix  # all instructions of the function
    exact: bool  # False: the numbers are lower bounds
    reasons: tuple[str, ...]
    """Reasons why the peak is a lower bound; empty if it is exact."""
    used: Counts
    """Highest register number of each class in the text, plus one."""
    peak: Peak  # the most of each class, and the first instruction with most vector registers
    entry: tuple[str, ...]
    """Registers live at function entry."""
    unwritten: tuple[str, ...]
    """Registers that a path from the entry reads, that no path writes before it reads them, and
    that the hardware does not set; empty unless all code is known. Compilers do this on purpose."""
    unwritten_at: CodeLocation | None
    """The first instruction of the text that reads one of `unwritten`; None without any."""
    at: CodeLocation
    """Location of `live_across`: the peak, or the line that the user chose."""
    live_across: tuple[LiveValues, ...]
    """All values live at `at`, longest untouched first."""
    bill: tuple[BillLine, ...]
    """The vector registers live at `at` by role, the largest line first. They add up to the VGPRs
    and AGPRs that are live there; at the peak to its `vector`, unless each class has its own file.
    """
    calls: tuple[CallNeed, ...]
    """Functions of the same file that it calls, those that need most first."""
    lines: tuple[LinePressure, ...]
    """Source lines, highest peak first."""
    loops: tuple[LoopPressure, ...]
    """Natural loops, inner ones included in outer ones, in the order of the text."""
    in_flight: tuple[InFlight, ...]
    """Loads in flight in the function, for each memory; empty if they are not known."""
    in_flight_outside: tuple[InFlight, ...]
    """Loads in flight outside all loops, and waits for a load where no loop holds both; empty if
    they are not known, or nothing loads there."""
    waits: tuple[Wait, ...]
    """Its waits in the order of the text; empty if what they wait for is not known."""
    waits_unknown: str | None
    """Reason why `waits` are not known; None if they are."""
    loops_left_out: int
    """Loops of lower peaks, if only the highest ones were asked for."""
    blocks: tuple[BlockPressure, ...]
    """Basic blocks in the order of the text; empty if they were not asked for."""
    curve: tuple[Counts, ...]
    """VGPRs, AGPRs and SGPRs live at each instruction; zeros for unreachable instructions."""
    needs: RegisterNeeds | None
    """What the code needs, spill slots included; None if that is not known, and for a function that
    is not a kernel."""
    needs_unknown: str
    """Reason why the needs are not known; empty if they are."""
    needs_curve: tuple[Counts, ...]
    """Values of each class alive at each instruction, as `RegisterNeeds` counts; empty without
    `needs`."""
    steps: tuple[Rung, ...]
    """VGPR steps of the target, highest occupancy first."""
    advice: tuple[Advice, ...]
    """One entry for each step below the peak, nearest first; empty if `at` is not the peak."""
    has_source: bool
    has_variables: bool

    def _repr_html_(self) -> str:
        """What notebooks show: the peak, what holds it, and the values that are live there."""
        return in_html(self)

    @property
    def instructions(self) -> int:
        """Number of instructions of the function."""
        return self.code.counts.instructions
