"""Launches of a run matched to kernels of files, with the predicted occupancy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from kernelinfo.compare.measurement import Distance, Measurement, bare, compared, distance
from kernelinfo.compare.messages import say
from kernelinfo.compare.profile import UNNAMED, Agent, Dispatch, Resources, together
from kernelinfo.errors import Message, UnknownTargetError
from kernelinfo.hardware import targets
from kernelinfo.hardware.products import runs_on
from kernelinfo.hardware.targets import Device, Target
from kernelinfo.kernel import Kernel
from kernelinfo.kernel.names import stem
from kernelinfo.reading.target_id import target_id

Product = tuple[Target, Device]
_ABSENT: Distance = (len(Resources._fields), 1)  # for a launch whose kernel is in no file


class Candidate(NamedTuple):
    """A kernel whose name matches a launch."""

    kernel: Kernel
    target: Target  # the kernel runs on it
    measurement: Measurement
    distance: Distance

    @property
    def build(self) -> str:
        """The target id that the kernel was compiled for, features included."""
        return target_id(self.kernel.code_object.target, self.kernel.code_object.features)

    @property
    def is_generic(self) -> bool:
        """True if the code is for a generic target; the loader prefers code for the exact one."""
        return self.kernel.code_object.target != self.target.name


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
    known = tuple(kernel for kernel in kernels if kernel.target is not None)
    by_agent: dict[Agent, list[Dispatch]] = {}
    for dispatch in dispatches:
        by_agent.setdefault(dispatch.agent, []).append(dispatch)
    named = {agent: device[0] if device else _named(agent) for agent in by_agent}
    everywhere = _Files(() if all(named.values()) else known, None, device, trap_handler)
    runs: dict[tuple[Target, ...], list[Dispatch]] = {}
    reasons: dict[tuple[Target, ...], Message] = {}
    nearest: tuple[Target, ...]
    for agent, launches in by_agent.items():
        if target := named[agent]:
            nearest = (target,)
            reason = say("target-of-device") if device else say("target-of-run")
        else:
            nearest, reason = _nearest(launches, everywhere)
        runs.setdefault(nearest, []).extend(replace(one, agent=UNNAMED) for one in launches)
        reasons.setdefault(nearest, reason)
    return tuple(
        replace(found, why_target=reasons[nearest])
        for nearest, launches in runs.items()
        for found in _measured(
            together(launches), [_Files(known, one, device, trap_handler) for one in nearest]
        )
    )


def _named(agent: Agent) -> Target | None:
    try:
        return None if agent.target is None else targets.find(agent.target)
    except UnknownTargetError:
        return None


class _Files:
    """Kernels by name. With a target, only kernels that run there, with its occupancy."""

    def __init__(
        self,
        kernels: Iterable[Kernel],
        target: Target | None,
        device: Product | None,
        trap_handler: bool,
    ) -> None:
        self._device, self._trap_handler = device, trap_handler
        self._whole = defaultdict[str, list[Kernel]](list)
        self._stems = defaultdict[str, list[Kernel]](list)
        self._bases = defaultdict[str, list[Kernel]](list)
        for kernel in kernels:
            if target is None or (kernel.target and runs_on(kernel.target, target)):
                self._add(kernel if target is None else kernel.on(target))

    def _add(self, kernel: Kernel) -> None:
        brief = stem(kernel.name)
        for name in {kernel.name, kernel.symbol}:
            self._whole[name].append(kernel)
        self._stems[brief].append(kernel)
        self._bases[brief.partition("<")[0]].append(kernel)

    def candidates(self, dispatch: Dispatch) -> Iterator[Candidate]:
        """All kernels whose name matches the dispatch."""
        for kernel in self._called(dispatch):
            found = compared(dispatch, kernel, self._device, self._trap_handler)
            assert kernel.target is not None
            yield Candidate(kernel, kernel.target, found, distance(found))

    def _called(self, dispatch: Dispatch) -> Sequence[Kernel]:
        name = bare(dispatch.shape.kernel)
        brief = stem(name)
        return self._whole.get(name) or self._stems.get(brief) or self._bases.get(brief) or ()


def _nearest(launches: Iterable[Dispatch], files: _Files) -> tuple[tuple[Target, ...], Message]:
    """The target whose kernels are nearest to all launches together, several if they tie; and that
    it is so, in words."""
    known = [found for one in launches if (found := list(files.candidates(one)))]
    distances = {
        target: _sum([[one for one in found if runs_on(one.target, target)] for found in known])
        for target in dict.fromkeys(one.target for found in known for one in found)
    }
    least = min(distances.values(), default=None)
    nearest = tuple(target for target, distance in distances.items() if distance == least)
    others = ", ".join(target.name for target in distances if target not in nearest)
    if others:
        return nearest, say("target-nearest", others=others)
    return nearest, say("target-only")


def _sum(launches: list[list[Candidate]]) -> tuple[int, ...]:
    """Sum over all launches of the distance to the nearest kernel."""
    least = [min((one.distance for one in found), default=_ABSENT) for found in launches]
    return tuple(map(sum, zip(*least, strict=True)))


def _measured(launches: Sequence[Dispatch], files: Sequence[_Files]) -> Iterator[Measurement]:
    """A measurement for each launch. `files` holds one target, or several that tie."""
    candidates = [[one for each in files for one in each.candidates(run)] for run in launches]
    whole = {
        build: _sum([[one for one in found if one.build == build] for found in candidates if found])
        for build in {one.build for found in candidates for one in found}
    }
    for dispatch, found in zip(launches, candidates, strict=True):
        keys = [(one.distance, whole[one.build], one.is_generic) for one in found]
        least = min(keys, default=None)
        equal = [one for one, key in zip(found, keys, strict=True) if key == least]
        yield _of_equals(dispatch, equal)


def _of_equals(dispatch: Dispatch, found: Sequence[Candidate]) -> Measurement:
    """The prediction that all candidates share; if they differ, no prediction and their names."""
    if not found:
        return Measurement(dispatch, None)
    is_predicted = len({_prediction(one) for one in found}) == 1
    if is_predicted and len({one.target for one in found}) == 1:
        return found[0].measurement
    names = next((names for names in _names(found) if len(names) > 1), ())
    if is_predicted:
        return replace(found[0].measurement, tied=names)
    return Measurement(dispatch, None, tied=names)


def _names(found: Sequence[Candidate]) -> Iterator[tuple[str, ...]]:
    """Names that may tell the candidates apart: targets, then kernels, then paths."""
    yield tuple(dict.fromkeys(one.build for one in found))
    yield tuple(dict.fromkeys(one.kernel.name for one in found))
    yield tuple(dict.fromkeys(one.kernel.code_object.path for one in found))


def _prediction(one: Candidate) -> Hashable:
    found = one.measurement.occupancy
    assert found is not None
    return one.measurement.predicted, found.percent, found.limiters
