"""The dataset: Parquet files in `TABLE/Build=NAME/`, on a disk or in an object store.

Table `kernels` has one row per kernel, `problems` one per unread input, `inputs` one per file of
the build. A part holds the rows of one task, in files `PART.….parquet` of each table. The manifest,
a file of `inputs`, ends a scan: it lists the files of the build, each with the part that has its
rows. A row counts if the manifest lists its file with its part. Until then the rows of `inputs` in
parts say what is done, for the next run.

A build may be scanned in shards, such as the jobs of a CI matrix. Each shard has a manifest, and
its files' names begin with `SHARD~`.
"""

from __future__ import annotations

import json
import os
import platform
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from kernelinfo import __version__
from kernelinfo.errors import KernelinfoError, OptionError
from kernelinfo.fleet.listing import address
from kernelinfo.fleet.messages import say
from kernelinfo.fleet.storage import Storage
from kernelinfo.kernel.code_object import library_of
from kernelinfo.kernel.record import COLUMNS, INSTRUCTIONS

TableName = Literal["kernels", "problems", "inputs"]
TABLES: tuple[TableName, ...] = ("kernels", "problems", "inputs")
"""In the order of writing: a part counts only once its rows of `inputs` are there."""
ColumnTypes = dict[str, str]  # column -> DuckDB type
DatasetRow = dict[str, Any]  # column -> value

_SUFFIX = ".parquet"
_BUILD_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_SHARD_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_SHARD_ENDS = "~"
_MANIFEST = "manifest"
_TYPES = {
    "string": "VARCHAR",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
    "array": "VARCHAR[]",
}
"""Type in JSON -> DuckDB type."""
INPUTS: ColumnTypes = {
    "Path": "VARCHAR",
    "Url": "VARCHAR",
    "Size": "BIGINT",
    "Modified": "VARCHAR",
    "Kernelinfo_Version": "VARCHAR",
    "Options": "VARCHAR",
    "Part": "VARCHAR",
}
MANIFEST: ColumnTypes = INPUTS | {
    "Kernels": "BIGINT",
    "Problems": "BIGINT",
    "Accepted": "BIGINT",
    "Labels": "VARCHAR",
    "Run": "VARCHAR",
}
PROBLEMS: ColumnTypes = {
    "Url": "VARCHAR",
    "Path": "VARCHAR",
    "Member": "VARCHAR",
    "Offset": "BIGINT",
    "Line": "BIGINT",
    "Message": "VARCHAR",
    "Code": "VARCHAR",
    "Kernelinfo_Version": "VARCHAR",
}
_OPENED: ColumnTypes = {
    "Opened": "VARCHAR",
    "Path": "VARCHAR",
    "Url": "VARCHAR",
    "Library": "VARCHAR",
}


def check_destination(url: str, build: str, shard: str = "") -> None:
    """Check `--to`, `--build` and `--shard`. Raises `OptionError` for a URL that takes no files, or
    a name that a path or Hive partition would escape."""
    if _BUILD_NAME.fullmatch(build) is None:
        raise OptionError(say("build-name", name=build))
    if shard and _SHARD_NAME.fullmatch(shard) is None:
        raise OptionError(say("shard-name", name=shard))
    if url.startswith(("http://", "https://")):
        raise OptionError(say("destination-read-only", address=address(url)))


def row_columns() -> ColumnTypes:
    """Column -> DuckDB type of table `kernels`: those of every record."""
    return {column.name: _TYPES[column.type] for column in (*COLUMNS, *INSTRUCTIONS)}


class Dataset:
    """A dataset at a path or URL. Raises `KernelinfoError` if its store cannot be used."""

    def __init__(self, url: str) -> None:
        self.storage = Storage(url)

    @property
    def name(self) -> str:
        """The dataset's address without user, password and query."""
        return address(self.storage.url)

    def unknown_build(self, option: str, builds: Sequence[str]) -> OptionError:
        """The error of an option that names none of the builds; the last ten are listed."""
        listed = ", ".join(builds[-10:]) or say("builds-none")
        return OptionError(say("build-unknown", option=option, dataset=self.name, builds=listed))

    def builds(self) -> list[str]:
        """Names of all builds, sorted. A folder without files of `inputs` is not a build yet."""
        folders = sorted(self.storage.names(f"{self.storage.root}/inputs"))
        names = (name.partition("=")[2] for name in folders if name.startswith("Build="))
        return [name for name in names if self.files("inputs", name)]

    def shards(self, build: str) -> set[str]:
        """Names of the shards of a build; an empty name for files of no shard."""
        return {shard_of(part_of(file)) for file in self.files("inputs", build)}

    def folder(self, table: TableName, build: str) -> str:
        return f"{self.storage.root}/{table}/Build={build}"

    def files(self, table: TableName, build: str) -> list[str]:
        """Paths or URLs of a table's Parquet files, latest part of a shard last. Raises
        `KernelinfoError` if a file of a local dataset is not a regular file."""
        folder = self.folder(table, build)
        names = (name for name in self.storage.names(folder) if name.endswith(_SUFFIX))
        paths = [f"{folder}/{name}" for name in sorted(names) if name[0] != "."]
        for path in paths:
            self.storage.check_regular(path)
        return [self.storage.address_of(path) for path in paths]

    def write_part(self, build: str, name: str, scratch: str) -> None:
        """Write a part from a folder of `TABLE.jsonl`, `inputs` last; delete the written rows."""
        with self.storage.connect(scratch) as connection:
            for table in TABLES:
                rows = _lines_of(table, scratch)
                if os.path.exists(rows) and os.path.getsize(rows):
                    path = f"{self.folder(table, build)}/{name}{_SUFFIX}"
                    self.storage.write_rows(connection, _query(table, scratch), path)
                    os.unlink(rows)

    def write_manifest(
        self, build: str, shard: str, rows: Iterable[Mapping[str, object]], scratch: str
    ) -> None:
        """Replace the manifest of a build, or of one shard of it, by rows of `MANIFEST`."""
        write_lines(scratch, _MANIFEST, rows)
        path = f"{self.folder('inputs', build)}/{part_prefix(shard)}{_MANIFEST}{_SUFFIX}"
        with self.storage.connect(scratch) as connection:
            query = f"FROM {_read(_MANIFEST, scratch, MANIFEST)}"
            self.storage.write_rows(connection, query, path)
        os.unlink(_lines_of(_MANIFEST, scratch))

    def write_no_problems(self, build: str, shard: str) -> None:
        """Write a file of `problems` without rows: queries over the table need at least one."""
        columns = ", ".join(f'NULL::{kind} AS "{name}"' for name, kind in PROBLEMS.items())
        path = f"{self.folder('problems', build)}/{part_prefix(shard)}none{_SUFFIX}"
        with self.storage.connect() as connection:
            self.storage.write_rows(connection, f"SELECT {columns} WHERE false", path)

    def delete_build(self, build: str) -> None:
        """Delete all files of a build, `inputs` first: without them the build is not there."""
        for table in reversed(TABLES):
            self.storage.delete_folder(self.folder(table, build))


def part_prefix(shard: str) -> str:
    """The start of the names of a shard's files; empty for a build without shards."""
    return f"{shard}{_SHARD_ENDS}" if shard else ""


def part_of(file: str) -> str:
    """The part that a file belongs to; a manifest is a part of its own."""
    return file.rpartition("/")[2].partition(".")[0]


def shard_of(part: str) -> str:
    """The shard of a part; empty if the build has none."""
    return part.rpartition(_SHARD_ENDS)[0]


def run_of(part: str) -> str:
    """The run that wrote a part; runs sort by time."""
    return part.rpartition(_SHARD_ENDS)[2].partition("-")[0]


def is_manifest(file: str) -> bool:
    return run_of(part_of(file)) == _MANIFEST


def as_written(file: str) -> str:
    """The path with `*`, `?` and `[` escaped: DuckDB expands patterns even in lists of files."""
    return re.sub(r"[*?\[]", r"[\g<0>]", file)


def quoted(text: str) -> str:
    """The text as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def listed(files: Sequence[str]) -> str:
    """Paths as an SQL list."""
    return ", ".join(quoted(as_written(file)) for file in files)


def _query(table: TableName, scratch: str) -> str:
    """SQL for the rows of a table in a folder; kernels get their file's path and address."""
    if table != "kernels":
        return f"FROM {_read(table, scratch, PROBLEMS if table == 'problems' else INPUTS)}"
    kernels, opened = _read(table, scratch, row_columns()), _read("opened", scratch, _OPENED)
    columns = (
        "k.* REPLACE (o.Path AS Path, coalesce(o.Library, k.Library) AS Library), o.Url,"
        f" '{__version__}' AS Kernelinfo_Version"
    )
    both = f"{kernels} k LEFT JOIN {opened} o ON k.Path = o.Opened"
    return f"SELECT {columns} FROM {both} ORDER BY Target"


def _read(name: str, scratch: str, columns: ColumnTypes) -> str:
    lines = quoted(_lines_of(name, scratch))
    return f"read_json({lines}, columns={columns}, format='newline_delimited')"


def _lines_of(name: str, scratch: str) -> str:
    return os.path.join(scratch, f"{name}.jsonl")


def opened_row(opened: str, path: str, url: str) -> DatasetRow:
    """A row that names the file behind the `Path` of kernels in a scratch folder."""
    return {"Opened": opened, "Path": path, "Url": url, "Library": library_of(path)}


def write_lines(scratch: str, name: str, rows: Iterable[Mapping[str, object]]) -> None:
    """Write rows as JSON lines into a scratch folder, for `Dataset.write_part`."""
    append_lines(scratch, name, "".join(json.dumps(row) + "\n" for row in rows))


def append_lines(scratch: str, name: str, lines: str) -> int:
    """Append JSON lines to `NAME.jsonl` in a folder. Returns the size of that file in bytes."""
    with open(_lines_of(name, scratch), "a", encoding="utf-8") as file:
        file.write(lines)
        return file.tell()


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
        return not _lives(self.process) or _begun(self.process) not in ("", self.begun)

    def __str__(self) -> str:
        return say("scan-holding", host=self.host, process=self.process, since=self.since)


class Lock:
    """A lock on a build, or on one shard of it."""

    def __init__(self, dataset: Dataset, build: str, shard: str, patience: float) -> None:
        """`patience` in seconds is how long the holder may take for one file."""
        self._storage = dataset.storage
        self._path = f"{dataset.folder('inputs', build)}/{part_prefix(shard)}lock"
        part = say("shard-of-build", shard=shard) if shard else ""
        self._what = say("build-of-dataset", dataset=dataset.name, build=build, shard=part)
        self._patience = patience
        self._renewed = 0.0
        self._own: Holder | None = None

    def take(self) -> Holder | None:
        """Take the lock. Returns its holder if another scan holds it."""
        claim = self._new()
        if not self._storage.create(self._path, _written(claim)):
            holder = self.holder()
            if holder is not None and not holder.is_over:
                return holder
            self._storage.delete(self._path)
            if not self._storage.create(self._path, _written(claim)):
                return self.holder() or claim
        self._own, self._renewed = claim, time.time()
        return None

    def _new(self) -> Holder:
        now, process = time.time(), os.getpid()
        return Holder(
            host=platform.node(),
            machine=_machine(),
            process=process,
            begun=_begun(process),
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
        """Hold the lock longer, written at most once a minute. Raises `KernelinfoError` if it was
        taken over."""
        if self._own is not None and time.time() > self._renewed + _RENEWED:
            self.check()
            self._own = self._own._replace(until=self._new().until)
            self._storage.replace(self._path, _written(self._own))
            self._renewed = time.time()

    def check(self) -> None:
        """Raises `KernelinfoError` if another scan has taken the lock over."""
        holder = self.holder()
        if (
            self._own is None
            or holder is None
            or holder._replace(until=0) != self._own._replace(until=0)
        ):
            other = holder or say("scan-unknown")
            raise KernelinfoError(say("build-taken-over", build=self._what, scan=other))

    def release(self) -> None:
        """Delete the lock unless another scan has taken it over."""
        with suppress(KernelinfoError):
            self.check()
            self._storage.delete(self._path)
        self._own = None

    def refused(self, holder: Holder) -> KernelinfoError:
        """The error for a build that another scan writes."""
        return KernelinfoError(say("build-locked", build=self._what, scan=holder))


@contextmanager
def held(
    lock: Lock, *, wait: bool = False, tell: Callable[[str], object] = lambda text: None
) -> Iterator[None]:
    """Hold a lock. Raises `KernelinfoError` if another scan holds it; with `wait` says so once and
    waits until it is free."""
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


def _written(holder: Holder) -> bytes:
    return json.dumps(holder._asdict()).encode()


def _machine() -> str:
    """Host and process namespace: process numbers compare only within one."""
    namespace = ""
    with suppress(OSError, AttributeError):
        namespace = os.readlink("/proc/self/ns/pid")
    return f"{platform.node()} {namespace}".rstrip()


def _lives(process: int) -> bool:
    """False if no process has this number; True if the system does not say."""
    if os.name == "posix":  # Windows has no signal 0
        with suppress(PermissionError, OverflowError):
            try:
                os.kill(process, 0)
            except ProcessLookupError:
                return False
    return True


def _begun(process: int) -> str:
    """When the process began, in ticks since the system started, or `ended`; empty if /proc does
    not say."""
    with suppress(OSError, IndexError):
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as status:
            fields = status.read().rpartition(")")[2].split()
        return "ended" if fields[0] in "ZX" else fields[19]  # proc(5): state, starttime
    return ""
