"""A scan: its plan, and the outcomes of its tasks from local processes or a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from tempfile import TemporaryDirectory
from typing import NamedTuple

from kernelinfo.analysis.counts import place, unmatched
from kernelinfo.analysis.pool import Pool, signals_wait
from kernelinfo.errors import KernelinfoError
from kernelinfo.fleet.listing import (
    InputFile,
    ScanTask,
    address,
    cost,
    find,
    is_local,
    tasks,
    units,
)
from kernelinfo.fleet.worker import ScanRequest, ScanTaskDone, ScanWorker, input_rows, problem_row
from kernelinfo.reading.blob import Note, Problem

_WORTH_BYTES = 16 << 20  # bytes to read that justify one more process


class Plan(NamedTuple):
    """Files of a build, and the part of them that must be read."""

    listed: tuple[InputFile, ...]
    to_read: tuple[tuple[InputFile, ...], ...]  # units with a new or changed file
    problems: tuple[tuple[str, Problem], ...]  # (address of the root, problem of its listing)

    @property
    def files(self) -> list[InputFile]:
        return [file for unit in self.to_read for file in unit]


def plan(request: ScanRequest) -> Plan:
    """The plan of a scan: files listed and compared with the dataset.

    Raises `KernelinfoError`, also if no file is found; the dataset then stays unchanged.
    """
    listed: dict[str, InputFile] = {}
    problems: list[tuple[str, Problem]] = []
    for url in request.urls:
        for one in find(url, request.timeout):
            if isinstance(one, Problem):
                problems.append((address(url), one))
            elif listed.setdefault(one.address, one).url != one.url:
                wrong = "is listed twice with different queries; give one of them"
                problems.append((address(url), Problem(one.address, wrong)))
    if not listed:
        urls = ", ".join(map(address, request.urls))
        first = next((one for _, one in problems), Problem(urls, _NO_KERNEL))
        raise KernelinfoError(f"{first.path}: {first.message}")
    done = request.dataset.done(request.build)

    def is_done(file: InputFile) -> bool:
        known = done.get(file.address, {}).items()
        return file.modified is not None and request.input_row(file).items() <= known

    to_read = tuple(unit for unit in units(listed.values()) if not all(map(is_done, unit)))
    return Plan(tuple(listed.values()), to_read, tuple(problems))


def scan(
    request: ScanRequest, work: Plan, scheduler: str | None = None, workers: int | None = None
) -> Iterator[ScanTaskDone]:
    """The outcome of each task of the plan, as it ends. Raises `KernelinfoError`.

    `scheduler` is the address of a dask scheduler. Without one, `workers` local processes do the
    work, by default as many as the bytes justify and at most one per core.
    """
    request.dataset.tidy(request.build)
    run = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    archives = tuple(file.path for file in work.listed if file.path.endswith(".kpack"))
    roots = tuple(address(url) for url in request.urls if is_local(url))
    request = request._replace(roots=roots, archives=archives)
    _write_listing_problems(request, work, run)
    if work.to_read:
        shares: dict[str, list[ScanTaskDone]] = {}
        outcomes = (
            _by_processes(request, work, run, workers or _worth(work))
            if scheduler is None
            else _by_cluster(request, work, run, scheduler)
        )
        for done in outcomes:
            _note_share(done, request, shares)
            yield done
    request.dataset.tidy(request.build)


def _worth(work: Plan) -> int:
    """Number of processes worth starting, at most one per core: each has to import the readers."""
    return max(1, min(os.cpu_count() or 1, sum(map(cost, work.to_read)) // _WORTH_BYTES))


def _by_processes(
    request: ScanRequest, work: Plan, run: str, workers: int
) -> Iterator[ScanTaskDone]:
    with signals_wait():
        folder = TemporaryDirectory(prefix="kernelinfo-")
    with folder as scratch:
        request = request._replace(scratch=scratch)
        pool = Pool(workers, ScanWorker(request))
        try:
            for _, done in pool.completed(tasks(work.to_read, workers, run)):
                yield done
        finally:
            pool.end()


def _by_cluster(
    request: ScanRequest, work: Plan, run: str, scheduler: str
) -> Iterator[ScanTaskDone]:
    from kernelinfo.fleet import cluster  # imports dask, which local scans do not need

    with cluster.client(scheduler) as client:
        yield from cluster.outcomes(
            client, request, tasks(work.to_read, cluster.workers(client), run)
        )


def _note_share(
    done: ScanTaskDone, request: ScanRequest, shares: dict[str, list[ScanTaskDone]]
) -> None:
    """Collect the outcomes of a shared file; after the last share, write its row of `inputs`."""
    task = done.task
    if task.shares > 1:
        same = shares.setdefault(task.part, [])
        same.append(done)
        if len(same) == task.shares:
            fetched = frozenset.intersection(*(share.fetched for share in same))
            request.write(f"{task.part}.done", inputs=input_rows(task, request, fetched))


def _write_listing_problems(request: ScanRequest, work: Plan, run: str) -> None:
    """Write problems of the listing as a part. It replaces such a part of an earlier run."""
    known = request.dataset.done(request.build)
    listed = {file.address for file in work.listed}
    roots = [one for one in map(address, request.urls) if one not in listed]
    if not work.problems and not any(root in known for root in roots):
        return
    part = f"{run}-listing"
    files = tuple(InputFile(root, root, 0, None, True) for root in roots)
    problems = (
        problem_row(problem, problem.path, problem.path.removeprefix(root.rstrip("/") + "/"))
        for root, problem in work.problems
    )
    request.write(part, problems, input_rows(ScanTask(part, files), request, frozenset()))


_NO_KERNEL = "no AMD GPU kernel found; give what the compiler left for the device"


def without_kernels(request: ScanRequest) -> list[Problem]:
    """One problem per URL without a kernel in the dataset."""
    roots = map(address, request.urls)
    choices = " ".join(request.options.choices)
    message = f"no kernel matches {choices}" if choices else _NO_KERNEL
    return [Problem(one, message) for one in roots if not request.dataset.count(request.build, one)]


def unmatched_choices(request: ScanRequest) -> Iterator[Note]:
    """One note per `-k` or `--target` without a kernel, unless no option has one.

    The dataset answers: it also has kernels of files that an earlier run read.
    """
    roots, options = [*map(address, request.urls)], request.options
    if len(options.asked) > 1:
        kernels = request.dataset.distinct_kernels(request.build, roots)
        met = {pair for kernel in kernels for pair in options.met(*kernel)}
        yield from (Note(place(roots), one) for one in unmatched(options, met) if met)
