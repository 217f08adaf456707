"""The dataset: Parquet files in `TABLE/Build=NAME/`, on a disk or in an object store.

Table `kernels` has one row per kernel, `problems` one per unread input, `inputs` one per file of
the build. A part holds the rows of one task, in files `PART.….parquet` of each table. The manifest,
a file of `inputs`, ends a scan: it lists the files of the build, each with the part that has its
rows. A row counts if the manifest lists its file with its part. Until the scan ends, the rows of
`inputs` in parts tell the next run which files are done.

A build may be scanned in shards, such as the jobs of a CI matrix. Each shard has a manifest, and
its files' names begin with `SHARD~`.
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import duckdb

from kernelinfo import __version__
from kernelinfo.analysis.inputs import unmatched
from kernelinfo.analysis.options import Options
from kernelinfo.errors import KernelinfoError, Message, OptionError
from kernelinfo.fleet.listing import address
from kernelinfo.fleet.messages import say
from kernelinfo.fleet.storage import Storage
from kernelinfo.kernel.code_object import library_of
from kernelinfo.kernel.record import COLUMNS, INSTRUCTIONS
from kernelinfo.reading.messages import in_file

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
    """Check `--to`, `--build` and `--shard`. Raises `OptionError` for a URL that cannot be written,
    or a name that would have to be escaped in a path or Hive partition."""
    if _BUILD_NAME.fullmatch(build) is None:
        raise OptionError(say("build-name", name=build))
    if shard and _SHARD_NAME.fullmatch(shard) is None:
        raise OptionError(say("shard-name", name=shard))
    if url.startswith(("http://", "https://")):
        raise OptionError(say("destination-read-only", address=address(url)))


def row_columns() -> ColumnTypes:
    """The DuckDB type of each column of table `kernels`: the columns of every record."""
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
        """The error for an option that names an unknown build; it lists the last ten builds."""
        listed = ", ".join(builds[-10:]) or say("builds-none")
        return OptionError(say("build-unknown", option=option, dataset=self.name, builds=listed))

    def builds(self) -> list[str]:
        """Names of all builds, sorted. A folder without files of `inputs` is not a build yet."""
        folders = sorted(self.storage.names(f"{self.storage.root}/inputs"))
        names = (name.partition("=")[2] for name in folders if name.startswith("Build="))
        return [name for name in names if self.files("inputs", name)]

    def shards(self, build: str) -> set[str]:
        """Names of the shards of a build; files without a shard have the empty name."""
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
        """Write a file of `problems` without rows: queries need at least one file of the table."""
        columns = ", ".join(f'NULL::{kind} AS "{name}"' for name, kind in PROBLEMS.items())
        path = f"{self.folder('problems', build)}/{part_prefix(shard)}none{_SUFFIX}"
        with self.storage.connect() as connection:
            self.storage.write_rows(connection, f"SELECT {columns} WHERE false", path)

    def delete_build(self, build: str) -> None:
        """Delete all files of a build, `inputs` first: without those the build no longer exists."""
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
    """SQL that selects the rows of a table in a folder; kernels get their file's path and
    address."""
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
    """The row that leads from kernels to their file: `opened` is the `Path` that the kernels state,
    in the scratch folder; `path` and `url` are the file's path and address in the dataset."""
    return {"Opened": opened, "Path": path, "Url": url, "Library": library_of(path)}


def write_lines(scratch: str, name: str, rows: Iterable[Mapping[str, object]]) -> None:
    """Write rows as JSON lines into a scratch folder, for `Dataset.write_part`."""
    append_lines(scratch, name, "".join(json.dumps(row) + "\n" for row in rows))


def append_lines(scratch: str, name: str, lines: str) -> int:
    """Append JSON lines to `NAME.jsonl` in a folder. Returns the size of that file in bytes."""
    with open(_lines_of(name, scratch), "a", encoding="utf-8") as file:
        file.write(lines)
        return file.tell()


_KEY = ("Build", "Url", "Part")


def open_builds(
    connection: duckdb.DuckDBPyConnection, dataset: Dataset, builds: Sequence[str]
) -> None:
    """Create the views `inputs`, `kernels` and `problems`: the rows of these builds that count.

    A build of kernelinfo 0.2.0 has no manifest: the latest part of each address counts. Two shards
    may have a file of the same address; part names begin with the shard's name. A row of `inputs`
    whose `Part` is null is a file that no scan has read yet. Raises `KernelinfoError`.
    """
    for table in TABLES:
        files = [file for build in builds for file in _files_of(dataset, table, build)]
        open_files(connection, dataset, table, files)
    connection.execute(
        "CREATE TEMP TABLE current AS"
        " SELECT Build, Url, max(Part) AS Part FROM all_inputs"
        " GROUP BY Build, Url, coalesce(regexp_extract(Part, '^(.*)~', 1), '')"
    )
    same = " AND ".join(f"t.{name} IS NOT DISTINCT FROM c.{name}" for name in _KEY)
    for table in TABLES:
        connection.execute(
            f"CREATE TEMP VIEW {table} AS SELECT t.* FROM all_{table} t SEMI JOIN current c"
            f" ON {same}"
        )


def _files_of(dataset: Dataset, table: TableName, build: str) -> list[str]:
    files = dataset.files(table, build)
    return [file for file in files if is_manifest(file)] or files


def unmatched_choices(
    connection: duckdb.DuckDBPyConnection, view: str, options: Options
) -> tuple[Message, ...]:
    """A message for each `-k`, `--target` and `--member` that matches no kernel of a view. There
    are no messages if no option matches any kernel."""
    columns = "Kernel_Name, Symbol, Target, Member"
    kernels = connection.execute(f"SELECT DISTINCT {columns} FROM {view}").fetchall()
    met = {pair for kernel in kernels for pair in options.met(*kernel)}
    return tuple(unmatched(options, met)) if met else ()


def open_files(
    connection: duckdb.DuckDBPyConnection, dataset: Dataset, table: TableName, files: Sequence[str]
) -> None:
    """Create the view `all_TABLE`: all rows of some files, with `Build`, `Part` and `File`.

    `Part` is taken from the file's name, except in `inputs`, whose rows state it. Raises
    `KernelinfoError` for a file that no scan wrote.
    """
    columns = _columns(table)
    name = r"regexp_extract(File, 'Build=([^/]+)/([^./]+)[^/]*$', {})"
    part = "" if table == "inputs" else f", {name.format(2)} AS Part"
    typed = ", ".join(f'NULL::{kind} AS "{column}"' for column, kind in columns.items())
    rows = f"SELECT {typed}, NULL::VARCHAR AS File WHERE false"  # older files lack columns
    if files:
        _check_files(connection, dataset, table, listed(files))
        rows += (
            f" UNION ALL BY NAME FROM read_parquet([{listed(files)}], filename='File',"
            " hive_partitioning=false, union_by_name=true)"
        )
    kept = ", ".join(f'"{column}"' for column in (*columns, "File"))
    connection.execute(
        f"CREATE TEMP VIEW all_{table} AS SELECT {kept}, {name.format(1)} AS Build{part}"
        f" FROM ({rows})"
    )


def _columns(table: TableName) -> ColumnTypes:
    if table == "kernels":
        return row_columns() | {"Url": "VARCHAR"}
    return MANIFEST if table == "inputs" else PROBLEMS


_PARQUET = {
    "VARCHAR": ("BYTE_ARRAY", "UTF8"),
    "BIGINT": ("INT64", "INT_64"),
    "DOUBLE": ("DOUBLE", None),
    "BOOLEAN": ("BOOLEAN", None),
    "VARCHAR[]": (None, "LIST"),
}
"""DuckDB type -> Parquet's (physical type, converted type); None accepts any."""
_ROWS_TO_BYTES = 1 / 4  # most rows per byte of a file; real files take 14 bytes a row
_FEW_ROWS = 20_000  # rows that a file of any size may state


def _check_files(
    connection: duckdb.DuckDBPyConnection, dataset: Dataset, table: TableName, files: str
) -> None:
    """Check that the files have the columns of a scan; older files may lack some.

    Raises `KernelinfoError` for a file with other columns, or with more rows than its size can
    hold.
    """

    def refuse(file: str, wrong: Message) -> KernelinfoError:
        message = say("dataset-file-damaged", file=file.rpartition("/")[2], wrong=wrong)
        return KernelinfoError(in_file(dataset.name, message))

    query = f"SELECT file_name, num_rows, file_size_bytes FROM parquet_file_metadata([{files}])"
    for file, rows, size in connection.execute(query).fetchall():
        if rows > max(_FEW_ROWS, size * _ROWS_TO_BYTES):
            raise refuse(file, say("dataset-rows-too-many", rows=rows, size=size))
    columns = _columns(table)
    needed = {"Url", "Symbol"} if table == "kernels" else {"Url"}
    types = {name: _PARQUET[kind] for name, kind in columns.items()}
    names = defaultdict[str, list[str]](list)  # file -> columns
    query = f"SELECT file_name, name, type, converted_type FROM parquet_schema([{files}])"
    for file, name, *kinds in connection.execute(query).fetchall():
        # An unknown column, of a newer version, must have one type in all files.
        if types.setdefault(name, (kinds[0], kinds[1])) != tuple(kinds):
            raise refuse(file, say("dataset-columns"))
        names[file].append(name)
    for file, has in names.items():
        if not needed <= set(has) or any(has.count(name) > 1 for name in columns):
            raise refuse(file, say("dataset-columns"))
