"""Launches of a run matched to kernels of files, with the predicted occupancy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

from kernelinfo.compare.measurement import Distance, Measurement, bare, compared
from kernelinfo.compare.messages import say
from kernelinfo.compare.profile import Dispatch, Resources, together
from kernelinfo.errors import Message, UnknownTargetError
from kernelinfo.hardware import targets
from kernelinfo.hardware.products import runs_on
from kernelinfo.hardware.targets import Device, Target
from kernelinfo.kernel import Kernel
from kernelinfo.kernel.names import stem

Product = tuple[Target, Device]
_ABSENT: Distance = (len(Resources._fields), 1)  # for a launch whose kernel is in no file


def measure(
    dispatches: Iterable[Dispatch],
    kernels: Iterable[Kernel],
    device: Product | None = None,
    trap_handler: bool = True,
) -> tuple[Measurement, ...]:
    """Each dispatch with the kernel that it launched; equal agents are joined.

    Names match whole (mangled or demangled), then without parameters, then without template
    arguments. The target is that of `device`, else the one that the run names for the agent, else
    the one whose kernels are nearest to all launches on the agent. The nearest kernel of the target
    counts. If several are equally near, `tied` names them, and the prediction is None unless all
    agree. `why_target` states which of these the target is.
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
        unnamed = (replace(launch, agent="", target=None) for launch in launches)
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
    """The candidates among kernels; with a target, only kernels that run there, with its
    occupancy."""
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
        name = bare(dispatch.shape.kernel)
        brief = stem(name)
        for kernel in whole.get(name) or stems.get(brief) or bases.get(brief) or ():
            yield compared(dispatch, kernel, device, trap_handler)

    return candidates


def _nearest(
    launches: Iterable[Dispatch], candidates_of: Candidates
) -> tuple[tuple[Target, ...], Message]:
    """The target whose kernels are nearest to all launches together, several if they tie; and that
    it is so, in words."""
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
    """A measurement for each launch. `of_targets` are the candidates on one target, or on several
    that tie."""
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
    """The prediction that all candidates share; if they differ, no prediction and their names."""
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
    """Names that may tell the candidates apart: targets, then kernels, then paths."""
    kernels = [candidate.kernel for candidate in candidates if candidate.kernel]
    yield tuple(dict.fromkeys(candidate.build for candidate in candidates))
    yield tuple(dict.fromkeys(kernel.name for kernel in kernels))
    yield tuple(dict.fromkeys(kernel.code_object.path for kernel in kernels))


def _prediction(candidate: Measurement) -> Hashable:
    occupancy = candidate.occupancy
    assert occupancy is not None
    return candidate.predicted, occupancy.percent, occupancy.limiters
