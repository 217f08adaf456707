"""Which workgroup sizes are best for a kernel, and how many VGPRs each launch bound would allow."""

from __future__ import annotations

from kernelinfo.occupancy import Occupancy
from kernelinfo.occupancy.curves import best_sizes
from kernelinfo.occupancy.limits import most_vgprs
from kernelinfo.occupancy.placement import Demand, Launch, placement
from kernelinfo.occupancy.targets import Target
from kernelinfo.render.words import percent

_MOST_SIZES = 8


def launch_lines(target: Target, demand: Demand, occupancy: Occupancy) -> list[tuple[str, str]]:
    """Label and text of each line; none for a generic target or a graphics stage."""
    if target.members or occupancy.launch.assumption == "graphics-stage":
        return []
    return [*_best(target, demand, occupancy.launch), ("bounds", _bounds(target, demand))]


def _best(target: Target, demand: Demand, launch: Launch) -> list[tuple[str, str]]:
    """The sizes up to the bound that reach the most waves, the largest first."""
    most = launch.workgroup_size if demand.most_workgroup is None else demand.most_workgroup
    sizes = launch._replace(workgroup_size=most, smallest_size=demand.least_workgroup)
    points = best_sizes(target, demand, sizes)
    if not points or demand.least_workgroup == most:
        return []
    best = [str(point.at[0]) for point in reversed(points)]
    more = f" and {len(best) - _MOST_SIZES} more" if len(best) > _MOST_SIZES else ""
    shown = ", ".join(best[:_MOST_SIZES]) + more
    return [("best", f"workgroups of {shown} up to {most}: {percent(points[0].percent)}")]


def _bounds(target: Target, demand: Demand) -> str:
    """The most VGPRs with which a workgroup of the bound's size can start."""
    size, parts = target.waves.max_workgroup_size, []
    least = most_vgprs(placement(target, demand, Launch(1)), 1)
    while size >= demand.wave_size:
        at = placement(target, demand, Launch(size))
        most = most_vgprs(at, at.group)
        here = " ◄" if size == demand.most_workgroup else ""
        parts.append(f"{size}: {most}{here}")
        if most == least:
            break
        size //= 2
    return f"__launch_bounds__(N) allows VGPRs  {'  '.join(parts)}"
