"""A look as text: rows, changed kernels first, then what moved and where the peak is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from kernelinfo import __version__
from kernelinfo.compare.changes import Pair
from kernelinfo.kernel import Kernel, counted, grouped
from kernelinfo.kernel.report import Report
from kernelinfo.pressure.nouns import Peak, Story
from kernelinfo.render import View, diff, paint, table, tables
from kernelinfo.render.diff.text import STYLES
from kernelinfo.render.json import as_json, picked
from kernelinfo.render.names import attributed, chosen_name, member_path, names_of, printable
from kernelinfo.watch.looks import WatchedKernel, WatchLook

_INDENT = 8
_ENDED = "ended "
_AROUND_ROWS = 6  # lines: heading, empty lines, the heading of the table, hidden kernels, the last


def render(look: WatchLook, view: View) -> Iterator[str]:
    """The whole look."""
    yield from rows(look, view)
    yield from details(look, view)


def rows(look: WatchLook, view: View) -> Iterator[str]:
    """The rows of the kernels, `view.top` of them, or the message of a command that failed."""
    yield from paint.painted(_failure(look) if look.failure else _rows(look, view), view)


def details(look: WatchLook, view: View) -> Iterator[str]:
    """Moves and peaks of the kernels, then problems; the last line sums the look up."""
    yield from paint.painted(_details(look, view), view)


def on_screen(
    good: WatchLook | None, failed: WatchLook | None, now: str, view: View, height: int
) -> list[str]:
    """Lines for a terminal of this height: `good`, the last look that worked. If a command has
    failed since, its message comes first. `now` says what the watch is waiting for."""
    above = [*paint.painted(_failure(failed), view)][: height // 2] if failed else []
    above += paint.painted([[(_sum(failed), "bold")], []], view) if failed else []
    room = height - len(above) - _AROUND_ROWS
    below = [*details(good, view)] if good else []
    kept = min(len(good.kernels), room // 2) if good else 0
    below = below if len(below) <= room - kept else [*below[: room - kept - 2], " …\n", *below[-1:]]
    top = max(1, room - len(below))
    shown = [*rows(good, view._replace(top=min(top, view.top or top)))] if good else []
    lines = [*above, *shown, *below][: height - 1]
    return [*lines, *paint.painted([[(f" {printable(now)}", "dim")]], view)]


def _failure(look: WatchLook) -> Iterator[list[paint.Span]]:
    """The message of the command as it printed it, then an empty line; lines with `error:` are
    red."""
    for line in look.failure.splitlines():
        style = "bold red" if "error:" in line else ""
        yield [(line, style)]
    yield []


def _rows(look: WatchLook, view: View) -> Iterator[list[paint.Span]]:
    if not look.kernels:
        return
    shown = look.kernels[: view.top or None]
    kernels = [watched.result.kernel for watched in shown]
    yield _heading(look)
    yield []
    table_rows, targets = [[watched.result] for watched in shown], [*map(table.target_of, kernels)]
    names, short = names_of(kernels, view.names), names_of(kernels, "short")
    yield from table.table(table_rows, names, short, view, targets if len({*targets}) > 1 else ())
    yield from paint.hidden(len(look.kernels) - len(shown))
    yield []


def _heading(look: WatchLook) -> list[paint.Span]:
    origins = [*dict.fromkeys(watched.result.kernel.code_object for watched in look.kernels)]
    paths = [*dict.fromkeys(member_path(origin.path, origin.member) for origin in origins)]
    compilers = [paint.compiler_name(origin.compiler) for origin in origins if origin.compiler]
    about = (
        _some([origin.target or "?" for origin in origins], "target"),
        _some(compilers, "compiler"),
    )
    what = paths[0] if len(paths) == 1 else counted(len(paths), "file")
    kernels = counted(len(look.kernels), "kernel")
    return [(what, "bold"), ("   " + " · ".join(filter(None, (*about, kernels))), "")]


def _some(texts: Sequence[str], noun: str) -> str:
    """The text if all texts are the same, else the number of different ones; empty without any."""
    distinct = [*dict.fromkeys(texts)]
    return counted(len(distinct), noun) if distinct[1:] else "".join(distinct)


def _details(look: WatchLook, view: View) -> Iterator[list[paint.Span]]:
    shown = [
        watched for watched in look.kernels[: view.top or None] if _is_told(watched, look, view)
    ]
    kernels = [watched.result.kernel for watched in shown]
    for watched, name in zip(shown, attributed(kernels, names_of(kernels, "short")), strict=True):
        yield from _of_kernel(watched, name, look, view)
    for gone in look.gone:
        waves = (
            "?" if gone.waves_per_simd is None else f"{paint.waves_per_simd(gone.waves_per_simd)}"
        )
        yield [(" gone   ", STYLES["gone"]), (f"{printable(gone.name)}: had {waves}", "")]
    for problem in look.problems:
        where = member_path(problem.path, problem.member)
        line = f":{problem.line}" if problem.line else ""
        yield [(f" {where}{line}: {printable(problem.message)}", "bold red")]
    yield from paint.fitted([(_sum(look), "bold")], view, 1)


def _is_told(watched: WatchedKernel, look: WatchLook, view: View) -> bool:
    """True for a changed kernel, and for one whose peak was measured. On a terminal, which is
    redrawn, also True if the kernel differs from the first look."""
    return (
        watched.has_changed
        or bool(watched.story)
        or (view.fold and watched.since_first is not None)
    )


def _of_kernel(
    watched: WatchedKernel, name: str, look: WatchLook, view: View
) -> Iterator[list[paint.Span]]:
    status = watched.status if watched.has_changed else ""
    before = [(f" {status:<6} ", STYLES.get(status, "")), (name, "bold")]
    why = _why(watched)
    yield from paint.fitted([*before, (f"  {why}" if why else "", "")], view, _INDENT)
    if watched.since_first and watched.since_first != watched.since_previous:
        text = f"since the first look: {diff.of_pair(watched.since_first).why}"
        yield from paint.fitted([(" " * _INDENT, ""), (text, "dim")], view, _INDENT)
    if watched.story and watched.story.peak.pressure.vector:
        yield from paint.fitted([(f" {_peak(watched, watched.story, name)}", "")], view, _INDENT)
    if step := table.next_step(watched.result.occupancy, watched.result.next):
        yield from paint.fitted(
            [(" " * _INDENT, ""), ("next  ", "bold"), (step, "")], view, _INDENT
        )
    for text in _findings(watched, look):
        yield from paint.fitted([(" " * _INDENT, ""), (text, "")], view, _INDENT)


def _findings(watched: WatchedKernel, look: WatchLook) -> Iterator[str]:
    """Lines of new and ended findings; of the first look all findings."""
    word, current = (
        ("", watched.result.findings) if look.is_first else ("new ", watched.new_findings)
    )
    for before, findings in ((word, current), (_ENDED, watched.ended_findings)):
        for finding in findings:
            head = f"{before}{finding.rule} {finding.severity}"
            yield f"{head}: {finding.message if before == _ENDED else table.in_words(finding)}"


def _why(watched: WatchedKernel) -> str:
    if watched.since_previous and watched.moves:
        return diff.of_pair(watched.since_previous).why
    return "no number moved, other findings" if watched.has_changed and not watched.is_new else ""


def _peak(watched: WatchedKernel, story: Story, name: str) -> str:
    """A line that editors can jump to: place, number of live registers and text."""
    bound = "" if story.exact else "at least "
    live = f"{bound}{story.peak.pressure.vector} vector registers live at the peak of {name}"
    where = place(story.peak, watched.result.kernel)
    return f"{where}: {live}: {printable(watched.peak_text)}"


def place(peak: Peak, kernel: Kernel) -> str:
    """`FILE:LINE` of the source or of the assembly; of an object its path and an address.

    The assembly of a compiled source is not kept: no editor can jump to its line.
    """
    location = peak.at
    if location.source:
        return printable(f"{_from_here(location.source.file)}:{location.source.line}")
    where = f":{location.line}" if location.line is not None else f" at 0x{location.address or 0:x}"
    if kernel.code_object.command is not None:
        where = f", line {location.line} of its assembly"
    return printable(kernel.code_object.path) + where


def _from_here(path: str) -> str:
    """The path relative to the current folder, if the file is in it or below."""
    with suppress(OSError):  # the current folder was deleted
        return path.removeprefix(os.path.join(os.getcwd(), ""))
    return path


def _sum(look: WatchLook) -> str:
    """`look 3 at 14:03:22: 1 of 3 kernels changed, 2 kernels gone; built in 0.87 s`."""
    number = f"look {look.number} at {look.time:%H:%M:%S}"
    took = "" if look.seconds is None else f" in {look.seconds:.2f} s"
    if look.failure:
        return f"{number}: failed{took}"
    kernels = counted(len(look.kernels), "kernel")
    moved = f"{grouped(len(look.changed))} of {kernels} changed"
    moved = kernels if look.is_first else moved
    gone = f", {counted(len(look.gone), 'kernel')} gone" if look.gone else ""
    return f"{number}: {moved}{gone}" + (f"; built{took}" if took else "")


# One JSON object a look; watch-schema.json in this folder describes every key.

SCHEMA = "kernelinfo/watch/1"


def render_jsonl(look: WatchLook, view: View) -> Iterator[str]:
    document = {
        "schema": SCHEMA,
        "version": __version__,
        "look": look.number,
        "time": look.time.isoformat(timespec="milliseconds"),
        "build": look.build or None,
        "seconds": None if look.seconds is None else round(look.seconds, 3),
        "failure": look.failure or None,
        "kernels": [_kernel(watched, view) for watched in look.kernels],
        "gone": [picked(kernel, "symbol", "name", "target", "code_object") for kernel in look.gone],
        "problems": as_json(look.problems),
    }
    return tables.json_lines([document])


def _kernel(watched: WatchedKernel, view: View) -> dict[str, Any]:
    (row,) = Report((watched.result,), ()).rows()
    return {
        "status": watched.status,
        "previous": _moved(watched.since_previous),
        "first": _moved(watched.since_first),
        "row": row | {"Kernel_Name": chosen_name(watched.result.kernel, view.names)},
        "findings": as_json(watched.result.findings),
        "new": [finding.rule for finding in watched.new_findings],
        "ended": [finding.rule for finding in watched.ended_findings],
        "peak": _peak_document(watched),
    }


def _moved(pair: Pair | None) -> dict[str, Any] | None:
    """The numbers that moved; None without an earlier state, or if no number moved."""
    return picked(diff.of_pair(pair), "why", "moves") if pair and pair.moves else None


def _peak_document(watched: WatchedKernel) -> dict[str, Any] | None:
    if watched.story is None:
        return None
    peak = watched.story.peak
    return {
        "vector": peak.pressure.vector,
        "exact": watched.story.exact,
        "source": as_json(peak.at.source),
        **picked(peak.at, "line", "address"),
        "instruction": peak.instruction,
        "text": watched.peak_text,
    }
