"""A sweep for people: for each kernel a table, the trade-off and the source lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kernelinfo.kernel import Result
from kernelinfo.render import View
from kernelinfo.render.names import name_of, printable
from kernelinfo.render.paint import (
    Span,
    bound,
    cells,
    column_cells,
    fitted,
    known,
    left,
    limiters,
    number,
    painted,
    table_lines,
    wrap,
)
from kernelinfo.render.sweep.words import about, labels, trade
from kernelinfo.render.table import lines_of
from kernelinfo.render.tables import code, markdown_table, plain
from kernelinfo.variants.nouns import Sweep, SweptKernel, Variant, cost_of
from kernelinfo.variants.requests import AS_COMPILED

HEADING = (
    *("VGPR", "alloc", "AGPR", "SGPR", "spills", "scratch", "reloads", "LDS", "code"),
    *("waves/SIMD", "occ", "limited by"),
)
LEGEND = (
    "alloc = VGPRs that the hardware allocates; spills = VGPRs, + SGPRs (S); scratch per lane; "
    "reloads = inside loops"
)

_Values = tuple[str | int | None, ...]


class SweepRow(NamedTuple):
    """Variants with equal cells."""

    variants: tuple[Variant, ...]
    cells: tuple[str, ...]  # in the order of HEADING; empty if the variants failed

    @property
    def label(self) -> str:
        """The requests of the variants."""
        return printable(labels(self.variants))

    @property
    def is_compiled(self) -> bool:
        """True if the row has the kernel as compiled."""
        return self.variants[0].asked == AS_COMPILED

    @property
    def error(self) -> str:
        """The error of variants that failed; empty if they did not."""
        return printable(self.variants[0].error or "")


def rows(kernel: SweptKernel) -> tuple[SweepRow, ...]:
    """The rows, in the order of their first variants."""
    found: dict[tuple[_Values, str | None], list[Variant]] = {}
    for variant in kernel.variants:
        values = _values(variant.result) if variant.result else ()
        found.setdefault((values, variant.error), []).append(variant)
    compiled = zip(*(values for values, _ in found if values), strict=True)
    cells = zip(*map(column_cells, HEADING, compiled), strict=True)
    return tuple(
        SweepRow(tuple(same), next(cells) if values else ()) for (values, _), same in found.items()
    )


def _values(result: Result) -> _Values:
    """The cells of a variant; sizes in bytes."""
    kernel, occupancy, used = result.kernel, result.occupancy, result.kernel.used
    allocated = occupancy.allocated if occupancy else None
    dynamic = occupancy.launch.dynamic_lds_bytes if occupancy else 0
    at_most = bound(occupancy.exact) if occupancy else ""
    spills = kernel.spills
    has_no_agprs = kernel.target is not None and kernel.target.agprs.file == "none"
    return (
        known(used.vgprs),
        known(allocated.vgprs if allocated else None),
        "0" if has_no_agprs else known(used.agprs),
        known(allocated.sgprs if allocated else used.sgprs),
        known(spills.vgprs) + (f"+{spills.sgprs}S" if spills.sgprs else ""),
        used.scratch_bytes_per_lane,
        str(cost_of(result).reloads),
        None if used.lds_bytes is None else used.lds_bytes + dynamic,
        kernel.code_bytes,
        f"{at_most}{number(occupancy.waves_per_simd)}" if occupancy else "?",
        f"{at_most}{occupancy.percent:.1f}%" if occupancy else "?",
        limiters(occupancy) if occupancy else "unknown target",
    )


def render(sweeps: Iterable[Sweep], view: View) -> Iterator[str]:
    """The header of each input, then its kernels."""
    for at, sweep in enumerate(sweeps):
        yield from (["\n"] if at else [])
        for line in about(sweep):
            yield from painted(fitted([(line, "")], view, 10), view)
        for kernel in sweep.kernels:
            yield from painted(_kernel(kernel, view), view)
    yield "\n"
    yield from painted(fitted([(f" {LEGEND}", "")], view, 1), view)
    yield " occupancy is a ceiling, not a speed\n"


def _kernel(kernel: SweptKernel, view: View) -> Iterator[list[Span]]:
    yield from ([], [(name_of(kernel, view.names), "bold")])
    yield from _table(rows(kernel), view)
    for line in (*(f"note: {printable(note)}" for note in kernel.notes), trade(kernel)):
        yield from wrap([(f" {line}", "")], view.width, 3)
    for one in kernel.lines:
        yield from fitted([(f" {one.language:<6} {printable(one.written)}", "")], view, 8)


_OFTEN_ZERO = ("AGPR", "spills", "scratch", "reloads", "LDS")


def _table(found: tuple[SweepRow, ...], view: View) -> Iterator[list[Span]]:
    """A line per row, on a narrow terminal without columns that are 0 in all; below them the errors
    of variants that failed."""
    compiled = [row for row in found if row.cells]
    labels = ["asked for", *(row.label for row in compiled)]
    columns = {name: [row.cells[at] for row in compiled] for at, name in enumerate(HEADING)}
    taken = max(map(cells, labels))
    for name in _OFTEN_ZERO if view.fold else ():
        is_wide = taken + 2 + cells(lines_of(columns)[0]) > view.width
        if is_wide and all(cell == "0" for cell in columns[name]):
            del columns[name]
    if view.fold and cells(lines_of(columns)[0]) + 3 > view.width:
        del columns["occ"]  # the waves say the same
        columns = {name.removesuffix("/SIMD"): column for name, column in columns.items()}
    rows = zip(labels, *([name, *column] for name, column in columns.items()), strict=True)
    lines = [(*row[:-1], f" {row[-1]}") for row in rows]
    styles = {at: "bold" for at, row in enumerate(compiled, 1) if row.is_compiled} | {0: "bold"}
    yield from table_lines(lines, f"k{'n' * (len(columns) - 1)}t", view, styles, " ")
    for row in found:
        if not row.cells:
            yield from fitted([(f" {left(row.label, taken)}  {row.error}", "red")], view, 4)


def render_markdown(sweeps: Iterable[Sweep], view: View) -> Iterator[str]:
    """Each input with its kernels."""
    for sweep in sweeps:
        yield "**kernelinfo sweep**\n\n"
        yield from _in_markdown(sweep, view)
    yield f"\n{plain(LEGEND)}\n"


def _in_markdown(sweep: Sweep, view: View) -> Iterator[str]:
    yield from (f"* {plain(' '.join(line.split()))}\n" for line in about(sweep))
    for kernel in sweep.kernels:
        yield f"\n### {code(name_of(kernel, view.names))}\n"
        empty = ("",) * (len(HEADING) - 1)
        yield from markdown_table(
            ("asked for", *HEADING),
            [(plain(r.label), *(r.cells or (plain(r.error), *empty))) for r in rows(kernel)],
        )
        yield "\n"
        yield from (f"* {plain(note)}\n" for note in kernel.notes)
        yield f"* {plain(trade(kernel))}\n"
        yield from (f"* {line.language}: {code(line.written)}\n" for line in kernel.lines)
    yield "\n"
