"""Products: a whole device full of workgroups, and how a grid divides into such fillings."""

from __future__ import annotations

from dataclasses import dataclass

from kernelinfo.errors import LaunchError, OptionError, did_you_mean
from kernelinfo.occupancy import Occupancy, targets
from kernelinfo.occupancy.targets import Device, Target


@dataclass(frozen=True, slots=True)
class Grid:
    """A grid as the device takes it in: round after round of as many workgroups as fit."""

    workgroups: int
    full_rounds: int
    last_round: int
    """Workgroups of the last round, where it does not fill the device; else 0."""
    percent: float
    """Occupancy averaged over the rounds, were all of the same length: a ceiling, too."""


@dataclass(frozen=True, slots=True)
class Filling:
    """What one kernel and launch fill a device with: one full wave of workgroups."""

    name: str  # of the product
    domains: int  # CUs, or WGPs
    workgroups: int  # resident at once on the whole device
    waves: int
    wave_slots: int
    percent: float  # of the wave slots
    grid: Grid | None = None


def find(name: str) -> tuple[Target, Device]:
    """The product of that name in any case, or the only one of a gfx target. `MI250` means one of
    its dies, as the runtime does. Raises `OptionError` where there is none, or several."""
    products = {
        device.name: (target, device)
        for target in map(targets.find, targets.known())
        for device in target.devices
    }
    wanted = name.strip().casefold()
    for known, found in products.items():
        if wanted in (known.casefold(), known.casefold().removesuffix(" gcd")):
            return found
    if wanted in targets.known():
        of_target = targets.find(wanted).devices
        if len(of_target) == 1:
            return targets.find(wanted), of_target[0]
        several = ", ".join(device.name for device in of_target) or "no known product"
        raise OptionError(f"{name} is {several}; name one product")
    hint = did_you_mean(wanted, products) or f"known are {', '.join(products)}"
    raise OptionError(f"unknown device {name!r}; {hint}")


def target_named(name: str) -> Target:
    """The target of that name, or that of a product. Raises `KernelinfoError`."""
    if name in targets.known() or name.startswith("gfx"):
        return targets.find(name)
    return find(name)[0]


def choose(arch: str | None, device: str | None) -> tuple[Target, Device | None]:
    """The target of one or both names; a generic target is what its device makes of it. Raises
    `OptionError` where they contradict each other or none is given."""
    if device is None:
        if arch is None:
            raise OptionError("no target is named; give --arch or --device")
        return targets.find(arch), None
    target, product = find(device)
    if arch is not None and not runs_on(targets.find(arch), target):
        raise OptionError(f"{product.name} is {target.name}, not {arch}; leave --arch out")
    return target, product


def runs_on(compiled: Target, target: Target) -> bool:
    """Whether code for one target runs on another as it is."""
    return target.name in (compiled.name, *compiled.members)


def fill(device: Device, occupancy: Occupancy, grid: int | None = None) -> Filling:
    """The device full of workgroups; `grid` counts those to run. Raises `LaunchError` for none."""
    if grid is not None and grid < 1:
        raise LaunchError(f"grid of {grid} workgroups: give at least 1")
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
