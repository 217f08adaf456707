"""Notes on a kernel, in words: below the table of `explain` and next to the curves of pages."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from kernelinfo.hardware.targets import Device, Target
from kernelinfo.kernel import Language, Result, counted
from kernelinfo.kernel.traits import Traits
from kernelinfo.model import Occupancy
from kernelinfo.model.curves import Filling, Grid, best_sizes
from kernelinfo.model.limits import Demand, Launch, Resource, most_vgprs, place
from kernelinfo.reading.facts import Code
from kernelinfo.render.paint import percent, printable

if TYPE_CHECKING:
    from kernelinfo.reading.arguments import Argument

Notes = list[tuple[str, str]]  # (label, text) of each line

_MOST_SIZES = 8
_STALLS: dict[Resource, str] = {
    "slots": "6.2.4 Insufficient SIMD Waveslots",
    "vgpr": "6.2.5 Insufficient SIMD VGPRs",
    "sgpr": "6.2.6 Insufficient SIMD SGPRs",
    "lds": "6.2.7 Insufficient CU LDS",
    "barriers": "6.2.8 Insufficient CU Barriers",
}
"""Resource → number and name of the metric for workgroups that waited for it.

Source: rocprofiler-compute 3, analysis configuration of the gfx90x and gfx94x SoCs, panel 6.2,
workgroup manager."""


def argument_parts(arguments: tuple[Argument, ...]) -> list[str]:
    """A kernel's arguments, each in words. Hidden arguments are only counted."""
    words = [
        f"{a.offset}: {a.type or a.kind or '?'} {a.name or ''}".rstrip() + f" ({a.size} B)"
        for a in arguments
        if not a.is_hidden
    ]
    hidden = sum(argument.is_hidden for argument in arguments)
    return [printable(word) for word in words] + [f"{hidden} hidden"] * bool(hidden)


def code_parts(code: Code | None, *, counted_before: bool = False) -> list[str]:
    """Numbers of instructions in the text of the code, by kind, in words; kinds without
    instructions are left out. With `counted_before`, which says that the classes of instructions
    are already stated, only calls and moves of spills to AGPRs remain."""
    if code is None:
        return []
    numbers = {
        "memory instruction": code.memory,
        "scratch instruction": code.scratch,
        "LDS instruction": code.lds,
        "barrier": code.barriers,
    }
    numbers = {"call": code.calls} if counted_before else numbers | {"call": code.calls}
    parts = []
    if code.matrix and not counted_before:
        parts.append(f"uses the matrix cores: {code.matrix} MFMA or WMMA")
    parts += [counted(count, noun) for noun, count in numbers.items() if count]
    if (code.spills or code.reloads) and not counted_before:
        parts.append(f"spilling: {counted(code.spills or 0, 'store')}")
        parts.append(counted(code.reloads or 0, "reload"))
    if code.agpr_moves:
        parts.append(f"{counted(code.agpr_moves, 'move')} of spills to AGPRs and back")
    parts += [
        f"{loop.spills + loop.reloads} of these in loop {loop.header} at depth {loop.depth}"
        for loop in code.loops or ()
        if not counted_before
    ]
    return parts


def launch_notes(
    target: Target, occupancy: Occupancy, language: Language | None, *, whole: bool = True
) -> Notes:
    """Notes on the best workgroup sizes and on the VGPRs of launch bounds. The best sizes are left
    out if the launch is as good, unless `whole` is set.

    Empty for a generic target or a graphics stage.
    """
    if target.members or occupancy.launch.assumption == "graphics-stage":
        return []
    demand, least = occupancy.demand, -1.0 if whole else occupancy.percent
    best = _best(target, demand, occupancy.launch, least)
    return [*best, ("bounds", _bounds(target, demand, language))]


def cluster_notes(traits: Traits, target: Target) -> Notes:
    """Sentences on the limits of clusters and on code that the runtime may rewrite."""
    notes, limit = [], target.clusters
    if limit and (cluster := traits.numbers.cluster):
        size = prod(cluster)
        text = f"{counted(size, 'workgroup')} start together; the runtime allows "
        text += f"{limit.workgroups} in one and {limit.in_flight} clusters in flight per shader "
        notes.append(("clusters", text + "engine, which the percentage does not contain"))
    if limit and (revision := traits.numbers.revision):
        text = f"compiled for revision {revision}; the runtime may rewrite the code where it "
        notes.append(("revision", text + "runs on another revision, and its numbers with it"))
    return notes


def _best(target: Target, demand: Demand, launch: Launch, above: float) -> Notes:
    """A note on the workgroup sizes, up to the launch bound, that give the most waves, largest
    first. Empty if these do not exceed `above` percent of the wave slots, or if the kernel takes
    one size only."""
    largest = launch.workgroup_size if demand.most_workgroup is None else demand.most_workgroup
    if demand.least_workgroup == largest:
        return []
    sizes = launch._replace(workgroup_size=largest, smallest_size=demand.least_workgroup)
    points = best_sizes(target, demand, sizes)
    if not points or points[0].percent <= above:
        return []
    best = [str(point.at[0]) for point in reversed(points)]
    rest = f" and {len(best) - _MOST_SIZES} more" if len(best) > _MOST_SIZES else ""
    shown = ", ".join(best[:_MOST_SIZES]) + rest
    return [("best", f"workgroups of {shown} up to {largest}: {percent(points[0].percent)}")]


def _bounds(target: Target, demand: Demand, language: Language | None) -> str:
    """The most VGPRs that each launch bound allows, in words."""
    size, parts = target.waves.max_workgroup_size, []
    least = most_vgprs(place(target, demand, Launch(1)), 1)
    while size >= demand.wave_size:
        placed = place(target, demand, Launch(size))
        vgprs = most_vgprs(placed, placed.group)
        here = " ◄" if size == demand.most_workgroup else ""
        parts.append(f"{size}: {vgprs}{here}")
        if vgprs == least:
            break
        size //= 2
    words = "__launch_bounds__(N)" if language == "HIP" else "a launch bound of N"
    return f"{words} allows VGPRs  {'  '.join(parts)}"


def device_notes(filling: Filling, per: str) -> Notes:
    """The workgroups that fill a device, and the rounds that a grid takes."""
    text = (
        f"{filling.name}: {filling.domains} {per}s · "
        f"{counted(filling.workgroups, 'workgroup')} fill it · "
        f"{filling.waves} of {filling.wave_slots} waves"
    )
    rounds = [("grid", _rounds(filling.grid, filling.workgroups))] if filling.grid else []
    return [("device", text), *rounds]


def _rounds(grid: Grid, at_once: int) -> str:
    launched = counted(grid.workgroups, "workgroup")
    ceiling = f"≤ {percent(grid.percent)} of the wave slots"
    if not grid.full_rounds:
        missing = percent(100 * grid.workgroups / at_once)
        return f"{launched}: {missing} of what fits at once, {ceiling}"
    rounds = f"{launched}: {grid.full_rounds} full round{'s' * (grid.full_rounds > 1)}"
    if not grid.last_round:
        return f"{rounds}, no tail"
    share = percent(100 * grid.last_round / at_once)
    return f"{rounds} and a tail of {grid.last_round} ({share} of one); {ceiling} on average"


def expected(result: Result, device: Device | None = None) -> list[str]:
    """Values that rocprofiler-compute should show in panels 2.1.15, 6.2 and 7.1.

    One run can confirm the prediction. Empty if the kernel's occupancy is unknown, if it cannot
    launch, if the runtime caps the waves of its target, and for products that the profiler does not
    know: their number of dies is unknown.
    """
    target, occupancy = result.kernel.target, result.occupancy
    device = device or result.device
    if target is None or occupancy is None or device is None or not device.xccs:
        return []
    if target.waves.dispatch_cap_per_cu or not occupancy.launchable:
        return []
    slots = occupancy.wave_slots * device.cus
    waves = occupancy.waves * device.cus
    lines = [
        f"rocprof-compute 2.1.15 Wavefront Occupancy ≤ {percent(occupancy.percent)} "
        f"({waves} of {slots} wavefronts on an {device.name})"
    ]
    filled = [name for name in occupancy.filled if name in _STALLS]
    idle = [metric.split(" ")[0] for name, metric in _STALLS.items() if name not in filled]
    stalled = [_STALLS[name] for name in filled if name in occupancy.limiters]
    if stalled:
        lines.append(f"{', '.join(stalled)} > 0 once the grid fills the device")
    if padded := [_STALLS[name] for name in filled if name not in occupancy.limiters]:
        lines.append(f"{', '.join(padded)} too, by padding alone")
    lines.append(f"the others of 6.2 ({', '.join(idle)}) = 0")
    allocated = occupancy.allocated
    registers = {
        "7.1.5 VGPRs": allocated.arch_vgprs,
        "7.1.6 AGPRs": allocated.agprs,
        "7.1.7 SGPRs": allocated.sgprs,
    }
    lines += [f"{metric} {value}" for metric, value in registers.items() if value is not None]
    return lines
