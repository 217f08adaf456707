"""A scan: files listed, compared with the dataset, read by processes or a cluster, and recorded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from kernelinfo.analysis.inputs import NO_KERNEL, place
from kernelinfo.analysis.options import Options
from kernelinfo.analysis.parallel import Pool, signals_wait
from kernelinfo.errors import KernelinfoError
from kernelinfo.fleet import listing, recording
from kernelinfo.fleet.acceptance import read_accepted
from kernelinfo.fleet.dataset import (
    Dataset,
    DatasetRow,
    check_destination,
    open_builds,
    part_prefix,
    unmatched_choices,
)
from kernelinfo.fleet.messages import say
from kernelinfo.fleet.recording import Lock, held
from kernelinfo.fleet.worker import ScanRequest, bounded, input_rows, problem_row
from kernelinfo.reading.blob import File, Note, Problem
from kernelinfo.reading.containers.files import LOG, Seen

_WORTH_BYTES = 16 << 20  # bytes to read that justify one more process


class Plan(NamedTuple):
    """All files of the roots of a scan and, compared with the dataset, the part of them that must
    be read."""

    files: tuple[listing.InputFile, ...]  # with a path of their own each
    problems: tuple[tuple[str, Problem], ...]  # (address of the root, problem of its listing)
    repeating: frozenset[str]  # addresses of roots with files that others have, too
    before: tuple[DatasetRow, ...] = ()  # the manifest that the scan replaces
    units: tuple[tuple[listing.InputFile, ...], ...] = ()  # units with a new or changed file
    run: str = ""  # prefix of the names of parts

    @property
    def to_read(self) -> list[listing.InputFile]:
        """The files to read."""
        return [file for unit in self.units for file in unit]

    @property
    def gone(self) -> int:
        """The number of files that the build had but the roots no longer list."""
        listed = {file.path for file in self.files}
        was = (row for row in self.before if not (row["Part"] or "").endswith(recording.LISTING))
        return sum(row["Path"] not in listed for row in was)


def make_request(
    urls: Sequence[str],
    to: str,
    build: str,
    options: Options,
    *,
    shard: str = "",
    accept_problems: str | None = None,
    **fields: Any,
) -> ScanRequest:
    """The request of a scan; `accept_problems` is a file, `fields` are further fields of the
    request.

    Raises `KernelinfoError` for a dataset that cannot be written, and if `accept_problems` cannot
    be read.
    """
    check_destination(to, build, shard)
    return ScanRequest(
        urls=tuple(urls),
        dataset=Dataset(to),
        build=build,
        options=options._replace(bounds=bounded(options.bounds)),
        shard=shard,
        accepted=read_accepted(accept_problems) if accept_problems else frozenset(),
        **fields,
    )


def list_files(request: ScanRequest) -> Plan:
    """All files below the URLs, not yet compared with the dataset. Raises `KernelinfoError` if no
    file is found."""
    listed: dict[str, listing.InputFile] = {}
    problems: list[tuple[str, Problem]] = []
    repeating, seen = set[str](), Seen()
    for root, url in [(listing.address(url), url) for url in request.urls]:
        for entry in listing.find(url, request.timeout, seen):
            if isinstance(entry, Problem):
                problems.append((root, entry))
            elif isinstance(entry, File) or entry.address in listed:
                repeating.add(root)
                if isinstance(entry, listing.InputFile) and listed[entry.address].url != entry.url:
                    again = Problem(f"{entry.address} (again)", say("file-listed-twice"))
                    problems.append((root, again))
            else:
                listed[entry.address] = entry._replace(root=root)
    for name, file in listed.items():
        database = listed.get(name.removesuffix(LOG), file)
        if database.root != file.root:
            repeating.add(file.root)
    if not listed:
        urls = ", ".join(map(listing.address, request.urls))
        first = next((problem for _, problem in problems), Problem(urls, NO_KERNEL))
        raise KernelinfoError(first.located)
    files = tuple(listing.with_own_paths(listed.values()))
    return Plan(files, tuple(problems), frozenset(repeating))


def compare_with_dataset(request: ScanRequest, listed: Plan) -> Plan:
    """The listed files, and which of them must be read. Raises `KernelinfoError` for a damaged
    dataset."""
    before, done = recording.done(request)
    to_read = tuple(
        unit
        for unit in listing.units(listed.files)
        if not all(request.is_done(file, done.get(file.path, {})) for file in unit)
    )
    run = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    latest = max((row["Run"] or "" for row in before), default="")
    if run <= latest:  # the clock of the machine that wrote it was ahead
        run = f"{latest}Z"
    run = part_prefix(request.shard) + run
    return listed._replace(before=tuple(before), units=to_read, run=run)


class Scanned(NamedTuple):
    """A build after a scan."""

    plan: Plan
    record: recording.BuildRecord
    kernels: int  # number of kernels that this scan read
    notes: tuple[Note, ...] = ()  # on files that this scan read


ShowsOutcomes = Callable[[Iterator[listing.ScanTask], Plan], Iterator[listing.ScanTask]]
"""Returns the outcomes that it gets, and may show them."""


def scan(
    request: ScanRequest,
    scheduler: str | None = None,
    workers: int | None = None,
    *,
    wait: bool = False,
    tell: Callable[[str], object] = lambda text: None,
    shown: ShowsOutcomes = lambda outcomes, plan: outcomes,
) -> Scanned:
    """The build, after all new and changed files were read.

    `scheduler` is the address of a dask scheduler. Without one, `workers` local processes do the
    work, by default as many as the bytes justify and at most one per core. Raises
    `KernelinfoError`, also if no file is found (the dataset then stays unchanged) or if another
    scan is writing the build. With `wait`, that scan is named through `tell` and waited for.
    """
    listed = list_files(request)
    lock = Lock(request.dataset, request.build, request.shard, request.timeout)
    with signals_wait():
        folder = TemporaryDirectory(prefix="kernelinfo-")
    with folder as scratch, held(lock, wait=wait, tell=tell):
        archives = tuple(file.path for file in listed.files if file.path.endswith(".kpack"))
        roots = tuple(listing.address(url) for url in request.urls if listing.is_local(url))
        request = request._replace(roots=roots, archives=archives, scratch=scratch)
        work = compare_with_dataset(request, listed)
        kernels, notes = 0, list[Note]()
        for done in shown(_outcomes(request, work, lock, scheduler, workers), work):
            kernels += done.kernels
            notes += done.notes
        lock.check()
        with request.dataset.storage.one_database():
            record = recording.end(request, work.files, work.before, work.run)
        return Scanned(work, record, kernels, tuple(notes))


def _outcomes(
    request: ScanRequest, work: Plan, lock: Lock, scheduler: str | None, workers: int | None
) -> Iterator[listing.ScanTask]:
    """The outcome of each task of the plan, as it ends."""
    if not work.before:
        recording.begin(request, work.files)
    _write_listing_problems(request, work)
    if work.units:
        shares: dict[str, list[listing.ScanTask]] = {}
        outcomes = (
            _by_processes(request, work, workers or _worth(work))
            if scheduler is None
            else _by_cluster(request, work, scheduler)
        )
        for done in outcomes:
            lock.renew()
            _note_share(done, request, shares)
            yield done


def _worth(work: Plan) -> int:
    """Number of processes worth starting, at most one per core: each has to import the readers."""
    return max(1, min(os.cpu_count() or 1, sum(map(listing.cost, work.units)) // _WORTH_BYTES))


def _by_processes(request: ScanRequest, work: Plan, workers: int) -> Iterator[listing.ScanTask]:
    pool = Pool(workers, request.work, request.parts, request.given_up)
    try:
        for _, done in pool.completed(listing.tasks(work.units, workers, work.run)):
            yield done
    finally:
        pool.end()


def _by_cluster(request: ScanRequest, work: Plan, scheduler: str) -> Iterator[listing.ScanTask]:
    from kernelinfo.fleet import cluster  # imports dask, which local scans do not need

    request = request._replace(scratch=None)  # a folder of this machine
    with cluster.client(scheduler) as client:
        yield from cluster.outcomes(
            client, request, listing.tasks(work.units, cluster.workers(client), work.run)
        )


def _note_share(
    done: listing.ScanTask, request: ScanRequest, shares: dict[str, list[listing.ScanTask]]
) -> None:
    """Collect the outcomes of a shared file; after the last share, write its row of `inputs`."""
    if done.shares > 1:
        same = shares.setdefault(done.part, [])
        same.append(done)
        if len(same) == done.shares:
            request.write(f"{done.part}.done", inputs=input_rows(request, same))


def _write_listing_problems(request: ScanRequest, work: Plan) -> None:
    """Write the problems of listing as a part, in which each entry that could not be listed is a
    file."""
    part = f"{work.run}-{recording.LISTING}"
    files: dict[str, listing.InputFile] = {}
    rows = []
    for root, problem in work.problems:
        path = _below(root, problem.path)
        rows.append(problem_row(problem, problem.path, path))
        files[problem.path] = listing.InputFile(problem.path, path, 0, None, False)
    if rows:
        inputs = [request.input_row(f) | {"Url": f.url, "Part": part} for f in files.values()]
        request.write(part, rows, inputs)


def _below(root: str, path: str) -> str:
    """The path relative to a root; its last part for the root itself."""
    whole = os.path.abspath(path) if listing.is_local(root) and listing.is_local(path) else path
    if whole == root:
        return whole.rstrip("/").rpartition("/")[2] or whole
    return whole.removeprefix(root.rstrip("/") + "/")


def without_kernels(request: ScanRequest, done: Scanned) -> list[Problem]:
    """One problem per URL whose files contain no kernel, unless another URL covers the same
    files."""
    kernels = {row["Path"]: row["Kernels"] for row in done.record.manifest}
    counts = dict.fromkeys(map(listing.address, request.urls), 0)
    for file in done.plan.files:
        counts[file.root] += kernels[file.path]
    choices = " ".join(request.options.choices)
    message = say("roots-without-choice", choices=choices) if choices else NO_KERNEL
    repeating = done.plan.repeating
    empty = (root for root, count in counts.items() if not count and root not in repeating)
    return [Problem(root, message) for root in empty]


def unmatched_notes(request: ScanRequest) -> list[Note]:
    """One note for each `-k`, `--target` and `--member` that matches no kernel. There are no notes
    if only one such option is given, or if no option matches any kernel.

    The notes count kernels of the whole dataset, so files that an earlier run read count, too.
    """
    if len(request.options.asked) < 2:
        return []
    with request.dataset.storage.connect() as connection:
        open_builds(connection, request.dataset, [request.build])
        roots = place(map(listing.address, request.urls))
        messages = unmatched_choices(connection, "kernels", request.options)
        return [Note(roots, message) for message in messages]


def remove(dataset: Dataset, build: str) -> None:
    """Delete a build. Raises `KernelinfoError` if the dataset lacks it, or if a scan is writing
    it."""
    there = dataset.builds()
    if build not in there:
        raise dataset.unknown_build(f"--remove {build}", there)
    locks = [Lock(dataset, build, shard, 0) for shard in {"", *dataset.shards(build)}]
    with ExitStack() as stack:
        for lock in locks:
            stack.enter_context(held(lock))
        dataset.delete_build(build)
