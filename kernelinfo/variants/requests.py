"""What a sweep asks the compiler for: attributes and options of each variant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from kernelinfo.errors import OptionError
from kernelinfo.hardware.targets import Target
from kernelinfo.kernel import Result
from kernelinfo.model.calculator import Arch
from kernelinfo.model.limits import Limit, waves_of
from kernelinfo.variants.messages import say

if TYPE_CHECKING:
    from kernelinfo.kernel.columns import Where

WAVES = "amdgpu-waves-per-eu"
SIZES = "amdgpu-flat-work-group-size"
STRATEGIES = (
    "max-ilp",
    "max-memory-clause",
    "iterative-ilp",
    "iterative-minreg",
    "iterative-maxocc",
)
"""Strategies of LLVM 22 (AMDGPUTargetMachine.cpp, createMachineScheduler). LLVM ignores other
names."""
_BOUNDS = (64, 128, 256, 512)
"""Launch bounds that are tried for a kernel that spills, in workitems."""


class Asked(NamedTuple):
    """Attributes and options requested for one variant; None keeps the input's own."""

    waves: int | None = None  # Waves/SIMD: `amdgpu-waves-per-eu="N,N"`
    or_more: bool = False  # `waves` is only a minimum: `amdgpu-waves-per-eu="N"`
    launch_bounds: int | None = None  # workitems: `amdgpu-flat-work-group-size="1,N"`
    strategy: str | None = None  # `-amdgpu-sched-strategy`

    def attributes(self, *, has_required_size: bool) -> dict[str, str]:
        """Attribute name → value. A workgroup size that the source requires is kept."""
        attributes = {}
        if self.waves is not None:
            attributes[WAVES] = f"{self.waves}" if self.or_more else f"{self.waves},{self.waves}"
        if self.launch_bounds is not None and not has_required_size:
            attributes[SIZES] = f"1,{self.launch_bounds}"
        return attributes

    @property
    def options(self) -> tuple[str, ...]:
        """LLVM options for the whole module."""
        return () if self.strategy is None else (f"-amdgpu-sched-strategy={self.strategy}",)


AS_COMPILED = Asked()


class Request(NamedTuple):
    """Attributes and options requested for a whole sweep."""

    waves: tuple[int, ...] = ()
    launch_bounds: tuple[int, ...] = ()
    strategies: tuple[str | None, ...] = ()
    level: str | None = None  # `3` of -O3; None: the level that reproduces the assembly
    options: tuple[str, ...] = ()  # LLVM options of every variant, as `-mllvm` takes them
    kernel: str | None = None  # a name as `names.matching` takes it; None: all
    patterns: tuple[str, ...] = ()  # of `-k`; one match chooses a kernel; empty: all
    exclude: tuple[str, ...] = ()
    where: Where | None = None  # condition on kernels as compiled

    @property
    def takes_defaults(self) -> bool:
        """True if the user asks for nothing in particular."""
        return not any((self.waves, self.launch_bounds, self.strategies))

    def variants(
        self, target: Target, compiled: Result | None, *, states_waves: bool, or_more: bool
    ) -> tuple[Asked, ...]:
        """First the unchanged kernel, then waves and launch bounds, each with each strategy.

        `compiled` is the unchanged kernel, None if that failed; `states_waves` says whether its
        source asks for waves. Waves are requested exactly and, with `or_more`, also as a minimum.
        Waves that LDS or barriers forbid are left out.
        """
        waves = default_waves(target, compiled) if self.takes_defaults else self.waves
        ruled_out = forbidden(waves, compiled)
        forms = (False, True) if or_more else (False,)
        changes = [
            Asked(count, form) for count in waves if count not in ruled_out for form in forms
        ]
        sizes = {*self.launch_bounds, *_launched(compiled)}
        if self.takes_defaults and or_more:
            sizes |= {*_smaller_bounds(compiled)}
        releases = self.takes_defaults and states_waves
        changes += [_bounded(size, compiled if releases else None) for size in sorted(sizes)]
        if self.strategies and not changes and not waves:
            changes = [AS_COMPILED]
        strategies = self.strategies or (None,)
        every = (change._replace(strategy=name) for change, name in product(changes, strategies))
        return tuple(dict.fromkeys((AS_COMPILED, *every)))


def make_request(
    waves: Iterable[int] = (),
    launch_bounds: Iterable[int] = (),
    strategies: Iterable[str] = (),
    level: str | int | None = None,
    mllvm: Iterable[str] = (),
) -> Request:
    """The request. Strategy `default` is the compiler's own. Raises `OptionError`."""
    level = None if level is None else str(level)
    if level is not None and level not in ("0", "1", "2", "3", "s", "z"):
        raise OptionError(say("sweep-level", level=level))
    for name in (strategies := tuple(strategies)):
        if name not in ("default", *STRATEGIES):
            raise OptionError(say("sweep-strategy", name=name, strategies=", ".join(STRATEGIES)))
    sizes = tuple(waves), tuple(launch_bounds)
    if any(not 0 < number < 10_000 for number in (*sizes[0], *sizes[1])):
        raise OptionError(say("sweep-numbers"))
    wishes = (None if name == "default" else name for name in strategies)
    return Request(*sizes, tuple(wishes), level, tuple(mllvm))


def default_waves(target: Target, compiled: Result | None) -> tuple[int, ...]:
    """Waves/SIMD to try: the target's VGPR steps, from the unchanged kernel's waves upwards.

    A kernel that spills is also tried with fewer waves, down to the least that LLVM allows for its
    largest workgroup. All steps if the kernel does not compile unchanged.
    """
    if compiled is None:
        return steps(target, target.waves.default_size)
    kernel = compiled.kernel
    fewest = compiled.occupancy.waves_per_simd if compiled.occupancy else 1
    if _spills(compiled):
        fewest = min(fewest, fewest_waves(compiled) or 1)
    every = steps(target, kernel.wave_size or target.waves.default_size)
    return tuple(waves for waves in every if waves >= fewest)


def steps(target: Target, wave_size: int) -> tuple[int, ...]:
    """The numbers of waves/SIMD, ascending, at which the VGPR limit of a wave changes."""
    rungs = Arch(target).limits(workgroup_size=wave_size, wave_size=wave_size)
    waves_of_step: dict[int, int] = {}
    for rung in rungs:  # the highest occupancy first
        waves_of_step.setdefault(rung.vgprs, round(rung.waves_per_simd))
    return tuple(sorted(waves_of_step.values()))


def fewest_waves(compiled: Result, launch_bounds: int | None = None) -> int | None:
    """The fewest waves/SIMD that LLVM compiles for: those of the largest workgroup, or of one of
    `launch_bounds` workitems; None if they are not known (LLVM AMDGPUSubtarget.cpp,
    getEffectiveWavesPerEU)."""
    kernel, occupancy = compiled.kernel, compiled.occupancy
    if occupancy is None or kernel.target is None or kernel.wave_size is None:
        return None
    largest = launch_bounds or largest_workgroup(compiled)
    return -(-waves_of(largest, kernel.wave_size) // occupancy.simds)


def forbidden(waves: tuple[int, ...], compiled: Result | None) -> tuple[int, ...]:
    """The numbers in `waves` (per SIMD) that LDS or barriers rule out, however few registers are
    used."""
    limit = fixed_limit(compiled)
    if limit is None or limit.waves_per_simd is None:
        return ()
    return tuple(count for count in waves if count > limit.waves_per_simd)


def fixed_limit(compiled: Result | None) -> Limit | None:
    """The limit of LDS or of barriers, whichever allows fewer waves; no variant changes it. None if
    neither allows fewer waves than the wave slots."""
    if compiled is None or compiled.occupancy is None:
        return None
    occupancy = compiled.occupancy
    fixed = [limit for limit in occupancy.limits if limit.resource in ("lds", "barriers")]
    slots = occupancy.wave_slots / occupancy.simds
    below = [limit for limit in fixed if (limit.waves_per_simd or slots) < slots]
    return min(below, key=lambda limit: limit.waves_per_simd or 0, default=None)


def _spills(compiled: Result) -> bool:
    """True if a kernel spills registers, or has scratch and no spill count."""
    numbers = compiled.kernel.numbers
    if None in (numbers.vgpr_spills, numbers.sgpr_spills):
        return bool(numbers.scratch_bytes_per_lane)
    return compiled.kernel.spilled_registers > 0


def largest_workgroup(compiled: Result) -> int:
    """Workitems of the largest workgroup that may be launched."""
    target = compiled.kernel.target
    declared = compiled.kernel.numbers.max_workgroup_size
    return declared or (target.waves.max_workgroup_size if target else 1024)


def _launched(compiled: Result | None) -> Iterator[int]:
    """The workgroup size that the user states, if the kernel is compiled for another one."""
    if compiled and compiled.occupancy and not compiled.kernel.numbers.required_workgroup:
        launch = compiled.occupancy.launch
        if launch.assumption == "option" and launch.workgroup_size != largest_workgroup(compiled):
            yield launch.workgroup_size


def _smaller_bounds(compiled: Result | None) -> Iterator[int]:
    """Launch bounds below the declared one that may end spills. Those below a launch that the user
    states are left out. For a kernel that does not compile unchanged, all bounds."""
    if compiled is None:
        yield from _BOUNDS
    elif _spills(compiled) and compiled.kernel.numbers.required_workgroup is None:
        launched = max(_launched(compiled), default=0)
        yield from (size for size in _BOUNDS if launched <= size < largest_workgroup(compiled))


def _bounded(size: int, compiled: Result | None) -> Asked:
    """A request for a launch bound of `size` workitems. With `compiled`, the kernel's own request
    for waves is dropped, as `__launch_bounds__(size)` does; with None it is kept."""
    waves = fewest_waves(compiled, size) if compiled else None
    return Asked(waves, waves is not None, size)
