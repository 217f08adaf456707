"""The end of a scan: problems counted, the manifest replaced, rows deleted that no longer count."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence, Set
from typing import NamedTuple

from kernelinfo.errors import Message
from kernelinfo.fleet.acceptance import KnownProblem, accepted
from kernelinfo.fleet.dataset import (
    MANIFEST,
    TABLES,
    DatasetRow,
    TableName,
    as_written,
    is_manifest,
    part_of,
    quoted,
    run_of,
    shard_of,
)
from kernelinfo.fleet.listing import InputFile
from kernelinfo.fleet.storage import Storage
from kernelinfo.fleet.tables import open_files
from kernelinfo.fleet.worker import ScanRequest
from kernelinfo.reading.blob import Problem

LISTING = "listing"
"""Last part of the name of a part with problems of the listing."""
RowKey = tuple[str, str]  # (Url, Part)


class UnreadFile(NamedTuple):
    """A problem of a build."""

    path: str  # of its file, relative to the root
    problem: Problem  # its `path` is the file's address
    part: str

    @property
    def key(self) -> RowKey:
        return self.problem.path, self.part

    @property
    def known(self) -> KnownProblem:
        """The problem in the form that recognises it in another build."""
        return accepted(self.path, self.problem)


class BuildRecord(NamedTuple):
    """A build, or a shard of it, after a scan."""

    manifest: list[DatasetRow]
    problems: list[UnreadFile]


def done(request: ScanRequest) -> tuple[list[DatasetRow], dict[str, DatasetRow]]:
    """(the manifest, path -> its row of `inputs` that is done) of the build or shard.

    Parts that are later than the manifest are of a run that ended early: their files are done, too.
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
    """Write the manifest of a new build: all files, none of them read."""
    rows = (_unread(request, file) for file in files)
    request.dataset.write_manifest(request.build, request.shard, rows, _scratch(request))


def _scratch(request: ScanRequest) -> str:
    assert request.scratch is not None
    return request.scratch


def _unread(request: ScanRequest, file: InputFile) -> DatasetRow:
    """The manifest's row of a file that no scan has read yet."""
    return dict.fromkeys(MANIFEST) | request.input_row(file) | {"Url": file.address}


def end(
    request: ScanRequest, files: Sequence[InputFile], before: Sequence[DatasetRow], run: str
) -> BuildRecord:
    """Replace the manifest of a build or shard, then delete what no longer counts.

    `before` is the manifest so far, `run` the prefix of this run's parts. Raises `KernelinfoError`.
    """
    _, read = done(request)
    listed = {file.path for file in files}
    rows = [read.get(file.path) or _unread(request, file) for file in files]
    entries = (row for path, row in read.items() if path not in listed)
    rows += (row for row in entries if row["Part"] == f"{run}-{LISTING}")
    live = set(map(_key, rows))
    kernels, problems = _counted(request)
    counting = [problem for problem in problems if problem.key in live]
    accepted = Counter(problem.key for problem in counting if request.accepts(problem.known))
    all_problems = Counter(problem.key for problem in counting)
    labels = json.dumps(dict(request.labels)) if request.labels else _labels(before)
    manifest = [
        row
        | {
            "Kernels": kernels[_key(row)],
            "Problems": all_problems[_key(row)] - accepted[_key(row)],
            "Accepted": accepted[_key(row)],
            "Labels": labels,
            "Run": run_of(run),
        }
        for row in rows
    ]
    if _content(manifest) != _content(before):
        scratch = _scratch(request)
        request.dataset.write_manifest(request.build, request.shard, manifest, scratch)
    _tidy(request, live, {*kernels, *(problem.key for problem in problems)})
    return BuildRecord(manifest, counting)


def _key(row: DatasetRow) -> RowKey:
    return row["Url"], row["Part"]


def _content(manifest: Iterable[DatasetRow]) -> set[frozenset[tuple[str, object]]]:
    """The manifest's rows without the run that wrote them."""
    return {frozenset((row | {"Run": None}).items()) for row in manifest}


def _labels(manifest: Sequence[DatasetRow]) -> str | None:
    return next((row["Labels"] for row in manifest), None)


def _own(request: ScanRequest, table: TableName) -> list[str]:
    """Files of the build, or of the one shard of it, that this scan writes."""
    files = request.dataset.files(table, request.build)
    return [file for file in files if shard_of(part_of(file)) == request.shard]


def _counted(request: ScanRequest) -> tuple[Counter[RowKey], list[UnreadFile]]:
    """Number of kernels of each file and part, and all problems, also those that do not count."""
    dataset = request.dataset
    with dataset.storage.connect() as connection:
        for table in ("kernels", "problems"):
            open_files(connection, dataset, table, _own(request, table))
        counts = connection.execute("SELECT Url, Part, count(*) FROM all_kernels GROUP BY ALL")
        kernels = Counter({(url, part): count for url, part, count in counts.fetchall()})
        columns = 'Url, Path, Part, Message, Code, Member, "Offset", Line'
        rows = connection.execute(f"SELECT {columns} FROM all_problems ORDER BY ALL").fetchall()
    problems = [
        UnreadFile(
            path or "",
            Problem(url or "", Message(message or "", code or ""), member, offset, line),
            part,
        )
        for url, path, part, message, code, member, offset, line in rows
    ]
    return kernels, problems


def _tidy(request: ScanRequest, live: Set[RowKey], there: Iterable[RowKey]) -> None:
    """Delete what no longer counts: parts of interrupted runs, rows of files that a later part
    replaces, and rows of `inputs` that the manifest has.

    `live` has address and part of what counts, `there` of all rows of kernels and problems.
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
