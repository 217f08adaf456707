"""The dataset: Parquet files in `TABLE/Build=NAME/`, on a disk or in an object store.

Table `kernels` has one row per kernel, `problems` one per unread input, `inputs` one per file that
is done. A part holds the rows of one task, in files `PART.….parquet` of each table. Names of parts
sort by time. If several parts have rows of the same input file, only the latest part counts.
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Literal

import duckdb

from kernelinfo import __version__
from kernelinfo.errors import KernelinfoError, OptionError
from kernelinfo.fleet import web
from kernelinfo.fleet.listing import address, is_local, store_error
from kernelinfo.package_file import read_package_file

TableName = Literal["kernels", "problems", "inputs"]
_TABLES: tuple[TableName, ...] = ("kernels", "problems", "inputs")
"""In the order of writing: a part counts only once its rows of `inputs` are there."""
ColumnTypes = dict[str, str]  # column -> DuckDB type

_SUFFIX = ".parquet"
_ASIDE = ".tmp"
_BUILD_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_TYPES = {
    "string": "VARCHAR",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
    "array": "VARCHAR[]",
}
"""JSON Schema type -> DuckDB type."""
INPUTS: ColumnTypes = {
    "Url": "VARCHAR",
    "Size": "BIGINT",
    "Modified": "VARCHAR",
    "Kernelinfo_Version": "VARCHAR",
    "Options": "VARCHAR",
    "Part": "VARCHAR",
}
PROBLEMS: ColumnTypes = {
    "Url": "VARCHAR",
    "Path": "VARCHAR",
    "Member": "VARCHAR",
    "Offset": "BIGINT",
    "Line": "BIGINT",
    "Message": "VARCHAR",
    "Kernelinfo_Version": "VARCHAR",
}
_OPENED: ColumnTypes = {"Opened": "VARCHAR", "Path": "VARCHAR", "Url": "VARCHAR"}
_MEMORY = "160MB"  # memory limit of DuckDB in a worker; larger sorts use its disk


def check_destination(url: str, build: str) -> None:
    """Check `--to` and `--build`. Raises `OptionError` for a URL that takes no files, or a name
    that a path or Hive partition would escape."""
    if _BUILD_NAME.fullmatch(build) is None:
        raise OptionError(f"--build {build}: use letters, digits, `.`, `_` and `-` alone")
    if url.startswith(("http://", "https://")):
        raise OptionError(f"--to {address(url)}: cannot be written; give a folder or s3://…")


def row_columns() -> ColumnTypes:
    """Column -> DuckDB type of table `kernels`, from render/row-schema.json."""
    schema = json.loads(read_package_file(os.path.join(_PACKAGE, "render", "row-schema.json")))
    kinds = {name: described["type"] for name, described in schema["properties"].items()}
    return {name: _TYPES[of if isinstance(of, str) else of[0]] for name, of in kinds.items()}


_PACKAGE = os.path.dirname(os.path.dirname(__file__))


class Dataset:
    """A dataset at a path or URL. Raises `KernelinfoError` if its store cannot be used."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._is_local = is_local(url)
        self._fs: Any = None  # fsspec file system; None on a disk
        root = address(url)
        if not self._is_local:
            try:
                self._fs, root = web.store(url)
            except Exception as error:  # libraries of stores share no error class
                raise store_error(url, error) from error
        self._root = root.rstrip("/")

    def __reduce__(self) -> tuple[Any, ...]:
        return Dataset, (self.url,)

    @property
    def name(self) -> str:
        """The dataset's address without user, password and query."""
        return address(self.url)

    @contextmanager
    def connect(self, scratch: str | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
        """A DuckDB connection that can read and write the dataset; its errors are
        `KernelinfoError`.

        With a `scratch` folder, as in a worker, it has one thread and 160 MB of memory.
        """
        small = {"threads": 1, "memory_limit": _MEMORY, "temp_directory": scratch}
        with duckdb.connect(config=small if scratch else {}) as connection:
            if not self._is_local:
                connection.register_filesystem(self._fs)
            try:
                yield connection
            except (duckdb.Error, OSError) as error:
                raise store_error(self.url, error) from error

    def builds(self) -> list[str]:
        """Names of all builds, sorted."""
        folders = self._names(f"{self._root}/inputs")
        return sorted(name.partition("=")[2] for name in folders if name.startswith("Build="))

    def files(self, table: TableName, build: str) -> list[str]:
        """Paths or URLs of a table's Parquet files, latest part last. Raises `KernelinfoError` if a
        file of a local dataset is not a regular file."""
        folder = self._folder(table, build)
        names = (name for name in self._names(folder) if name.endswith(_SUFFIX))
        files = [self._url(f"{folder}/{name}") for name in sorted(names) if name[0] != "."]
        for file in files if self._is_local else ():
            if not os.path.isfile(file):  # opening a FIFO blocks until a writer comes
                raise KernelinfoError(f"{file}: is no regular file; delete it")
        return files

    def _names(self, folder: str) -> list[str]:
        try:
            if self._is_local:
                return os.listdir(folder)
            self._fs.invalidate_cache()
            paths = self._fs.ls(folder, detail=False)
        except FileNotFoundError:
            return []
        except Exception as error:
            raise store_error(self.url, error) from error
        return [path.rstrip("/").rpartition("/")[2] for path in paths]

    def _folder(self, table: TableName, build: str) -> str:
        return f"{self._root}/{table}/Build={build}"

    def _url(self, path: str) -> str:
        return path if self._is_local else str(self._fs.unstrip_protocol(path))

    def _write(
        self, connection: duckdb.DuckDBPyConnection, query: str, file: str, **parameters: object
    ) -> None:
        """Write the rows of a query: a local file is renamed when complete, a store gets one
        PUT."""
        where = file
        if self._is_local:
            folder, name = os.path.split(file)
            os.makedirs(folder, exist_ok=True)
            where = os.path.join(folder, f".{name}{_ASIDE}")
        connection.execute(f"COPY ({query}) TO {quoted(where)} (FORMAT parquet)", parameters)
        if self._is_local:
            os.replace(where, file)

    def write_part(self, build: str, name: str, scratch: str) -> None:
        """Write a part from a folder of `TABLE.jsonl`, `inputs` last; delete the written rows."""
        with self.connect(scratch) as connection:
            for table in _TABLES:
                rows = _lines_of(table, scratch)
                if os.path.exists(rows) and os.path.getsize(rows):
                    file = self._url(f"{self._folder(table, build)}/{name}{_SUFFIX}")
                    self._write(connection, _query(table, scratch), file)
                    os.unlink(rows)

    def done(self, build: str) -> dict[str, dict[str, Any]]:
        """Address -> its latest row of `inputs`."""
        return {row["Url"]: row for row in self._inputs(build)}

    def _inputs(self, build: str) -> list[dict[str, Any]]:
        """All rows of `inputs`, latest part last."""
        query = f"SELECT {', '.join(INPUTS)} FROM {PARTS} ORDER BY Part"
        rows = self._answer("inputs", build, query)
        return [dict(zip(INPUTS, row, strict=True)) for row in rows]

    def _answer(self, table: TableName, build: str, query: str, **parameters: str) -> list[Any]:
        """Rows of a query over all files of a table (`PARTS`); empty if there are no files."""
        if not (files := self.files(table, build)):
            return []
        with self.connect() as connection:
            found: list[Any] = connection.execute(
                query, {"files": [*map(as_written, files)], **parameters}
            ).fetchall()
            return found

    def tidy(self, build: str) -> None:
        """Delete rows that a later part replaces, and parts without a row in `inputs`.

        This removes the leftovers of interrupted runs. Raises `KernelinfoError`.
        """
        rows = self._inputs(build)
        latest = {row["Url"]: row["Part"] for row in rows}
        live, stale = set(latest.values()), defaultdict[str, set[str]](set)
        for row in rows:
            if latest[row["Url"]] != row["Part"]:
                stale[row["Part"]].add(row["Url"])
        for table in _TABLES:
            for file in self.files(table, build):
                part = part_of(file)
                if part not in live:
                    self._delete(file)
                elif part in stale:
                    self._drop_rows(file, sorted(stale[part]))
            self._delete_halves(table, build)

    def _drop_rows(self, file: str, urls: Sequence[str]) -> None:
        query = f"SELECT * FROM {PARTS} WHERE NOT list_contains($stale, Url)"
        with self.connect() as connection:
            self._write(connection, query, file, files=[as_written(file)], stale=urls)

    def _delete_halves(self, table: TableName, build: str) -> None:
        """Delete temporary files that a killed run had not renamed yet."""
        folder = self._folder(table, build)
        for name in self._names(folder) if self._is_local else ():
            if name.startswith(".") and name.endswith(_ASIDE):
                self._delete(f"{folder}/{name}")

    def _delete(self, file: str) -> None:
        with suppress(FileNotFoundError):
            if self._is_local:
                os.unlink(file)
            else:
                self._fs.rm_file(self._fs._strip_protocol(file))

    def count(self, build: str, under: str) -> int:
        """Number of kernels in files at or below an address."""
        query = f"SELECT count(*) FROM {PARTS} WHERE {_UNDER}"
        return sum(n for (n,) in self._answer("kernels", build, query, **_addresses(under)))

    def distinct_kernels(self, build: str, under: Sequence[str]) -> set[tuple[str, str, str]]:
        """(name, symbol, processor) of each kernel in files at or below some addresses."""
        columns = "DISTINCT Kernel_Name, Symbol, split_part(Target, ':', 1)"
        query = f"SELECT {columns} FROM {PARTS} WHERE {_UNDER}"
        return {
            kernel
            for one in under
            for kernel in self._answer("kernels", build, query, **_addresses(one))
        }

    def problems(self, build: str) -> list[tuple[Any, ...]]:
        """(URL, member, offset in bytes, line, message) of each problem of a build."""
        query = f'SELECT Url, Member, "Offset", Line, Message FROM {PARTS} ORDER BY ALL'
        return self._answer("problems", build, query)


PARTS = "read_parquet($files, hive_partitioning=false, union_by_name=true)"
"""SQL for the rows of the files `$files`, all of one table."""
_UNDER = "(Url = $under OR starts_with(Url, $folder))"
"""SQL condition: the row's input file is at or below an address."""


def _addresses(under: str) -> dict[str, str]:
    """Query parameters of `_UNDER` for one address."""
    return {"under": under, "folder": under.rstrip("/") + "/"}


def part_of(file: str) -> str:
    return file.rpartition("/")[2].partition(".")[0]


def as_written(file: str) -> str:
    """The path with `*`, `?` and `[` escaped: DuckDB expands patterns even in lists of files."""
    return re.sub(r"[*?\[]", r"[\g<0>]", file)


def quoted(text: str) -> str:
    """The text as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def _query(table: TableName, scratch: str) -> str:
    """SQL for the rows of a table in a folder; kernels get their file's path and address."""
    if table != "kernels":
        return f"FROM {_read(table, scratch, PROBLEMS if table == 'problems' else INPUTS)}"
    kernels, opened = _read(table, scratch, row_columns()), _read("opened", scratch, _OPENED)
    columns = f"k.* REPLACE (o.Path AS Path), o.Url, '{__version__}' AS Kernelinfo_Version"
    both = f"{kernels} k LEFT JOIN {opened} o ON k.Path = o.Opened"
    return f"SELECT {columns} FROM {both} ORDER BY Target"


def _read(name: str, scratch: str, columns: ColumnTypes) -> str:
    lines = quoted(_lines_of(name, scratch))
    return f"read_json({lines}, columns={columns}, format='newline_delimited')"


def _lines_of(name: str, scratch: str) -> str:
    return os.path.join(scratch, f"{name}.jsonl")


def write_lines(scratch: str, name: str, rows: Iterable[Mapping[str, object]]) -> None:
    """Write rows as JSON lines into a scratch folder, for `Dataset.write_part`."""
    append_lines(scratch, name, "".join(json.dumps(row) + "\n" for row in rows))


def append_lines(scratch: str, name: str, lines: str) -> int:
    """Append JSON lines to `NAME.jsonl` in a folder. Returns the size of that file in bytes."""
    with open(_lines_of(name, scratch), "a", encoding="utf-8") as file:
        file.write(lines)
        return file.tell()
