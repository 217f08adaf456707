"""Records of a sweep: requests, variants of kernels, and the cost of more waves."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Literal, NamedTuple

from kernelinfo.compile.compilers import Compiler
from kernelinfo.compile.ir import Input
from kernelinfo.errors import Message
from kernelinfo.hardware.targets import Target
from kernelinfo.kernel import Result
from kernelinfo.model.calculator import Arch
from kernelinfo.model.limits import waves_of

if TYPE_CHECKING:
    from kernelinfo.kernel.columns import Where

STRATEGIES = (
    "max-ilp",
    "max-memory-clause",
    "iterative-ilp",
    "iterative-minreg",
    "iterative-maxocc",
)
"""Strategies of LLVM 22 (AMDGPUTargetMachine.cpp, createMachineScheduler). LLVM ignores other
names."""


class Asked(NamedTuple):
    """Attributes and options asked for in one variant; None leaves the input's own."""

    waves: int | None = None  # Waves/SIMD: `amdgpu-waves-per-eu="N,N"`
    or_more: bool = False  # `waves` is only a minimum: `amdgpu-waves-per-eu="N"`
    launch_bounds: int | None = None  # workitems: `amdgpu-flat-work-group-size="1,N"`
    strategy: str | None = None  # `-amdgpu-sched-strategy`

    def attributes(self, *, has_required_size: bool) -> dict[str, str]:
        """Attribute name → value. A workgroup size that the source requires is kept."""
        wanted = {}
        if self.waves is not None:
            wanted[WAVES] = f"{self.waves}" if self.or_more else f"{self.waves},{self.waves}"
        if self.launch_bounds is not None and not has_required_size:
            wanted[SIZES] = f"1,{self.launch_bounds}"
        return wanted

    @property
    def options(self) -> tuple[str, ...]:
        """LLVM options for the whole module."""
        return () if self.strategy is None else (f"-amdgpu-sched-strategy={self.strategy}",)


AS_COMPILED = Asked()
WAVES = "amdgpu-waves-per-eu"
SIZES = "amdgpu-flat-work-group-size"


class Request(NamedTuple):
    """Attributes and options asked for in a whole sweep."""

    waves: tuple[int, ...] = ()
    launch_bounds: tuple[int, ...] = ()
    strategies: tuple[str | None, ...] = ()
    level: str | None = None  # `3` of -O3; None: the level that reproduces the assembly
    options: tuple[str, ...] = ()  # LLVM options of every variant, as `-mllvm` takes them
    kernel: str | None = None  # a name as `pattern.matching` takes it; None: all
    patterns: tuple[str, ...] = ()  # of `-k`; one match chooses a kernel; empty: all
    exclude: tuple[str, ...] = ()
    where: Where | None = None  # condition on kernels as compiled

    @property
    def takes_default_waves(self) -> bool:
        """True if the user asks for nothing in particular."""
        return not any((self.waves, self.launch_bounds, self.strategies))

    def variants(self, default_waves: tuple[int, ...], *, or_more: bool) -> tuple[Asked, ...]:
        """As compiled first, then each combination of waves, launch bounds and strategies.

        Waves are asked for exactly and, with `or_more`, also as a minimum.
        """
        waves = default_waves if self.takes_default_waves else self.waves
        forms = product(waves, (False, True) if or_more else (False,))
        axes = (tuple(forms) or ((None, False),), self.launch_bounds or (None,))
        wishes = product(*axes, self.strategies or (None,))
        return tuple(dict.fromkeys((AS_COMPILED, *(Asked(*w, b, s) for w, b, s in wishes))))


def steps(target: Target, wave_size: int) -> tuple[int, ...]:
    """Waves/SIMD, ascending, at which the most VGPRs of a wave change."""
    rungs = Arch(target).limits(workgroup_size=wave_size, wave_size=wave_size)
    most: dict[int, int] = {}
    for rung in rungs:  # the highest occupancy first
        most.setdefault(rung.vgprs, round(rung.waves_per_simd))
    return tuple(sorted(most.values()))


class Variant(NamedTuple):
    """One kernel as the compiler made it for one combination."""

    asked: Asked  # None leaves the input's own
    result: Result | None  # None if there is an error
    error: Message | None = None  # why it failed, in one line

    @property
    def is_ignored(self) -> bool:
        """True if LLVM ignores the waves asked for: the largest workgroup rules them out.

        The waves of that workgroup on one SIMD are a minimum (LLVM AMDGPUSubtarget.cpp,
        getEffectiveWavesPerEU). LLVM also ignores requests above the hardware's slots.
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
    """A source line that was compiled and gave a row."""

    language: Language  # language of the source
    text: str  # the line; empty if the options alone make the difference
    options: str  # options of the compiler; empty if it needs none

    @property
    def written(self) -> str:
        """Text and options: `__launch_bounds__(256, 5) with -mllvm …`."""
        return " with ".join(filter(None, (self.text, self.options)))


class SweptKernel(NamedTuple):
    """One kernel in every variant; the first variant is as compiled."""

    symbol: str  # mangled name
    name: str  # demangled name
    variants: tuple[Variant, ...]  # as compiled first
    notes: tuple[str, ...] = ()
    """Differences from the assembly next to the input, and requests not applied."""
    lines: tuple[Line, ...] = ()
    """Source lines for the first notable row, or for the only variant."""


Origin = Literal["option", "reproduced", "assumed"]


class Sweep(NamedTuple):
    """The kernels of one input in every variant."""

    file: Input
    compiler: Compiler  # what compiled the variants
    target_id: str  # target that the kernels are compiled for: `gfx90a:xnack-`
    level: str  # optimisation level: `3` of -O3
    level_from: Origin  # an option, the first that reproduces the assembly, or assumed
    driver: str  # `clang` or `hipcc`; hipcc adds LLVM options
    assembly: str | None  # path of the assembly compared with the first variant; None without one
    kernels: tuple[SweptKernel, ...]  # one for each kernel
    notes: tuple[str, ...] = ()  # about the input as a whole

    def __repr__(self) -> str:
        """One line: file, target, number of kernels and variants."""
        variants = sum(len(kernel.variants) for kernel in self.kernels)
        kernels = len(self.kernels)
        return f"Sweep({self.file.path!r}, {self.target_id!r}, {kernels=}, {variants=})"

    @property
    def has_failed(self) -> bool:
        """True if no variant of any kernel was compiled."""
        return not any(v.result for kernel in self.kernels for v in kernel.variants)


class Cost(NamedTuple):
    """Scratch, reloads and spills of a kernel, or the difference of two kernels."""

    scratch_bytes: int  # per lane
    reloads: int  # loads of spilled registers from scratch inside loops
    spills: int  # VGPRs and SGPRs spilled

    @property
    def costs(self) -> bool:
        """True if the first number that is not 0 is positive."""
        return self > Cost(0, 0, 0)

    @property
    def saves(self) -> bool:
        """True if the first number that is not 0 is negative."""
        return self < Cost(0, 0, 0)

    def over(self, other: Cost) -> Cost:
        """This cost minus another, field by field."""
        return Cost(*(mine - theirs for mine, theirs in zip(self, other, strict=True)))


class TradeoffStep(NamedTuple):
    """The cheapest variant with a number of waves/SIMD."""

    waves_per_simd: float
    variant: Variant
    cost: Cost  # against the kernel as compiled


def cost_of(result: Result) -> Cost:
    """Scratch, reloads in loops and spills. Numbers that the assembly does not state are 0."""
    kernel = result.kernel
    loops = (kernel.code.loops if kernel.code else None) or ()
    return Cost(
        kernel.used.scratch_bytes_per_lane or 0,
        sum(loop.reloads for loop in loops),
        kernel.spills.registers,
    )


def is_worth_a_row(variant: Variant, base: Variant) -> bool:
    """False if a variant has fewer waves/SIMD than as compiled and saves nothing.

    Counts the waves that it got or that were asked for, the fewer.
    """
    mine, its = variant.result, base.result
    if not (mine and its and mine.occupancy and its.occupancy):
        return True
    waves = min(mine.occupancy.waves_per_simd, variant.asked.waves or mine.occupancy.waves_per_simd)
    is_less = waves < its.occupancy.waves_per_simd
    return not is_less or cost_of(mine).over(cost_of(its)).saves


def tradeoff(kernel: SweptKernel) -> tuple[TradeoffStep, ...]:
    """Steps with more waves, or with fewer or equal waves and savings; fewest waves first.

    Empty if the kernel was not compiled unchanged.
    """
    base = kernel.variants[0].result
    if base is None or base.occupancy is None:
        return ()
    found: dict[float, TradeoffStep] = {}
    for variant in kernel.variants[1:]:
        result = variant.result
        if result is None or result.occupancy is None or variant.is_ignored:
            continue
        waves = result.occupancy.waves_per_simd
        step = TradeoffStep(waves, variant, cost_of(result).over(cost_of(base)))
        if waves not in found or step.cost < found[waves].cost:
            found[waves] = step
    now = base.occupancy.waves_per_simd
    return tuple(step for waves, step in sorted(found.items()) if waves > now or step.cost.saves)


def notable(kernel: SweptKernel) -> tuple[TradeoffStep, ...]:
    """The last free step, the first step that costs, and the step that saves most."""
    steps = tradeoff(kernel)
    saving = [step for step in steps if step.cost.saves]
    free = [step for step in steps if not step.cost.costs and not step.cost.saves]
    costing = [step for step in steps if step.cost.costs]
    saving.sort(key=lambda step: step.cost)
    return (*free[-1:], *costing[:1], *saving[:1])


def measures(result: Result) -> tuple[object, ...]:
    """Numbers of a row. Variants with equal numbers share it."""
    kernel, occupancy = result.kernel, result.occupancy
    resident = (occupancy.allocated, occupancy.waves_per_simd) if occupancy else ()
    return (*kernel.used, *kernel.spills, kernel.code_bytes, cost_of(result).reloads, *resident)
