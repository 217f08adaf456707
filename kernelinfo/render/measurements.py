"""Measured and predicted occupancy side by side, as a table and as records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kernelinfo.compare.measurement import Measurement
from kernelinfo.compare.profile import Dispatch, Resources
from kernelinfo.errors import Message
from kernelinfo.kernel import counted
from kernelinfo.render import View, paint
from kernelinfo.render.messages import say
from kernelinfo.render.names import name_of, printable

_HEADING = ("kernel", "", "VGPR", "AGPR", "SGPR", "LDS", "scratch", "occ", "limited by")


def tie_problem(names: tuple[str, ...]) -> Message:
    """A problem: several files fit the launches, so there is no prediction."""
    return say("files-tied", files=" and ".join(map(printable, names)))


def unmatched(measured: tuple[Measurement, ...]) -> list[str]:
    """Names of kernels that ran but are in no file, each once."""
    ran = (
        measurement.dispatch.kernel
        for measurement in measured
        if not (measurement.kernel or measurement.tied)
    )
    return list(dict.fromkeys(map(printable, ran)))


def render_measurements(measured: tuple[Measurement, ...], view: View) -> Iterator[str]:
    """Two lines per launch, predicted and measured, then which target was compared and why, and
    remarks on the difference."""
    rows: list[tuple[str, ...]] = []
    compared: list[Resources] = []
    remarks: list[str] = []
    for measurement in measured:
        if (
            measurement.kernel is None
            or measurement.predicted is None
            or measurement.occupancy is None
        ):
            continue
        name, occupancy = name_of(measurement.kernel, view.names), measurement.occupancy
        seen = "?" if measurement.percent is None else paint.percent(measurement.percent)
        resources, launch = measurement.dispatch.resources, _launch(measurement.dispatch)
        compared += [measurement.predicted, resources]
        rows += [
            (name, "predicted", paint.percent(occupancy.percent), paint.limiters(occupancy)),
            (f"  {launch}", "measured", seen, ""),
        ]
        short = name_of(measurement.kernel, "short")
        remarks += [f"{short}, {launch}: {remark}" for remark in measurement.remarks]
    between = zip(rows, _cells(compared), strict=True)
    lines = [_HEADING, *((*row[:2], *cells, *row[2:]) for row, cells in between)]
    yield from paint.painted(paint.table_lines(lines, "k" + "t" * 8, view, {0: "bold"}), view)
    remarks = [*_targets(measured), *remarks]
    if remarks:
        yield "\n"
    if absent := unmatched(measured):
        kernels = counted(len(absent), "kernel")
        remarks += ["", say("kernels-in-no-file", kernels=kernels, names=", ".join(absent))]
    for remark in remarks:
        yield from paint.painted(paint.fitted([(f" {remark}", "")], view, 3), view)


def _targets(measured: tuple[Measurement, ...]) -> list[str]:
    """`target gfx90a: the run names it`, for each target with which launches are compared."""
    targets = {
        f"target {measurement.kernel.target.name}: {measurement.why_target}": None
        for measurement in measured
        if measurement.kernel and measurement.kernel.target and not measurement.tied
    }
    return list(targets)


def _launch(dispatch: Dispatch) -> str:
    size, count = dispatch.workgroup_size, dispatch.workgroups
    workgroups = "workgroups" if count is None else counted(count, "workgroup")
    text = f"{workgroups} of {size}"
    return text if dispatch.launches == 1 else f"{text}, {dispatch.launches} times"


def _cells(compared: Sequence[Resources]) -> list[tuple[str, ...]]:
    """The cells of each row; LDS and scratch have one unit each."""
    lds = paint.size_column([resources.lds_bytes for resources in compared])
    scratch = paint.size_column([resources.scratch_bytes_per_lane for resources in compared])
    return [
        (
            paint.known(resources.vgprs),
            paint.known(resources.agprs),
            paint.known(resources.sgprs),
            *sizes,
        )
        for resources, *sizes in zip(compared, lds, scratch, strict=True)
    ]


def measurement_record(measurement: Measurement, view: View) -> dict[str, Any]:
    """One measurement as a flat record, which is also a row of CSV."""
    kernel, dispatch, occupancy, filling = (
        measurement.kernel,
        measurement.dispatch,
        measurement.occupancy,
        measurement.filling,
    )
    grid = filling.grid if filling else None
    record: dict[str, Any] = {
        "kernel": name_of(kernel, view.names) if kernel else None,
        "symbol": kernel.symbol if kernel else None,
        "profiled_as": dispatch.kernel,
        "target": kernel.target.name if kernel and kernel.target and not measurement.tied else None,
        "why_target": measurement.why_target if kernel and not measurement.tied else None,
        "dispatches": dispatch.launches,
        "duration_ns": dispatch.duration_ns,
        "workgroup_size": dispatch.workgroup_size,
        "workgroups": dispatch.workgroups,
    }
    for name, seen in dispatch.resources._asdict().items():
        record[f"{name}_predicted"] = measurement.predicted and getattr(measurement.predicted, name)
        record[f"{name}_measured"] = seen
    return record | {
        "percent_predicted": occupancy and occupancy.percent,
        "percent_measured": measurement.percent,
        "limiters": list(occupancy.limiters) if occupancy else None,
        "device": filling and filling.name,
        "workgroups_at_once": filling and filling.workgroups,
        "grid_percent": grid and grid.percent,
        "remarks": [
            *measurement.remarks,
            *([tie_problem(measurement.tied)] if measurement.tied else []),
        ],
    }
