"""The nouns of a report: a kernel, its occupancy, what the rules say of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kernelinfo.errors import LaunchError, UnknownTargetError
from kernelinfo.light_typing import Literal, NamedTuple
from kernelinfo.occupancy import Allocated, Occupancy, allocated, occupancy
from kernelinfo.occupancy.placement import Demand, Launch, placement
from kernelinfo.occupancy.targets import Target
from kernelinfo.occupancy.targets import known as known_targets
from kernelinfo.reading.blob import Note, Problem
from kernelinfo.reading.facts import Code, Fact, FactName, Features, Source, SourceLine

LDS_UNSAID = "the kernel takes LDS sized at launch, which the file does not say"


class CodeObject(NamedTuple):
    """Where kernels come from."""

    path: str
    containers: tuple[str, ...]
    member: str | None
    offset: int | None
    """Bytes in the outermost file."""
    size: int
    """Bytes."""
    kind: Literal["assembly", "code-object"]
    target: str | None
    features: Features
    code_object_version: int | None
    compiler: str | None
    """The stamp of the one that made the kernels; None where none is known."""
    stamps: tuple[str, ...]
    """Of all producers, sorted: the compiler, those of linked libraries, the linker."""
    beside: str | None = None
    """The entry of the same file and processor, read before, whose id names other features."""


class Used(NamedTuple):
    """What the code uses, as the compiler counted; None where the input does not say."""

    vgprs: int | None
    """Per lane; AGPRs included where they share one file."""
    agprs: int | None
    sgprs: int | None
    """Per wave; VCC, flat scratch and XNACK included."""
    lds_bytes: int | None
    """Static, per workgroup."""
    scratch_bytes_per_lane: int | None


class Encoded(NamedTuple):
    """What the kernel descriptor tells the hardware to reserve, in its encoding granules.

    The compiler may encode far more than the code uses (LLVM 21 pads VGPRs up to the occupancy
    that LDS allows anyway). None where no descriptor or its text form was read.
    """

    vgprs: int | None
    """Per lane, AGPRs included."""
    accum_offset: int | None
    """First AGPR in a unified file."""
    sgprs: int | None
    """Per wave."""


class Spills(NamedTuple):
    """Registers that did not fit; None where the input does not say."""

    vgprs: int | None
    sgprs: int | None


class Flags(NamedTuple):
    """None where the input does not say."""

    dynamic_stack: bool | None
    indirect_call: bool | None
    recursion: bool | None
    tg_split: bool | None


class Workgroup(NamedTuple):
    """Sizes that may be launched, in workitems."""

    declared_max: int | None
    required: tuple[int, int, int] | None


class Kernel(NamedTuple):
    """What the inputs say of one kernel: every number chosen from its best source."""

    code_object: CodeObject
    symbol: str
    """Mangled."""
    name: str
    """Demangled."""
    target: Target | None
    """None when the input does not say, or names one that is not known."""
    wave_size: int | None
    wgp_mode: bool | None
    code_size: Fact | None
    begins: Mapping[Source, int]
    """Where a source begins: in bytes from the start of the code object, or the 1-based line of the
    assembly text."""
    line: int | None
    """Of the kernel's label in assembly text."""
    workgroup: Workgroup
    used: Used
    spills: Spills
    flags: Flags
    demand: Demand | None
    """What counts for occupancy; None without a target."""
    takes_dynamic_lds: bool | None
    launched_lds_bytes: int | None
    """Dynamic LDS per workgroup, where the input knows the launch."""
    compiler_waves_per_simd: int | None
    """The compiler's own `; Occupancy:`."""
    encoded: Encoded
    code: Code | None
    """What its instructions are; None where they are not read."""
    source: SourceLine | None
    """None without debug information."""
    facts: tuple[Fact, ...]
    """All that was said but the size of the code; of each name the first is the one that counts."""
    disagreements: tuple[tuple[Fact, Fact], ...]
    """Pairs of sources that should say the same and do not; the first was chosen."""
    alike: object = None
    """Equal in kernels that differ in nothing but names, size of code and places: what follows from
    the rest need be worked out once. None where that is not known, as of a kernel with a place in
    its source."""

    @property
    def code_bytes(self) -> int | None:
        """Size of the code, callees excluded."""
        return None if self.code_size is None else self.code_size.value

    def offset(self, fact: Fact) -> int | None:
        """Where a fact stands, in bytes from the start of the code object; None in text."""
        return None if fact.offset is None else self.begins[fact.source] + fact.offset

    def line_of(self, fact: Fact) -> int | None:
        """Where a fact stands, by its 1-based line in assembly text; None in code objects."""
        return None if fact.line is None else self.begins[fact.source] + fact.line

    def launch(
        self,
        workgroup_size: int | None = None,
        dynamic_lds: int | None = None,
        trap_handler: bool = True,
        configured_size: int | None = None,
    ) -> Launch:
        """How the kernel is taken to be started: as told, as required, as the project configures,
        at its declared maximum."""
        dynamic_lds = (self.launched_lds_bytes or 0) if dynamic_lds is None else dynamic_lds
        if workgroup_size is not None:
            return Launch(workgroup_size, "option", dynamic_lds, trap_handler)
        if self.workgroup.required is not None:
            x, y, z = self.workgroup.required
            return Launch(x * y * z, "required", dynamic_lds, trap_handler)
        if configured_size is not None:
            return Launch(configured_size, "config", dynamic_lds, trap_handler)
        if self.workgroup.declared_max is not None:
            return Launch(self.workgroup.declared_max, "declared-max", dynamic_lds, trap_handler)
        most = self._known_target().waves.max_workgroup_size
        return Launch(most, "hardware-max", dynamic_lds, trap_handler)

    def occupancy(
        self,
        *,
        workgroup_size: int | None = None,
        dynamic_lds: int | None = None,
        trap_handler: bool = True,
        configured_size: int | None = None,
    ) -> Occupancy:
        """The occupancy on the kernel's own target.

        `workgroup_size` in workitems, `dynamic_lds` in bytes; without them what the input knows of
        the launch counts, and `configured_size` where it requires none. Raises
        `UnknownTargetError` where the target is not known and `LaunchError` for a launch that makes
        no sense.
        """
        target = self._known_target()
        assert self.demand is not None
        demand = self.demand
        launch = self.launch(workgroup_size, dynamic_lds, trap_handler, configured_size)
        known = dynamic_lds is not None or self.launched_lds_bytes is not None
        if self.takes_dynamic_lds and not known:
            demand = demand._replace(at_least=(*demand.at_least, LDS_UNSAID))
        return occupancy(target, demand, launch)

    @property
    def allocated(self) -> Allocated:
        """What the hardware reserves, without dynamic LDS. Raises `UnknownTargetError`."""
        target = self._known_target()
        assert self.demand is not None
        return allocated(placement(target, self.demand, self.launch()), self.demand)

    def on(self, target: Target) -> Kernel:
        """The kernel as if it used the same registers on another target.

        VGPRs and AGPRs are counted as that target counts them. The padding of the descriptor is
        not carried over: it was made for the own target. Where the code runs as it is, which a
        generic target's does on its members, nothing changes. Raises `UnknownTargetError` where
        the own target is not known, and `LaunchError` where `target` has no waves of this size or
        no AGPRs, and the kernel uses some.
        """
        own = self._known_target()
        assert self.demand is not None
        size, used = self.demand.wave_size, self.used.vgprs
        if size not in {file.wave_size for file in target.vgprs}:
            raise LaunchError(f"{target.name} has no waves of {size} lanes, as {self.name} needs")
        if target.name in (own.name, *own.members):
            return self._replace(target=target)
        if self.demand.agprs and target.agprs.file == "none":
            raise LaunchError(
                f"{target.name} has no AGPRs, and {self.name} uses {self.demand.agprs}"
            )
        demand = self.demand._replace(
            sgprs=self.demand.sgprs if self.used.sgprs is None else self.used.sgprs,
            tg_split=self.demand.tg_split and target.tg_split,
        )
        arch_vgprs, agprs = demand.arch_vgprs, demand.agprs
        if arch_vgprs is not None and agprs is not None:
            demand = demand.with_registers(target, arch_vgprs, agprs)
        elif own.agprs.file == target.agprs.file:
            demand = demand._replace(vgprs=self.demand.vgprs if used is None else used)
        else:
            # How many there are of either kind decides, and the input does not say.
            demand = demand._replace(vgprs=None, accum_offset=None)
        return self._replace(
            target=target,
            demand=demand,
            used=self.used._replace(vgprs=demand.vgprs),
            encoded=Encoded(None, None, None),
        )

    def fact(self, name: FactName) -> Fact | None:
        """The fact of that name that counts."""
        return next((fact for fact in self.facts if fact.name == name), None)

    def _known_target(self) -> Target:
        if self.target is None:
            raise UnknownTargetError(self.code_object.target or "", known_targets())
        return self.target


class Finding(NamedTuple):
    """What a rule says of one kernel."""

    rule: str
    """KI and three digits."""
    name: str
    severity: Literal["error", "warning", "note"]
    message: str
    hint: str = ""
    """What to do, where there is something to do."""


class Result(NamedTuple):
    """One kernel, its occupancy under the launch that was asked for, and what the rules say."""

    kernel: Kernel
    occupancy: Occupancy | None
    """None where the target is not known."""
    findings: tuple[Finding, ...] = ()


class Repeat(NamedTuple):
    """A code object that was met before, byte for byte; its kernels are not counted again."""

    first: CodeObject
    path: str
    containers: tuple[str, ...]
    member: str | None
    offset: int | None


Item = Result | Problem | Repeat | Note
"""What an analysis finds, one after the other."""


class Report(NamedTuple):
    """All that a renderer may know."""

    results: tuple[Result, ...]
    problems: tuple[Problem, ...]
    repeats: tuple[Repeat, ...] = ()

    @classmethod
    def of(cls, items: Iterable[Item]) -> Report:
        """All items of an analysis, gathered."""
        found = list(items)
        return cls(
            tuple(item for item in found if isinstance(item, Result)),
            tuple(item for item in found if isinstance(item, Problem)),
            tuple(item for item in found if isinstance(item, Repeat)),
        )

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        return tuple(result.kernel for result in self.results)

    @property
    def code_objects(self) -> tuple[CodeObject, ...]:
        """Those that kernels come from, in the order of reading."""
        return tuple(dict.fromkeys(kernel.code_object for kernel in self.kernels))
