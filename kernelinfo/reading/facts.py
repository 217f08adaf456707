"""Records that readers return: a kernel's numbers by source, modules, warnings, debug entries."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, get_args

from kernelinfo.errors import Message
from kernelinfo.reading.messages import say

_MOST_WARNINGS = 1000

Source = Literal[
    "option",
    "linking-info",
    "descriptor",
    "directive",
    "metadata",
    "kernel-info",
    "remark",
    "symbol",
    "sidecar",
    "code",
]
SOURCES: tuple[Source, ...] = get_args(Source)
"""Sources of a number, the best first.

- option: the user;
- linking-info: `.amdgpu.info` of an unlinked object, or `.amdgpu_info` of its assembly;
- descriptor: the 64-byte kernel descriptor (or amd_kernel_code_t), which the hardware obeys;
- directive: `.amdhsa_*`, from which the assembler makes the descriptor;
- metadata: the note of a code object, or its YAML in assembly;
- kernel-info: the `; Kernel info:` comment;
- remark: a line of a build log;
- symbol: a `.set` symbol or an ELF symbol;
- sidecar: the JSON file that Triton writes next to a code object;
- code: the instructions in assembly text.
"""


class StatedValue(NamedTuple):
    """A symbol, a field of a block or a key of a log, and its value in the text."""

    name: str
    value: str  # as written
    line: int
    """1-based; in a block counted from the line on which the block begins, which is 0."""


Sizes = tuple[int, int, int]
"""Sizes along x, y and z."""


class Callees(NamedTuple):
    """The VGPRs per lane that a compiler assumes for a kernel with an indirect call."""

    alone_vgprs: int
    """VGPRs per lane of the kernel without its callees."""
    most_vgprs: int
    """The most VGPRs per lane of any function of the module that is not a kernel."""
    function: str
    """Symbol of the function with `most_vgprs`."""


class Numbers(NamedTuple):
    """Numbers stated for one kernel; None for a number that is not stated."""

    lds_bytes: int | None = None  # static LDS per workgroup, in bytes
    scratch_bytes_per_lane: int | None = None  # fixed scratch (private segment) per lane, in bytes
    dynamic_stack: bool | None = None  # scratch grows at run time
    wave_size: int | None = None  # lanes in a wave: 32 or 64
    reserved_vgprs: int | None = None
    """VGPRs per lane the descriptor encodes, a multiple of the encoding granule."""
    least_reserved_vgprs: int | None = None
    """Reserved VGPRs per lane by the smaller of two possible granules, if the object does not tell
    which granule it uses."""
    reserved_sgprs: int | None = None
    """SGPRs per wave the descriptor encodes, a multiple of the encoding granule."""
    wgp_mode: bool | None = None  # a workgroup's waves may use both CUs of a WGP (gfx10 on)
    accum_offset: int | None = None  # first AGPR in the unified file, in VGPRs
    dynamic_vgprs: bool | None = None  # waves take and give back VGPRs while they run
    dynamic_vgpr_block: int | None = None  # VGPRs per lane that they take at a time
    tg_split: bool | None = None
    """True if a workgroup's waves may be on several CUs (threadgroup split)."""
    named_barriers: int | None = None
    vgprs: int | None = None
    """VGPRs the code uses per lane, AGPRs included in a unified file (.vgpr_count)."""
    arch_vgprs: int | None = None
    """Architectural VGPRs the code uses per lane, AGPRs never included."""
    agprs: int | None = None  # AGPRs the code uses per lane
    sgprs: int | None = None
    """SGPRs the code uses per wave, VCC, flat scratch and XNACK included (.sgpr_count)."""
    vgpr_spills: int | None = None  # VGPRs spilled
    sgpr_spills: int | None = None  # SGPRs spilled
    max_workgroup_size: int | None = None
    """Workitems of the largest workgroup that may be launched."""
    required_workgroup: Sizes | None = None  # workitems x, y, z, if the source demands one size
    cluster: Sizes | None = None  # workgroups that start together
    graphics_stage: bool | None = None
    """True if a graphics stage launches the waves one by one, without a workgroup."""
    dynamic_lds: bool | None = None  # the kernel takes LDS sized at launch
    dynamic_lds_bytes: int | None = None  # LDS per workgroup asked for at launch
    indirect_call: bool | None = None  # calls through a pointer or outside the module
    callees: Callees | None = None  # what an indirect call counts
    recursion: bool | None = None  # calls itself
    revision: str | None = None  # of the chip that gfx1250 code is compiled for: A0 or B0
    asked_waves: int | None = None  # waves per SIMD that the source asked the compiler for
    compiler_waves_per_simd: int | None = None  # the compiler's own `; Occupancy:`
    code_bytes: int | None = None
    """Size of the code, callees excluded; None if `KernelFacts.code_bytes` has it."""


NOTHING = Numbers()
StatedNumbers = tuple[Source, Numbers]
"""Numbers that one source states for one kernel."""


class Place(NamedTuple):
    """Place of a source, in bytes of a code object or 1-based lines of a text."""

    source: Source
    begin: int
    """First byte or line of the descriptor, the note or the block."""
    within: Mapping[str, int]
    """Bytes or lines from `begin`, by the name of a number; shared by equal statements."""

    def __hash__(self) -> int:
        return hash((self.source, self.begin))  # a mapping has no hash


BEGIN: Mapping[str, int] = dict.fromkeys(Numbers._fields, 0)
"""`Place.within` for a source without places of single numbers."""


class Fact(NamedTuple):
    """One number as one source states it."""

    name: str
    """A field of `Numbers`."""
    value: Any
    source: Source  # which source states it


def facts_of(stated: Iterable[StatedNumbers]) -> tuple[Fact, ...]:
    """One fact for each number that a source states, in the order of `stated`."""
    return tuple(
        [
            Fact(name, value, source)
            for source, numbers in stated
            for name, value in zip(numbers._fields, numbers, strict=True)
            if value is not None
        ]
    )


class SourceLine(NamedTuple):
    """Source line on which a kernel begins, by its debug information."""

    file: str
    """Path as the compiler was given it; relative to the repository's root if inside."""
    line: int
    """1-based."""


class SpillPlace(NamedTuple):
    """The place of spills and reloads, from the compiler's comments. At least one of the two names
    is known."""

    source: str | None
    """`src/saxpy.hip:41`, as the compiler prints it; None without line information."""
    callee: str | None
    """Symbol of the function called before in the same block; None without a call."""
    number: int  # spills and reloads there


class LoopSpills(NamedTuple):
    """Numbers of spill instructions in one loop, inner loops not counted."""

    header: str  # label of the loop's header: `.LBB3_2`
    depth: int  # 1 for an outermost loop
    spills: int  # stores to scratch in it
    reloads: int  # loads from scratch in it
    place: SpillPlace | None = None
    """Place of most of its spills and reloads; None without any known place."""


class Code(NamedTuple):
    """Numbers of a kernel's instructions as written, callees excluded."""

    matrix: int
    """MFMA, SMFMAC, WMMA and SWMMAC."""
    lds: int  # LDS instructions
    memory: int
    """Global, flat and buffer instructions; on older targets, buffer instructions reach scratch,
    too."""
    scratch: int  # scratch instructions
    barriers: int  # barrier instructions
    calls: int  # calls of functions
    spills: int | None
    """Stores of spilled registers to scratch. This and the next four are None if the compiler left
    no comments."""
    reloads: int | None
    """Loads of spilled registers from scratch."""
    agpr_moves: int | None
    """Moves of spilled VGPRs to AGPRs and back."""
    loops: tuple[LoopSpills, ...] | None
    """Loops with spills or reloads to scratch, in the order of the text."""
    scratch_in_loops: int | None = None
    """Instructions inside loops that reach scratch, spills and reloads not counted."""
    place: SpillPlace | None = None
    """Place of most spills and reloads; None without any known place."""
    callees: tuple[str, ...] = ()
    """Symbols of the functions that it calls, in the order of the first calls. Calls through a
    pointer are left out."""
    outside: tuple[str, ...] = ()
    """The callees that are outside of this module."""


class KernelFacts(NamedTuple):
    """One kernel of a module: its numbers by source, none chosen yet."""

    symbol: str
    """Mangled name, without the descriptor's `.kd`."""
    stated: tuple[StatedNumbers, ...]
    """One entry for each source that states a number."""
    places: tuple[Place, ...] = ()
    """Places of the sources, for line numbers and offsets."""
    code_bytes: int | None = None
    """Size of the code. Kept out of `Numbers`, so that kernels with equal numbers share them."""
    line: int | None = None
    """1-based line of the kernel's label in the assembly text."""
    read_code: Callable[[], Code | None] | None = None
    """Counts the instructions, which takes as long as all other reading; None in code objects."""
    source: SourceLine | None = None
    """None without debug information."""


class ReadWarning(NamedTuple):
    """A part of a module that could not be read or contradicts another; always reported."""

    message: Message
    line: int | None = None
    offset: int | None = None


class ReadWarnings:
    """Warnings on one text. Only the first thousand are kept, since a text could consist of nothing
    but mistakes."""

    def __init__(self) -> None:
        self._count = 0
        self._new: list[ReadWarning] = []

    def add(self, message: Message, line: int | None = None) -> None:
        """Add a warning; beyond the first thousand, only count it."""
        self._count += 1
        self._last = ReadWarning(message, line)
        if self._count <= _MOST_WARNINGS:
            self._new.append(self._last)

    def take(self) -> tuple[ReadWarning, ...]:
        """Warnings added since the last call."""
        taken = tuple(self._new)
        self._new.clear()
        return taken

    def rest(self) -> tuple[ReadWarning, ...]:
        """One warning for all beyond the first thousand; empty if there are none.

        It states their number and the message of the last, which may say why reading stopped.
        """
        count = self._count - _MOST_WARNINGS
        if count <= 0:
            return ()
        message = say("warnings-more", count=count, reason=self._last.message)
        return (self._last._replace(message=message),)


Setting = Literal["any", "on", "off", "unsupported"]


class Features(NamedTuple):
    """Settings of the target features, which change code but not occupancy."""

    xnack: Setting | None = None  # page-fault retry
    sramecc: Setting | None = None  # SRAM error correction


CodeKind = Literal["assembly", "code-object", "build-log"]
"""Kind of code that readers take. A build log is a compiler's output or optimization record."""


class Module(NamedTuple):
    """One code object, or one module of an assembly text or build log, as its reader found it."""

    kind: CodeKind
    target: str | None
    """Processor, for example gfx90a; None if the module names none."""
    features: Features
    code_object_version: int | None
    stamps: tuple[str, ...]
    """Version strings of all producers, the linker included; sorted."""
    kernels: tuple[KernelFacts, ...]
    warnings: tuple[ReadWarning, ...] = ()
    notes: tuple[Message, ...] = ()
    """Remarks on the module that are no problems."""
    doubts: tuple[Message, ...] = ()
    """Reasons why the module may be cut off. A report shows them as notes; a gate fails."""
    part: str | None = None
    """Distinguishes modules of one text that are equal in all else."""
    offset: int = 0
    """Begin of the module, in bytes from the start of its text."""
    passed_over: tuple[str, ...] = ()
    """Symbols of the kernels that the run does not ask for; nothing else of them is read."""


class DebugEntry(NamedTuple):
    """One entry of debug information (DWARF): a function, a variable, a type.

    It is read from assembly text or a code object, to find static variables.
    """

    tag: str
    """DWARF's name of the entry's kind: `DW_TAG_variable`."""
    name: str | None
    linkage_name: str | None
    numbers: Mapping[str, int]
    """Numeric attributes by DWARF's name; a reference is an offset from the unit's begin."""
    is_static: bool
    """True for a variable with one fixed address, or with no location at all."""
    source: SourceLine | None
    """Line of the declaration."""
    children: list["DebugEntry"]

    def variables(self) -> list["DebugEntry"]:
        """Static variables of a function and of the scopes in it.

        LLVM lists static variables before the first parameter. A later variable without a location
        is an ordinary one that the compiler removed. In an inlined function no variable has a
        location: if some are external there, only these count as static.
        """
        variables = [*self._before_parameters()]
        external = [variable for variable in variables if "DW_AT_external" in variable.numbers]
        return external if external and "DW_AT_inline" in self.numbers else variables

    def _before_parameters(self) -> Iterator["DebugEntry"]:
        for child in self.children:
            if child.tag == "DW_TAG_lexical_block":
                yield from child._before_parameters()
            elif child.tag == "DW_TAG_formal_parameter":
                break
            elif child.tag == "DW_TAG_variable" and child.is_static:
                yield child


DebugUnit = Mapping[int, DebugEntry]
"""Offset in a compilation unit → entry; all entries of the unit."""

_NAMES = ("DW_AT_abstract_origin", "DW_AT_specification")


def function_named(unit: DebugUnit, symbol: str) -> DebugEntry | None:
    """Entry of the function with that symbol and with code; None if the unit has none."""
    for entry in unit.values():
        if entry.tag != "DW_TAG_subprogram":
            continue
        entries = filter(None, (entry, _elsewhere(unit, entry)))
        names = {stated.linkage_name or stated.name for stated in entries}
        if symbol in names and "DW_AT_high_pc" in entry.numbers:
            return entry
    return None


def _elsewhere(unit: DebugUnit, entry: DebugEntry) -> DebugEntry | None:
    """The entry to which `entry` refers for the attributes that it omits; None without one."""
    return next((unit.get(entry.numbers[n]) for n in _NAMES if n in entry.numbers), None)


def inlined_into(unit: DebugUnit, function: DebugEntry) -> list[DebugEntry]:
    """The functions that the compiler inlined into `function`, each once."""
    functions: dict[int, DebugEntry] = {}
    pending = [function]
    while pending:
        entry = pending.pop()
        origin = entry.numbers.get("DW_AT_abstract_origin", -1)
        if entry.tag == "DW_TAG_inlined_subroutine" and origin in unit:
            functions[origin] = unit[origin]
        pending += entry.children
    return [*functions.values()]


def declared_at(unit: DebugUnit, function: DebugEntry) -> SourceLine | None:
    """The source line of a function, which may be stated in another entry."""
    elsewhere = _elsewhere(unit, function)
    return function.source or (elsewhere and elsewhere.source)
