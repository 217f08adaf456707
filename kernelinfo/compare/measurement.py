"""Measured dispatches, each matched to its kernel and compared with the prediction for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kernelinfo.compare.messages import say
from kernelinfo.compare.profile import Dispatch, Resources, together
from kernelinfo.errors import Message, UnknownTargetError
from kernelinfo.hardware import targets
from kernelinfo.hardware.products import runs_on
from kernelinfo.hardware.targets import Device, Target, align, believed
from kernelinfo.kernel import Kernel, counted
from kernelinfo.kernel.names import stem
from kernelinfo.model import Occupancy
from kernelinfo.model.curves import Filling, fill
from kernelinfo.reading.target_id import target_id
from kernelinfo.rules import Selection, findings

_TOLERANCE = 1.0  # percent of the wave slots by which a measurement may pass a ceiling
_SHORTFALL = 0.9  # a measurement below this share of its ceiling wants an explanation

Distance = tuple[int, int]
"""(number of resources that differ between launch and kernel, 1 if the register counts are not
those of a profiler that knows the target, else 0). The first number decides."""

_CANNOT_START = Selection(select=("KI001", "KI002")).rules()


@dataclass(frozen=True, slots=True)
class Measurement:
    """One or more equal dispatches of a run, with the prediction for them."""

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
    """Why the run is assumed to be on the kernel's target, in words."""
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
        workgroup_size=dispatch.workgroup_size,
        dynamic_lds=_dynamic_lds(dispatch, kernel, kernel.target.lds.granule_bytes),
        trap_handler=trap_handler,
    )
    filling = None if device is None else fill(device[1], occupancy, dispatch.workgroups)
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
    static, whole = kernel.numbers.lds_bytes or 0, dispatch.resources.lds_bytes or 0
    return 0 if align(whole, granule) <= align(static, granule) else whole - static


def _predicted(kernel: Kernel, occupancy: Occupancy) -> Resources:
    """Resources as rocprofiler-sdk decodes the descriptor.

    Source: rocprofiler-sdk, lib/rocprofiler-sdk/code_object, `*_vgpr_count`.
    """
    allocated, target = occupancy.allocated, kernel.target
    vgprs, agprs = allocated.arch_vgprs, allocated.agprs
    if target is not None and target.agprs.file != "unified":
        encoded = kernel.numbers.reserved_vgprs
        vgprs = allocated.vgprs if encoded is None else encoded
        # gfx908: one number of the descriptor sizes both register files.
        agprs = vgprs if target.agprs.file == "separate" else agprs
    return Resources(
        vgprs, agprs, allocated.sgprs, allocated.lds_bytes, kernel.numbers.scratch_bytes_per_lane
    )


def _percent(dispatch: Dispatch, occupancy: Occupancy, device: Device | None) -> float | None:
    """Measured occupancy in percent of the wave slots; None if the run has no such counter."""
    if dispatch.percent is not None:
        return dispatch.percent
    if dispatch.waves_per_cu is not None:
        cus = 2 if occupancy.per == "WGP" else 1
        return 100 * cus * dispatch.waves_per_cu / occupancy.wave_slots
    if dispatch.wave_cycles is None or not dispatch.cycles or device is None or not device.xccs:
        return None
    waves = dispatch.wave_cycles * device.xccs / dispatch.cycles
    return 100 * waves / (occupancy.wave_slots * device.domains(occupancy.per))


def _distance(measurement: Measurement) -> Distance:
    differing, seen = differences(measurement), measurement.dispatch.resources
    right = measurement.predicted is None or _is(
        seen, (measurement.predicted.vgprs, measurement.predicted.agprs)
    )
    return len(differing), int(not right)


def differences(measurement: Measurement) -> tuple[Message, ...]:
    """Sentences on the resources that differ between the run and the file."""
    if measurement.kernel is None or measurement.predicted is None:
        return ()
    seen, predicted = measurement.dispatch.resources, measurement.predicted
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
    """Register counts that profilers may print for the kernel, the correct counts first.

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


# Launches of a run matched to kernels of files, with the predicted occupancy.

Product = tuple[Target, Device]
_ABSENT: Distance = (len(Resources._fields), 1)  # for a launch whose kernel is in no file


def measure(
    dispatches: Iterable[Dispatch],
    kernels: Iterable[Kernel],
    device: Product | None = None,
    trap_handler: bool = True,
) -> tuple[Measurement, ...]:
    """Each dispatch with its kernel; equal dispatches on agents of one target are joined.

    Names match whole (mangled or demangled), then without parameters, then without template
    arguments. The target is that of `device`, else the one that the run names for the agent, else
    the one whose kernels are nearest to all launches on the agent. The nearest kernel of the target
    counts. If several are equally near, `tied` names them, and the prediction is None unless all
    agree. `why_target` says which of these applied.
    """
    with_target = tuple(kernel for kernel in kernels if kernel.target is not None)
    by_agent: dict[tuple[str, str | None], list[Dispatch]] = {}
    for dispatch in dispatches:
        by_agent.setdefault((dispatch.agent, dispatch.target), []).append(dispatch)
    named = {agent: device[0] if device else _named(agent[1]) for agent in by_agent}
    everywhere = _among(() if all(named.values()) else with_target, None, device, trap_handler)
    runs: dict[tuple[Target, ...], list[Dispatch]] = {}
    reasons: dict[tuple[Target, ...], Message] = {}
    nearest: tuple[Target, ...]
    for agent, launches in by_agent.items():
        if target := named[agent]:
            nearest = (target,)
            reason = say("target-of-device") if device else say("target-of-run")
        else:
            nearest, reason = _nearest(launches, everywhere)
        unnamed = (launch._replace(agent="", target=None) for launch in launches)
        runs.setdefault(nearest, []).extend(unnamed)
        reasons.setdefault(nearest, reason)
    return tuple(
        replace(measurement, why_target=reasons[nearest])
        for nearest, launches in runs.items()
        for measurement in _measured(
            together(launches),
            [_among(with_target, target, device, trap_handler) for target in nearest],
        )
    )


def _named(name: str | None) -> Target | None:
    try:
        return None if name is None else targets.find(name)
    except UnknownTargetError:
        return None


Candidates = Callable[[Dispatch], Iterator[Measurement]]
"""A dispatch → its measurement with each kernel whose name matches it."""


def _among(
    kernels: Iterable[Kernel], target: Target | None, device: Product | None, trap_handler: bool
) -> Candidates:
    """The candidates among kernels. With a `target`, only kernels that run on it, with their
    occupancy there."""
    whole, stems, bases = (defaultdict[str, list[Kernel]](list) for _ in range(3))
    for kernel in kernels:
        if target is not None:
            if not (kernel.target and runs_on(kernel.target, target)):
                continue
            kernel = kernel.on(target)
        brief = stem(kernel.name)
        for name in {kernel.name, kernel.symbol}:
            whole[name].append(kernel)
        stems[brief].append(kernel)
        bases[brief.partition("<")[0]].append(kernel)

    def candidates(dispatch: Dispatch) -> Iterator[Measurement]:
        name = bare(dispatch.kernel)
        brief = stem(name)
        for kernel in whole.get(name) or stems.get(brief) or bases.get(brief) or ():
            yield compared(dispatch, kernel, device, trap_handler)

    return candidates


def _nearest(
    launches: Iterable[Dispatch], candidates_of: Candidates
) -> tuple[tuple[Target, ...], Message]:
    """The target whose kernels are nearest to all launches together, several if they tie; and the
    reason, in words."""
    every = [candidates for launch in launches if (candidates := list(candidates_of(launch)))]
    distances = {
        target: _sum(
            [[c for c in candidates if runs_on(_target(c), target)] for candidates in every]
        )
        for target in dict.fromkeys(_target(c) for candidates in every for c in candidates)
    }
    least = min(distances.values(), default=None)
    nearest = tuple(target for target, distance in distances.items() if distance == least)
    farther = ", ".join(target.name for target in distances if target not in nearest)
    if farther:
        return nearest, say("target-nearest", others=farther)
    return nearest, say("target-only")


def _target(candidate: Measurement) -> Target:
    assert candidate.kernel is not None
    assert candidate.kernel.target is not None
    return candidate.kernel.target


def _sum(launches: list[list[Measurement]]) -> tuple[int, ...]:
    """Sum over all launches of the distance to the nearest kernel."""
    least = [min((c.distance for c in candidates), default=_ABSENT) for candidates in launches]
    return tuple(map(sum, zip(*least, strict=True)))


def _measured(
    launches: Sequence[Dispatch], of_targets: Sequence[Candidates]
) -> Iterator[Measurement]:
    """A measurement for each launch. `of_targets` gives the candidates on one target, or on several
    equally near ones."""
    every = [[c for candidates in of_targets for c in candidates(launch)] for launch in launches]
    whole = {
        build: _sum(
            [[c for c in candidates if c.build == build] for candidates in every if candidates]
        )
        for build in {c.build for candidates in every for c in candidates}
    }
    for dispatch, candidates in zip(launches, every, strict=True):
        keys = [(c.distance, whole[c.build], _is_generic(c)) for c in candidates]
        least = min(keys, default=None)
        equal = [c for c, key in zip(candidates, keys, strict=True) if key == least]
        yield _of_equals(dispatch, equal)


def _is_generic(candidate: Measurement) -> bool:
    """True if the code is for a generic target; the loader prefers code for the exact one."""
    kernel = candidate.kernel
    return kernel is not None and kernel.code_object.target != _target(candidate).name


def _of_equals(dispatch: Dispatch, candidates: Sequence[Measurement]) -> Measurement:
    """The measurement with the prediction that all candidates share, else without a prediction. Its
    `tied` names the candidates if they differ in prediction or target."""
    if not candidates:
        return Measurement(dispatch, None)
    is_predicted = len(set(map(_prediction, candidates))) == 1
    if is_predicted and len(set(map(_target, candidates))) == 1:
        return candidates[0]
    names = next((names for names in _names(candidates) if len(names) > 1), ())
    return (
        replace(candidates[0], tied=names)
        if is_predicted
        else Measurement(dispatch, None, tied=names)
    )


def _names(candidates: Sequence[Measurement]) -> Iterator[tuple[str, ...]]:
    """Names by which the candidates may differ: targets, then kernels, then paths."""
    kernels = [candidate.kernel for candidate in candidates if candidate.kernel]
    yield tuple(dict.fromkeys(candidate.build for candidate in candidates))
    yield tuple(dict.fromkeys(kernel.name for kernel in kernels))
    yield tuple(dict.fromkeys(kernel.code_object.path for kernel in kernels))


def _prediction(candidate: Measurement) -> Hashable:
    occupancy = candidate.occupancy
    assert occupancy is not None
    return candidate.predicted, occupancy.percent, occupancy.limiters
