"""A sweep in each format: a table of the variants of each kernel, what they trade, and JSON."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kernelinfo import __version__
from kernelinfo.kernel import Kernel, Result, counted, record
from kernelinfo.render import View, paint, tables
from kernelinfo.render.json import encoded, kernel_document, picked
from kernelinfo.render.names import name_of, printable
from kernelinfo.render.table import lines_of
from kernelinfo.variants import nouns
from kernelinfo.variants.requests import AS_COMPILED, Asked

HEADING = (
    *("VGPR", "alloc", "AGPR", "SGPR", "spills", "scratch", "reloads", "LDS", "code"),
    *("waves/SIMD", "occ", "limited by"),
)
LEGEND = (
    "alloc = VGPRs that the hardware allocates; spills = VGPRs, + SGPRs (S); scratch per lane; "
    "reloads = inside loops"
)

_Values = tuple[str | int | None, ...]


def rows(kernel: nouns.SweptKernel) -> list[tuple[list[nouns.Variant], tuple[str, ...]]]:
    """(variants with equal cells, these cells in the order of HEADING), in the order of the first
    variants. Variants that failed with the same error form a row without cells."""
    equal: dict[tuple[_Values, str | None], list[nouns.Variant]] = {}
    for variant in kernel.variants:
        values = _values(variant.result) if variant.result else ()
        equal.setdefault((values, variant.error), []).append(variant)
    compiled = zip(*(values for values, _ in equal if values), strict=True)
    cells = zip(*map(paint.column_cells, HEADING, compiled), strict=True)
    return [(variants, next(cells) if values else ()) for (values, _), variants in equal.items()]


def _values(result: Result) -> _Values:
    """The cells of a variant; sizes in bytes."""
    kernel, occupancy, used = result.kernel, result.occupancy, result.kernel.numbers
    allocated = occupancy.allocated if occupancy else None
    dynamic = occupancy.launch.dynamic_lds_bytes if occupancy else 0
    at_most = paint.bound(occupancy.exact) if occupancy else ""
    has_no_agprs = kernel.target is not None and kernel.target.agprs.file == "none"
    return (
        paint.known(used.vgprs),
        paint.known(allocated.vgprs if allocated else None),
        "0" if has_no_agprs else paint.known(used.agprs),
        paint.known(allocated.sgprs if allocated else used.sgprs),
        paint.known(used.vgpr_spills) + (f"+{used.sgpr_spills}S" if used.sgpr_spills else ""),
        used.scratch_bytes_per_lane,
        str(nouns.cost_of(result).reloads),
        None if used.lds_bytes is None else used.lds_bytes + dynamic,
        kernel.code_bytes,
        f"{at_most}{paint.number(occupancy.waves_per_simd)}" if occupancy else "?",
        f"{at_most}{occupancy.percent:.1f}%" if occupancy else "?",
        paint.limiters(occupancy) if occupancy else "unknown target",
    )


def render_text(sweeps: Iterable[nouns.Sweep], view: View) -> Iterator[str]:
    """The header of each input, then its kernels."""
    for index, sweep in enumerate(sweeps):
        yield from (["\n"] if index else [])
        for line in about(sweep):
            yield from paint.painted(paint.fitted([(line, "")], view, 10), view)
        for kernel in sweep.kernels:
            yield from paint.painted(_kernel(kernel, view), view)
    yield "\n"
    yield from paint.painted(paint.fitted([(f" {LEGEND}", "")], view, 1), view)
    yield " occupancy is a ceiling, not a speed\n"


def _kernel(kernel: nouns.SweptKernel, view: View) -> Iterator[list[paint.Span]]:
    yield from ([], [(name_of(kernel, view.names), "bold")])
    yield from _table(kernel, view)
    for line in (*(f"note: {printable(note)}" for note in kernel.notes), trade(kernel)):
        yield from paint.wrap([(f" {line}", "")], view.width, 3)
    for source_line in kernel.lines:
        yield from paint.fitted(
            [(f" {source_line.language:<6} {printable(source_line.written)}", "")], view, 8
        )


_OFTEN_ZERO = ("AGPR", "spills", "scratch", "reloads", "LDS")


def _table(kernel: nouns.SweptKernel, view: View) -> Iterator[list[paint.Span]]:
    """A line per row, then the errors of variants that failed.

    If the terminal is too narrow, columns that are 0 in every row are dropped, then `occ`.
    """
    compiled = [(variants, cells) for variants, cells in rows(kernel) if cells]
    names = ["asked for", *(printable(labels(variants)) for variants, _ in compiled)]
    columns = {name: [cells[index] for _, cells in compiled] for index, name in enumerate(HEADING)}
    taken = max(map(paint.cells, names))
    for name in _OFTEN_ZERO if view.fold else ():
        is_wide = taken + 2 + paint.cells(lines_of(columns)[0]) > view.width
        if is_wide and all(cell == "0" for cell in columns[name]):
            del columns[name]
    if view.fold and paint.cells(lines_of(columns)[0]) + 3 > view.width:
        del columns["occ"]  # the waves say the same
        columns = {name.removesuffix("/SIMD"): column for name, column in columns.items()}
    table = zip(names, *([name, *column] for name, column in columns.items()), strict=True)
    lines = [(*row[:-1], f" {row[-1]}") for row in table]
    styles = {0: "bold"}
    styles |= {
        number: "bold"
        for number, ((first, *_), _) in enumerate(compiled, 1)
        if first.asked == AS_COMPILED
    }
    yield from paint.table_lines(lines, f"k{'n' * (len(columns) - 1)}t", view, styles, " ")
    for variants, cells in rows(kernel):
        if not cells:
            label = paint.left(printable(labels(variants)), taken)
            error = printable(variants[0].error or "")
            yield from paint.fitted([(f" {label}  {error}", "red")], view, 4)


def render_markdown(sweeps: Iterable[nouns.Sweep], view: View) -> Iterator[str]:
    """Each input with its kernels."""
    for sweep in sweeps:
        yield "**kernelinfo sweep**\n\n"
        yield from _in_markdown(sweep, view)
    yield f"\n{tables.plain(LEGEND)}\n"


def _in_markdown(sweep: nouns.Sweep, view: View) -> Iterator[str]:
    yield from (f"* {tables.plain(' '.join(line.split()))}\n" for line in about(sweep))
    for kernel in sweep.kernels:
        yield f"\n### {tables.code(name_of(kernel, view.names))}\n"
        empty = ("",) * (len(HEADING) - 1)
        yield from tables.markdown_table(
            ("asked for", *HEADING),
            [
                (
                    tables.plain(labels(variants)),
                    *(cells or (tables.plain(variants[0].error or ""), *empty)),
                )
                for variants, cells in rows(kernel)
            ],
        )
        yield "\n"
        yield from (f"* {tables.plain(note)}\n" for note in kernel.notes)
        yield f"* {tables.plain(trade(kernel))}\n"
        yield from (f"* {line.language}: {tables.code(line.written)}\n" for line in kernel.lines)
    yield "\n"


# A sweep in words: header, requests of a row, trade-off.

COMPILED = "as compiled ◄"
"""Label of the row that asks for nothing."""


def about(sweep: nouns.Sweep) -> Iterator[str]:
    """Lines on the input, the compiler and the optimisation level; then notes."""
    yield f"{printable(sweep.file.path)}   {sweep.target_id}"
    version = paint.compiler_name(sweep.compiler.version)
    path = "" if sweep.compiler.path == "llvmlite" else f" ({printable(sweep.compiler.path)})"
    made_by = sweep.file.producer and paint.compiler_name(sweep.file.producer)
    origin = f"the input was made by {made_by}"
    if not made_by:
        origin = "the input does not name the compiler that made it"
    elif made_by == version:
        origin = "the one that made the input"
    yield f"compiler  {version}{path}: {origin}"
    yield f"level     {_level(sweep)}"
    yield from (f"note      {printable(note)}" for note in sweep.notes)


def _level(sweep: nouns.Sweep) -> str:
    passes = ", code generation alone" if sweep.file.is_optimised else ""
    driver = " as by hipcc" if sweep.driver == "hipcc" else ""
    reference = os.path.basename(sweep.assembly) if sweep.assembly else None
    if sweep.file.compiled:
        source = os.path.basename(sweep.file.path)
        if not sweep.assembly:
            return printable(f"-O{sweep.level}{driver} (as {source} is compiled)")
        reference = f"the code of {source}"
    reason = {
        "reproduced": f"reproduces {reference}",
        "option": "as asked for" + (f", compared with {reference}" if reference else ""),
        "assumed": f"assumed: no level reproduces {reference}"
        if reference
        else "assumed: there is no assembly next to the input to compare with",
    }[sweep.level_from]
    return printable(f"-O{sweep.level}{driver}{passes} ({reason})")


def label(request: Asked) -> str:
    """The request: `launch bounds 256, waves 5, max-ilp`; `waves ≥5` for a minimum."""
    parts = (
        f"launch bounds {request.launch_bounds}" if request.launch_bounds is not None else None,
        f"waves {'≥' if request.or_more else ''}{request.waves}"
        if request.waves is not None
        else None,
        request.strategy,
    )
    return ", ".join(filter(None, parts)) or COMPILED


def labels(variants: Sequence[nouns.Variant]) -> str:
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
            words = f"waves {sign}{nouns.listed(counts, '–')}" + " ignored" * is_ignored
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


def trade(kernel: nouns.SweptKernel) -> str:
    """The trade-off of a kernel: its waves as compiled, and the cost of its notable steps.

    `4 waves/SIMD as compiled; 5 cost 196 B of scratch, 16 reloads in loop .LBB1_2`. Names the last
    free step, the first step that costs and the step that saves most.
    """
    base = kernel.variants[0].result
    if base is None or base.occupancy is None:
        return "nothing to compare with: it was not compiled as it is"
    now, bound = base.occupancy.waves_per_simd, "" if base.occupancy.exact else "≤"
    steps = (_step(variant, kernel.variants[0]) for variant in nouns.notable(kernel))
    return "; ".join([f"{bound}{paint.waves_per_simd(now)} as compiled", *steps])


def _step(variant: nouns.Variant, base: nouns.Variant) -> str:
    """The waves of a variant, how to get them, and what they cost or save."""
    waves, cost = variant.waves_per_simd or 0, nouns.extra_cost(variant, base)
    is_plain = variant.asked == Asked(waves=round(waves))
    subject = paint.number(waves) + ("" if is_plain else f" ({label(variant.asked)})")
    plural = "" if waves > 1 else "s"
    if cost.costs and variant.result:
        return f"{subject} cost{plural} {_amounts(cost, variant.result.kernel)}"
    if cost.saves and base.result:
        saved = nouns.Cost(*(-amount for amount in cost))
        return f"{subject} save{plural} {_amounts(saved, base.result.kernel)}"
    return f"{subject} {'is' if plural else 'are'} free"


def _amounts(cost: nouns.Cost, kernel: Kernel) -> str:
    """The amounts of a cost in words. `kernel` names the loops with the reloads."""
    parts = (
        f"{paint.size(cost.scratch_bytes)} of scratch" if cost.scratch_bytes > 0 else "",
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


# A sweep for programs: JSON, of which sweep-schema.json describes every key, and CSV.

SCHEMA = "kernelinfo/sweep/2"


def render_json(sweeps: Iterable[nouns.Sweep], view: View) -> Iterator[str]:
    inputs = (_input(sweep) for sweep in sweeps)
    yield from encoded({"schema": SCHEMA, "version": __version__, "inputs": inputs})


def _input(sweep: nouns.Sweep) -> dict[str, Any]:
    return {
        "input": sweep.file.path,
        "command": sweep.file.compiled and sweep.file.compiled.command,
        "target": sweep.target_id,
        "made_by": sweep.file.producer,
        "compiler": {"path": sweep.compiler.path, "version": sweep.compiler.version},
        "level": f"-O{sweep.level}",
        "level_from": sweep.level_from,
        "driver": sweep.driver,
        "notes": sweep.notes,
        "kernels": [
            {
                **picked(kernel, "symbol", "name", "notes"),
                "variants": [_variant(variant) for variant in kernel.variants],
                "lines": [line._asdict() for line in kernel.lines],
            }
            for kernel in sweep.kernels
        ],
    }


def _variant(variant: nouns.Variant) -> dict[str, Any]:
    return {
        "asked": variant.asked._asdict(),
        "ignored": variant.is_ignored,
        "kernel": variant.result and kernel_document(variant.result),
        "error": variant.error,
        "code": variant.error and variant.error.code,
    }


_ASKED = (
    *("Asked_Waves", "Asked_Or_More", "Asked_Launch_Bounds", "Asked_Strategy"),
    *("Ignored", "Error"),
)


def render_csv(sweeps: Iterable[nouns.Sweep], view: View) -> Iterator[str]:
    """A heading, then one line per variant, kernel by kernel."""
    rows = (
        (*variant.asked, variant.is_ignored, variant.error, *_report(kernel, variant, view))
        for sweep in sweeps
        for kernel in sweep.kernels
        for variant in kernel.variants
    )
    return tables.WRITERS["csv"](tables.Table((*_ASKED, *record.NAMES), rows), view)


def _report(kernel: nouns.SweptKernel, variant: nouns.Variant, view: View) -> tuple[object, ...]:
    """The kernel's columns; a variant that failed fills only the columns with names."""
    names = (name_of(kernel, view.names), kernel.symbol)
    if variant.result:
        return names + tuple(record.record(variant.result).values())[len(names) :]
    return names + (None,) * (len(record.NAMES) - len(names))
