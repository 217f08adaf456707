"""Tables of a dataset as DuckDB views, after a check of their files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import duckdb

from kernelinfo.analysis.inputs import unmatched
from kernelinfo.analysis.options import Options
from kernelinfo.errors import KernelinfoError, Message
from kernelinfo.fleet.dataset import (
    MANIFEST,
    PROBLEMS,
    TABLES,
    ColumnTypes,
    Dataset,
    TableName,
    is_manifest,
    listed,
    row_columns,
)
from kernelinfo.fleet.messages import say
from kernelinfo.reading.messages import in_file

_KEY = ("Build", "Url", "Part")


def open_builds(
    connection: duckdb.DuckDBPyConnection, dataset: Dataset, builds: Sequence[str]
) -> None:
    """Create the views `inputs`, `kernels` and `problems`: the rows of these builds that count.

    A build of kernelinfo 0.2.0 has no manifest: the latest part of each address counts. Two shards
    may have a file of one address; their names begin the parts. A row of `inputs` whose `Part` is
    null is a file that no scan has read yet. Raises `KernelinfoError`.
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
    """A message per `-k`, `--target` and `--member` without a kernel in a view, if another option
    has one."""
    columns = "Kernel_Name, Symbol, Target, Member"
    kernels = connection.execute(f"SELECT DISTINCT {columns} FROM {view}").fetchall()
    met = {pair for kernel in kernels for pair in options.met(*kernel)}
    return tuple(unmatched(options, met)) if met else ()


def open_files(
    connection: duckdb.DuckDBPyConnection, dataset: Dataset, table: TableName, files: Sequence[str]
) -> None:
    """Create the view `all_TABLE`: all rows of some files, with `Build`, `Part` and `File`.

    `Part` is that of the file's name; a row of `inputs` states its own. Raises `KernelinfoError`
    for a file that no scan wrote.
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
