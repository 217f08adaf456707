"""Measured dispatches, each with the prediction for its kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kernelinfo.compare.messages import say
from kernelinfo.compare.profile import Dispatch, Resources
from kernelinfo.errors import Message
from kernelinfo.hardware.targets import Device, Target, align, believed
from kernelinfo.kernel import Kernel, counted
from kernelinfo.model import Occupancy
from kernelinfo.model.curves import Filling, fill
from kernelinfo.reading.target_id import target_id
from kernelinfo.rules import Selection, findings

_TOLERANCE = 1.0  # percent of the wave slots by which a measurement may pass a ceiling
_SHORTFALL = 0.9  # a measurement below this share of its ceiling wants an explanation

Distance = tuple[int, int]
"""(resources that differ between launch and kernel, 1 if the counts match only a profiler
that does not know the target). The first number decides."""

_CANNOT_START = Selection(select=("KI001", "KI002")).rules()


@dataclass(frozen=True, slots=True)
class Measurement:
    """All dispatches of one shape, with their prediction."""

    dispatch: Dispatch
    kernel: Kernel | None
    """None if no file has the kernel, or if several files predict different occupancies."""
    predicted: Resources | None = None
    occupancy: Occupancy | None = None
    filling: Filling | None = None  # None unless the device is named
    percent: float | None = None
    """Measured occupancy in % of the wave slots; None if the run does not state it."""
    remarks: tuple[str, ...] = ()  # sentences that explain a difference
    tied: tuple[str, ...] = ()
    """Targets, kernels or files that fit the launch and the run equally well."""
    why_target: str = ""
    """Why the run is taken for one of the kernel's target, in words."""
    distance: Distance = (0, 0)
    """Distance between the launch and the allocation of the file; (0, 0) if they are equal."""

    @property
    def build(self) -> str:
        """The target id that the kernel was compiled for, features included; empty without one."""
        code_object = self.kernel and self.kernel.code_object
        return target_id(code_object.target, code_object.features) if code_object else ""


def bare(name: str) -> str:
    """A kernel's name without the suffix that profilers add for its descriptor."""
    name = name.strip()
    for suffix in ("(.kd)", "[clone .kd]", ".kd"):
        name = name.removesuffix(suffix).rstrip()
    return name


def compared(
    dispatch: Dispatch,
    kernel: Kernel,
    device: tuple[Target, Device] | None = None,
    trap_handler: bool = True,
) -> Measurement:
    """The dispatch with its prediction. The kernel's target must be known."""
    assert kernel.target is not None
    occupancy = kernel.occupancy(
        workgroup_size=dispatch.shape.workgroup_size,
        dynamic_lds=_dynamic_lds(dispatch, kernel, kernel.target.lds.granule_bytes),
        trap_handler=trap_handler,
    )
    filling = None if device is None else fill(device[1], occupancy, dispatch.shape.workgroups)
    measured = _percent(dispatch, occupancy, device[1] if device else None)
    measurement = Measurement(
        dispatch, kernel, _predicted(kernel, occupancy), occupancy, filling, measured
    )
    remarks = tuple(_remarks(measurement))
    return replace(measurement, remarks=remarks, distance=_distance(measurement))


def _dynamic_lds(dispatch: Dispatch, kernel: Kernel, granule: int) -> int:
    """Bytes of dynamic LDS: the run's LDS minus the static LDS, 0 within one granule (bytes).

    Some profilers round LDS to its granule, others do not.
    """
    static, whole = kernel.used.lds_bytes or 0, dispatch.shape.resources.lds_bytes or 0
    return 0 if align(whole, granule) <= align(static, granule) else whole - static


def _predicted(kernel: Kernel, occupancy: Occupancy) -> Resources:
    """Resources as rocprofiler-sdk decodes the descriptor.

    Source: rocprofiler-sdk, lib/rocprofiler-sdk/code_object, `*_vgpr_count`.
    """
    allocated, target = occupancy.allocated, kernel.target
    vgprs, agprs = allocated.arch_vgprs, allocated.agprs
    if target is not None and target.agprs.file != "unified":
        encoded = kernel.traits.numbers.reserved_vgprs
        vgprs = allocated.vgprs if encoded is None else encoded
        # gfx908: one number of the descriptor sizes both register files.
        agprs = vgprs if target.agprs.file == "separate" else agprs
    return Resources(
        vgprs, agprs, allocated.sgprs, allocated.lds_bytes, kernel.used.scratch_bytes_per_lane
    )


def _percent(dispatch: Dispatch, occupancy: Occupancy, device: Device | None) -> float | None:
    """Measured occupancy in percent of the wave slots; None if the run has no such counter."""
    run = dispatch.measures
    if run.percent is not None:
        return run.percent
    if run.waves_per_cu is not None:
        cus = 2 if occupancy.per == "WGP" else 1
        return 100 * cus * run.waves_per_cu / occupancy.wave_slots
    if run.wave_cycles is None or not run.cycles or device is None or not device.xccs:
        return None
    waves = run.wave_cycles * device.xccs / run.cycles
    return 100 * waves / (occupancy.wave_slots * device.domains(occupancy.per))


def _distance(measurement: Measurement) -> Distance:
    differing, seen = differences(measurement), measurement.dispatch.shape.resources
    right = measurement.predicted is None or _is(
        seen, (measurement.predicted.vgprs, measurement.predicted.agprs)
    )
    return len(differing), int(not right)


def differences(measurement: Measurement) -> tuple[Message, ...]:
    """Sentences on the resources that differ between the run and the file."""
    if measurement.kernel is None or measurement.predicted is None:
        return ()
    seen, predicted = measurement.dispatch.shape.resources, measurement.predicted
    granule = measurement.kernel.target.lds.granule_bytes if measurement.kernel.target else 1
    as_counted = any(_is(seen, reading) for reading in _readings(measurement.kernel, predicted))
    pairs = {
        "VGPRs": (None if as_counted else seen.vgprs, predicted.vgprs),
        "AGPRs": (None if as_counted else seen.agprs, predicted.agprs or 0),
        "SGPRs": (seen.sgprs, predicted.sgprs),
        "LDS": (
            None if seen.lds_bytes is None else align(seen.lds_bytes, granule),
            predicted.lds_bytes,
        ),
        "scratch": (seen.scratch_bytes_per_lane, predicted.scratch_bytes_per_lane),
    }
    return tuple(
        say("run-differs", resource=name, run=there, file=here)
        for name, (there, here) in pairs.items()
        if there is not None and here is not None and there != here
    )


Registers = tuple[int | None, int | None]  # VGPRs and AGPRs


def _is(seen: Resources, predicted: Registers) -> bool:
    """True if the run shows these register counts; an unknown count matches any."""
    vgprs, agprs = predicted
    return vgprs is None or (seen.vgprs in (None, vgprs) and seen.agprs in (None, agprs or 0))


def _readings(kernel: Kernel, predicted: Resources) -> Iterator[Registers]:
    """Register counts that profilers may print for the kernel, the right counts first.

    A profiler older than the target counts all registers as VGPRs. rocprofiler-sdk then also
    assumes a smaller encoding granule.
    """
    yield predicted.vgprs, predicted.agprs
    target, demand = kernel.target, kernel.traits.demand
    if target is None or demand is None or predicted.vgprs is None:
        return
    whole = predicted.vgprs + (predicted.agprs or 0 if target.agprs.file == "unified" else 0)
    yield whole, 0
    file = target.vgpr_file(demand.wave_size)
    for granule in believed(file.believed, "rocprofiler-sdk").values():
        yield whole // file.encoding_granule * granule, 0


def _percents(value: float) -> str:
    return f"{round(value, 1):.4g} %"


def _remarks(measurement: Measurement) -> Iterator[Message]:
    occupancy, measured = measurement.occupancy, measurement.percent
    assert occupancy is not None
    if differing := differences(measurement):
        yield say("run-of-other-build", differences=", ".join(differing))
    if not occupancy.launchable:
        assert measurement.kernel is not None
        for finding in findings(measurement.kernel, occupancy, _CANNOT_START):
            yield say("run-refused", rule=finding.rule, finding=finding.message)
        return
    filling, ceiling = measurement.filling, occupancy.percent
    grid = filling.grid if filling else None
    if filling is not None and grid is not None and grid.percent < ceiling:
        expected = _percents(grid.percent)
        if grid.full_rounds:
            rounds, tail = (
                counted(grid.full_rounds, "full round"),
                counted(grid.last_round, "workgroup"),
            )
            yield say("run-rounds", rounds=rounds, tail=tail, percent=expected)
        else:
            ceiling = grid.percent
            share = _percents(100 * grid.workgroups / filling.workgroups)
            yield say("run-grid-small", share=share, percent=expected)
    if measured is None:
        return
    short_of = min(ceiling, grid.percent) if grid else ceiling
    if measured > ceiling + _TOLERANCE:
        yield say("run-above-ceiling")
    elif measured < _SHORTFALL * short_of and filling is None:
        yield say("run-without-device")
    elif measured < _SHORTFALL * short_of:
        yield say("run-below-grid")
