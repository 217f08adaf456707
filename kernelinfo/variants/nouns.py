"""The nouns of a sweep: wishes, variants of kernels, and the cost of more waves."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Literal, NamedTuple

from kernelinfo.kernel import Result
from kernelinfo.occupancy.calculator import Arch
from kernelinfo.occupancy.placement import waves_of
from kernelinfo.occupancy.targets import Target
from kernelinfo.variants.compilers import Compiler
from kernelinfo.variants.ir import Input

STRATEGIES = (
    "max-ilp",
    "max-memory-clause",
    "iterative-ilp",
    "iterative-minreg",
    "iterative-maxocc",
)
"""LLVM 22's (AMDGPUTargetMachine.cpp, createMachineScheduler); LLVM ignores names that it does not
know."""


class Asked(NamedTuple):
    """Wishes of one variant; None leaves the input's own."""

    waves: int | None = None  # Waves/SIMD: `amdgpu-waves-per-eu="N,N"`
    or_more: bool = False  # `waves` are the fewest alone: `amdgpu-waves-per-eu="N"`
    launch_bounds: int | None = None  # workitems: `amdgpu-flat-work-group-size="1,N"`
    strategy: str | None = None  # `-amdgpu-sched-strategy`

    def attributes(self, *, has_required_size: bool) -> dict[str, str]:
        """Function attributes; a workgroup size that the source requires is left alone."""
        wanted = {}
        if self.waves is not None:
            wanted[WAVES] = f"{self.waves}" if self.or_more else f"{self.waves},{self.waves}"
        if self.launch_bounds is not None and not has_required_size:
            wanted[SIZES] = f"1,{self.launch_bounds}"
        return wanted

    @property
    def options(self) -> tuple[str, ...]:
        """LLVM options, for the whole module."""
        return () if self.strategy is None else (f"-amdgpu-sched-strategy={self.strategy}",)


AS_COMPILED = Asked()
WAVES = "amdgpu-waves-per-eu"
SIZES = "amdgpu-flat-work-group-size"


class Request(NamedTuple):
    """Wishes of a whole sweep."""

    waves: tuple[int, ...] = ()
    launch_bounds: tuple[int, ...] = ()
    strategies: tuple[str | None, ...] = ()
    level: str | None = None  # `3` of -O3; None finds out
    options: tuple[str, ...] = ()  # LLVM options of every variant, as `-mllvm` takes them
    is_wanted: Callable[[str, str], bool] | None = None  # by demangled name and symbol; None: all

    @property
    def takes_default_waves(self) -> bool:
        """True if nothing in particular is asked for."""
        return not any((self.waves, self.launch_bounds, self.strategies))

    def variants(self, default_waves: tuple[int, ...], *, or_more: bool) -> tuple[Asked, ...]:
        """As compiled first, then each combination of what is asked for.

        Waves are asked for as exactly so many and, with `or_more`, as the fewest.
        """
        waves = default_waves if self.takes_default_waves else self.waves
        forms = product(waves, (False, True) if or_more else (False,))
        axes = (tuple(forms) or ((None, False),), self.launch_bounds or (None,))
        wishes = product(*axes, self.strategies or (None,))
        return tuple(dict.fromkeys((AS_COMPILED, *(Asked(*w, b, s) for w, b, s in wishes))))


def steps(target: Target, wave_size: int) -> tuple[int, ...]:
    """Waves/SIMD, ascending, at which the most VGPRs that a wave may have change."""
    rungs = Arch(target).limits(workgroup_size=wave_size, wave_size=wave_size)
    most: dict[int, int] = {}
    for rung in rungs:  # the highest occupancy first
        most.setdefault(rung.vgprs, round(rung.waves_per_simd))
    return tuple(sorted(most.values()))


class Variant(NamedTuple):
    """One kernel as the compiler made it for one request."""

    asked: Asked
    result: Result | None  # None if there is an error
    error: str | None = None

    @property
    def is_ignored(self) -> bool:
        """True if LLVM ignores the waves asked for: the largest workgroup rules them out.

        Its waves on one SIMD are the fewest that can be resident (LLVM AMDGPUSubtarget.cpp,
        getEffectiveWavesPerEU); above the hardware's slots LLVM ignores the request, too.
        """
        waves = self.asked.waves
        if waves is None or self.result is None or self.result.occupancy is None:
            return False
        kernel, target = self.result.kernel, self.result.kernel.target
        if target is None or kernel.wave_size is None:
            return False
        largest = kernel.workgroup.declared_max or target.waves.max_workgroup_size
        least = -(-waves_of(largest, kernel.wave_size) // self.result.occupancy.simds)
        return not least <= waves <= target.waves.slots_per_simd


Language = Literal["HIP", "OpenCL", "Triton"]


class Line(NamedTuple):
    """Text for the source that was compiled and gave a row."""

    language: Language
    text: str  # empty if the options alone make the difference
    options: str  # the compiler's; empty if there are none

    @property
    def written(self) -> str:
        """`__launch_bounds__(256, 5)`, with the options behind it."""
        return " with ".join(filter(None, (self.text, self.options)))


class SweptKernel(NamedTuple):
    """One kernel in every variant, as compiled first."""

    symbol: str
    name: str
    variants: tuple[Variant, ...]
    notes: tuple[str, ...] = ()
    """How it differs from the assembly next to the input, and what was left alone."""
    lines: tuple[Line, ...] = ()
    """For the first row that `notable` names, or for the only variant."""


Origin = Literal["option", "reproduced", "assumed"]


class Sweep(NamedTuple):
    """The kernels of one input in every variant."""

    file: Input
    compiler: Compiler
    target_id: str
    level: str
    level_from: Origin
    driver: str  # `clang`, or `hipcc`, which adds LLVM options of its own
    assembly: str | None  # the assembly next to the input that the first variant was compared with
    kernels: tuple[SweptKernel, ...]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """One line: the file, the target, and how much was tried."""
        variants = sum(len(kernel.variants) for kernel in self.kernels)
        kernels = len(self.kernels)
        return f"Sweep({self.file.path!r}, {self.target_id!r}, {kernels=}, {variants=})"

    @property
    def has_failed(self) -> bool:
        """True if no variant of any kernel was compiled."""
        return not any(v.result for kernel in self.kernels for v in kernel.variants)


class Cost(NamedTuple):
    """The price of registers that a kernel does not have; differences may be negative."""

    scratch_bytes: int  # per lane
    reloads: int  # loads of spilled registers from scratch inside loops
    spills: int  # VGPRs and SGPRs spilled

    @property
    def costs(self) -> bool:
        """True if scratch, or else reloads or spills, are more."""
        return self > Cost(0, 0, 0)

    @property
    def saves(self) -> bool:
        """True if scratch, or else reloads or spills, are less."""
        return self < Cost(0, 0, 0)

    def over(self, other: Cost) -> Cost:
        """This cost minus another, number by number."""
        return Cost(*(mine - theirs for mine, theirs in zip(self, other, strict=True)))


class Step(NamedTuple):
    """The cheapest way among the variants to reach a number of waves/SIMD."""

    waves_per_simd: float
    variant: Variant
    cost: Cost  # against the kernel as compiled


def cost_of(result: Result) -> Cost:
    """Scratch, reloads inside loops and spills; what the assembly does not state counts as 0."""
    kernel = result.kernel
    loops = (kernel.code.loops if kernel.code else None) or ()
    return Cost(
        kernel.used.scratch_bytes_per_lane or 0,
        sum(loop.reloads for loop in loops),
        kernel.spills.registers,
    )


def is_worth_a_row(variant: Variant, base: Variant) -> bool:
    """False for fewer waves/SIMD than as compiled, got or asked for, that save nothing."""
    mine, its = variant.result, base.result
    if not (mine and its and mine.occupancy and its.occupancy):
        return True
    waves = min(mine.occupancy.waves_per_simd, variant.asked.waves or mine.occupancy.waves_per_simd)
    is_less = waves < its.occupancy.waves_per_simd
    return not is_less or cost_of(mine).over(cost_of(its)).saves


def tradeoff(kernel: SweptKernel) -> tuple[Step, ...]:
    """Steps to more waves, and those to as many or fewer that save something; fewest waves first.
    Empty where the kernel as compiled was not made."""
    base = kernel.variants[0].result
    if base is None or base.occupancy is None:
        return ()
    found: dict[float, Step] = {}
    for variant in kernel.variants[1:]:
        result = variant.result
        if result is None or result.occupancy is None or variant.is_ignored:
            continue
        waves = result.occupancy.waves_per_simd
        step = Step(waves, variant, cost_of(result).over(cost_of(base)))
        if waves not in found or step.cost < found[waves].cost:
            found[waves] = step
    now = base.occupancy.waves_per_simd
    return tuple(step for waves, step in sorted(found.items()) if waves > now or step.cost.saves)


def notable(kernel: SweptKernel) -> tuple[Step, ...]:
    """The last step that is free, the first that costs, and the one that saves most."""
    steps = tradeoff(kernel)
    saving = [step for step in steps if step.cost.saves]
    free = [step for step in steps if not step.cost.costs and not step.cost.saves]
    costing = [step for step in steps if step.cost.costs]
    saving.sort(key=lambda step: step.cost)
    return (*free[-1:], *costing[:1], *saving[:1])


def measures(result: Result) -> tuple[object, ...]:
    """Numbers that a row shows: equal ones are the same row."""
    kernel, occupancy = result.kernel, result.occupancy
    resident = (occupancy.allocated, occupancy.waves_per_simd) if occupancy else ()
    return (*kernel.used, *kernel.spills, kernel.code_bytes, cost_of(result).reloads, *resident)
