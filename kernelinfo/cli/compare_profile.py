"""`kernelinfo compare-profile RUN PATH...`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelinfo.analysis import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.cli import options
from kernelinfo.cli.output import Problems, make_view, write
from kernelinfo.compare.matching import measure
from kernelinfo.compare.measurement import Measurement
from kernelinfo.compare.profile import read
from kernelinfo.errors import ReadError
from kernelinfo.kernel import Result
from kernelinfo.occupancy import devices
from kernelinfo.reading.blob import Problem
from kernelinfo.render.measurements import (
    measurement_record,
    render_measurements,
    tie_problem,
    unmatched,
)
from kernelinfo.render.records import render_records

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
    target: options.Targets = None,
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
        arch=arch,
        targets=tuple(target or ()),
        kernels=tuple(kernel or ()),
        exclude=tuple(exclude or ()),
        bounds=bounds,
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
        ran = ", ".join(unmatched(measured)[:3])
        where = f"in the files given for {product[1].name}" if product else "in the files given"
        raise ReadError(f"{run}: no kernel of the run is {where}; it ran {ran}")
    problems.report(Problem(str(run), tie) for tie in ties)
    if format == "text":
        write(render_measurements(measured, view), output)
    else:
        write(render_records([measurement_record(one, view) for one in measured], format), output)
    problems.exit()


def _ties(measured: tuple[Measurement, ...]) -> list[str]:
    """Why launches have no prediction, each reason once."""
    tied = (tie_problem(one.tied) for one in measured if one.tied and one.kernel is None)
    return list(dict.fromkeys(tied))
