"""The occupancy calculator for one target, without a file: `kernelinfo.arch("gfx942")`."""

from __future__ import annotations

from collections.abc import Iterator
from operator import index
from typing import NamedTuple

from kernelinfo.errors import LaunchError
from kernelinfo.hardware.products import target_named
from kernelinfo.hardware.targets import Target
from kernelinfo.model import Occupancy
from kernelinfo.model import occupancy as occupancy_of
from kernelinfo.model.limits import (
    Demand,
    Launch,
    Placement,
    most_lds,
    most_sgprs,
    most_vgprs,
    place,
    vgprs_and_offset,
)
from kernelinfo.model.messages import say


class Rung(NamedTuple):
    """One occupancy, and the most of each resource that a kernel may use and still reach it."""

    waves_per_simd: float  # waves per SIMD
    percent: float  # waves in % of the wave slots
    vgprs: int
    """Most VGPRs per lane, AGPRs included."""
    sgprs: int | None
    """Most SGPRs per wave; None if SGPRs never limit."""
    lds_bytes: int
    """Most bytes of LDS per workgroup."""


class Arch(NamedTuple):
    """The calculator for one target; its methods are pure functions."""

    target: Target

    def occupancy(
        self,
        *,
        workgroup_size: int,
        vgprs: int = 0,
        agprs: int = 0,
        sgprs: int = 0,
        lds_bytes: int = 0,
        scratch_bytes_per_lane: int = 0,
        wave_size: int | None = None,
        wgp_mode: bool | None = None,
        trap_handler: bool = True,
    ) -> Occupancy:
        """The occupancy of a kernel with these numbers.

        `workgroup_size` is in workitems; `lds_bytes` is static + dynamic LDS per workgroup. The
        other units are those of `demand`."""
        demand = self.demand(
            vgprs=vgprs,
            agprs=agprs,
            sgprs=sgprs,
            lds_bytes=lds_bytes,
            scratch_bytes_per_lane=scratch_bytes_per_lane,
            wave_size=wave_size,
            wgp_mode=wgp_mode,
        )
        launch = Launch(_whole_size(workgroup_size), trap_handler=trap_handler)
        return occupancy_of(self.target, demand, launch)

    def demand(
        self,
        *,
        vgprs: int = 0,
        agprs: int = 0,
        sgprs: int = 0,
        lds_bytes: int = 0,
        scratch_bytes_per_lane: int = 0,
        wave_size: int | None = None,
        wgp_mode: bool | None = None,
        dynamic_vgpr_block: int = 0,
    ) -> Demand:
        """The demand with these numbers: architectural VGPRs and AGPRs per lane, SGPRs per wave.

        `dynamic_vgpr_block` is in VGPRs per lane; 0 means static VGPRs. Raises `LaunchError` for a
        count that is negative or not a whole number, and for a wave size, mode, block size or AGPRs
        that the target lacks.
        """
        try:  # integers of NumPy have 8 to 64 bits and wrap
            vgprs, agprs, sgprs = index(vgprs), index(agprs), index(sgprs)
            lds_bytes, scratch_bytes_per_lane = index(lds_bytes), index(scratch_bytes_per_lane)
        except TypeError as error:
            raise LaunchError(say("launch-counts", error=error)) from None
        least = min(vgprs, agprs, sgprs, lds_bytes, scratch_bytes_per_lane)
        if least < 0:
            raise LaunchError(say("launch-count-negative", least=least))
        lanes = self._wave_size(wave_size)
        total, offset = vgprs_and_offset(self.target, vgprs, agprs)
        return Demand(
            wave_size=lanes,
            vgprs=total,
            sgprs=sgprs,
            lds_bytes=lds_bytes,
            scratch_bytes_per_lane=scratch_bytes_per_lane,
            accum_offset=offset,
            wgp_mode=self._wgp_mode(wgp_mode),
            dynamic_vgpr_block=self._dynamic_block(dynamic_vgpr_block, lanes),
            arch_vgprs=vgprs,
            agprs=agprs,
        )

    def limits(
        self,
        *,
        workgroup_size: int = 256,
        wave_size: int | None = None,
        wgp_mode: bool | None = None,
        trap_handler: bool = True,
        dynamic_vgpr_block: int = 0,
    ) -> tuple[Rung, ...]:
        """The step table for workgroups of `workgroup_size` workitems, highest occupancy first."""
        demand = self.demand(
            wave_size=wave_size, wgp_mode=wgp_mode, dynamic_vgpr_block=dynamic_vgpr_block
        )
        launch = Launch(_whole_size(workgroup_size), trap_handler=trap_handler)
        rungs: dict[tuple[int, int | None, int], Rung] = {}
        for rung in _rungs(place(self.target, demand, launch)):
            asks = rung.vgprs, rung.sgprs, rung.lds_bytes
            rungs.setdefault(asks, rung)  # equal amounts: the highest occupancy stays
        return tuple(rungs.values())

    def _wave_size(self, wave_size: int | None) -> int:
        if wave_size is None:
            return self.target.waves.default_size
        sizes = [file.wave_size for file in self.target.vgprs]
        if wave_size not in sizes:
            listed = " and ".join(map(str, sizes))
            raise LaunchError(
                say("launch-wave-size", target=self.target.name, lanes=wave_size, known=listed)
            )
        return wave_size

    def _dynamic_block(self, block: int, wave_size: int) -> int:
        if not block:
            return 0
        file = self.target.vgpr_file(wave_size)
        if block not in file.dynamic_blocks:
            listed = " and ".join(map(str, file.dynamic_blocks))
            only = say("blocks-known", known=listed) if listed else say("blocks-none")
            target, lanes = self.target.name, file.wave_size
            raise LaunchError(
                say("launch-blocks", target=target, lanes=lanes, block=block, only=only)
            )
        return block

    def _wgp_mode(self, wgp_mode: bool | None) -> bool | None:
        if wgp_mode is not None and len(self.target.domains) == 1:
            per = self.target.domains[0].per
            raise LaunchError(say("launch-mode", target=self.target.name, per=per))
        return wgp_mode


def _whole_size(workgroup_size: int) -> int:
    """The size as a Python integer. Raises `LaunchError` if it is not a whole number."""
    try:
        return index(workgroup_size)
    except TypeError as error:
        raise LaunchError(say("launch-workitems", error=error)) from None


def _rungs(placed: Placement) -> Iterator[Rung]:
    """One row of the step table per number of waves per SIMD, most waves first, rounded down to
    whole workgroups."""
    most_groups = occupancy_of(placed.target, placed.demand, placed.launch).workgroups
    simds, target = placed.domain.simds, placed.target
    for per_simd in range(target.waves.slots_per_simd, 0, -1):
        waves = min(per_simd * simds // placed.group, most_groups) * placed.group
        if not waves:
            return
        yield Rung(
            waves / simds,
            100 * waves / simds / target.waves.slots_per_simd,
            most_vgprs(placed, waves),
            most_sgprs(placed, waves) if target.sgprs.per_simd else None,
            most_lds(placed, waves),
        )


def vgpr_steps(target: Target, occupancy: Occupancy) -> tuple[Rung, ...]:
    """One step of the step table per number of VGPRs, highest occupancy first, for the launch, wave
    size and mode of `occupancy`."""
    given, launch = occupancy.demand, occupancy.launch
    demand = Arch(target).demand(
        wave_size=given.wave_size,
        wgp_mode=given.wgp_mode if len(target.domains) > 1 else None,
        dynamic_vgpr_block=given.dynamic_vgpr_block,
    )
    size = min(launch.workgroup_size, target.waves.max_workgroup_size)
    steps: dict[int, Rung] = {}
    for rung in _rungs(place(target, demand, Launch(size, trap_handler=launch.trap_handler))):
        steps.setdefault(rung.vgprs, rung)
    return tuple(steps.values())


def arch(name: str) -> Arch:
    """The calculator for a gfx target or a product, such as `gfx942` or `MI300X`.

    Raises `UnknownTargetError`, or `OptionError` for an unknown product."""
    return Arch(target_named(name))


def occupancy(
    target: str,
    *,
    workgroup_size: int,
    vgprs: int = 0,
    agprs: int = 0,
    sgprs: int = 0,
    lds_bytes: int = 0,
    scratch_bytes_per_lane: int = 0,
    wave_size: int | None = None,
    wgp_mode: bool | None = None,
    trap_handler: bool = True,
) -> Occupancy:
    """The occupancy of a kernel with these numbers on a gfx target or a product, without a file.

    `workgroup_size` is in workitems; architectural `vgprs` and `agprs` are per lane, `sgprs` per
    wave with VCC; `lds_bytes` is static + dynamic LDS per workgroup. A `wave_size` of None is the
    compiler's default, in lanes. `wgp_mode` is for gfx10 and newer. Raises `UnknownTargetError`,
    `OptionError` for an unknown product, and `LaunchError` for numbers that cannot start.
    """
    return arch(target).occupancy(
        workgroup_size=workgroup_size,
        vgprs=vgprs,
        agprs=agprs,
        sgprs=sgprs,
        lds_bytes=lds_bytes,
        scratch_bytes_per_lane=scratch_bytes_per_lane,
        wave_size=wave_size,
        wgp_mode=wgp_mode,
        trap_handler=trap_handler,
    )
