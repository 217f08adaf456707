"""Tables of kernels by column: the columns that the user chose, and Markdown for pull requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kernelinfo.errors import OptionError
from kernelinfo.kernel import Item, Result, counted, grouped
from kernelinfo.kernel.columns import NamedColumn
from kernelinfo.kernel.record import Value
from kernelinfo.kernel.report import Report
from kernelinfo.render import View
from kernelinfo.render.groups import folded_rows
from kernelinfo.render.messages import say
from kernelinfo.render.names import chosen_name, names_of
from kernelinfo.render.paint import block, bound, known, limiters, number, percent, size_column
from kernelinfo.render.table import finding_counts, named, severity, shown_first, target_of
from kernelinfo.render.tables import WRITERS, Table, code, kernel_table, plain

SCHEMA = "kernelinfo/columns/1"
_KINDS = {"number": "n", "kernel": "k"}


def render_columns(
    items: Iterable[Item], columns: Sequence[NamedColumn], format: str, view: View
) -> Iterator[str]:
    """The columns of all kernels in a format. Raises `OptionError` for a format without tables."""
    if format not in WRITERS:
        raise OptionError(say("format-without-columns", format=format))
    results: Iterable[Result] = (item for item in items if isinstance(item, Result))
    if format in ("text", "markdown"):
        results = [*results]
        shown = shown_first(results, severity, view)
        first = set(map(id, shown))
        results = [*shown, *(result for result in results if id(result) not in first)]
    names = [column.name for column in columns]
    table = Table(
        names,
        ([_value(column, result, view) for column in columns] for result in results),
        SCHEMA,
        "kernels",
        {"columns": names},
        kinds="".join(_KINDS.get(column.kind, "t") for column in columns),
        noun="kernel",
    )
    yield from WRITERS[format](table, view)


def _value(column: NamedColumn, result: Result, view: View) -> Value:
    """The value of a column; names in the style that the user chose."""
    return (
        chosen_name(result.kernel, view.names) if column.name == "kernel" else column.value(result)
    )


# The report in Markdown, for pull requests.

_HEADING = (
    *("kernel", "target", "waves/SIMD", "occupancy", "limited by"),
    *("block", "VGPR", "SGPR", "LDS", "scratch", "findings"),
)


def render_markdown(items: Iterable[Item], view: View) -> Iterator[str]:
    """The report. Kernels with findings come first; others and those beyond `top` are folded."""
    report = Report.of(items)
    counts = finding_counts(finding for result in report.results for finding in result.findings)
    parts = [", ".join(counts.values()) or "no findings", counted(len(report.results), "kernel")]
    if report.problems:
        parts.append(f"{counted(len(report.problems), 'problem')}: not all was read")
    yield f"**kernelinfo: {' · '.join(parts)}**\n"
    equal = folded_rows(report.results)
    ordered = sorted(equal, key=lambda row: not row[0].findings)
    names = names_of(report.kernels, view.names)
    rows = _rows([row[0] for row in ordered], [*named(ordered, names, with_target=True)])
    telling = sum(1 for row in ordered if row[0].findings) or len(rows)
    shown = min(telling, view.top or telling)
    yield from kernel_table(_HEADING, rows, shown)
    if count := sum(len(row) - 1 for row in ordered):
        yield f"\n× N: N kernels with equal numbers share a row; {grouped(count)} folded\n"


def _rows(results: Sequence[Result], names: Sequence[str]) -> list[tuple[str, ...]]:
    lds = [
        result.occupancy.allocated.lds_bytes
        if result.occupancy
        else result.kernel.numbers.lds_bytes
        for result in results
    ]
    scratch = [result.kernel.numbers.scratch_bytes_per_lane for result in results]
    sizes = zip(size_column(lds), size_column(scratch), strict=True)
    return [_row(*row) for row in zip(results, names, sizes, strict=True)]


def _row(result: Result, name: str, sizes: tuple[str, str]) -> tuple[str, ...]:
    kernel, occupancy = result.kernel, result.occupancy
    allocated = occupancy.allocated if occupancy else None
    at_most = bound(occupancy.exact) if occupancy else ""
    return (
        code(name),
        code(target_of(kernel)),
        f"{at_most}{number(occupancy.waves_per_simd)}" if occupancy else "?",
        f"{at_most}{percent(occupancy.percent)}" if occupancy else "?",
        limiters(occupancy) if occupancy else "?",
        block(occupancy.launch) if occupancy else "?",
        known(allocated.vgprs if allocated else kernel.numbers.vgprs),
        known(allocated.sgprs if allocated else kernel.numbers.sgprs),
        *sizes,
        "<br>".join(f"{f.rule} {f.severity}: {plain(f.message)}" for f in result.findings),
    )
