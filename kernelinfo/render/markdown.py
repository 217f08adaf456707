"""Markdown for a pull request: a report's kernels with findings, and what all such tables share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from kernelinfo.kernel import Item, Report, Result
from kernelinfo.render import View
from kernelinfo.render.names import name_of, printable
from kernelinfo.render.words import block, limiters, number, percent, plural, size

_HEADING = (
    *("kernel", "target", "waves/SIMD", "occupancy", "limited by"),
    *("block", "VGPR", "SGPR", "LDS", "scratch", "findings"),
)


def render(items: Iterable[Item], view: View) -> Iterator[str]:
    """Kernels with findings before the others, which are folded, as is what is beyond `top`."""
    report = Report.of(items)
    severities = Counter(f.severity for result in report.results for f in result.findings)
    parts = [
        plural(severities[one], one) for one in ("error", "warning", "note") if severities[one]
    ]
    parts = [", ".join(parts) or "no findings", plural(len(report.results), "kernel")]
    if report.problems:
        parts.append(f"{plural(len(report.problems), 'problem')}: not all was read")
    yield f"**kernelinfo: {' · '.join(parts)}**\n"
    ordered = sorted(report.results, key=lambda result: not result.findings)
    rows = [_row(result, view) for result in ordered]
    telling = sum(1 for result in ordered if result.findings) or len(rows)
    shown = min(telling, view.top or telling)
    yield from table(_HEADING, rows[:shown])
    yield from folded(plural(len(rows) - shown, "more kernel"), _HEADING, rows[shown:])


def _row(result: Result, view: View) -> tuple[str, ...]:
    kernel, occupancy = result.kernel, result.occupancy
    allocated = occupancy.allocated if occupancy else None
    lds_bytes = allocated.lds_bytes if allocated else kernel.used.lds_bytes
    scratch_bytes = kernel.used.scratch_bytes_per_lane
    bound = "" if occupancy is None or occupancy.exact else "≤"
    return (
        code(name_of(kernel, view.names)),
        code(kernel.code_object.target or "?"),
        f"{bound}{number(occupancy.waves_per_simd)}" if occupancy else "?",
        f"{bound}{percent(occupancy.percent)}" if occupancy else "?",
        limiters(occupancy) if occupancy else "?",
        block(occupancy.launch) if occupancy else "?",
        _known(allocated.vgprs if allocated else kernel.used.vgprs),
        _known(allocated.sgprs if allocated else kernel.used.sgprs),
        "?" if lds_bytes is None else size(lds_bytes),
        "?" if scratch_bytes is None else size(scratch_bytes),
        "<br>".join(f"{f.rule} {f.severity}: {plain(f.message)}" for f in result.findings),
    )


def _known(count: int | None) -> str:
    return "?" if count is None else str(count)


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The cells as they are; nothing where there is no row."""
    if rows:
        yield "\n"
        for cells in (heading, ("---",) * len(heading), *rows):
            yield f"| {' | '.join(cells)} |\n"


def folded(title: str, heading: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table that opens at a click."""
    if rows:
        yield f"\n<details><summary>{title}</summary>\n"
        yield from table(heading, rows)
        yield "\n</details>\n"


_ACTIVE = {character: f"\\{character}" for character in r"\`*_[]<>|~#$"}
_INERT = str.maketrans(_ACTIVE | {"&": "&amp;", "@": "@\u200b"})


def plain(text: str) -> str:
    """`text` without markup in it, and nobody is called by it."""
    return printable(text).translate(_INERT)


def code(text: str) -> str:
    """A name as code; in HTML where a code span could not hold it inside a table."""
    text = printable(text)
    if "|" in text or "`" in text:
        escaped = (c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in text)
        return f"<code>{''.join(escaped)}</code>"
    return f"`{text}`" if text.strip() else ""
