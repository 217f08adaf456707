"""`kernelinfo compare-profile RUN PATH...`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from kernelinfo.analysis import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.cli import options
from kernelinfo.cli.output import Problems, make_view, write
from kernelinfo.compare.matching import measure
from kernelinfo.compare.measurement import Measurement
from kernelinfo.compare.profile import Dispatch, Resources, read
from kernelinfo.errors import ReadError
from kernelinfo.kernel import Result
from kernelinfo.occupancy import devices
from kernelinfo.reading.blob import Problem
from kernelinfo.render import View
from kernelinfo.render.names import name_of, printable
from kernelinfo.render.paint import paint
from kernelinfo.render.records import render_records, render_table
from kernelinfo.render.words import limiters, percent, plural, size

EXAMPLES = """\
Examples:
  kernelinfo compare-profile run.csv kernels.s
  kernelinfo compare-profile run.csv build/ --device MI250
  kernelinfo compare-profile run.csv kernels.s -k 'vgpr*' --format csv
"""


def command(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="rocprofv3's kernel trace or database, or pmc_perf.csv."
        ),
    ],
    paths: options.Paths,
    arch: options.Arch = None,
    device: options.Device = None,
    no_trap_handler: options.NoTrapHandler = False,
    kernel: options.Kernels = None,
    exclude: options.Exclude = None,
    bound: options.Bound = None,
    deep: options.Deep = False,
    format: options.FormatOfRecords = "text",
    output: options.Output = None,
    names: options.Names = "full",
    color: options.Color = "auto",
    width: options.Width = None,
) -> None:
    """Compare what a profiler measured with what is predicted.

    Each launch of rocprofv3's kernel trace (CSV or rocpd database), of rocprofiler-compute's
    pmc_perf.csv or of rocprof v1's CSV, with the kernel of that name in the files, and what
    explains a difference.
    """
    view = make_view(names=names, color=color, width=width, output=output)
    product = devices.find(device) if device is not None else None
    bounds = options.chosen_bounds(bound, deep)
    dispatches = read(run, bounds)
    wanted = Options(
        arch=arch, kernels=tuple(kernel or ()), exclude=tuple(exclude or ()), bounds=bounds
    )
    problems = Problems()
    found = [
        item.kernel for item in problems.watch(analyse(paths, wanted)) if isinstance(item, Result)
    ]
    measured = measure(dispatches, found, product, not no_trap_handler)
    ties = _ties(measured)
    if not any(one.kernel for one in measured):
        if ties:
            raise ReadError(f"{run}: {ties[0]}")
        ran = ", ".join(_unmatched(measured)[:3])
        where = f"in the files given for {product[1].name}" if product else "in the files given"
        raise ReadError(f"{run}: no kernel of the run is {where}; it ran {ran}")
    problems.report(Problem(str(run), tie) for tie in ties)
    if format == "text":
        write(_table(measured, view), output)
    else:
        write(render_records([_record(one, view) for one in measured], format), output)
    problems.exit()


def _ties(measured: tuple[Measurement, ...]) -> list[str]:
    """What keeps launches from having a prediction, each once."""
    tied = (_tie(one.tied) for one in measured if one.tied and one.kernel is None)
    return list(dict.fromkeys(tied))


def _tie(names: tuple[str, ...]) -> str:
    fit = " and ".join(map(printable, names))
    return f"{fit} fit its launches equally; name the GPU with --device, or give the files that ran"


def _unmatched(measured: tuple[Measurement, ...]) -> list[str]:
    names = (
        printable(one.dispatch.shape.kernel) for one in measured if not (one.kernel or one.tied)
    )
    return list(dict.fromkeys(names))


def _table(measured: tuple[Measurement, ...], view: View) -> Iterator[str]:
    """Two lines a launch: predicted and measured; then what explains a difference."""
    rows, remarks = [], []
    for one in measured:
        if one.kernel is None or one.predicted is None or one.occupancy is None:
            continue
        name, found = name_of(one.kernel, view.names), one.occupancy
        limited = limiters(found)
        seen = "?" if one.percent is None else percent(one.percent)
        rows += [
            (name, "predicted", *_cells(one.predicted), percent(found.percent), limited),
            (
                f"  {_launch(one.dispatch)}",
                "measured",
                *_cells(one.dispatch.shape.resources),
                seen,
                "",
            ),
        ]
        short = name_of(one.kernel, "short")
        remarks += [f" {short}, {_launch(one.dispatch)}: {remark}\n" for remark in one.remarks]
    heading = ("kernel", "", "VGPR", "AGPR", "SGPR", "LDS", "scratch", "occ", "limited by")
    lines = render_table(heading, rows)
    yield paint([(next(lines).rstrip("\n"), "bold")], view.color) + "\n"
    yield from lines
    yield from ["\n", *remarks] if remarks else []
    if absent := _unmatched(measured):
        text = f" {plural(len(absent), 'kernel')} of the run in none of the files: "
        yield "\n" + paint([(text + ", ".join(absent), "dim")], view.color) + "\n"


def _launch(dispatch: Dispatch) -> str:
    text = f"workgroups of {dispatch.shape.workgroup_size}"
    if dispatch.shape.workgroups is not None:
        text = f"{dispatch.shape.workgroups} {text}"
    return text if dispatch.count == 1 else f"{text}, {dispatch.count} times"


def _cells(resources: Resources) -> list[str]:
    vgprs, agprs, sgprs, lds, scratch = resources
    counts = ["?" if value is None else str(value) for value in (vgprs, agprs, sgprs)]
    return [*counts, *("?" if value is None else size(value) for value in (lds, scratch))]


def _record(one: Measurement, view: View) -> dict[str, Any]:
    """Flat, so that it is a row of CSV as well."""
    kernel, dispatch, found, filling = one.kernel, one.dispatch, one.occupancy, one.filling
    grid = filling.grid if filling else None
    record: dict[str, Any] = {
        "kernel": name_of(kernel, view.names) if kernel else None,
        "symbol": kernel.symbol if kernel else None,
        "profiled_as": dispatch.shape.kernel,
        "target": kernel.target.name if kernel and kernel.target and not one.tied else None,
        "dispatches": dispatch.count,
        "duration_ns": dispatch.measures.duration_ns,
        "workgroup_size": dispatch.shape.workgroup_size,
        "workgroups": dispatch.shape.workgroups,
    }
    for name, seen in dispatch.shape.resources._asdict().items():
        record[f"{name}_predicted"] = one.predicted and getattr(one.predicted, name)
        record[f"{name}_measured"] = seen
    return record | {
        "percent_predicted": found and found.percent,
        "percent_measured": one.percent,
        "limiters": list(found.limiters) if found else None,
        "device": filling and filling.name,
        "workgroups_at_once": filling and filling.workgroups,
        "grid_percent": grid and grid.percent,
        "remarks": [*one.remarks, *([_tie(one.tied)] if one.tied else [])],
    }
