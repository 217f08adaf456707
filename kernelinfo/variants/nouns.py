"""What is asked of the compiler, what it gave for each kernel, and what more waves cost."""

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
"""Of LLVM 22 (AMDGPUTargetMachine.cpp, createMachineScheduler); names that it does not know LLVM
silently ignores."""


class Asked(NamedTuple):
    """What one variant asks the compiler for; None leaves what the input asks for."""

    waves: int | None = None  # Waves/SIMD: `amdgpu-waves-per-eu="N,N"`
    launch_bounds: int | None = None  # workitems: `amdgpu-flat-work-group-size="1,N"`
    strategy: str | None = None  # `-amdgpu-sched-strategy`

    def attributes(self, *, has_required_size: bool) -> dict[str, str]:
        """Function attributes; a workgroup size that the source requires is left alone."""
        wanted = {}
        if self.waves is not None:
            wanted["amdgpu-waves-per-eu"] = f"{self.waves},{self.waves}"
        if self.launch_bounds is not None and not has_required_size:
            wanted["amdgpu-flat-work-group-size"] = f"1,{self.launch_bounds}"
        return wanted

    @property
    def options(self) -> tuple[str, ...]:
        """LLVM options, for the whole module."""
        return () if self.strategy is None else (f"-amdgpu-sched-strategy={self.strategy}",)


AS_COMPILED = Asked()


class Request(NamedTuple):
    """What a sweep tries."""

    waves: tuple[int, ...] = ()
    launch_bounds: tuple[int, ...] = ()
    strategies: tuple[str | None, ...] = ()
    level: str | None = None  # `3` of -O3; None finds out
    options: tuple[str, ...] = ()  # LLVM options of every variant, as `-mllvm` takes them
    is_wanted: Callable[[str, str], bool] | None = None  # by demangled name and symbol; None: all

    def variants(self, default_waves: tuple[int, ...]) -> tuple[Asked, ...]:
        """As compiled first, then each combination of what is asked for. Without any wish, the
        wishes are `default_waves`."""
        wishes = (self.waves, self.launch_bounds, self.strategies)
        waves = self.waves or (() if any(wishes) else default_waves)
        axes = (waves or (None,), self.launch_bounds or (None,), self.strategies or (None,))
        return tuple(dict.fromkeys((AS_COMPILED, *(Asked(*one) for one in product(*axes)))))


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


class SweptKernel(NamedTuple):
    """One kernel in every variant, as compiled first."""

    symbol: str
    name: str
    variants: tuple[Variant, ...]
    notes: tuple[str, ...] = ()
    """How it differs from the assembly next to the input, and what was left alone."""


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

    @property
    def has_failed(self) -> bool:
        """True if no variant of any kernel was compiled."""
        return not any(v.result for kernel in self.kernels for v in kernel.variants)


class Cost(NamedTuple):
    """What a kernel pays for registers that it does not have; differences may be negative."""

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
