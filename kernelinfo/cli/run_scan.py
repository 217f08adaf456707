"""A scan for the command line: runs it, prints its progress and result, sets the exit code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import typer

from kernelinfo.analysis.inputs import once
from kernelinfo.analysis.options import Options
from kernelinfo.cli.console import bar, tell, write
from kernelinfo.cli.messages import CANNOT_ANSWER, complain, say
from kernelinfo.errors import OptionError
from kernelinfo.fleet import scanning
from kernelinfo.fleet.acceptance import accepted, write_accepted
from kernelinfo.fleet.dataset import Dataset, check_destination
from kernelinfo.fleet.listing import ScanTask
from kernelinfo.fleet.scanning import Plan, Scanned
from kernelinfo.fleet.worker import ScanRequest
from kernelinfo.kernel import counted
from kernelinfo.render import View, paint, rows

_SHOWN = 20  # most problems printed; the dataset has all


def request(
    urls: Sequence[str], to: str, build: str, options: Options, **settings: Any
) -> ScanRequest:
    """The request of a scan; see `scanning.make_request`. Its rows have columns of instruction
    counts if `options` asks to count instructions."""
    view = View(instructions=options.count_instructions is not None)
    written = partial(rows.render_jsonl, view=view)
    return scanning.make_request(urls, to, build, options, rows=written, **settings)


def remove(to: str, builds: Sequence[str], *, alone: bool) -> None:
    """Delete builds of a dataset. Raises `KernelinfoError`."""
    if not alone:
        raise OptionError(say("remove-alone"))
    dataset = Dataset(to)
    for build in builds:
        check_destination(to, build)
        scanning.remove(dataset, build)
        write([f"removed build {build} from {dataset.name}\n"], None)


def accept(file: str, request: ScanRequest, done: Scanned) -> None:
    """Write the problems of a build to the file of accepted ones. A shard keeps the entries that
    were in the file before: they may belong to other shards."""
    problems = {accepted(*unread) for unread in done.record.problems}
    write_accepted(file, problems | request.accepted)
    kept = len(request.accepted - problems)
    also = f" and keeps {counted(kept, 'accepted problem')}" if kept else ""
    write([f"{file}: accepts {counted(len(done.record.problems), 'problem')}{also}\n"], None)


def list_work(request: ScanRequest) -> None:
    """Print the files of the build and the work to do."""
    work = scanning.compare_with_dataset(request, scanning.list_files(request))
    to_read = set(work.to_read)
    rows = [("read" if f in to_read else "done", f"{f.size}", f.address) for f in work.files]
    counts = f"{counted(len(to_read), 'file')} of {len(rows)} to read"
    size = sum(file.size for file in to_read)
    table = paint.painted(paint.table_lines([("", "bytes", "file"), *rows], "", View()), View())
    write([*table, f"\n {counts}, {counted(size, 'byte')}\n"], None)


def run(
    request: ScanRequest, scheduler: str | None, workers: int | None, *, wait: bool, quiet: bool
) -> Scanned:
    """Run the scan, with a progress bar on a terminal; print a line with its numbers and notes."""

    def tell_wait(text: str) -> None:
        complain(f"{request.dataset.name}: {text}")

    done = scanning.scan(request, scheduler, workers, wait=wait, tell=tell_wait, shown=_shown)
    for note in once(done.notes):
        complain(f"{note.path}: {note.message}")
    if not quiet:
        write([_summary(request, done)], None)
    for note in scanning.unmatched_notes(request):
        tell(note)
    return done


def _shown(outcomes: Iterator[ScanTask], plan: Plan) -> Iterator[ScanTask]:
    """The outcomes, unchanged; a bar shows their bytes and kernels."""
    kernels, total = 0, sum(file.size for file in plan.to_read)
    with bar(lambda bars: bars.of_bytes(total)) as update:
        for done in outcomes:
            kernels += done.kernels
            read = sum(file.size for file in done.files) // done.shares
            update(advance=read, kernels=counted(kernels, "kernel"))
            yield done


def _summary(request: ScanRequest, done: Scanned) -> str:
    """A line with the numbers of files and kernels."""
    read, listed = len(done.plan.to_read), len(done.plan.files)
    gone = f", {counted(done.plan.gone, 'file')} gone" if done.plan.gone else ""
    counts = f"{counted(read, 'file')} read, {listed - read} done before{gone}"
    shard = f", shard {request.shard}" if request.shard else ""
    where = f"{request.dataset.name} (build {request.build}{shard})"
    return f"{counts}, {counted(done.kernels, 'kernel')} → {where}\n"


def leave(request: ScanRequest, done: Scanned) -> None:
    """Print up to 20 problems of a build that are not accepted, and the URLs without a kernel.
    Exits with 2 if there are any of either."""
    problems = [unread[1] for unread in done.record.problems if not request.accepts(*unread)]
    missing = scanning.without_kernels(request, done)
    for problem in [*problems[:_SHOWN], *missing]:
        tell(problem)
    if (hidden := len(problems) - _SHOWN) > 0:
        complain(f"… {counted(hidden, 'more problem')} in {request.dataset.name}/problems")
    if excused := len(done.record.problems) - len(problems):
        complain(f"{request.dataset.name}: {counted(excused, 'accepted problem')} not listed")
    if problems or missing:
        raise typer.Exit(CANNOT_ANSWER)
