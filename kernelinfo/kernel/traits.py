"""What the facts of a kernel settle: its numbers and flags, and the occupancy they allow."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from kernelinfo.errors import LaunchError, UnknownTargetError
from kernelinfo.identity import hashed_by_identity
from kernelinfo.occupancy import Allocated, Occupancy, allocated, occupancy
from kernelinfo.occupancy.placement import Assumption, Demand, Launch, placement
from kernelinfo.occupancy.targets import Target
from kernelinfo.occupancy.targets import known as known_targets
from kernelinfo.reading.facts import Fact, FactName

LDS_NOT_STATED = (
    "the kernel takes LDS sized at launch, which the file does not say; see --dynamic-lds"
)


class Used(NamedTuple):
    """What the code uses, as the compiler counted; None where the input does not say."""

    vgprs: int | None  # per lane; AGPRs included where they share one file
    agprs: int | None
    sgprs: int | None  # per wave; VCC, flat scratch and XNACK included
    lds_bytes: int | None  # static, per workgroup
    scratch_bytes_per_lane: int | None


class Encoded(NamedTuple):
    """What the kernel descriptor makes the hardware allocate, in its encoding granules.

    The compiler may encode far more than the code uses (LLVM 21 pads VGPRs up to the occupancy
    that LDS allows anyway). None where no descriptor or its text form was read.
    """

    vgprs: int | None  # per lane, AGPRs included
    accum_offset: int | None  # first AGPR in a unified file
    sgprs: int | None  # per wave


class Spills(NamedTuple):
    """Registers that did not fit; None where the input does not say."""

    vgprs: int | None
    sgprs: int | None

    @property
    def registers(self) -> int:
        """Those of both kinds that are known to have spilled."""
        return (self.vgprs or 0) + (self.sgprs or 0)


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


@hashed_by_identity
class Traits(NamedTuple):
    """Every number chosen from its best source; one value for all kernels that state the same."""

    target: Target | None
    """None when the input does not name one, or names one that is not known."""
    compiled_for: str | None
    """The processor that the input names."""
    wave_size: int | None
    wgp_mode: bool | None
    workgroup: Workgroup
    is_graphics_stage: bool
    """Waves are launched one by one, without a workgroup."""
    used: Used
    encoded: Encoded
    spills: Spills
    flags: Flags
    demand: Demand | None
    """What counts for occupancy; None without a target."""
    takes_dynamic_lds: bool | None
    launched_lds_bytes: int | None
    """Dynamic LDS per workgroup, where the input knows the launch."""
    compiler_waves_per_simd: int | None
    """The compiler's own `; Occupancy:`."""
    facts: tuple[Fact, ...]
    """All facts but the size of the code; of each name the first is the one that counts."""
    disagreements: tuple[tuple[Fact, Fact], ...]
    """Pairs of sources that should state the same and do not; the first was chosen."""

    def launch(
        self,
        workgroup_size: int | None = None,
        dynamic_lds: int | None = None,
        trap_handler: bool = True,
        configured_size: int | None = None,
    ) -> Launch:
        """The launch with the first workgroup size that is known."""
        target, demand = self._known()
        lds = (self.launched_lds_bytes or 0) if dynamic_lds is None else dynamic_lds
        required = prod(self.workgroup.required) if self.workgroup.required else None
        sizes: dict[Assumption, int | None] = {
            "graphics-stage": demand.wave_size if self.is_graphics_stage else None,
            "option": workgroup_size,
            "config": configured_size if configured_size != required else None,
            "required": required,
            "declared-max": self.workgroup.declared_max,
            "hardware-max": target.waves.max_workgroup_size,
        }
        known = ((size, assumption) for assumption, size in sizes.items() if size is not None)
        return Launch(*next(known), lds, trap_handler)

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
        the launch counts, and `configured_size` before it. Raises `UnknownTargetError` where the
        target is not known and `LaunchError` for a launch that makes no sense.
        """
        target, demand = self._known()
        launch = self.launch(workgroup_size, dynamic_lds, trap_handler, configured_size)
        known = dynamic_lds is not None or self.launched_lds_bytes is not None
        if self.takes_dynamic_lds and not known:
            demand = demand._replace(at_least=(*demand.at_least, LDS_NOT_STATED))
        return occupancy(target, demand, launch)

    @property
    def allocated(self) -> Allocated:
        """What the hardware allocates, without dynamic LDS. Raises `UnknownTargetError`."""
        target, demand = self._known()
        return allocated(placement(target, demand, self.launch()), demand)

    def on(self, target: Target) -> Traits:
        """The traits of a kernel that uses the same registers on another target.

        VGPRs and AGPRs are counted as that target counts them. The padding of the descriptor is
        not carried over: it was made for the own target. Where the code runs as it is, which a
        generic target's does on its members, nothing changes. Raises `UnknownTargetError` where
        the own target is not known, and `LaunchError` where `target` has no waves of this size or
        no AGPRs, and the kernel uses some.
        """
        own, demand = self._known()
        size, used = demand.wave_size, self.used
        if size not in {file.wave_size for file in target.vgprs}:
            raise LaunchError(f"{target.name} has no waves of {size} lanes, as the kernel needs")
        if target.name in (own.name, *own.members):
            return self._replace(target=target)
        if demand.agprs and target.agprs.file == "none":
            raise LaunchError(f"{target.name} has no AGPRs, and the kernel uses {demand.agprs}")
        demand = demand._replace(
            sgprs=demand.sgprs if used.sgprs is None else used.sgprs,
            tg_split=demand.tg_split and target.tg_split,
        )
        arch_vgprs, agprs = demand.arch_vgprs, demand.agprs
        if arch_vgprs is not None and agprs is not None:
            demand = demand.with_registers(target, arch_vgprs, agprs)
        elif own.agprs.file == target.agprs.file:
            demand = demand._replace(vgprs=demand.vgprs if used.vgprs is None else used.vgprs)
        else:
            # How many there are of either kind decides, and the input does not say.
            demand = demand._replace(vgprs=None, accum_offset=None)
        return self._replace(
            target=target,
            demand=demand,
            used=used._replace(vgprs=demand.vgprs),
            encoded=Encoded(None, None, None),
        )

    def fact(self, name: FactName) -> Fact | None:
        """The fact of that name that counts."""
        return next((fact for fact in self.facts if fact.name == name), None)

    def _known(self) -> tuple[Target, Demand]:
        """Target and demand. Raises `UnknownTargetError`."""
        if self.target is None or self.demand is None:
            raise UnknownTargetError(self.compiled_for or "", known_targets())
        return self.target, self.demand
