"""`kernelinfo scan URL... --to DIR --build NAME`."""

from __future__ import annotations

import signal
import sys
from functools import partial
from typing import TYPE_CHECKING

import typer

from kernelinfo.analysis.counts import once
from kernelinfo.cli import options
from kernelinfo.cli.output import CANNOT_ANSWER, complain, make_view, tell, write
from kernelinfo.cli.progress import scanned
from kernelinfo.cli.project import configuration
from kernelinfo.cli.wanted import wanted_options
from kernelinfo.errors import OptionError
from kernelinfo.fleet import require_libraries
from kernelinfo.reading.blob import Note, Problem
from kernelinfo.render import jsonl
from kernelinfo.render.records import render_table
from kernelinfo.rules.remark import counted

if TYPE_CHECKING:
    from kernelinfo.fleet.scanning import Plan
    from kernelinfo.fleet.worker import ScanRequest

EXAMPLES = """
  kernelinfo scan build/ --to fleet --build 2026-11-22
  kernelinfo scan s3://nightly/7.1 --to s3://ci/fleet --build 7.1
  kernelinfo scan https://host/rocm/lib/ --to fleet --build 7.1 --dry-run
  kernelinfo scan build/ --to fleet --build 7.1 --scheduler tls://head:8786
"""

_SHOWN = 20  # most problems printed; the dataset has all


def command(
    *,
    urls: list[str] = typer.Argument(
        metavar="URL...", help="Files, folders, globs, or URLs that fsspec reads: s3://…"
    ),
    to: str = typer.Option(..., "--to", metavar="DIR|URL", help="Write the dataset there."),
    build: str = typer.Option(..., "--build", metavar="NAME", help="Set the name of this build."),
    scheduler: str | None = typer.Option(
        None,
        metavar="tls://HOST:PORT",
        help="Use the workers of a dask cluster; by default processes of this machine.",
    ),
    workers: int | None = typer.Option(
        None,
        metavar="N",
        min=1,
        help="Start N workers; by default one for each core.",
    ),
    timeout: float = typer.Option(
        60, metavar="SECONDS", min=0.1, help="Give up a file that takes longer."
    ),
    dry_run: bool = typer.Option(
        False, "--dry-run", help="List files, sizes and the work to do; read nothing."
    ),
    target: options.Targets = None,
    arch: options.Arch = None,
    workgroup_size: options.WorkgroupSize = None,
    dynamic_lds: options.DynamicLds = None,
    no_trap_handler: options.NoTrapHandler = False,
    kernels: options.Kernels = None,
    exclude: options.Exclude = None,
    bound: options.Bound = None,
    deep: options.Deep = False,
    config: options.Config = None,
    quiet: options.Quiet = False,
) -> None:
    """Read a fleet of builds into one Parquet dataset.

    Several processes or machines read the files where they lie. Files that the dataset already has
    are not read again, so the next run completes one that ended early. A file that cannot be read
    is a row of the table `problems`. Ask the dataset by `kernelinfo trend`, or by SQL.
    """
    wanted = wanted_options(
        arch=arch,
        target=target,
        workgroup_size=workgroup_size,
        dynamic_lds=dynamic_lds,
        no_trap_handler=no_trap_handler,
        kernels=kernels,
        exclude=exclude,
        bound=bound,
        deep=deep,
    )
    project = configuration(config=config)
    require_libraries()
    from kernelinfo.fleet import dataset, scanning, worker

    dataset.check_destination(to, build)
    if scheduler is not None:
        if workers is not None:
            raise OptionError("--workers starts workers here; leave it out with --scheduler")
        require_libraries("cluster")
    request = worker.ScanRequest(
        urls=tuple(urls),
        dataset=dataset.Dataset(to),
        build=build,
        options=wanted._replace(
            workgroup_sizes=project.workgroup_sizes,
            bounds=worker.bounded(wanted.bounds),
            selection=project.selection,
        ),
        rows=partial(jsonl.rows, view=make_view()),
        timeout=timeout,
    )
    work = scanning.plan(request)
    if dry_run:
        write(_listing(work), None)
        return
    _end_by_signals()
    summary = _run(request, work, scheduler, workers)
    if not quiet:
        write([summary], None)
    for note in scanning.unmatched_choices(request):
        tell(note)
    _exit(request, scanning.without_kernels(request))


def _end_by_signals() -> None:
    """Make SIGTERM and SIGHUP exit like Ctrl-C: workers end and temporary files go. A SIGHUP
    ignored by `nohup` stays ignored."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, lambda number, frame: sys.exit(128 + number))


def _listing(work: Plan) -> list[str]:
    to_read = set(work.files)
    rows = [("read" if f in to_read else "done", f"{f.size}", f.address) for f in work.listed]
    counts = f"{counted(len(to_read), 'file')} of {len(rows)} to read"
    size = sum(file.size for file in to_read)
    return [*render_table(("", "bytes", "file"), rows), f"\n {counts}, {counted(size, 'byte')}\n"]


def _run(request: ScanRequest, work: Plan, scheduler: str | None, workers: int | None) -> str:
    """Run the plan. Returns a line with the numbers of files and kernels."""
    from kernelinfo.fleet.scanning import scan  # needs the extra `fleet`

    kernels = 0
    notes: list[Note] = []
    with scanned(sum(file.size for file in work.files)) as advance:
        for done in scan(request, work, scheduler, workers):
            kernels += done.kernels
            advance(sum(f.size for f in done.task.files) // done.task.shares, kernels)
            notes += done.notes
    for note in once(notes):
        complain(f"{note.path}: {note.message}")
    files = f"{counted(len(work.files), 'file')} read"
    counts = f"{files}, {len(work.listed) - len(work.files)} done before"
    where = f"{request.dataset.name} (build {request.build})"
    return f"{counts}, {counted(kernels, 'kernel')} → {where}\n"


def _exit(request: ScanRequest, missing: list[Problem]) -> None:
    """Print the problems of a build, at most 20 of its dataset; exit with 2 if it has any."""
    problems = [
        Problem(url, message, member, offset, line)
        for url, member, offset, line, message in request.dataset.problems(request.build)
    ]
    for problem in [*problems[:_SHOWN], *missing]:
        tell(problem)
    if (more := len(problems) - _SHOWN) > 0:
        complain(f"… {counted(more, 'more problem')} in {request.dataset.name}/problems")
    if problems or missing:
        raise typer.Exit(CANNOT_ANSWER)
