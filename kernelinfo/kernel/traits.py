"""The numbers of a kernel, each from its best source, and its occupancy."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from kernelinfo.errors import LaunchError, UnknownTargetError
from kernelinfo.hardware.targets import Target
from kernelinfo.hardware.targets import known as known_targets
from kernelinfo.kernel.messages import say
from kernelinfo.model import Allocated, Occupancy, allocated, occupancy
from kernelinfo.model.limits import Assumption, Demand, Launch, place
from kernelinfo.reading.facts import Fact, Numbers, StatedNumbers, facts_of

LDS_NOT_STATED = (
    "the kernel takes LDS sized at launch, which the file does not say; see --dynamic-lds"
)


class Traits(NamedTuple):
    """Target, numbers and demand of a kernel; kernels with equal statements have equal traits."""

    target: Target | None
    """None if the input names none or an unknown one."""
    compiled_for: str | None
    """The processor that the input names."""
    numbers: Numbers
    """Each from its best source. `vgprs` includes AGPRs of a unified file; an unstated wave size is
    the target's only one."""
    demand: Demand | None
    """The demand on the hardware; None without a target."""
    stated: tuple[StatedNumbers, ...]
    """Numbers by source, the best source first."""
    disagreements: tuple[tuple[Fact, Fact], ...] = ()
    """Pairs of facts from sources that contradict each other; the first was chosen."""

    def __hash__(self) -> int:
        return hash((self.compiled_for, self.numbers))

    def launch(
        self,
        workgroup_size: int | None = None,
        dynamic_lds: int | None = None,
        trap_handler: bool = True,
        configured_size: int | None = None,
    ) -> Launch:
        """The launch. Its workgroup size is one wave for a graphics stage, else the first known of
        `workgroup_size`, `configured_size`, the required size, the launch bound and the hardware's
        maximum."""
        target, demand = self._known()
        numbers = self.numbers
        lds = (numbers.dynamic_lds_bytes or 0) if dynamic_lds is None else dynamic_lds
        required = numbers.required_workgroup and prod(numbers.required_workgroup)
        size: int | None
        assumption: Assumption
        if numbers.graphics_stage:
            size, assumption = demand.wave_size, "graphics-stage"
        elif workgroup_size is not None:
            size, assumption = workgroup_size, "option"
        elif configured_size not in (None, required):
            size, assumption = configured_size, "config"
        elif required is not None:
            size, assumption = required, "required"
        else:
            size, assumption = numbers.max_workgroup_size, "declared-max"
        if size is None:
            size, assumption = target.waves.max_workgroup_size, "hardware-max"
        return Launch(size, assumption, lds, trap_handler)

    def occupancy(
        self,
        *,
        workgroup_size: int | None = None,
        dynamic_lds: int | None = None,
        trap_handler: bool = True,
        configured_size: int | None = None,
    ) -> Occupancy:
        """The occupancy on the kernel's own target.

        `workgroup_size` and `configured_size` in workitems, `dynamic_lds` in bytes. The defaults
        are `configured_size`, then the input's own statements. Raises `UnknownTargetError` for an
        unknown target and `LaunchError` for an impossible launch.
        """
        target, demand = self._known()
        launch = self.launch(workgroup_size, dynamic_lds, trap_handler, configured_size)
        is_stated = dynamic_lds is not None or self.numbers.dynamic_lds_bytes is not None
        if self.numbers.dynamic_lds and not is_stated:
            demand = demand._replace(at_least=(*demand.at_least, LDS_NOT_STATED))
        return occupancy(target, demand, launch)

    @property
    def allocated(self) -> Allocated:
        """Allocated resources, without dynamic LDS. Raises `UnknownTargetError`."""
        target, demand = self._known()
        return allocated(place(target, demand, self.launch()))

    def on(self, target: Target) -> Traits:
        """The traits of a kernel that uses the same registers on another target.

        VGPRs and AGPRs are added up by that target's rule, without the descriptor's padding. A
        generic target's code runs unchanged on its members and keeps its numbers. Raises
        `UnknownTargetError` if the kernel's own target is unknown, and `LaunchError` if `target`
        lacks its wave size or the AGPRs that it uses.
        """
        compiled_for, demand = self._known()
        size, used = demand.wave_size, self.numbers
        if size not in {file.wave_size for file in target.vgprs}:
            raise LaunchError(say("kernel-wave-size", target=target.name, lanes=size))
        if target.name in (compiled_for.name, *compiled_for.members):
            return self._replace(target=target)
        if demand.agprs and target.agprs.file == "none":
            raise LaunchError(say("kernel-agprs", target=target.name, agprs=demand.agprs))
        demand = demand.unpadded._replace(
            sgprs=demand.sgprs if used.sgprs is None else used.sgprs,
            tg_split=demand.tg_split and target.tg_split,
        )
        arch_vgprs, agprs = demand.arch_vgprs, demand.agprs
        if arch_vgprs is not None and agprs is not None:
            demand = demand.with_registers(target, arch_vgprs, agprs)
        elif compiled_for.agprs.file == target.agprs.file:
            demand = demand._replace(vgprs=demand.vgprs if used.vgprs is None else used.vgprs)
        else:
            # The total depends on the count of each kind, and the input does not say.
            demand = demand._replace(vgprs=None, accum_offset=None)
        numbers = used._replace(
            vgprs=demand.vgprs, reserved_vgprs=None, accum_offset=None, reserved_sgprs=None
        )
        return self._replace(target=target, demand=demand, numbers=numbers)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All numbers of all sources, the best source first."""
        return facts_of(self.stated)

    def _known(self) -> tuple[Target, Demand]:
        """(target, demand). Raises `UnknownTargetError` if the target is unknown."""
        if self.target is None or self.demand is None:
            raise UnknownTargetError(self.compiled_for or "", known_targets())
        return self.target, self.demand
