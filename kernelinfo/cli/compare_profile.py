"""`kernelinfo compare-profile RUN PATH...`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelinfo.analysis import analyse
from kernelinfo.cli import console, options
from kernelinfo.cli.messages import say
from kernelinfo.compare.measurement import measure
from kernelinfo.compare.profile import read
from kernelinfo.errors import ReadError
from kernelinfo.hardware import products
from kernelinfo.kernel import Result
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.messages import in_file
from kernelinfo.render import measurements, tables

OUTPUTS = tables.WRITERS
SCHEMA = "kernelinfo/compare-profile/1"
_RUNS = (".csv", ".db")
"""Suffixes of what profilers write."""


def command(
    *,
    run: Path = typer.Argument(
        metavar="RUN", help="rocprofv3's kernel trace or database, or pmc_perf.csv."
    ),
    paths: options.Paths,
    arch: options.Arch = None,
    target: options.Targets = None,
    member: options.Members = None,
    where: options.Where = None,
    device: options.Device = None,
    no_trap_handler: options.NoTrapHandler = False,
    kernels: options.Kernels = None,
    exclude: options.Exclude = None,
    bound: options.Bound = None,
    deep: options.Deep = False,
    format: Annotated[str, options.format_option(OUTPUTS)] = "text",
    output: options.Output = None,
    names: options.Names = "full",
    color: options.Color = "auto",
    width: options.Width = None,
) -> None:
    """Compare a profiler's measurements with the prediction.

    Pairs each launch of rocprofv3's kernel trace (CSV or rocpd database), of rocprofiler-compute's
    pmc_perf.csv or of rocprof v1's CSV with the kernel of that name in the files, and explains each
    difference.

    Examples:
      kernelinfo compare-profile run.csv kernels.s
      kernelinfo compare-profile run.csv build/ --device MI250
      kernelinfo compare-profile run.csv kernels.s -k 'vgpr*' --format csv
    """
    query = options.choice(kernels, exclude, target, member, where, bound, deep=deep, arch=arch)
    query = options.with_launch(query, no_trap=no_trap_handler)
    view = console.make_view(names=names, color=color, width=width, output=output)
    product = products.find(device) if device is not None else None
    if run.suffix not in _RUNS and paths[0].endswith(_RUNS):  # swapped
        run, paths = Path(paths[0]), [str(run), *paths[1:]]
    dispatches = read(run, query.bounds)
    problems = console.Problems()
    items = console.shown(problems.watch(analyse(paths, query)), paths)
    predicted = [item.kernel for item in items if isinstance(item, Result)]
    measured = measure(dispatches, predicted, product, query.trap_handler)
    tied = dict.fromkeys(
        measurement.tied
        for measurement in measured
        if measurement.tied and measurement.kernel is None
    )
    ties = [measurements.tie_problem(names) for names in tied]
    if not any(measurement.kernel for measurement in measured):
        if ties:
            raise ReadError(in_file(run, ties[0]))
        ran = ", ".join(measurements.unmatched(measured)[:3])
        where = say("run-files-of-device", device=product[1].name) if product else say("run-files")
        raise ReadError(say("run-without-kernel", run=run, where=where, ran=ran))
    for tie in ties:
        problems.print(Problem(str(run), tie))
    records = [measurements.measurement_record(measurement, view) for measurement in measured]
    text = measurements.render_measurements(measured, view)
    table = tables.of_records(records, SCHEMA, "launches", text=text)
    console.write(OUTPUTS[format](table, view), output, color=view.color)
    problems.exit()
