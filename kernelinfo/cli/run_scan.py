"""A scan for the command line: run, told, ended by its exit code."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import typer

from kernelinfo.analysis.inputs import once
from kernelinfo.analysis.options import Options
from kernelinfo.cli.output import CANNOT_ANSWER, complain, make_view, scanned, tell, write
from kernelinfo.errors import OptionError
from kernelinfo.fleet import scanning
from kernelinfo.fleet.acceptance import read_accepted, write_accepted
from kernelinfo.fleet.dataset import Dataset, check_destination
from kernelinfo.fleet.scanning import Scanned
from kernelinfo.fleet.worker import ScanRequest, bounded
from kernelinfo.kernel import counted
from kernelinfo.reading.blob import Note
from kernelinfo.render import jsonl
from kernelinfo.render.records import render_table

_SHOWN = 20  # most problems printed; the dataset has all


def request(
    urls: Sequence[str],
    to: str,
    build: str,
    options: Options,
    *,
    accept_problems: str | None,
    shard: str,
    **others: Any,
) -> ScanRequest:
    """The request; `others` are more of its fields. Raises `KernelinfoError`."""
    check_destination(to, build, shard)
    return ScanRequest(
        urls=tuple(urls),
        dataset=Dataset(to),
        build=build,
        options=options._replace(bounds=bounded(options.bounds)),
        rows=partial(
            jsonl.rows, view=make_view(instructions=options.count_instructions is not None)
        ),
        shard=shard,
        accepted=read_accepted(accept_problems) if accept_problems else frozenset(),
        **others,
    )


def remove(to: str, builds: Sequence[str], *, alone: bool) -> None:
    """Delete builds of a dataset. Raises `KernelinfoError`."""
    if not alone:
        raise OptionError("--remove reads nothing; leave out URL... and --build")
    found = Dataset(to)
    for build in builds:
        check_destination(to, build)
        scanning.remove(found, build)
        write([f"removed build {build} from {found.name}\n"], None)


def accept(file: str, done: Scanned) -> None:
    """Write the problems of a build to the file of accepted ones."""
    write_accepted(file, (one.known for one in done.record.problems))
    write([f"{file}: accepts {counted(len(done.record.problems), 'problem')}\n"], None)


def list_work(request: ScanRequest) -> None:
    """Print the files of the build and the work to do."""
    work = scanning.plan(request, scanning.list_files(request))
    to_read = set(work.files)
    listed = work.listing.files
    rows = [("read" if f in to_read else "done", f"{f.size}", f.address) for f in listed]
    counts = f"{counted(len(to_read), 'file')} of {len(rows)} to read"
    size = sum(file.size for file in to_read)
    heading = ("", "bytes", "file")
    write([*render_table(heading, rows), f"\n {counts}, {counted(size, 'byte')}\n"], None)


def run(
    request: ScanRequest, scheduler: str | None, workers: int | None, *, wait: bool, quiet: bool
) -> Scanned:
    """Run the scan, with a progress bar on a terminal; print a line with its numbers and notes."""
    kernels = 0
    notes: list[Note] = []

    def tell_wait(text: str) -> None:
        complain(f"{request.dataset.name}: {text}")

    with scanning.begun(request, wait=wait, tell=tell_wait) as begun:
        with scanned(sum(file.size for file in begun.plan.files)) as advance:
            for done in scanning.scan(begun, scheduler, workers):
                kernels += done.kernels
                advance(sum(f.size for f in done.task.files) // done.task.shares, kernels)
                notes += done.notes
        record = scanning.end(begun)
    for note in once(notes):
        complain(f"{note.path}: {note.message}")
    done_all = Scanned(begun.plan, record, kernels)
    if not quiet:
        write([_summary(request, done_all)], None)
    for note in scanning.unmatched_choices(request):
        tell(note)
    return done_all


def _summary(request: ScanRequest, done: Scanned) -> str:
    """A line with the numbers of files and kernels."""
    read, listed = len(done.plan.files), len(done.plan.listing.files)
    gone = f", {counted(done.plan.gone, 'file')} gone" if done.plan.gone else ""
    counts = f"{counted(read, 'file')} read, {listed - read} done before{gone}"
    shard = f", shard {request.shard}" if request.shard else ""
    where = f"{request.dataset.name} (build {request.build}{shard})"
    return f"{counts}, {counted(done.kernels, 'kernel')} → {where}\n"


def leave(request: ScanRequest, done: Scanned) -> None:
    """Print the problems of a build that are not accepted, at most 20; exit with 2 if it has any,
    or if a URL has no kernel."""
    found = done.record.problems
    problems = [one.problem for one in found if not request.accepts(one.known)]
    missing = scanning.without_kernels(request, done)
    for problem in [*problems[:_SHOWN], *missing]:
        tell(problem)
    if (more := len(problems) - _SHOWN) > 0:
        complain(f"… {counted(more, 'more problem')} in {request.dataset.name}/problems")
    if accepted := len(found) - len(problems):
        complain(f"{request.dataset.name}: {counted(accepted, 'accepted problem')} not listed")
    if problems or missing:
        raise typer.Exit(CANNOT_ANSWER)
