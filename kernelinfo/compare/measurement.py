"""What was measured of each dispatch beside what the files predict of its kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from kernelinfo.compare.profile import Dispatch, Resources
from kernelinfo.kernel import Kernel
from kernelinfo.kernel.names import stem
from kernelinfo.occupancy import Occupancy
from kernelinfo.occupancy.devices import Filling, fill, runs_on
from kernelinfo.occupancy.placement import align
from kernelinfo.occupancy.targets import Device, Target

_TOLERANCE = 1.0
"""Percent of the wave slots by which a measurement may pass a ceiling."""
_SHORTFALL = 0.9
"""A measurement below this share of its ceiling wants an explanation."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One shape of dispatch."""

    dispatch: Dispatch
    kernel: Kernel | None
    """None where no file has it; then nothing is predicted."""
    predicted: Resources | None = None
    occupancy: Occupancy | None = None
    filling: Filling | None = None
    """Where the device is named."""
    percent: float | None = None
    """Measured, of the wave slots; None where the run does not say."""
    remarks: tuple[str, ...] = ()
    """What explains a difference, in words."""


def measure(
    dispatches: Iterable[Dispatch],
    kernels: Iterable[Kernel],
    device: tuple[Target, Device] | None = None,
    trap_handler: bool = True,
) -> tuple[Measurement, ...]:
    """Each dispatch beside the kernel of its name, on that device if one is given.

    Names match as they are, mangled or demangled, else without parameters; and without template
    arguments where the run leaves them out. Of several kernels it is the one that reserves what
    the run shows.
    """
    known = [kernel for kernel in kernels if kernel.target is not None]
    if device is not None:
        known = [k.on(device[0]) for k in known if k.target and runs_on(k.target, device[0])]
    levels: tuple[dict[str, list[Kernel]], ...] = ({}, {}, {})
    for kernel in known:
        brief = stem(kernel.name)
        names = ({kernel.name, kernel.symbol}, {brief}, {brief.partition("<")[0]})
        for level, called in zip(levels, names, strict=True):
            for name in called:
                level.setdefault(name, []).append(kernel)
    measured = []
    for dispatch in dispatches:
        name = _bare(dispatch.shape.kernel)
        found = (levels[0].get(name), levels[1].get(stem(name)), levels[2].get(stem(name)))
        candidates = next(filter(None, found), [])
        beside = [_beside(dispatch, kernel, device, trap_handler) for kernel in candidates]
        beside.sort(key=lambda one: len(differences(one)))
        measured.append(beside[0] if beside else Measurement(dispatch, None))
    return tuple(measured)


def _bare(name: str) -> str:
    """Without what profilers add for the kernel's descriptor."""
    name = name.strip()
    for suffix in ("(.kd)", "[clone .kd]", ".kd"):
        name = name.removesuffix(suffix).rstrip()
    return name


def _beside(
    dispatch: Dispatch, kernel: Kernel, device: tuple[Target, Device] | None, trap_handler: bool
) -> Measurement:
    assert kernel.target is not None
    found = kernel.occupancy(
        workgroup_size=dispatch.shape.workgroup_size,
        dynamic_lds=_dynamic_lds(dispatch, kernel, kernel.target.lds.granule_bytes),
        trap_handler=trap_handler,
    )
    filling = None
    if device is not None:
        assert kernel.demand is not None
        filling = fill(device[1], found, kernel.demand.wave_size, dispatch.shape.workgroups)
    beside = Measurement(
        dispatch,
        kernel,
        _predicted(kernel, found),
        found,
        filling,
        _percent(dispatch, found, device[1] if device else None),
    )
    return replace(beside, remarks=tuple(_remarks(beside)))


def _dynamic_lds(dispatch: Dispatch, kernel: Kernel, granule: int) -> int:
    """What the run's LDS has beyond the static; some profilers round it, some do not."""
    static, whole = kernel.used.lds_bytes or 0, dispatch.shape.resources.lds_bytes or 0
    return 0 if align(whole, granule) <= align(static, granule) else whole - static


def _predicted(kernel: Kernel, found: Occupancy) -> Resources:
    """As rocprofiler-sdk decodes the descriptor (lib/rocprofiler-sdk/code_object)."""
    allocated = found.allocated
    vgprs, agprs = allocated.arch_vgprs, allocated.agprs
    if kernel.target is not None and kernel.target.agprs.file == "none":
        vgprs = kernel.encoded.vgprs if kernel.encoded.vgprs is not None else vgprs
    return Resources(
        vgprs, agprs, allocated.sgprs, allocated.lds_bytes, kernel.used.scratch_bytes_per_lane
    )


def _percent(dispatch: Dispatch, found: Occupancy, device: Device | None) -> float | None:
    """The measured share of the wave slots, from what of it the run has."""
    if dispatch.measures.percent is not None:
        return dispatch.measures.percent
    if dispatch.measures.waves_per_cu is not None:
        cus = 2 if found.per == "WGP" else 1
        return 100 * cus * dispatch.measures.waves_per_cu / found.wave_slots
    if (
        dispatch.measures.wave_cycles is None
        or not dispatch.measures.cycles
        or device is None
        or not device.xccs
    ):
        return None
    waves = dispatch.measures.wave_cycles * device.xccs / dispatch.measures.cycles
    return 100 * waves / (found.wave_slots * device.domains(found.per))


def differences(one: Measurement) -> tuple[str, ...]:
    """The resources of which the run shows something else than the file reserves."""
    if one.kernel is None or one.predicted is None:
        return ()
    seen, said = one.dispatch.shape.resources, one.predicted
    granule = one.kernel.target.lds.granule_bytes if one.kernel.target else 1
    pairs = {
        # Some profilers do not know where the AGPRs of a newer target begin.
        "VGPRs": (_total(seen), _total(said)),
        "SGPRs": (seen.sgprs, said.sgprs),
        "LDS": (None if seen.lds_bytes is None else align(seen.lds_bytes, granule), said.lds_bytes),
        "scratch": (seen.scratch_bytes_per_lane, said.scratch_bytes_per_lane),
    }
    return tuple(
        f"{name} {there} in the run, {here} in the file"
        for name, (there, here) in pairs.items()
        if there is not None and here is not None and there != here
    )


def _total(resources: Resources) -> int | None:
    return None if resources.vgprs is None else resources.vgprs + (resources.agprs or 0)


def _percents(value: float) -> str:
    return f"{round(value, 1):.4g} %"


def _remarks(one: Measurement) -> Iterator[str]:
    found, measured = one.occupancy, one.percent
    assert found is not None
    if differing := differences(one):
        yield f"another build ran, or on another target: {', '.join(differing)}"
    if not found.launchable:
        yield "ran, though by the file it could not: another build"
        return
    filling, ceiling = one.filling, found.percent
    grid = filling.grid if filling else None
    if filling is not None and grid is not None and grid.percent < ceiling:
        expected = _percents(grid.percent)
        if grid.full_rounds:
            rounds = "1 full round" if grid.full_rounds == 1 else f"{grid.full_rounds} full rounds"
            yield f"{rounds} and a tail of {grid.last_round} workgroups: {expected} on average"
        else:
            ceiling = grid.percent
            share = _percents(100 * grid.workgroups / filling.workgroups)
            yield f"the grid is {share} of what fits on the device at once: ≤ {expected}"
    if measured is None:
        return
    short_of = min(ceiling, grid.percent) if grid else ceiling
    if measured > ceiling + _TOLERANCE:
        yield "above the ceiling: another build ran, or other kernels beside it"
    elif measured < _SHORTFALL * short_of and filling is None:
        yield "--device tells whether the grid fills the device"
    elif measured < _SHORTFALL * short_of:
        yield "below what the grid allows: start-up, imbalance, or other work on the device"
