"""The nouns of reading: bytes, what they say of which kernel, and what could not be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

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
SOURCES: tuple[Source, ...] = (
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
)
"""Who states a fact, the best source first: the user; `.amdgpu.info` of objects that are not
linked yet, or `.amdgpu_info` of their assembly; the 64-byte kernel descriptor (or
amd_kernel_code_t), which the hardware obeys; `.amdhsa_*` directives, which the assembler makes it
from; the metadata note or its YAML in assembly; the `; Kernel info:` comment; a remark in a build
log; a `.set` symbol or an ELF symbol; the JSON file that Triton writes next to a code object; the
instructions in assembly text."""

FactName = Literal[
    "vgprs",  # VGPRs the code uses per lane; AGPRs included where they share one file (.vgpr_count)
    "arch_vgprs",  # architectural VGPRs the code uses per lane, AGPRs never included
    "agprs",  # AGPRs the code uses per lane
    "sgprs",  # SGPRs the code uses per wave, VCC, flat scratch and XNACK included (.sgpr_count)
    "lds_bytes",  # static LDS per workgroup
    "scratch_bytes_per_lane",  # fixed scratch (private segment) per lane
    "vgpr_spills",  # VGPRs spilled
    "sgpr_spills",  # SGPRs spilled
    "reserved_vgprs",  # VGPRs per lane the descriptor encodes, a multiple of the encoding granule
    "least_reserved_vgprs",  # the same by the smaller of two units, where the object tells neither
    "accum_offset",  # first AGPR in the unified file, in VGPRs
    "dynamic_vgprs",  # waves take and give back VGPRs while they run
    "dynamic_vgpr_block",  # VGPRs per lane that they take at a time
    "reserved_sgprs",  # SGPRs per wave the descriptor encodes, a multiple of the encoding granule
    "max_workgroup_size",  # the largest workgroup the kernel may be launched with, in workitems
    "required_workgroup",  # (x, y, z), when the source demands one size
    "wave_size",  # lanes in a wave: 32 or 64
    "wgp_mode",  # a workgroup's waves may use both CUs of a WGP
    "graphics_stage",  # waves are launched by a stage of graphics, one by one: no workgroup
    "tg_split",  # a workgroup's waves may be on several CUs (threadgroup split)
    "dynamic_stack",  # scratch grows at run time
    "dynamic_lds",  # the kernel takes LDS sized at launch
    "dynamic_lds_bytes",  # LDS per workgroup asked for at launch
    "indirect_call",  # calls through a pointer or outside the module
    "recursion",
    "named_barriers",
    "cluster",  # (x, y, z) workgroups that start together
    "revision",  # of the chip that gfx1250 code is compiled for: A0 or B0
    "asked_waves",  # waves per SIMD that the source asked the compiler for
    "code_bytes",  # size of the kernel's code, callees excluded
    "compiler_waves_per_simd",  # the compiler's own `; Occupancy:`
]
FactValue = int | bool | str | tuple[int, int, int]


class Fact(NamedTuple):
    """One thing one source says of one kernel."""

    name: FactName
    value: Any
    """A `FactValue`: a count, or True or False, or three sizes, as the name has it."""
    source: Source
    line: int | None = None
    """In assembly text, lines from the one on which the source begins: the block, the metadata."""
    offset: int | None = None
    """In a code object, bytes from where the source begins: the descriptor, the note."""


class Facts(tuple[Fact, ...]):
    """The facts of one kernel, or of several that state the same. Its hash is that of the object,
    so that to ask what is known of it need not read it."""

    __slots__ = ()
    __hash__ = object.__hash__


class SourceLine(NamedTuple):
    """Where the source of a kernel begins, as its debug information says."""

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
    """What a kernel's instructions are, as written; callees and run time counts are not in it."""

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


class KernelFacts(NamedTuple):
    """All that one module says of one kernel, source by source; nothing is chosen yet."""

    symbol: str
    """Mangled name, without the descriptor's `.kd`."""
    facts: Facts
    """All but the size of the code; equal statements share one object."""
    code_size: Fact | None = None
    """Each kernel's own, and one source alone states it."""
    begins: Mapping[Source, int] = {}
    """Where a source begins: in bytes from the start of the code object, or the 1-based line of the
    assembly text."""
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
        """Those that were added since the last call."""
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
    """Of all producers, the linker among them; sorted."""
    kernels: tuple[KernelFacts, ...]
    warnings: tuple[ReadWarning, ...] = ()
    notes: tuple[str, ...] = ()
    """What is worth knowing of the module, and no problem."""
    doubts: tuple[str, ...] = ()
    """Why it may not be whole: a note of a report, which a gate does not pass."""
    part: str | None = None
    """Which of several modules of one text it is, where nothing else distinguishes them."""
    offset: int = 0
    """Bytes from the start of the text that holds it, and maybe others."""
