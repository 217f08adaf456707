"""A sweep in words: header, requests of a row, trade-off."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from kernelinfo.kernel import Kernel, counted
from kernelinfo.render.names import printable
from kernelinfo.render.paint import compiler_name, number, size, waves_per_simd
from kernelinfo.variants.nouns import (
    Cost,
    Sweep,
    SweptKernel,
    Variant,
    extra_cost,
    listed,
    notable,
)
from kernelinfo.variants.requests import AS_COMPILED, Asked

COMPILED = "as compiled ◄"
"""Label of the row that asks for nothing."""


def about(sweep: Sweep) -> Iterator[str]:
    """Lines on the input, the compiler and the optimisation level; then notes."""
    yield f"{printable(sweep.file.path)}   {sweep.target_id}"
    version = compiler_name(sweep.compiler.version)
    path = "" if sweep.compiler.path == "llvmlite" else f" ({printable(sweep.compiler.path)})"
    made_by = sweep.file.producer and compiler_name(sweep.file.producer)
    origin = f"the input was made by {made_by}"
    if not made_by:
        origin = "the input does not name the compiler that made it"
    elif made_by == version:
        origin = "the one that made the input"
    yield f"compiler  {version}{path}: {origin}"
    yield f"level     {_level(sweep)}"
    yield from (f"note      {printable(note)}" for note in sweep.notes)


def _level(sweep: Sweep) -> str:
    passes = ", code generation alone" if sweep.file.is_optimised else ""
    driver = " as by hipcc" if sweep.driver == "hipcc" else ""
    reference = os.path.basename(sweep.assembly) if sweep.assembly else None
    if sweep.file.compiled:
        reference = f"the code of {os.path.basename(sweep.file.path)}"
    reason = {
        "reproduced": f"reproduces {reference}",
        "option": "as asked for" + (f", compared with {reference}" if reference else ""),
        "assumed": f"assumed: no level reproduces {reference}"
        if reference
        else "assumed: there is no assembly next to the input to compare with",
    }[sweep.level_from]
    return printable(f"-O{sweep.level}{driver}{passes} ({reason})")


def label(asked: Asked) -> str:
    """The request: `launch bounds 256, waves 5, max-ilp`; `waves ≥5` for a minimum."""
    parts = (
        f"launch bounds {asked.launch_bounds}" if asked.launch_bounds is not None else None,
        f"waves {'≥' if asked.or_more else ''}{asked.waves}" if asked.waves is not None else None,
        asked.strategy,
    )
    return ", ".join(filter(None, parts)) or COMPILED


def labels(variants: Sequence[Variant]) -> str:
    """The requests of variants with equal results: `waves 4–6; launch bounds 64, 128`."""
    groups = [COMPILED if variants[0].asked == AS_COMPILED else ""]
    single = [v for v in variants if v.asked == Asked(v.asked.waves, v.asked.or_more)]
    for is_ignored in (False, True):
        for sign, or_more in (("", False), ("≥", True)):
            counts = [
                v.asked.waves
                for v in single
                if v.asked.waves and v.is_ignored is is_ignored and v.asked.or_more is or_more
            ]
            words = f"waves {sign}{listed(counts, '–')}" + " ignored" * is_ignored
            groups.append(words if counts else "")
    bounded: dict[str, list[str]] = {}  # the request without its launch bound → launch bounds
    for variant in variants:
        if variant in single:
            continue
        rest = label(variant.asked._replace(launch_bounds=None)) + " ignored" * variant.is_ignored
        bounds = variant.asked.launch_bounds
        bounded.setdefault(rest, []).extend([str(bounds)] if bounds else [])
    for rest, sizes in bounded.items():
        words = f"launch bounds {', '.join(sizes)}" if sizes else ""
        groups.append(", ".join(filter(None, (words, "" if rest == COMPILED else rest))))
    return "; ".join(filter(None, groups))


def trade(kernel: SweptKernel) -> str:
    """The trade-off of a kernel: its waves as compiled, and the cost of its notable steps.

    `4 waves/SIMD as compiled; 5 cost 196 B of scratch, 16 reloads in loop .LBB1_2`. Names the last
    free step, the first step that costs and the step that saves most.
    """
    base = kernel.variants[0].result
    if base is None or base.occupancy is None:
        return "nothing to compare with: it was not compiled as it is"
    now, bound = base.occupancy.waves_per_simd, "" if base.occupancy.exact else "≤"
    steps = (_step(variant, kernel.variants[0]) for variant in notable(kernel))
    return "; ".join([f"{bound}{waves_per_simd(now)} as compiled", *steps])


def _step(variant: Variant, base: Variant) -> str:
    """The waves of a variant, how to get them, and what they cost or save."""
    waves, cost = variant.waves_per_simd or 0, extra_cost(variant, base)
    is_plain = variant.asked == Asked(waves=round(waves))
    subject = number(waves) + ("" if is_plain else f" ({label(variant.asked)})")
    plural = "" if waves > 1 else "s"
    if cost.costs and variant.result:
        return f"{subject} cost{plural} {_amounts(cost, variant.result.kernel)}"
    if cost.saves and base.result:
        saved = Cost(*(-amount for amount in cost))
        return f"{subject} save{plural} {_amounts(saved, base.result.kernel)}"
    return f"{subject} {'is' if plural else 'are'} free"


def _amounts(cost: Cost, kernel: Kernel) -> str:
    """The amounts of a cost in words. `kernel` has the loops with the reloads."""
    parts = (
        f"{size(cost.scratch_bytes)} of scratch" if cost.scratch_bytes > 0 else "",
        f"{counted(cost.reloads, 'reload')} in {_loops(kernel)}" if cost.reloads > 0 else "",
        counted(cost.spills, "spilled register") if not cost.scratch_bytes and cost.spills else "",
    )
    return ", ".join(filter(None, parts))


def _loops(kernel: Kernel) -> str:
    """The loops with reloads: `loop .LBB1_3`, `3 loops`."""
    loops = [loop for loop in (kernel.code.loops if kernel.code else None) or () if loop.reloads]
    if len(loops) == 1:
        return f"loop {printable(loops[0].header)}"
    return counted(len(loops), "loop")
