"""Code objects: instruction and register counts, libraries, and the devices that load them."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice, takewhile
from typing import NamedTuple

from kernelinfo.reading.blob import SpirV
from kernelinfo.reading.facts import CodeKind, Features, SourceLine
from kernelinfo.reading.target_id import parse_target_id, runs_on, target_id


class CodeObject(NamedTuple):
    """One code object, assembly text or build log that kernels were read from."""

    path: str  # the file as it was named
    containers: tuple[str, ...]  # what the code is wrapped in, outermost first
    member: str | None
    """Name inside the innermost container: an entry of a bundle, a member of an archive."""
    offset: int | None
    """Bytes from the start of the outermost file; None inside compressed data."""
    size: int
    """Bytes."""
    kind: CodeKind  # what was read
    target: str | None  # target that the code is compiled for
    features: Features
    code_object_version: int | None
    """2 to 6, as LLVM counts the versions of its ABI; None in text that does not say."""
    compiler: str | None
    """Stamp of the compiler that made the kernels; None if unknown."""
    stamps: tuple[str, ...]
    """Stamps of all producers, sorted: the compiler, compilers of linked libraries, the linker."""
    conflicting_entry: str | None = None
    """Target id of an earlier entry of the same file and processor with other features."""
    kernel_count: int | None = None
    """Number of kernels in it, including those that a filter leaves out."""
    options: tuple[tuple[str, str], ...] = ()
    """Tile of Triton's IR, constants and compile options of its JSON: `(("BLOCK_M", "128"), …)`."""
    command: tuple[str, ...] | None = None
    """The command that compiled the source at `path`; None if `path` holds the code itself."""

    @property
    def target_id(self) -> str | None:
        """The target with its features: `gfx90a:xnack-`; None without a target."""
        return self.target and target_id(self.target, self.features)

    @property
    def written_options(self) -> tuple[str, ...]:
        """The options as text: `BLOCK_M=128`."""
        return tuple(f"{name}={value}" for name, value in self.options)


# Instructions of a kernel, a loop or a source line, counted by class.


class InstructionCounts(NamedTuple):
    """Number of instructions of each class. The 14 classes add up to `instructions`.

    `kernelinfo explain instructions` names the mnemonics of each class.
    """

    instructions: int  # number of all; the 14 classes add up to it
    vector: int
    matrix: int
    scalar: int
    lds: int
    loads: int
    stores: int
    atomics: int
    scalar_loads: int
    scratch: int
    branches: int
    waits: int
    barriers: int
    copies: int
    other: int
    load_bytes: int | None
    """Bytes that one lane loads if every load runs once; None if a load does not say its width."""
    store_bytes: int | None
    """Bytes that one lane stores if every store runs once; None if a store does not say its
    width."""

    @property
    def matrix_share(self) -> float:
        """Matrix instructions / (vector + matrix); 0 without either."""
        return self.matrix / (self.vector + self.matrix or 1)

    @property
    def by_class(self) -> tuple[int, ...]:
        """The number of each of `CLASSES`."""
        return self[1:15]


CLASSES = InstructionCounts._fields[1:15]
"""Fields of the classes."""


def total(parts: Iterable[InstructionCounts]) -> InstructionCounts:
    """The sum of the parts. Bytes are None if any part's bytes are unknown."""
    none = [0] * len(InstructionCounts._fields)
    columns = zip(none, *parts, strict=True)
    return InstructionCounts._make([None if None in column else sum(column) for column in columns])


class LoopCounts(NamedTuple):
    """One natural loop of a kernel, counted with the loops inside it."""

    label: str | None  # of its header
    source: SourceLine | None  # of its header; None without debug information
    address: int | None
    """Of its header, in bytes as symbols count them; None in assembly."""
    depth: int  # 1 for an outermost loop
    counts: InstructionCounts  # its instructions by class
    agpr_copies: int
    """Copies between VGPRs and AGPRs: `v_accvgpr_read` and `v_accvgpr_write` of a register."""
    code_bytes: int  # bytes of its code; of assembly, which does not say, at least so many
    in_flight: int | None = None
    """Most loads from global or FLAT memory that a wave has in flight; None if not known, or if the
    loop has none."""
    wait_distance: int | None = None
    """Fewest instructions between such a load and a wait for it, both in the loop; None if not
    known, or without such a wait."""


FEW_COPIES = 32
"""Fewest copies between VGPRs and AGPRs in a loop that are reported."""


def matrix_loops(loops: Sequence[LoopCounts]) -> Iterator[LoopCounts]:
    """The innermost loops with matrix instructions. Each of `loops` precedes those inside it."""
    for position, loop in enumerate(loops):
        if loop.counts.matrix and not any(
            inner.counts.matrix for inner in _inside(loops, position)
        ):
            yield loop


def matrix_loop_copies(loops: Sequence[LoopCounts]) -> int:
    """The most copies of vector registers, from VGPR to VGPR included, in an innermost loop with
    matrix instructions; 0 without such a loop."""
    return max((loop.counts.copies for loop in matrix_loops(loops)), default=0)


def _inside(loops: Sequence[LoopCounts], position: int) -> Iterator[LoopCounts]:
    depth = loops[position].depth
    return takewhile(lambda inner: inner.depth > depth, islice(loops, position + 1, None))


# Names of libraries: names of files without the version, so that builds compare.

_VERSION = r"v?\d[\w.+!~]*"
_PACKAGES = (
    rf"(?P<name>[^-]+)-{_VERSION}(?:-\d[^-]*)?-[^-]+-[^-]+-[^-]+\.whl",
    r"(?P<name>[^_]+)_[^_]+_[^_]+\.deb",
    rf"(?P<name>.+?)-{_VERSION}-[^-]+\.rpm",
    rf"(?P<name>.+?)-{_VERSION}-[^-]+\.(?:conda|tar\.bz2)",
    rf"(?P<name>.+?)[-_]{_VERSION}\.(?:tar(?:\.\w+)?|tgz|zip)",
)
"""File names of packages, whole: NAME is the package's. A wheel's parts are those of the binary
distribution format (packaging.python.org), a Debian package's those of deb(7)."""
_ENTRY = r"(?:/| › |^)(?:(?:hip|hipv4|openmp|amdgcn|host)-[^/]*|#\d+)(?=/| › |$)"
"""Entry of a bundle, named by its target id, or the number of one of several bundles."""
_SHARED_OBJECT = r"(?P<stem>.+?)(?:-\d+(?:\.\d+)+)?(?:-[0-9a-f]{8})?\.so(?:\.\d+)*"
"""Shared library with versions as linkers write them. auditwheel marks the content by eight
hexadecimal digits (`copylib` in auditwheel/repair.py)."""


def library_of(path: str) -> str:
    """The name of the library or package at `path`, without folder and version.

    `lib/librocsparse.so.0.1` is `librocsparse.so`. For a wheel, Debian, rpm or conda package it is
    the package's name: `torch-2.9.1-cp311-cp311-linux_x86_64.whl` is `torch`. Other files keep
    their names, `-` is standard input. It is the column `Library` of rows, the key of `--by
    library`, and part of a kernel's identity in a fleet.
    """
    name = re.split(r"[/\\]", path.rstrip("/\\"))[-1] or path
    for package in _PACKAGES:
        if match := re.fullmatch(package, name):
            return match["name"]
    if match := re.fullmatch(_SHARED_OBJECT, name):
        return f"{match['stem']}.so"
    return name


def member_file(member: str | None) -> str:
    """The path of a member in its container, without target ids of bundles: `lib/libfoo.so.1`.
    Empty for code in the file itself."""
    return re.sub(_ENTRY, "", member or "")


# Registers that a kernel's code touches.


class TouchedRegisters(NamedTuple):
    """Registers that a kernel touches, its callees' included: the highest of each class plus one.

    Known only for code that was read completely: every instruction is known and names its
    registers, and every call leads to a function that was read.
    """

    vgprs: int  # the highest VGPR plus one
    agprs: int  # the highest AGPR plus one
    sgprs: int
    """The highest SGPR plus one; VCC, flat scratch and XNACK left out."""
    entry_vgprs: int
    """VGPRs that the hardware sets at the kernel's entry; 0 if that is not known."""
    entry_sgprs: int
    """SGPRs that it may set there; 0 if that is not known."""
    callees: tuple[str, str, str] = ("", "", "")
    """Symbol of the callee that touches the highest VGPR, AGPR and SGPR; empty for the kernel."""
    unwritten: tuple[str, ...] = ()
    """Ranges of registers that a path reads, and that no path writes before it reads them."""


# Coverage: the code of a library that devices of a target load.

SPIRV = "SPIR-V"
"""Stands for a target id of code that is compiled when it is loaded, on any device."""
_BUNDLES = {"fatbin", "bundle", "offload-binary"}
"""Containers with code for several targets, of which a device loads its own."""
_UNIT = r"(?:#\d+)?/[^/]*$"
"""End of a kpack member after the library: the unit's number and the target."""


def covering(codes: Iterable[str], device: str) -> tuple[str, ...]:
    """The target ids among `codes` that a device of the target id `device` loads.

    Ids of its own processor come first, then generic ones, `SPIRV` last. See `runs_on`.
    """
    fitting = (code for code in codes if code == SPIRV or runs_on(code, device))
    return tuple(sorted(fitting, key=lambda code: (code == SPIRV, is_generic(code, device), code)))


def is_generic(code: str, device: str) -> bool:
    """True if the code that a device loads is for a generic target that includes the device's
    processor."""
    compiled, device_id = parse_target_id(code), parse_target_id(device)
    return bool(compiled and device_id and compiled.processor != device_id.processor)


def needed_settings(codes: Collection[str], device: str) -> str:
    """The setting, such as `xnack+`, that a device of the target id `device` needs to load any of
    `codes`.

    Empty if the device loads one of them in any setting, or in the setting that `device` names.
    """
    device_id = parse_target_id(device)
    stated = dict(device_id.settings) if device_id else {}
    parsed = [parse_target_id(code) for code in codes]
    needed = [{*target_id.settings} if target_id else set() for target_id in parsed]
    signs = {"on": "+", "off": "-"}
    return ":".join(
        f"{name}{signs[value]}"
        for name, value in sorted(set.intersection(*needed) if needed else ())
        if name not in stated and value in signs
    )


def library_in(path: str, member: str | None) -> str:
    """The name of the library or package that holds the code, as in `library_of`; for a kpack
    archive, the library from which the code was taken."""
    if path.endswith(".kpack") and member:
        return library_of(re.sub(_UNIT, "", member))
    return library_of(path)


def carrier(code: CodeObject | SpirV) -> str | None:
    """The name of the library or package member if it has code for several targets. None for a code
    object or text of a single target."""
    if code.path.endswith(".kpack"):
        return library_in(code.path, code.member)
    if not _BUNDLES & {*code.containers}:
        return None
    file = member_file(code.member)
    return " › ".join(filter(None, (code.path, file if ".kpack" not in file else "")))
