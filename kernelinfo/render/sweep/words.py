"""A sweep in words: header, requests of a row, trade-off."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from shlex import quote

from kernelinfo.kernel import Kernel, Result, counted
from kernelinfo.kernel.names import base_name
from kernelinfo.render.names import printable
from kernelinfo.render.paint import compiler_name, number, size, waves_per_simd
from kernelinfo.variants.nouns import (
    AS_COMPILED,
    Asked,
    Cost,
    Sweep,
    SweptKernel,
    TradeoffStep,
    Variant,
    notable,
)


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
        reference = f"the assembly of {os.path.basename(sweep.file.path)}"
    reason = {
        "reproduced": f"reproduces {reference}",
        "option": "as asked for" + (f", compared with {reference}" if reference else ""),
        "assumed": f"assumed: no level reproduces {reference}"
        if reference
        else "assumed: there is no assembly next to the input to compare with",
    }[sweep.level_from]
    return printable(f"-O{sweep.level}{driver}{passes} ({reason})")


def label(asked: Asked) -> str:
    """The request: `waves 5, launch bounds 256, max-ilp`; `waves ≥5` for a minimum."""
    parts = (
        f"waves {'≥' if asked.or_more else ''}{asked.waves}" if asked.waves is not None else None,
        f"launch bounds {asked.launch_bounds}" if asked.launch_bounds is not None else None,
        asked.strategy,
    )
    return ", ".join(filter(None, parts)) or "as compiled ◄"


def labels(variants: Sequence[Variant]) -> str:
    """The requests of variants with equal results: `waves 4–6; max-ilp`."""
    bare = [v for v in variants if v.asked == AS_COMPILED._replace(waves=v.asked.waves)]
    or_more = [v for v in variants if v.asked == Asked(v.asked.waves, or_more=True)]
    groups = ["as compiled ◄" if variants[0].asked == AS_COMPILED else ""]
    for is_ignored in (False, True):
        for sign, among in (("", bare), ("≥", or_more)):
            same = [v for v in among if v.asked.waves and v.is_ignored is is_ignored]
            words = f"waves {sign}{_listed(same)}" + " ignored" * is_ignored
            groups.append(words if same else "")
    others = [v for v in variants if v not in bare and v not in or_more]
    groups += [label(v.asked) + " ignored" * v.is_ignored for v in others]
    return "; ".join(filter(None, groups))


def _listed(variants: Sequence[Variant]) -> str:
    """The waves of variants, neighbours as a range: `1–3, 5`."""
    waves = [variant.asked.waves or 0 for variant in variants]
    runs: list[list[int]] = []
    for count in waves:
        if runs and count == runs[-1][-1] + 1:
            runs[-1].append(count)
        else:
            runs.append([count])
    return ", ".join(
        f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs
    )


def trade(kernel: SweptKernel) -> str:
    """The trade-off of a kernel: its waves as compiled, and the cost of its notable steps.

    `4 waves/SIMD as compiled; 5 cost 196 B of scratch, 16 reloads in loop .LBB1_2`. Names the last
    free step, the first step that costs and the step that saves most.
    """
    base = kernel.variants[0].result
    if base is None or base.occupancy is None:
        return "nothing to compare with: it was not compiled as it is"
    now, bound = base.occupancy.waves_per_simd, "" if base.occupancy.exact else "≤"
    steps = (_step(step, base) for step in notable(kernel))
    return "; ".join([f"{bound}{waves_per_simd(now)} as compiled", *steps])


def _step(step: TradeoffStep, base: Result) -> str:
    asked, result = step.variant.asked, step.variant.result
    is_plain = asked == Asked(waves=round(step.waves_per_simd))
    subject = number(step.waves_per_simd) + ("" if is_plain else f" ({label(asked)})")
    several = step.waves_per_simd > 1
    if step.cost.costs and result:
        return f"{subject} cost{'' if several else 's'} {_amounts(step.cost, result.kernel)}"
    if step.cost.saves:
        saved = Cost(*(-amount for amount in step.cost))
        return f"{subject} save{'' if several else 's'} {_amounts(saved, base.kernel)}"
    return f"{subject} {'are' if several else 'is'} free"


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


def invitation(ir: str, kernel: Kernel) -> str:
    """The command that sweeps a kernel, as a hint in the explanation of its assembly."""
    command = f"kernelinfo sweep {quote(ir)} {quote(base_name(kernel.name))}"
    return f"`{printable(command)}`: what other occupancies cost"
