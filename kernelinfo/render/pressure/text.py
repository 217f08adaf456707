"""Register pressure as text: a line per kernel, or one kernel with values, source and loops."""

from __future__ import annotations

import os
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from kernelinfo.hardware.targets import extra_sgprs
from kernelinfo.kernel import counted, grouped
from kernelinfo.kernel.code_object import InstructionCounts
from kernelinfo.pressure.debug_information import SourceText
from kernelinfo.pressure.measure import Measured, MeasureItem
from kernelinfo.pressure.nouns import InstructionMix, LiveValues, Story
from kernelinfo.pressure.values import bill
from kernelinfo.render import View, paint, table
from kernelinfo.render import pressure as words
from kernelinfo.render.names import attributed, name_of, names_of, printable
from kernelinfo.render.pressure import HEADINGS
from kernelinfo.render.pressure.tables import in_flight_table, render_source
from kernelinfo.rules import on_code


def instruction_columns(counts: Sequence[InstructionCounts]) -> list[tuple[str, ...]]:
    """Columns, each with a heading and one cell per element of `counts`.

    A class without instructions in any row has no column. `?` is an unknown number of bytes. The
    matrix share is matrix / (vector + matrix).
    """
    columns = [
        (str(heading), *("?" if value is None else str(value) for value in values))
        for heading, *values in zip(HEADINGS, *counts, strict=True)
        if any(value != 0 for value in values)
    ]
    if any(row.matrix for row in counts):
        columns.append(("matrix share", *(paint.percent(100 * row.matrix_share) for row in counts)))
    return columns


_LABEL = 9
_LINE = 60
"""Most characters of a source line in the bill."""
_CLASSES = {"vgpr": "VGPRs", "agpr": "AGPRs", "sgpr": "SGPRs"}


def render(items: Iterable[MeasureItem], view: View) -> Iterator[str]:
    """One kernel whole, or several kernels as a table, highest peak first."""
    kernels = (item for item in items if isinstance(item, Measured))
    first = [*islice(kernels, 2)]
    if len(first) == 1 or view.whole:
        for position, measured in enumerate(chain(first, kernels)):
            yield "\n" if position else ""
            yield from _whole(measured, view)
    elif first:
        yield from _kernels(chain(first, kernels), view)


def _kernels(kernels_measured: Iterable[Measured], view: View) -> Iterator[str]:
    rows = [
        (measured.story.peak.pressure.vector, _cells(measured), measured.result.kernel)
        for measured in kernels_measured
    ]
    shown = sorted(rows, key=lambda row: -row[0])[: view.top or None]
    kernels = [kernel for _, _, kernel in shown]
    heading = ["peak", "used", "needs", "AGPR", "SGPR", "instr", "at", "loop", "kernel"]
    if not any(cells[2].strip("?") for _, cells, _ in shown):
        del heading[2]
        shown = [(peak, cells[:2] + cells[3:], kernel) for peak, cells, kernel in shown]
    for style in (view.names, "short"):
        names = attributed(kernels, names_of(kernels, style))
        lines = [(*cells, name) for (_, cells, _), name in zip(shown, names, strict=True)]
        if not view.may_shorten or paint.cells(paint.aligned([heading, *lines])[0]) < view.width:
            break
    yield from _table([heading, *lines], "nnnnnnttk"[-len(heading) :], view)
    vectors = "peak, used, needs" if "needs" in heading else "peak, used"
    about = f" {vectors}: vector registers of one lane; ≥: not exact, give KERNEL to see why"
    yield from paint.painted(paint.fitted([(about, "")], view, 1), view)
    yield _hidden(len(rows), "kernel", view)


def _cells(measured: Measured) -> tuple[str, ...]:
    """All cells of a kernel's row but the name."""
    story = measured.story
    peak = story.peak
    return (
        ("" if story.exact else "≥") + str(peak.pressure.vector),
        words.at_least(story) + str(story.used.vector(story.files)),
        _needed(measured),
        str(peak.pressure.agprs),
        str(peak.pressure.sgprs),
        words.at_least(story) + str(story.instructions),
        words.in_text(peak.at),
        printable(peak.loop or ""),
    )


def _needed(measured: Measured) -> str:
    """The registers that code with spill slots needs; empty without slots."""
    needs = measured.story.needs
    if needs is None:
        return "?" if measured.is_kernel else ""
    return f"{'' if needs.exact else '≥'}{needs.vector}" if needs.shares else ""


def _whole(measured: Measured, view: View) -> Iterator[str]:
    kernel, story = measured.result.kernel, measured.story
    title = [(name_of(kernel, view.names), "bold"), (f"   {_about(measured)}", "")]
    yield from paint.painted(paint.fitted(title, view, 2), view)
    yield "\n"
    rows = (
        ("peak", _where(story)),
        (" ", _held(story)),
        ("calls", words.calls(story)),
        ("to reach", words.to_reach(story, occupancy=measured.result.occupancy)),
        ("needs", words.needs(measured)),
        (" ", words.crossing(measured)),
        ("inexact", words.inexact(story)),
        ("copies", words.copies(story)),
        ("unset", words.unwritten(measured)),
        *(
            (finding.severity, f"{finding.rule} {table.in_words(finding)}")
            for finding in on_code(measured.result)
        ),
        ("used", words.unused_step(story)),
        ("LDS", words.shared(measured.lds) if measured.lds else ""),
    )
    for label, text in rows:
        yield from _labelled(label, text, view) if text else ()
    yield "\n"
    yield from _values(measured, view)
    yield from _loop_of_the_peak(story, view)
    if view.source:
        yield from render_source(measured, view.source, view)
        yield from _embedded(view.source, view)
    yield from _lines(story, view)
    yield "\n"
    yield from loops_table(story, view)
    yield from in_flight_table(story, measured.result, view)
    for position, text in enumerate(_footnotes(measured)):
        yield "" if position else "\n"
        yield from _labelled("", text, view)


def _embedded(source: SourceText, view: View) -> Iterator[str]:
    """A line that names the files whose text is shown, because the input chose them and not the
    user."""
    if source.shown:
        names = ", ".join(printable(path) for path, _ in source.shown)
        yield from _labelled("", f"source text read from {names}", view)


def _about(measured: Measured) -> str:
    """Target, number of instructions, and the registers used and live of each class in use."""
    story = measured.story
    parts = [measured.result.kernel.code_object.target or "unknown target"]
    bound = words.at_least(story, " ")
    parts.append(f"{bound}{counted(story.instructions, 'instruction')}")
    live = story.peak.pressure[1:]
    for used, peak, registers in zip(story.used, live, _CLASSES.values(), strict=True):
        if used:
            parts.append(f"{registers} {bound}{used} used, {peak} live")
    return " · ".join(parts)


def _where(story: Story) -> str:
    peak = story.peak
    bound = "" if story.exact else "at least "
    both = " and AGPRs" if story.files == "unified" and peak.pressure.agprs else ""
    loop = f", in loop {printable(peak.loop)}" if peak.loop else ""
    return (
        f"{bound}{peak.pressure.vector} VGPRs{both} at {words.in_text(peak.at)}{loop} · "
        f"{printable(peak.instruction)}"
    )


def _held(story: Story) -> str:
    """How many instructions hold the registers of the peak, and how many hold more than the next
    step allows."""
    peak = story.peak
    hold = "instruction holds" if peak.instructions == 1 else "instructions hold"
    held = f"{peak.instructions} {hold} {peak.pressure.vector}"
    if not story.advice:
        return held
    step = story.advice[0]
    return (
        f"{held}; {step.above} of {grouped(story.instructions)} hold more than {step.at_most}, "
        f"the step for {paint.waves_per_simd(step.waves_per_simd)}"
    )


def _values(measured: Measured, view: View) -> Iterator[str]:
    """The bill: live values by role. The largest values of each role, and those untouched for
    longest, get rows of their own; the others of a role share one."""
    story = measured.story
    classes = (view.register_class,) if view.register_class else ("vgpr", "agpr")
    values = [value for value in story.live_across if value.register_class in classes]
    near = story.at
    title = "live there" if near == story.peak.at else f"live at {words.in_text(near)}"
    if not values:
        named = " or ".join(_CLASSES[name] for name in classes)
        yield from _labelled("", f"{title}: no {named}", view)
        return
    has_names = any(value.variable for value in values)
    variable = ["variable"] * has_names
    texts = ["source text"] * (view.source is not None)
    heading = (title, "registers", "", *variable, "written", "next read", "untouched for", *texts)
    lines = bill(values)
    shown = [max(line.values, key=lambda value: value.total) for line in lines]
    further = [value for value in values if value not in shown]
    shown += further[: max(view.top - len(shown), 0) if view.top else None]
    rows = [heading]
    for line in lines:
        in_rows = [value for value in line.values if value in shown]
        folded = [value for value in line.values if value not in shown]
        of_role = [_value(value, measured, view, has_names) for value in in_rows]
        if folded:
            longest = max(value.untouched_most or 0 for value in folded)
            count = sum(value.total for value in folded)
            blank = [""] * (len(variable) + 2)
            rest = (f"the other {count}", str(count), *blank, f"{longest} or less")
            of_role.append((*rest, *("" for _ in texts)))
        role = words.of_role(line.total, line.role)
        heads = [role, *[""] * len(of_role)]
        rows += [(head, *cells) for head, cells in zip(heads, of_role, strict=False)]
    kinds = "ttn" + "t" * (len(heading) - 3 - len(texts)) + "d" * len(texts)
    if view.fold and not texts and paint.cells(paint.aligned(rows)[0]) >= view.width:
        yield from _values_below_roles(rows, kinds, view)
    else:
        yield from _table(rows, kinds, view)


_SHORTER = {"; only read in the loop": "; only read", ": not touched in the whole loop": "; idle"}
"""Ends of cells on a narrow terminal: the role says the rest."""


def _values_below_roles(rows: Sequence[Sequence[str]], kinds: str, view: View) -> Iterator[str]:
    """The bill for a narrow terminal: each role is a line of its own above its values, whose cells
    are short."""
    shorter = [[*row] for row in rows]
    for row in shorter[1:]:
        names = row[1].split(" ")
        if row[1].startswith(("v", "a", "s")) and len(row[1]) > _NARROW and len(names) > 2:
            row[1] = f"{names[0]} {names[1]} …"
        for end, short in _SHORTER.items():
            row[-1] = row[-1].replace(end, short)
    yield from paint.painted([[(f" {rows[0][0]}", "bold")]], view)
    lines = paint.aligned([row[1:] for row in shorter], kinds[1:])
    for index, (role, line) in enumerate(zip((row[0] for row in rows), lines, strict=True)):
        if index and role:
            yield from paint.painted([[(f" {role}", "")]], view)
        yield from paint.painted(
            paint.fitted([(f"   {line}", "" if index else "bold")], view, 6), view
        )


_NARROW = 20
"""Columns of the names of registers on a narrow terminal."""


def _value(value: LiveValues, measured: Measured, view: View, has_names: bool) -> tuple[str, ...]:
    story = measured.story
    return (
        words.some(value.registers),
        str(value.total),
        *([printable(value.variable or "")] if has_names else []),
        words.written(value, story.at),
        words.next_read(value, story.at),
        words.untouched(value),
        *([_source_text(value, measured, view.source)] if view.source else []),
    )


def _source_text(value: LiveValues, measured: Measured, text: SourceText) -> str:
    """The source line that wrote a value; empty for several lines, or if its text is unknown."""
    if value.written is None or value.written_last is None:
        return ""
    source = value.written.source
    if source is None or source != value.written_last.source:
        return ""
    lines = text.lines(source.file, os.path.dirname(measured.result.kernel.code_object.path))
    if isinstance(lines, str) or not 0 < source.line <= len(lines):
        return ""
    line = printable(lines[source.line - 1].expandtabs(1).strip())
    return line if len(line) <= _LINE else f"{line[: _LINE - 1]}…"


def _loop_of_the_peak(story: Story, view: View) -> Iterator[str]:
    loop = next(
        (candidate for candidate in story.loops if candidate.label == story.peak.loop), None
    )
    if loop is None or story.peak.loop is None:
        return
    kinds = (
        (loop.constant, loop.constant_registers, "only read in it"),
        (loop.through, loop.through_registers, "not touched in it"),
    )
    parts = [
        f"{sum(counts[:2])} ({words.some([name for name in names if name[0] in 'va'])}) {what}"
        for counts, names, what in kinds
        if any(counts[:2])
    ]
    if parts:
        head = f"of the {sum(loop.live_in[:2])} vector registers live at the head of "
        yield "\n"
        yield from _labelled("", f"{head}{printable(loop.label or '')}: {', '.join(parts)}", view)


def _lines(story: Story, view: View) -> Iterator[str]:
    if not story.lines:
        return
    names = ["source line"]
    files = {line.source.file for line in story.lines if line.source}
    bases = Counter(posixpath.basename(file) for file in files)
    shown = story.lines[: view.top or None]
    for line in shown:
        name = words.NO_LINE
        if line.source:
            base = posixpath.basename(line.source.file)
            file = base if bases[base] == 1 else line.source.file
            name = printable(f"{file}:{line.source.line}")
        names.append(name)
    yield "\n"
    yield from counts_table([names], [line.code for line in shown], view)
    yield _hidden(len(story.lines), "line", view)


def loops_table(story: Story, view: View) -> Iterator[str]:
    """Instructions of the whole function, then of its loops, highest peak first."""
    loops = sorted(story.loops, key=lambda loop: (-loop.code.peak.vector, loop.at.number))
    shown = loops[: view.top or None]
    names = [printable(loop.label or "without a label") for loop in shown]
    places = [
        words.in_text(loop.at) if loop.at.source else words.begin(loop, story) for loop in shown
    ]
    labels = [
        ["loop", "all", *names],
        *([["at", "", *places]] if shown else []),
        *([["depth", "", *(str(loop.depth) for loop in shown)]] if shown else []),
    ]
    mixes = [story.code, *(loop.code for loop in shown)]
    bound = "≥ " if story.peak.at.address is None else ""
    sizes = [["code B", *(f"{bound}{mix.code_bytes}" for mix in mixes)]] if shown else []
    yield from counts_table(labels, mixes, view, *sizes)
    for name, loop in zip(names, shown, strict=True):
        if pieces := words.apart(loop):
            yield from _labelled("", f"{name}: {pieces}", view)
    yield _hidden(len(loops) + story.loops_left_out, "loop", view)


def counts_table(
    labels: Sequence[Sequence[str]], mixes: Sequence[InstructionMix], view: View, *more: list[str]
) -> Iterator[str]:
    """One row of counts per mix; `labels` and `more` are further columns with their headings. If a
    column per class is too wide, one column holds the counts in words."""
    peaks = ("peak", *(str(mix.peak.vector) for mix in mixes))
    spills = ("spill st/ld", *(f"{mix.spill_stores} / {mix.spill_reloads}" for mix in mixes))
    numbers = [peaks, *instruction_columns([mix.counts for mix in mixes]), *more]
    if any(mix.spill_stores or mix.spill_reloads for mix in mixes):
        numbers.insert(1, spills)
    rows, kinds = [*zip(*labels, *numbers, strict=True)], "t" * len(labels) + "n" * len(numbers)
    if paint.cells(paint.aligned(rows, kinds)[0]) >= view.width:
        counts = ("instr", *(str(mix.counts.instructions) for mix in mixes))
        classes = ("by class", *map(words.by_class, mixes))
        rows = [*zip(*labels, peaks, counts, *more, classes, strict=True)]
        view, kinds = view._replace(fold=True), "t" * len(labels) + "nn" + "n" * len(more) + "d"
    yield from _table(rows, kinds, view)


def _footnotes(measured: Measured) -> Iterator[str]:
    """What the descriptor counts differently, and which build flags give source lines and variable
    names."""
    kernel, story = measured.result.kernel, measured.story
    named, counts = story.used.sgprs, kernel.numbers.sgprs or 0
    kind = kernel.code_object.kind
    if kernel.target and 0 < counts - named <= extra_sgprs(
        kernel.target, vcc=True, flat_scratch=True, xnack=True
    ):
        yield f"SGPRs: {named} are named in the code, {counts} with VCC, flat scratch and XNACK"
    source = "" if story.has_source else "-gline-tables-only for source lines"
    names = (
        ""
        if story.has_variables or kind != "assembly"
        else "-g for variable names, which can change the code"
    )
    if flags := ", ".join(filter(None, (source, names))):
        yield f"build with {flags}"
    if story.has_variables and not any(value.variable for value in story.live_across):
        yield "the compiler names no value live there; it names no elements of arrays"
    if kind != "assembly":
        yield "variables and spills are named in the .s of --save-temps"


def _labelled(label: str, text: str, view: View) -> Iterator[str]:
    spans = [(f" {paint.left(label, _LABEL) if label else ''}", ""), (text, "")]
    return paint.painted(paint.wrap(spans, view.width, _LABEL + 1 if label else 1), view)


def _table(rows: Sequence[Sequence[str]], kinds: str, view: View) -> Iterator[str]:
    """A bold heading and rows. Columns of kind `n` are numbers."""
    return paint.painted(paint.table_lines(rows, kinds, view, {0: "bold"}), view)


def _hidden(total: int, noun: str, view: View) -> str:
    hidden = total - (view.top or total)
    return f" {counted(hidden, f'more {noun}')}; --top 0 shows all\n" if hidden > 0 else ""
