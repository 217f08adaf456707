"""Variants of kernels as the compiler made them, what they cost, and the source lines for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import Literal, NamedTuple

from kernelinfo.compile.compilers import Compiler
from kernelinfo.compile.ir import Input
from kernelinfo.errors import Message
from kernelinfo.kernel import USED, Result
from kernelinfo.variants.requests import SIZES, WAVES, Asked, fewest_waves, largest_workgroup


class Variant(NamedTuple):
    """One kernel as the compiler made it for one combination."""

    asked: Asked  # None leaves the input's own
    result: Result | None  # None if there is an error
    error: Message | None = None  # why it failed, in one line

    @property
    def waves_per_simd(self) -> float | None:
        """Resident waves/SIMD; None if there is an error or the launch is impossible."""
        return (
            self.result.occupancy.waves_per_simd if self.result and self.result.occupancy else None
        )

    @property
    def is_ignored(self) -> bool:
        """True if LLVM ignores the waves asked for: the largest workgroup rules them out.

        The waves of that workgroup on one SIMD are a minimum (LLVM AMDGPUSubtarget.cpp,
        getEffectiveWavesPerEU). LLVM also ignores requests above the hardware's slots.
        """
        waves = self.asked.waves
        if waves is None or self.result is None or self.result.kernel.target is None:
            return False
        fewest = fewest_waves(self.result)
        slots = self.result.kernel.target.waves.slots_per_simd
        return fewest is not None and not fewest <= waves <= slots


LineLanguage = Literal["HIP", "OpenCL", "Triton"]


class Line(NamedTuple):
    """A way to write a variant in the source. Compiled, it gives the numbers of the variant."""

    language: LineLanguage  # language of the source
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
    """Source lines for the row that saves most, else the first notable row or the only variant."""

    @property
    def smaller_bounds(self) -> tuple[int, ...]:
        """Launch bounds of variants that are below the kernel's own, ascending; none if the kernel
        requires a workgroup size. A launch of more workitems than the bound is refused (HIP's
        hipModuleLaunchKernel, OpenCL's clEnqueueNDRangeKernel)."""
        compiled = self.variants[0].result
        if compiled is None or compiled.kernel.numbers.required_workgroup is not None:
            return ()  # no bound is set
        largest = largest_workgroup(compiled)
        bounds = {v.asked.launch_bounds for v in self.variants if v.result}
        return tuple(sorted(bound for bound in bounds if bound and bound < largest))


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


def cost_of(result: Result) -> Cost:
    """Scratch, reloads in loops and spills. Numbers that the assembly does not state are 0."""
    kernel = result.kernel
    loops = (kernel.code.loops if kernel.code else None) or ()
    return Cost(
        kernel.numbers.scratch_bytes_per_lane or 0,
        sum(loop.reloads for loop in loops),
        kernel.spilled_registers,
    )


def extra_cost(variant: Variant, base: Variant) -> Cost:
    """The cost of a variant minus that of `base`; 0 if the variant failed."""
    return _cost(variant).over(_cost(base))


def _cost(variant: Variant) -> Cost:
    return cost_of(variant.result) if variant.result else Cost(0, 0, 0)


def keep_worthwhile(variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """The first of `variants` (as compiled), and those that may be worth having, in their order.

    A variant with fewer waves/SIMD than as compiled is left out if it saves nothing, or if another
    variant of the same form has more waves and saves as much. The waves of a variant are the ones
    that it asked for or the ones that it got, whichever are fewer.
    """
    base, *changed = variants
    now = base.waves_per_simd
    if now is None:
        return tuple(variants)
    cheapest = dict.fromkeys((False, True), base)  # by form, with more waves
    kept = []
    for variant in reversed(changed):  # the most waves first
        waves, change = variant.waves_per_simd, variant.asked
        if waves is not None and min(waves, change.waves or waves) < now:
            reference = base if change.launch_bounds else cheapest[change.or_more]
            if not extra_cost(variant, reference).saves:
                continue
            if not change.launch_bounds:
                cheapest[change.or_more] = variant
        kept.append(variant)
    return (base, *reversed(kept))


def tradeoff(kernel: SweptKernel) -> tuple[Variant, ...]:
    """The cheapest variant for each number of waves/SIMD, the fewest waves first.

    Only variants with more waves than as compiled, or with savings. Empty if the kernel was not
    compiled unchanged.
    """
    base = kernel.variants[0]
    if base.result is None or base.result.occupancy is None:
        return ()
    cheapest: dict[float, Variant] = {}
    for variant in kernel.variants[1:]:
        if variant.waves_per_simd is None or variant.is_ignored:
            continue
        waves = variant.waves_per_simd
        if waves not in cheapest or extra_cost(variant, cheapest[waves]).saves:
            cheapest[waves] = variant
    now = base.result.occupancy.waves_per_simd
    steps = (variant for _, variant in sorted(cheapest.items(), key=lambda item: item[0]))
    return tuple(
        step for step in steps if (step.waves_per_simd or 0) > now or extra_cost(step, base).saves
    )


def notable(kernel: SweptKernel) -> tuple[Variant, ...]:
    """Of the trade-off: the last free variant, the first that costs, and the one that saves most
    (of several, the one with the most waves)."""
    base = kernel.variants[0]
    costs = [(variant, extra_cost(variant, base)) for variant in tradeoff(kernel)]
    saving = [variant for variant, cost in costs if cost.saves]
    free = [variant for variant, cost in costs if not cost.costs and not cost.saves]
    costing = [variant for variant, cost in costs if cost.costs]
    saving.sort(key=lambda variant: (extra_cost(variant, base), -(variant.waves_per_simd or 0)))
    return (*free[-1:], *costing[:1], *saving[:1])


def listed(counts: Sequence[int], to: str = " to ") -> str:
    """Ascending numbers, neighbours as a range: `1 to 3, 5`."""
    runs: list[list[int]] = []
    for count in counts:
        if runs and count == runs[-1][-1] + 1:
            runs[-1].append(count)
        else:
            runs.append([count])
    return ", ".join(
        f"{run[0]}{to}{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs
    )


def is_same(result: Result | None, other: Result | None) -> bool:
    """True if both are compiled and have equal numbers."""
    return result is not None and other is not None and measures(result) == measures(other)


def measures(result: Result) -> tuple[object, ...]:
    """The numbers that a row of the table is about; variants with equal numbers share a row."""
    kernel, occupancy = result.kernel, result.occupancy
    stated = [getattr(kernel.numbers, name) for name in (*USED, "vgpr_spills", "sgpr_spills")]
    resident = (occupancy.allocated, occupancy.waves_per_simd) if occupancy else ()
    return (*stated, kernel.code_bytes, cost_of(result).reloads, *resident)


def choose_written(kernel: SweptKernel, *, takes_defaults: bool) -> Iterator[Variant]:
    """The variants to write as source lines: those equal to the one that saves most, else to the
    first notable one, else to the only one that the user asked for.

    All have that variant's strategy; variants without effect are left out.
    """
    base, *changed = kernel.variants
    steps = notable(kernel)
    wishes = {variant.asked._replace(or_more=False) for variant in changed}
    if not base.result or not (steps or (len(wishes) == 1 and not takes_defaults)):
        return
    saving = [variant for variant in steps if extra_cost(variant, base).saves]
    first = [*saving, *steps, *changed][0]
    if not first.result or measures(first.result) == measures(base.result):
        return
    for variant in changed:
        is_same = variant.result and measures(variant.result) == measures(first.result)
        if is_same and not variant.is_ignored and variant.asked.strategy == first.asked.strategy:
            yield variant


def lines(
    change: Asked,
    language: LineLanguage,
    declared: Mapping[str, str],
    options: tuple[str, ...],
    *,
    has_required_size: bool,
) -> Iterator[Line]:
    """Every way to write a variant in the source; none if the language cannot express it.

    `declared` are the kernel's own attributes in the IR, `options` are LLVM options.
    """
    written = " ".join(f"-mllvm {quote(option)}" for option in (*options, *change.options))
    attributes = {**declared, **change.attributes(has_required_size=has_required_size)}
    waves = attributes.get(WAVES) if change.waves or change.launch_bounds else None
    bounds = re.fullmatch(r"1,(\d+)", attributes.get(SIZES, ""))
    asks_for_size = change.launch_bounds is not None and not has_required_size
    if language == "Triton":
        # Triton sets "N,N" for waves_per_eu=N (backends/amd/compiler.py, make_llir).
        if change.waves and not asks_for_size and not written:
            yield Line(language, f"waves_per_eu={change.waves}", "")
        return
    per_eu = f"__attribute__((amdgpu_waves_per_eu({_arguments(waves)})))" if waves else ""
    if not asks_for_size:
        if per_eu or written:
            yield Line(language, per_eu, written)
    elif language == "OpenCL":
        size = f"__attribute__((amdgpu_flat_work_group_size(1, {change.launch_bounds})))"
        yield Line(language, f"{size} {per_eu}".rstrip(), written)
    if language == "HIP" and bounds and (waves or asks_for_size):
        if waves is None or waves.isdecimal():
            text = f"__launch_bounds__({bounds[1]}{f', {waves}' if waves else ''})"
            yield Line(language, text, written)
        elif asks_for_size:
            yield Line(language, f"__launch_bounds__({bounds[1]}) {per_eu}", written)


def _arguments(attribute: str) -> str:
    """`5, 5` for the attribute `5,5`."""
    return ", ".join(part.strip() for part in attribute.split(","))
