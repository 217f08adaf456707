"""The state of a build that is scanned: what is done, its manifest at the end, its one writer."""

from __future__ import annotations

import json
import os
import platform
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import chain
from typing import NamedTuple

from kernelinfo.errors import KernelinfoError, Message
from kernelinfo.fleet.dataset import (
    MANIFEST,
    TABLES,
    Dataset,
    DatasetRow,
    TableName,
    as_written,
    is_manifest,
    open_files,
    part_of,
    part_prefix,
    quoted,
    run_of,
    shard_of,
)
from kernelinfo.fleet.listing import InputFile
from kernelinfo.fleet.messages import say
from kernelinfo.fleet.storage import Storage
from kernelinfo.fleet.worker import ScanRequest
from kernelinfo.reading.blob import Problem

LISTING = "listing"
"""Last part of the name of a part with problems of the listing."""
RowKey = tuple[str, str]  # (Url, Part)
UnreadFile = tuple[str, Problem]
"""(path of a file below the root, its problem). The problem's `path` is the file's address."""


class BuildRecord(NamedTuple):
    """A build, or a shard of it, after a scan."""

    manifest: list[DatasetRow]
    problems: list[UnreadFile]


def done(request: ScanRequest) -> tuple[list[DatasetRow], dict[str, DatasetRow]]:
    """(manifest of the build or shard, finished rows of `inputs` by path).

    Parts newer than the manifest come from a run that ended early: their files are finished, too.
    Raises `KernelinfoError` for a damaged dataset.
    """
    files = _own(request, "inputs")
    if not files:
        return [], {}
    with request.dataset.storage.connect() as connection:
        open_files(connection, request.dataset, "inputs", files)
        columns = ", ".join(f'"{name}"' for name in MANIFEST)
        answer = connection.execute(f"SELECT File, {columns} FROM all_inputs ORDER BY Part")
        rows = [(row[0], dict(zip(MANIFEST, row[1:], strict=True))) for row in answer.fetchall()]
    manifest = [row for file, row in rows if is_manifest(file)]
    latest = max((row["Run"] or "" for row in manifest), default="")
    read = {row["Path"]: row for row in manifest if row["Part"]}
    for file, row in rows:
        if not is_manifest(file) and row["Path"] and run_of(row["Part"] or "") > latest:
            read[row["Path"]] = row
    return manifest, read


def begin(request: ScanRequest, files: Iterable[InputFile]) -> None:
    """Write the manifest of a new build, in which no file has been read yet."""
    rows = (_unread(request, file) for file in files)
    request.dataset.write_manifest(request.build, request.shard, rows, _scratch(request))


def _scratch(request: ScanRequest) -> str:
    assert request.scratch is not None
    return request.scratch


def _unread(request: ScanRequest, file: InputFile) -> DatasetRow:
    """The manifest row of a file that no scan has read yet."""
    return dict.fromkeys(MANIFEST) | request.input_row(file) | {"Url": file.address}


def end(
    request: ScanRequest, files: Sequence[InputFile], before: Sequence[DatasetRow], run: str
) -> BuildRecord:
    """Replace the manifest of a build or shard, then delete what no longer counts. `before` is the
    old manifest, `run` the prefix of this run's parts. Raises `KernelinfoError`."""
    _, read = done(request)
    listed = {file.path for file in files}
    rows = [read.get(file.path) or _unread(request, file) for file in files]
    entries = (row for path, row in read.items() if path not in listed)
    rows += (row for row in entries if row["Part"] == f"{run}-{LISTING}")
    live = set(map(_key, rows))
    kernels, problems = _counted(request)
    counting = {key: unread for key, unread in problems.items() if key in live}
    accepted = {key: sum(request.accepts(*u) for u in unread) for key, unread in counting.items()}
    labels = json.dumps(dict(request.labels)) if request.labels else _labels(before)
    manifest = [
        row
        | {
            "Kernels": kernels[_key(row)],
            "Problems": len(counting.get(_key(row), ())) - accepted.get(_key(row), 0),
            "Accepted": accepted.get(_key(row), 0),
            "Labels": labels,
            "Run": run_of(run),
        }
        for row in rows
    ]
    if _content(manifest) != _content(before):
        scratch = _scratch(request)
        request.dataset.write_manifest(request.build, request.shard, manifest, scratch)
    _tidy(request, live, {*kernels, *problems})
    return BuildRecord(manifest, list(chain.from_iterable(counting.values())))


def _key(row: DatasetRow) -> RowKey:
    return row["Url"], row["Part"]


def _content(manifest: Iterable[DatasetRow]) -> set[frozenset[tuple[str, object]]]:
    """The manifest's rows without the run that wrote them."""
    return {frozenset((row | {"Run": None}).items()) for row in manifest}


def _labels(manifest: Sequence[DatasetRow]) -> str | None:
    return next((row["Labels"] for row in manifest), None)


def _own(request: ScanRequest, table: TableName) -> list[str]:
    """Files of the build that this scan owns: those of its shard."""
    files = request.dataset.files(table, request.build)
    return [file for file in files if shard_of(part_of(file)) == request.shard]


def _counted(request: ScanRequest) -> tuple[Counter[RowKey], dict[RowKey, list[UnreadFile]]]:
    """(address, part) → number of kernels, and (address, part) → problems. Parts that do not count
    are included."""
    dataset = request.dataset
    with dataset.storage.connect() as connection:
        for table in ("kernels", "problems"):
            open_files(connection, dataset, table, _own(request, table))
        counts = connection.execute("SELECT Url, Part, count(*) FROM all_kernels GROUP BY ALL")
        kernels = Counter({(url, part): count for url, part, count in counts.fetchall()})
        columns = 'Url, Path, Part, Message, Code, Member, "Offset", Line'
        rows = connection.execute(f"SELECT {columns} FROM all_problems ORDER BY ALL").fetchall()
    problems = defaultdict[RowKey, list[UnreadFile]](list)
    for url, path, part, message, code, member, offset, line in rows:
        text = Message(message or "", code or "")
        problem = Problem(url or "", text, member, offset, line)
        problems[problem.path, part].append((path or "", problem))
    return kernels, problems


def _tidy(request: ScanRequest, live: Set[RowKey], there: Iterable[RowKey]) -> None:
    """Delete data that no longer counts: parts of interrupted runs, rows of files that a later part
    replaces, and rows of `inputs` that the manifest has.

    `live` holds the (address, part) pairs that count, `there` the pairs of all rows of `kernels`
    and `problems`.
    """
    parts = {part for _, part in live}
    stale = defaultdict[str, list[str]](list)  # part that counts -> addresses that do not
    for url, part in there:
        if part in parts and (url, part) not in live:
            stale[part].append(url)
    storage = request.dataset.storage
    for table in TABLES:
        for file in _own(request, table):
            part = part_of(file)
            if is_manifest(file):
                continue
            if table == "inputs" or part not in parts:
                storage.delete(file)
            elif part in stale:
                _drop_rows(storage, file, stale[part])
        folder = request.dataset.folder(table, request.build)
        for name, to_be in storage.hidden(folder):
            if shard_of(part_of(to_be)) == request.shard:
                storage.delete(f"{folder}/{name}")
    if not request.dataset.files("problems", request.build):
        request.dataset.write_no_problems(request.build, request.shard)


def _drop_rows(storage: Storage, file: str, urls: Sequence[str]) -> None:
    rows = f"read_parquet({quoted(as_written(file))}, hive_partitioning=false)"
    query = f"SELECT * FROM {rows} WHERE NOT list_contains($stale, Url)"
    with storage.connect() as connection:
        storage.write_rows(connection, query, file, stale=urls)


# One writer per build: a lock file that names its holder and the time until it holds.

_RENEWED = 60  # seconds between renewals
_HELD = 3600  # seconds from a renewal until another scan may take the lock over
_LONGEST = 7 * 86_400  # seconds; no scan holds a lock for longer without a renewal
_POLL = 1  # seconds between two looks at a lock that is waited for


class Holder(NamedTuple):
    """The scan that holds a lock."""

    host: str
    machine: str  # tells apart containers of one host
    process: int
    begun: str  # start of the process in the system's own words; empty if it does not say
    since: str  # ISO 8601, UTC
    until: float  # seconds since 1970

    @property
    def is_over(self) -> bool:
        """True if the lock expired, or its process ran here and has exited."""
        if time.time() > self.until:
            return True
        if self.machine != _machine():
            return False
        return not _lives(self.process) or _start_of(self.process) not in ("", self.begun)

    def __str__(self) -> str:
        return say("scan-holding", host=self.host, process=self.process, since=self.since)


class Lock:
    """A lock on a build, or on one shard of it."""

    def __init__(self, dataset: Dataset, build: str, shard: str, patience: float) -> None:
        """`patience` is the time in seconds that the holder may take for one file."""
        self._storage = dataset.storage
        self._path = f"{dataset.folder('inputs', build)}/{part_prefix(shard)}lock"
        part = say("shard-of-build", shard=shard) if shard else ""
        self._what = say("build-of-dataset", dataset=dataset.name, build=build, shard=part)
        self._patience = patience
        self._renewed = 0.0
        self._own: Holder | None = None

    def take(self) -> Holder | None:
        """Take the lock. Returns None, or the holder if another scan holds the lock."""
        claim = self._new()
        if not self._storage.create(self._path, _content_of(claim)):
            holder = self.holder()
            if holder is not None and not holder.is_over:
                return holder
            self._storage.delete(self._path)
            if not self._storage.create(self._path, _content_of(claim)):
                return self.holder() or claim
        self._own, self._renewed = claim, time.time()
        return None

    def _new(self) -> Holder:
        now, process = time.time(), os.getpid()
        return Holder(
            host=platform.node(),
            machine=_machine(),
            process=process,
            begun=_start_of(process),
            since=datetime.now(UTC).isoformat(timespec="seconds"),
            until=now + min(_HELD + 2 * self._patience, _LONGEST / 2),
        )

    def holder(self) -> Holder | None:
        """The scan that holds the lock; None if none does, or the file is damaged."""
        content = self._storage.read(self._path)
        try:
            scan = Holder(**json.loads(content or b""))
            scan = scan._replace(process=int(scan.process), until=float(scan.until))
            return scan if scan.until < time.time() + _LONGEST else None
        except (TypeError, ValueError, OverflowError, RecursionError):
            return None

    def renew(self) -> None:
        """Extend the lock; writes at most once a minute. Raises `KernelinfoError` if it was taken
        over."""
        if self._own is not None and time.time() > self._renewed + _RENEWED:
            self.check()
            self._own = self._own._replace(until=self._new().until)
            self._storage.replace(self._path, _content_of(self._own))
            self._renewed = time.time()

    def check(self) -> None:
        """Raises `KernelinfoError` if this scan no longer holds the lock: another one has taken it
        over, or the lock's file is gone or damaged."""
        holder = self.holder()
        if holder is None:
            raise KernelinfoError(say("scan-unknown", build=self._what))
        if self._own is None or holder._replace(until=0) != self._own._replace(until=0):
            raise KernelinfoError(say("build-taken-over", build=self._what, scan=holder))

    def release(self) -> None:
        """Delete the lock unless another scan has taken it over."""
        with suppress(KernelinfoError):
            self.check()
            self._storage.delete(self._path)
        self._own = None

    def refused(self, holder: Holder) -> KernelinfoError:
        """The error for a build that another scan is writing."""
        return KernelinfoError(say("build-locked", build=self._what, scan=holder))


@contextmanager
def held(
    lock: Lock, *, wait: bool = False, tell: Callable[[str], object] = lambda text: None
) -> Iterator[None]:
    """Hold a lock. Raises `KernelinfoError` if another scan holds it; with `wait`, names that
    scan once through `tell` and waits until the lock is free."""
    is_told = False
    while holder := lock.take():
        if not wait:
            raise lock.refused(holder)
        if not is_told:
            tell(say("build-waiting", scan=holder))
        is_told = True
        time.sleep(_POLL)
    try:
        yield
    finally:
        lock.release()


def _content_of(holder: Holder) -> bytes:
    return json.dumps(holder._asdict()).encode()


def _machine() -> str:
    """Host and process namespace. Process numbers of different namespaces are not comparable."""
    namespace = ""
    with suppress(OSError, AttributeError):
        namespace = os.readlink("/proc/self/ns/pid")
    return f"{platform.node()} {namespace}".rstrip()


def _lives(process: int) -> bool:
    """False if no process has this number; True if the system cannot tell."""
    if os.name == "posix":  # Windows has no signal 0
        with suppress(PermissionError, OverflowError):
            try:
                os.kill(process, 0)
            except ProcessLookupError:
                return False
    return True


def _start_of(process: int) -> str:
    """When the process began, in ticks since the system started, or `ended`; empty if /proc does
    not say."""
    with suppress(OSError, IndexError):
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as status:
            fields = status.read().rpartition(")")[2].split()
        return "ended" if fields[0] in "ZX" else fields[19]  # proc(5): state, starttime
    return ""
