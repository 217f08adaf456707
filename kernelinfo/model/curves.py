"""Occupancy as a function of one or more numbers of a kernel, and the best workgroup sizes.

A curve has a point at each granule of registers and LDS and at each whole wave of a workgroup. The
hardware treats a value between two points as it treats the upper point.
"""

from collections.abc import Sequence
from itertools import pairwise, product
from typing import Literal, NamedTuple, get_args

from kernelinfo.errors import LaunchError
from kernelinfo.hardware.targets import Device, Target, find
from kernelinfo.model import Occupancy, occupancy
from kernelinfo.model.limits import Demand, Launch, Resource, most_lds_of_a_workgroup, place
from kernelinfo.model.messages import say

CurveVariable = Literal["vgpr", "sgpr", "lds", "workgroup-size"]
VARIABLES: tuple[CurveVariable, ...] = get_args(CurveVariable)


class CurvePoint(NamedTuple):
    """The occupancy at one value of each variable."""

    at: tuple[int, ...]
    """Value of each variable: VGPRs per lane (AGPRs included), SGPRs per wave, bytes of LDS or
    workitems per workgroup."""
    workgroups: int
    """Resident workgroups of one domain; 0 if none can start."""
    waves_per_simd: float  # resident waves per SIMD
    percent: float  # resident waves in % of the wave slots
    limiters: tuple[Resource, ...]  # all resources that limit the waves


def curve(
    target: Target, demand: Demand, launch: Launch, variables: Sequence[CurveVariable]
) -> tuple[CurvePoint, ...]:
    """The points for all combinations of values; the last variable changes fastest.

    LDS counts static + dynamic bytes and begins at the launch's dynamic LDS.
    """
    ranges = [values(target, demand, launch, variable) for variable in variables]
    return tuple(_point(target, demand, launch, variables, point) for point in product(*ranges))


def values(
    target: Target, demand: Demand, launch: Launch, variable: CurveVariable
) -> tuple[int, ...]:
    """The values of one variable at the points of a curve, ascending from the least possible one
    to the hardware's maximum. A generic target has the union of its members' ranges."""
    hardware = [find(name) for name in target.members] or [target]
    placements = [place(member, demand, launch) for member in hardware]
    match variable:
        case "vgpr":
            files = [placement.vgpr_file for placement in placements]
            granule, largest = min(f.granule for f in files), max(f.addressable for f in files)
            least = granule
        case "sgpr":
            granule = min(member.sgprs.granule for member in hardware)
            largest = max(member.sgprs.allocatable for member in hardware)
            least = granule
        case "lds":
            granule = min(member.lds.granule_bytes for member in hardware)
            largest = max(map(most_lds_of_a_workgroup, placements))
            least = launch.dynamic_lds_bytes
        case "workgroup-size":
            granule = least = demand.wave_size
            largest = max(member.waves.max_workgroup_size for member in hardware)
    multiples = range(least // granule * granule, largest + 1, granule)
    return tuple(sorted({least, *(value for value in multiples if value >= least), largest}))


def stretches(points: Sequence[CurvePoint], axis: int = 0) -> tuple[tuple[int, int], ...]:
    """(first, last) value of each stretch of equal occupancy along one variable, ascending."""
    lines: dict[int, list[float]] = {}
    for point in points:
        lines.setdefault(point.at[axis], []).append(point.percent)
    lasts = [value for value, following in pairwise(lines) if lines[value] != lines[following]] + [
        max(lines)
    ]
    firsts = [min(1, *lines), *(last + 1 for last in lasts[:-1])]
    return tuple(zip(firsts, lasts, strict=True))


def best_sizes(target: Target, demand: Demand, launch: Launch) -> tuple[CurvePoint, ...]:
    """The points of the workgroup sizes, in whole waves, that have the highest occupancy. Only
    sizes within the launch's range count. Empty if none can start."""
    sizes = values(target, demand, launch, "workgroup-size")
    if (least := launch.smallest_size) is not None:
        sizes = tuple(size for size in sizes if least <= size <= launch.workgroup_size)
    points = [_point(target, demand, launch, ["workgroup-size"], (size,)) for size in sizes]
    highest = max((point.percent for point in points), default=0)
    return tuple(point for point in points if point.percent == highest > 0)


def _point(
    target: Target,
    demand: Demand,
    launch: Launch,
    variables: Sequence[CurveVariable],
    position: tuple[int, ...],
) -> CurvePoint:
    changed: dict[str, int] = dict(zip(variables, position, strict=True))
    lds = changed.get("lds")
    demand = demand._replace(
        vgprs=changed.get("vgpr", demand.vgprs),
        sgprs=changed.get("sgpr", demand.sgprs),
        lds_bytes=demand.lds_bytes if lds is None else lds - launch.dynamic_lds_bytes,
    )
    size = changed.get("workgroup-size", launch.workgroup_size)
    launch = launch._replace(workgroup_size=size, smallest_size=None)
    result = occupancy(target, demand, launch)
    return CurvePoint(
        position, result.workgroups, result.waves_per_simd, result.percent, result.limiters
    )


# Workgroups that fill a whole device, and the rounds that a grid takes on it.


class Grid(NamedTuple):
    """The rounds in which a device runs a grid; each round starts as many workgroups as fit."""

    workgroups: int  # launched workgroups
    full_rounds: int  # rounds that fill the device
    last_round: int
    """Workgroups of a partial last round; 0 if the last round is full."""
    percent: float
    """Mean occupancy over rounds of equal length, in % of the wave slots: a ceiling, too."""


class Filling(NamedTuple):
    """Counts for a device that is full of one kernel's workgroups."""

    name: str  # product
    domains: int  # CUs or WGPs
    workgroups: int  # resident workgroups of the whole device
    waves: int  # resident waves
    wave_slots: int  # wave slots
    percent: float  # waves in % of the wave slots
    grid: Grid | None = None


def fill(device: Device, occupancy: Occupancy, grid: int | None = None) -> Filling:
    """Counts for a device that is full of workgroups; with `grid`, in workgroups, also the grid's
    rounds.

    Raises `LaunchError` for a grid below 1.
    """
    if grid is not None and grid < 1:
        raise LaunchError(say("launch-grid", grid=grid))
    domains = device.domains(occupancy.per)
    at_once = occupancy.workgroups * domains
    slots = occupancy.wave_slots * domains
    shape = None
    if grid is not None and at_once:
        full_rounds, last_round = divmod(grid, at_once)
        rounds = full_rounds + (1 if last_round else 0)
        waves = grid * occupancy.placement.group
        shape = Grid(grid, full_rounds, last_round, 100 * waves / (rounds * slots))
    return Filling(
        name=device.name,
        domains=domains,
        workgroups=at_once,
        waves=occupancy.waves * domains,
        wave_slots=slots,
        percent=occupancy.percent,
        grid=shape,
    )
