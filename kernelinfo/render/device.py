"""A device full of workgroups, in words."""

from __future__ import annotations

from kernelinfo.occupancy.devices import Filling, Grid
from kernelinfo.render.words import percent


def device_lines(filling: Filling, per: str) -> list[tuple[str, str]]:
    """Label and text of each line."""
    text = (
        f"{filling.name}: {filling.domains} {per}s · "
        f"{_workgroups(filling.workgroups)} fill it · "
        f"{filling.waves} of {filling.wave_slots} waves"
    )
    lines = [("device", text)]
    if filling.grid is not None:
        lines.append(("grid", _rounds(filling.grid, filling.workgroups)))
    return lines


def _rounds(grid: Grid, at_once: int) -> str:
    launched = _workgroups(grid.workgroups)
    ceiling = f"≤ {percent(grid.percent)} of the wave slots"
    if not grid.full_rounds:
        missing = percent(100 * grid.workgroups / at_once)
        return f"{launched}: {missing} of what fits at once, {ceiling}"
    rounds = f"{launched}: {grid.full_rounds} full round{'s' * (grid.full_rounds > 1)}"
    if not grid.last_round:
        return f"{rounds}, no tail"
    share = percent(100 * grid.last_round / at_once)
    return f"{rounds} and a tail of {grid.last_round} ({share} of one); {ceiling} on average"


def _workgroups(count: int) -> str:
    return "1 workgroup" if count == 1 else f"{count} workgroups"
