"""Workgroups that fill a whole device, and the rounds that a grid takes on it."""

from __future__ import annotations

from dataclasses import dataclass

from kernelinfo.errors import LaunchError
from kernelinfo.hardware.targets import Device
from kernelinfo.model import Occupancy
from kernelinfo.model.messages import say


@dataclass(frozen=True, slots=True)
class Grid:
    """The rounds in which a device runs a grid; each round starts as many workgroups as fit."""

    workgroups: int  # launched workgroups
    full_rounds: int  # rounds that fill the device
    last_round: int
    """Workgroups of a partial last round; 0 if the last round is full."""
    percent: float
    """Mean occupancy over rounds of equal length, in % of the wave slots: a ceiling, too."""


@dataclass(frozen=True, slots=True)
class Filling:
    """Counts of a device that is full of one kernel's workgroups."""

    name: str  # product
    domains: int  # CUs or WGPs
    workgroups: int  # resident workgroups of the whole device
    waves: int  # resident waves
    wave_slots: int  # wave slots
    percent: float  # waves in % of the wave slots
    grid: Grid | None = None


def fill(device: Device, occupancy: Occupancy, grid: int | None = None) -> Filling:
    """Counts of a device full of workgroups; with `grid`, in workgroups, also its rounds.

    Raises `LaunchError` for a grid below 1."""
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
