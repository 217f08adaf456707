"""The nouns of reading: bytes, what they say of which kernel, and what could not be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, get_args

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
"""Who states a number, the best source first: the user; `.amdgpu.info` of objects that are not
linked yet, or `.amdgpu_info` of their assembly; the 64-byte kernel descriptor (or
amd_kernel_code_t), which the hardware obeys; `.amdhsa_*` directives, which the assembler makes it
from; the metadata note or its YAML in assembly; the `; Kernel info:` comment; a remark in a build
log; a `.set` symbol or an ELF symbol; the JSON file that Triton writes next to a code object; the
instructions in assembly text."""

Sizes = tuple[int, int, int]
"""Sizes along x, y and z."""


class Numbers(NamedTuple):
    """The numbers stated of one kernel; None for a number that is not stated."""

    lds_bytes: int | None = None  # static LDS per workgroup
    scratch_bytes_per_lane: int | None = None  # fixed scratch (private segment) per lane
    dynamic_stack: bool | None = None  # scratch grows at run time
    wave_size: int | None = None  # lanes in a wave: 32 or 64
    reserved_vgprs: int | None = None
    """VGPRs per lane the descriptor encodes, a multiple of the encoding granule."""
    least_reserved_vgprs: int | None = None
    """The same by the smaller of two units, where the object tells neither."""
    reserved_sgprs: int | None = None
    """SGPRs per wave the descriptor encodes, a multiple of the encoding granule."""
    wgp_mode: bool | None = None  # a workgroup's waves may use both CUs of a WGP
    accum_offset: int | None = None  # first AGPR in the unified file, in VGPRs
    dynamic_vgprs: bool | None = None  # waves take and give back VGPRs while they run
    dynamic_vgpr_block: int | None = None  # VGPRs per lane that they take at a time
    tg_split: bool | None = None
    """A workgroup's waves may be on several CUs (threadgroup split)."""
    named_barriers: int | None = None
    vgprs: int | None = None
    """VGPRs the code uses per lane; AGPRs included where they share one file (.vgpr_count)."""
    arch_vgprs: int | None = None
    """Architectural VGPRs the code uses per lane, AGPRs never included."""
    agprs: int | None = None  # AGPRs the code uses per lane
    sgprs: int | None = None
    """SGPRs the code uses per wave, VCC, flat scratch and XNACK included (.sgpr_count)."""
    vgpr_spills: int | None = None  # VGPRs spilled
    sgpr_spills: int | None = None  # SGPRs spilled
    max_workgroup_size: int | None = None
    """Workitems of the largest workgroup that the kernel may be launched with."""
    required_workgroup: Sizes | None = None  # workitems, when the source demands one size
    cluster: Sizes | None = None  # workgroups that start together
    graphics_stage: bool | None = None
    """Waves are launched by a stage of graphics, one by one: no workgroup."""
    dynamic_lds: bool | None = None  # the kernel takes LDS sized at launch
    dynamic_lds_bytes: int | None = None  # LDS per workgroup asked for at launch
    indirect_call: bool | None = None  # calls through a pointer or outside the module
    recursion: bool | None = None
    revision: str | None = None  # of the chip that gfx1250 code is compiled for: A0 or B0
    asked_waves: int | None = None  # waves per SIMD that the source asked the compiler for
    compiler_waves_per_simd: int | None = None  # the compiler's own `; Occupancy:`
    code_bytes: int | None = None
    """Size of the code, callees excluded; None where it is told apart, as each kernel's own."""


NOTHING = Numbers()
Stated = tuple[Source, Numbers]
"""The numbers that one source states of one kernel."""


class Place(NamedTuple):
    """The place of a source, in bytes of a code object or 1-based lines of a text."""

    source: Source
    begin: int
    """First byte or line of what states them: the descriptor, the note, the block."""
    within: Mapping[str, int]
    """By the name of a number, bytes or lines from `begin`; the same for equal statements."""


BEGIN: Mapping[str, int] = dict.fromkeys(Numbers._fields, 0)
"""Within a source that is placed as a whole."""


class Fact(NamedTuple):
    """One number as one source states it."""

    name: str
    """A field of `Numbers`."""
    value: Any
    source: Source


def facts_of(stated: Iterable[Stated]) -> tuple[Fact, ...]:
    """Every number of every source, in the order of the sources."""
    return tuple(
        [
            Fact(name, value, source)
            for source, numbers in stated
            for name, value in zip(numbers._fields, numbers, strict=True)
            if value is not None
        ]
    )


class SourceLine(NamedTuple):
    """The line on which the source of a kernel begins, by its debug information."""

    file: str
    """As the compiler was given it; relative to the repository's root where it lies inside."""
    line: int
    """1-based."""


class LoopSpills(NamedTuple):
    """Spill instructions in one loop, inner loops not counted."""

    header: str  # label of the loop's header: `.LBB3_2`
    depth: int  # 1 for an outermost loop
    spills: int  # stores to scratch
    reloads: int  # loads from scratch


class Code(NamedTuple):
    """Counts of a kernel's instructions as written, callees excluded."""

    matrix: int
    """MFMA, SMFMAC, WMMA and SWMMAC."""
    lds: int
    memory: int
    """Global, flat and buffer instructions; the latter reach scratch, too, on older targets."""
    scratch: int
    barriers: int
    calls: int
    spills: int | None
    """Stores of spilled registers to scratch; None, as the next three, where the compiler left no
    comments."""
    reloads: int | None
    agpr_moves: int | None
    """Moves of spilled VGPRs to AGPRs and back."""
    loops: tuple[LoopSpills, ...] | None
    """Loops with spills or reloads to scratch, in the order of the text."""
    scratch_in_loops: int | None = None
    """Instructions inside loops that reach scratch, spills and reloads not counted; None where the
    compiler left no comments."""


class Asked(NamedTuple):
    """The kernels that a run asks for; readers may pass over all others."""

    targets: tuple[str, ...]
    """Processors; empty for all."""
    kernel: Callable[[str], bool]
    """True if the kernel of this symbol is asked for."""


class KernelFacts(NamedTuple):
    """All that one module says of one kernel, source by source; nothing is chosen yet."""

    symbol: str
    """Mangled name, without the descriptor's `.kd`."""
    stated: tuple[Stated, ...]
    """By all sources that state any number."""
    places: tuple[Place, ...] = ()
    code_bytes: int | None = None
    """Size of the code where it is each kernel's own, so that other numbers may be equal."""
    line: int | None = None
    """1-based line of the kernel's label in the assembly text."""
    read_code: Callable[[], Code | None] | None = None
    """Counts the instructions, in as much time as all else takes; None in code objects."""
    source: SourceLine | None = None
    """None without debug information."""


class ReadWarning(NamedTuple):
    """Something in a module that could not be read or does not fit; never dropped."""

    message: str
    line: int | None = None
    offset: int | None = None


class ReadWarnings:
    """The warnings on one text: the first thousand, as a text could be nothing but mistakes."""

    def __init__(self) -> None:
        self._count = 0
        self._new: list[ReadWarning] = []

    def add(self, message: str, line: int | None = None) -> None:
        """Add a warning, or count it where there are too many."""
        self._count += 1
        self._last = ReadWarning(message, line)
        if self._count <= _MOST_WARNINGS:
            self._new.append(self._last)

    def take(self) -> tuple[ReadWarning, ...]:
        """The warnings that were added since the last call."""
        taken = tuple(self._new)
        self._new.clear()
        return taken

    def rest(self) -> tuple[ReadWarning, ...]:
        """The last of those that are not shown, which may say why reading ended, and how many more
        there were."""
        more = self._count - _MOST_WARNINGS
        message = f"{more} more warnings on this text, of which this is the last: "
        return (self._last._replace(message=message + self._last.message),) if more > 0 else ()


Setting = Literal["any", "on", "off", "unsupported"]


class Features(NamedTuple):
    """Target features that change code, not occupancy, as the target id spells them."""

    xnack: Setting | None = None
    sramecc: Setting | None = None


class Module(NamedTuple):
    """One code object, or one module of an assembly text, as its reader found it."""

    kind: Literal["assembly", "code-object", "build-log"]
    target: str | None
    """Processor, for example gfx90a; None when nothing in the module says."""
    features: Features
    code_object_version: int | None
    stamps: tuple[str, ...]
    """Stamps of all producers, the linker among them; sorted."""
    kernels: tuple[KernelFacts, ...]
    warnings: tuple[ReadWarning, ...] = ()
    notes: tuple[str, ...] = ()
    """Remarks on the module that are no problems."""
    doubts: tuple[str, ...] = ()
    """Why it may not be whole: a note of a report, which a gate does not pass."""
    part: str | None = None
    """Distinguishes several modules of one text where nothing else does."""
    offset: int = 0
    """Bytes from the start of the text that holds it, and maybe others."""
    passed_over: tuple[str, ...] = ()
    """Symbols of the kernels that are not asked for; nothing else of them is read."""
