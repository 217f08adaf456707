"""A scan: what is to do, done by dask's workers, and what became of it."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import NamedTuple

import dask
from distributed import Client, LocalCluster, as_completed
from distributed.scheduler import KilledWorker

from kernelinfo.errors import KernelinfoError, OptionError
from kernelinfo.fleet.listing import InputFile, Task, address, find, is_local, tasks, units
from kernelinfo.fleet.worker import Done, Request, input_rows, problem_row, read
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.budget import BY_DEFAULT, Bounds

HELD_BYTES = 160 << 20
"""Of decompressed code that a worker holds at once, unless `--bound memory=N` says otherwise."""
_WORKER_BYTES = 512_000_000
_OWN_BYTES = _WORKER_BYTES - HELD_BYTES  # of a worker without what it decompresses
_PATIENCE = "20s"
_ENGINE = {
    # A worker that ends ends what sits on it; which file it was, is found one by one.
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.worker-saturation": 1.0,
    # Results are small and nothing is spilled: a paused worker would wait for ever.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": 0.95,
    "distributed.worker.profile.enabled": False,
}
"""Of the workers that a scan starts itself; a given scheduler has its own."""


class Plan(NamedTuple):
    """What is to do."""

    listed: tuple[InputFile, ...]
    to_read: tuple[tuple[InputFile, ...], ...]  # what belongs together, if one of it is new
    problems: tuple[Problem, ...]  # of the listing

    @property
    def files(self) -> list[InputFile]:
        return [file for unit in self.to_read for file in unit]


def bounded(bounds: Bounds) -> Bounds:
    """The bounds, with a worker's memory where no other is given."""
    return bounds._replace(memory=HELD_BYTES) if bounds.memory == BY_DEFAULT.memory else bounds


def plan(request: Request) -> Plan:
    """List the files and compare them with what the dataset has. Raises `KernelinfoError`."""
    found = list(find(request.urls))
    listed: dict[str, InputFile] = {}
    for file in found:
        if isinstance(file, InputFile) and listed.setdefault(file.address, file).url != file.url:
            wrong = "is given twice with different queries, which are not stored"
            raise OptionError(f"{file.address}: {wrong}; scan them as two builds")
    done = request.dataset.done(request.build)

    def is_done(file: InputFile) -> bool:
        known = done.get(file.address, {}).items()
        return file.modified is not None and request.input_row(file).items() <= known

    to_read = tuple(unit for unit in units(listed.values()) if not all(map(is_done, unit)))
    problems = tuple(one for one in found if isinstance(one, Problem))
    return Plan(tuple(listed.values()), to_read, problems)


def scan(
    request: Request, work: Plan, scheduler: str | None = None, workers: int | None = None
) -> Iterator[Done]:
    """Run the tasks of the plan; yield the outcome of each as it ends. Raises `KernelinfoError`.

    `scheduler` is the address of one; without it, so many workers, or as many as cores, are
    started on this machine.
    """
    request.dataset.tidy(request.build)
    run = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    archives = tuple(file.path for file in work.listed if file.path.endswith(".kpack"))
    roots = tuple(address(url) for url in request.urls if is_local(url))
    request = request._replace(roots=roots, archives=archives)
    _write_listing_problems(request, work, run)
    if work.to_read:
        with _client(scheduler, workers, request.options.bounds) as client:
            count = len(client.scheduler_info(n_workers=-1)["workers"]) or 1
            shares: dict[str, list[Done]] = {}
            for done in _outcomes(client, request, tasks(work.to_read, count, run)):
                _note_share(done, request, shares)
                yield done
    request.dataset.tidy(request.build)


@contextmanager
def _client(scheduler: str | None, workers: int | None, bounds: Bounds) -> Iterator[Client]:
    if scheduler is None:
        with (
            dask.config.set(_ENGINE),
            _local_cluster(workers, bounds) as local,
            Client(local) as client,
        ):
            yield client
        return
    try:
        client = Client(scheduler, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        message = f"--scheduler {scheduler}: {error}; start one by `dask scheduler`"
        raise KernelinfoError(message) from None
    with client:
        yield client


def _local_cluster(workers: int | None, bounds: Bounds) -> LocalCluster:
    """Workers of this machine, which leave Ctrl-C to this process."""
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which they inherit
    try:
        return LocalCluster(
            n_workers=workers or os.cpu_count(),
            threads_per_worker=1,
            processes=True,
            memory_limit=_OWN_BYTES + bounds.memory,
            dashboard_address="127.0.0.1:0",  # 8787 may be taken
            silence_logs=logging.CRITICAL,
        )
    finally:
        signal.signal(signal.SIGINT, handler)


def _outcomes(client: Client, request: Request, work: Sequence[Task]) -> Iterator[Done]:
    """The outcome of every task; those whose worker ended are run again, each file alone."""
    futures = dict(zip(client.map(read, work, request=request, pure=False), work, strict=True))
    killed: list[Task] = []
    for future in as_completed(futures):
        try:
            yield future.result()
        except KilledWorker:
            killed.append(futures[future])
        future.release()
    for unit in (unit for task in killed for unit in task.by_unit()):
        try:
            yield client.submit(read, unit, request=request, pure=False).result()
        except KilledWorker:
            yield _given_up(unit, request)


def _given_up(task: Task, request: Request) -> Done:
    """Write that a task's files end their worker."""
    bound = request.options.bounds.memory + _OWN_BYTES >> 20
    limits = f"over {request.timeout:g} s (--timeout) or {bound} MiB (--bound memory)"
    message = f"ended the worker that read it: {limits}, or a crash; read it alone"
    addresses = frozenset(file.address for file in task.files)
    request.write(
        f"{task.part}.{task.share}.ended",
        (problem_row(Problem("", message), file.address, file.path) for file in task.files),
        input_rows(task, request, addresses) if task.shares == 1 else (),
    )
    return Done(task, 0, (), addresses)


def _note_share(done: Done, request: Request, shares: dict[str, list[Done]]) -> None:
    """Keep what a worker did of a file, by part; of the last share, write that the file is done."""
    task = done.task
    if task.shares > 1:
        same = shares.setdefault(task.part, [])
        same.append(done)
        if len(same) == task.shares:
            fetched = frozenset.intersection(*(share.fetched for share in same))
            request.write(f"{task.part}.done", inputs=input_rows(task, request, fetched))


def _write_listing_problems(request: Request, work: Plan, run: str) -> None:
    """Write what could not be listed, under the URL that was given; earlier ones go."""
    known = request.dataset.done(request.build)
    listed = {file.address for file in work.listed}
    roots = [address(url) for url in request.urls if address(url) not in listed]
    if not work.problems and not any(root in known for root in roots):
        return
    part = f"{run}-listing"
    files = tuple(InputFile(root, root, 0, None, True) for root in roots)
    problems = (problem_row(problem, roots[0], problem.path) for problem in work.problems)
    request.write(part, problems, input_rows(Task(part, files), request, frozenset()))


def without_kernels(request: Request) -> list[Problem]:
    """A problem for each URL under which the dataset has no kernel."""
    message = "no AMD GPU kernel found; give what the compiler left for the device"
    roots = map(address, request.urls)
    return [Problem(one, message) for one in roots if not request.dataset.count(request.build, one)]
