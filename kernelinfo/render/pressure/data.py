"""Register pressure for programs: JSON, whose keys pressure-schema.json describes, and rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kernelinfo import __version__
from kernelinfo.kernel.code_object import CodeObject, matrix_loop_copies
from kernelinfo.kernel.record import BY_NAME, INSTRUCTIONS
from kernelinfo.pressure import nouns
from kernelinfo.pressure.function import CodeLocation
from kernelinfo.pressure.in_flight import far
from kernelinfo.pressure.measure import Measured, MeasureItem
from kernelinfo.reading.blob import Problem
from kernelinfo.render import View, tables
from kernelinfo.render.json import as_json, code_object_document, encoded, picked
from kernelinfo.render.names import name_of

SCHEMA = "kernelinfo/pressure/2"


def render_json(items: Iterable[MeasureItem], view: View) -> Iterator[str]:
    """The document. Kernels are written as they come, before the inputs and problems."""
    inputs: dict[CodeObject, int] = {}
    problems: list[Problem] = []

    def kernels() -> Iterator[dict[str, Any]]:
        for item in items:
            if isinstance(item, Problem):
                problems.append(item)
            elif isinstance(item, Measured):
                index = inputs.setdefault(item.result.kernel.code_object, len(inputs))
                yield {"input": index, **kernel_document(item)}

    document = {
        "schema": SCHEMA,
        "version": __version__,
        "kernels": kernels(),
        "inputs": lambda: map(code_object_document, inputs),
        "problems": map(as_json, problems),
    }
    yield from encoded(document)


def kernel_document(measured: Measured) -> dict[str, Any]:
    """A kernel's live registers as JSON values, without the path of the input. Lists that may be
    long are iterators."""
    kernel, story = measured.result.kernel, measured.story
    return {
        "symbol": kernel.symbol,
        "name": kernel.name,
        "target": kernel.target.name if kernel.target else kernel.code_object.target,
        "kernel": measured.is_kernel,
        **picked(story, "exact", "reasons", "instructions", "used"),
        "code": _mix(story.code),
        "peak": _peak(story.peak),
        **picked(story, "entry", "unwritten"),
        "unwritten_at": _located(story.unwritten_at) if story.unwritten_at else None,
        "at": _located(story.at),
        "live_across": [_values(value) for value in story.live_across],
        "bill": [_bill_line(line) for line in story.bill],
        "calls": [
            {**picked(call, "function", "live", "needs", "exact"), "at": _located(call.at)}
            for call in story.calls
        ],
        "lines": map(_line, story.lines),
        "loops": map(_loop, story.loops),
        "in_flight": map(_in_flight, story.in_flight),
        "in_flight_outside": map(_in_flight, story.in_flight_outside),
        "waits": map(_wait, story.waits),
        "waits_unknown": story.waits_unknown,
        "blocks": map(_block, story.blocks),
        **picked(story, "needs", "needs_unknown"),
        "curve": iter(story.curve),
        "needs_curve": iter(story.needs_curve),
        "steps": [
            {"at_most": step.vgprs, "waves_per_simd": step.waves_per_simd} for step in story.steps
        ],
        "advice": [
            as_json(advice) | {"idle": [_values(value) for value in advice.idle]}
            for advice in story.advice
        ],
        "lds": as_json(measured.lds),
    }


def _located(location: CodeLocation) -> dict[str, Any]:
    return {**_placed(location), "source": as_json(location.source)}


def _placed(location: CodeLocation) -> dict[str, Any]:
    return {**picked(location, "line", "address"), "index": location.number}


def _peak(peak: nouns.Peak) -> dict[str, Any]:
    return {
        **as_json(peak.pressure),
        **_located(peak.at),
        **picked(peak, "instruction", "loop"),
        "held_for": peak.instructions,
    }


def _values(value: nouns.LiveValues) -> dict[str, Any]:
    return {
        "class": value.register_class,
        "registers": value.registers,
        "count": value.total,
        "variable": value.variable,
        **{
            name: (location := getattr(value, name)) and _located(location)
            for name in ("written", "written_last", "next_read", "next_read_last")
        },
        **picked(value, "next_turn", "untouched", "untouched_most", "in_loop", "role"),
    }


def _bill_line(line: nouns.BillLine) -> dict[str, Any]:
    return {"role": line.role, "count": line.total, "registers": line.registers}


def _line(line: nouns.LinePressure) -> dict[str, Any]:
    return {"file": None, "line": None, **(as_json(line.source) or {}), **_mix(line.code)}


def _loop(loop: nouns.LoopPressure) -> dict[str, Any]:
    return {
        **picked(loop, "label", "depth"),
        **_located(loop.at),
        **picked(loop, "live_in", "constant", "constant_registers", "through", "through_registers"),
        **_mix(loop.code),
        "in_flight": [_in_flight(row) for row in loop.in_flight],
        "ranges": [
            {"first": _placed(part.first), "last": _placed(part.last)} for part in loop.ranges
        ],
    }


def _in_flight(row: nouns.InFlight) -> dict[str, Any]:
    return {
        **picked(row, "memory", "loads", "bytes", "waits", "distance"),
        "wait": row.wait and _located(row.wait),
        "load": row.load and _located(row.load),
    }


def _wait(wait: nouns.Wait) -> dict[str, Any]:
    return {
        **_located(wait.at),
        "instruction": wait.instruction,
        "completes": [
            {**_located(load), "distance": distance} for load, distance in wait.completes
        ],
        "stays": [
            {"memory": memory, "loads": loads, "bytes": size} for memory, loads, size in wait.stays
        ],
    }


def _mix(code: nouns.InstructionMix) -> dict[str, Any]:
    numbers = picked(code, "peak", "spill_stores", "spill_reloads", "code_bytes")
    return {**as_json(code.counts), **numbers}


def _block(block: nouns.BlockPressure) -> dict[str, Any]:
    return {
        "labels": block.labels,
        **_placed(block.at),
        **picked(block, "instructions", "successors", "live_in"),
    }


COLUMNS = (
    *("Kernel_Name", "Symbol", "Target", "Path", "Member", "Instructions", "VGPR_Used"),
    *("AGPR_Used", "SGPR_Used", "Vector_Peak", "VGPR_Peak", "AGPR_Peak", "SGPR_Peak"),
    *("Peak_Line", "Peak_Address", "Peak_Source_File", "Peak_Source_Line", "Peak_Loop"),
    *("Next_At_Most", "Instructions_Above", "Exact", "Reasons"),
    *(column.name for column in INSTRUCTIONS[1:]),
)


def render_jsonl(items: Iterable[MeasureItem], view: View) -> Iterator[str]:
    """A row for each kernel; pressure-row-schema.json describes each column."""
    return tables.WRITERS["jsonl"](_table(items, view), view)


def render_csv(items: Iterable[MeasureItem], view: View) -> Iterator[str]:
    """A row for each kernel, under the names of `COLUMNS`."""
    return tables.WRITERS["csv"](_table(items, view), view)


def _table(items: Iterable[MeasureItem], view: View) -> tables.Table:
    return tables.Table(COLUMNS, (_row(item, view) for item in items if isinstance(item, Measured)))


def _row(measured: Measured, view: View) -> list[object]:
    """The values of `COLUMNS` for one kernel; None if the input does not state it."""
    kernel, story = measured.result.kernel, measured.story
    peak, location = story.peak, story.peak.at
    advice = story.advice[0] if story.advice else None
    return [
        name_of(kernel, view.names),
        kernel.symbol,
        kernel.code_object.target,
        kernel.code_object.path,
        kernel.code_object.member,
        story.instructions,
        *story.used,
        *peak.pressure,
        location.line,
        location.address,
        *(location.source or (None, None)),
        peak.loop,
        *((advice.at_most, advice.above) if advice else (None, None)),
        story.exact,
        "; ".join(story.reasons),
        *story.code.counts[1:],
        matrix_loop_copies(kernel.loops or ()),
        *far([row for loop in story.loops for row in loop.in_flight]),
        BY_NAME["Needs"].value(measured.result),
    ]
