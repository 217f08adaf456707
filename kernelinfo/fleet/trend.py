"""Trends: queries for the kernels of a dataset that moved between builds.

DuckDB drops kernels that are equal in all builds, which are nearly all. The rest is compared as
`diff` compares two builds.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import duckdb

from kernelinfo.analysis.counts import unmatched
from kernelinfo.analysis.options import Options
from kernelinfo.compare import compare
from kernelinfo.compare.saved_rows import read_row
from kernelinfo.compare.summary import Build, KernelSummary, path_under
from kernelinfo.errors import KernelinfoError, OptionError
from kernelinfo.fleet.dataset import INPUTS, Dataset, TableName, as_written, quoted, row_columns
from kernelinfo.fleet.history import BuildTotals, Trend, histories
from kernelinfo.kernel.numbers import NUMBERS
from kernelinfo.kernel.rows import BETWEEN_COMPILERS, COLUMNS
from kernelinfo.rules.remark import counted

_IDENTITY = ("Target", "Compiled_For", "Symbol", "Path", "Member")
_ROWS_AT_ONCE = 10_000
_READ = tuple(name for name in COLUMNS if name != "Library")  # older datasets lack it
_LISTED = ", ".join(f'"{name}"' for name in _READ)


def ask(
    dataset: Dataset,
    options: Options,
    builds: Sequence[str] = (),
    since: str | None = None,
    *,
    moved: bool = False,
) -> Trend:
    """The trend of the kernels that `options` choose.

    `builds` are compared in the given order, by default all in natural order of their names (7.9
    before 7.10), starting with `since`. With `moved` the trend includes kernels that moved only
    within the steps of the hardware. Raises `KernelinfoError`.
    """
    names = _chosen(dataset, builds, since)
    with dataset.connect() as connection:
        _open(connection, dataset, names, options)
        sums = _sums(connection)
        if not sums:
            choice = " ".join(options.choices) or "any name"
            raise KernelinfoError(f"{dataset.name}: no kernel matches {choice}")
        try:
            movers = _movers(connection, len(names), moved)
        except (TypeError, ValueError) as error:
            message = f"a row is damaged, {error}; scan its build again"
            raise KernelinfoError(f"{dataset.name}: {message}") from None
        without = tuple(_without_kernel(connection, options))
    totals, found = [], []
    for name in names:
        numbers, build = sums.get(name, _NOTHING)
        totals.append(BuildTotals._make((name, *numbers, len(dataset.problems(name)))))
        found.append(build._replace(kernels=tuple(movers.get(name, ()))))
    steps = tuple(map(compare, found, found[1:]))
    return Trend(dataset.name, tuple(totals), steps, tuple(histories(names, steps, found)), without)


def _chosen(dataset: Dataset, builds: Sequence[str], since: str | None) -> list[str]:
    """Names of the builds to compare, in order; at least two. Raises `OptionError` for a name that
    the dataset lacks, `KernelinfoError` for fewer than two builds."""
    there = sorted(dataset.builds(), key=_natural)
    if not there:
        raise KernelinfoError(f"{dataset.name}: holds no build; `kernelinfo scan` makes one")
    names = list(builds) or there
    unknown = [f"--builds {name}" for name in builds if name not in there]
    if since is not None and since not in names:
        unknown.append(f"--since {since}")
    if unknown:
        known = ", ".join(there[-10:]) or "none"
        raise OptionError(f"{unknown[0]}: not a build of {dataset.name}; it has {known}")
    if len(set(names)) < len(names):
        raise OptionError(f"--builds {','.join(names)}: names a build twice; name each once")
    names = names[names.index(since) :] if since else names
    if len(names) < 2:
        has = counted(len(names), "build")
        raise KernelinfoError(f"{dataset.name}: {has} to compare; scan another one into it")
    return names


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """Sort key: 7.9 before 7.10."""
    parts = re.findall(r"\d+|\D+", name)
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def _open(
    connection: duckdb.DuckDBPyConnection, dataset: Dataset, names: Sequence[str], options: Options
) -> None:
    """Create the view `kernels`: rows of the latest parts, of the chosen names and targets."""
    _view(connection, dataset, names, "inputs")
    _view(connection, dataset, names, "kernels")
    connection.execute(
        "CREATE TEMP TABLE current AS"
        " SELECT Build, Url, max(Part) AS Part FROM all_inputs GROUP BY ALL"
    )
    conditions = ["true"]
    if options.targets:
        known = ", ".join(f"'{name}'" for name in options.targets)
        conditions.append(f"split_part(Target, ':', 1) IN ({known})")
    if options.kernels or options.exclude:
        _choose(connection, options)
        conditions.append("Symbol IN (FROM wanted)")
    connection.execute(
        "CREATE TEMP VIEW kernels AS SELECT k.* FROM all_kernels k SEMI JOIN current c"
        " ON k.Build = c.Build AND k.Url = c.Url AND k.Part = c.Part"
        f" WHERE {' AND '.join(conditions)}"
    )


def _view(
    connection: duckdb.DuckDBPyConnection, dataset: Dataset, names: Sequence[str], table: TableName
) -> None:
    files = [file for name in names for file in dataset.files(table, name)]
    if not files:
        raise KernelinfoError(f"{dataset.name}: holds no {table}; `kernelinfo scan` makes them")
    listed = ", ".join(quoted(as_written(file)) for file in files)
    name = r"regexp_extract(filename, 'Build=([^/]+)/([^./]+)[^/]*$', {})"
    part = f", {name.format(2)} AS Part" if table == "kernels" else ""
    _check_files(connection, dataset, table, listed)
    connection.execute(
        f"CREATE TEMP VIEW all_{table} AS SELECT *, {name.format(1)} AS Build{part} FROM"
        f" read_parquet([{listed}], filename=true, hive_partitioning=false, union_by_name=true)"
    )


_PARQUET = {
    "VARCHAR": ("BYTE_ARRAY", "UTF8"),
    "BIGINT": ("INT64", "INT_64"),
    "DOUBLE": ("DOUBLE", None),
    "BOOLEAN": ("BOOLEAN", None),
    "VARCHAR[]": (None, "LIST"),
}
"""DuckDB type -> Parquet's (physical type, converted type); None accepts any."""
_ROWS_TO_BYTES = 1 / 4  # most rows per byte of a file; real files take 14 bytes a row
_OTHER_COLUMNS = "has other columns than a scan writes"
_FEW_ROWS = 20_000  # rows that a file of any size may state


def _check_files(
    connection: duckdb.DuckDBPyConnection, dataset: Dataset, table: TableName, listed: str
) -> None:
    """Check that the files have the columns of a scan; older files may lack some.

    Raises `KernelinfoError` for a file with other columns, or with more rows than its size can
    hold.
    """

    def refuse(file: str, wrong: str) -> KernelinfoError:
        name = file.rpartition("/")[2]
        return KernelinfoError(
            f"{dataset.name}: {name} {wrong}; delete it, and scan its build again"
        )

    query = f"SELECT file_name, num_rows, file_size_bytes FROM parquet_file_metadata([{listed}])"
    for file, rows, size in connection.execute(query).fetchall():
        if rows > max(_FEW_ROWS, size * _ROWS_TO_BYTES):
            raise refuse(file, f"states {rows} rows in {size} bytes, as no scan writes them")
    columns = INPUTS if table == "inputs" else row_columns() | {"Url": "VARCHAR"}
    needed = {"Url"} if table == "inputs" else {"Url", "Symbol"}
    types = {name: _PARQUET[kind] for name, kind in columns.items()}
    names = defaultdict[str, list[str]](list)  # file -> columns
    query = f"SELECT file_name, name, type, converted_type FROM parquet_schema([{listed}])"
    for file, name, *found in connection.execute(query).fetchall():
        # An unknown column, of a newer version, must have one type in all files.
        if types.setdefault(name, (found[0], found[1])) != tuple(found):
            raise refuse(file, _OTHER_COLUMNS)
        names[file].append(name)
    for file, has in names.items():
        if not needed <= set(has) or any(has.count(name) > 1 for name in columns):
            raise refuse(file, _OTHER_COLUMNS)


def _choose(connection: duckdb.DuckDBPyConnection, options: Options) -> None:
    """Create the table `wanted`: symbols of the chosen kernels."""
    query = "SELECT DISTINCT Symbol, Kernel_Name FROM all_kernels"
    found = connection.execute(query).fetchall()
    wanted = [symbol for symbol, name in found if options.asks_for(name, symbol)]
    connection.execute("CREATE TEMP TABLE wanted AS SELECT unnest($1) AS Symbol", [wanted])


def _without_kernel(connection: duckdb.DuckDBPyConnection, options: Options) -> Iterator[str]:
    """One message per `-k` or `--target` without a kernel in any of the builds."""
    if len(options.asked) > 1:
        query = "SELECT DISTINCT Kernel_Name, Symbol, split_part(Target, ':', 1) FROM kernels"
        found = connection.execute(query).fetchall()
        met = {pair for kernel in found for pair in options.met(*kernel)}
        yield from unmatched(options, met)


_Sums = tuple[Sequence[Any], Build]
"""Totals of a build, in the order of `BuildTotals` from `kernels` on; and the build without
kernels."""
_NOTHING: _Sums = ((0,) * 6, Build((), ()))


def _sums(connection: duckdb.DuckDBPyConnection) -> dict[str, _Sums]:
    found = connection.execute(
        "SELECT Build, count(*), coalesce(sum(Waves_Per_SIMD), 0),"
        " count(*) FILTER (VGPR_Spills > 0 OR SGPR_Spills > 0),"
        " coalesce(sum(Scratch_Size) FILTER (Dynamic_Stack IS DISTINCT FROM true), 0)::BIGINT,"
        " coalesce(sum(VGPR_Used), 0)::BIGINT, coalesce(sum(Code_Size), 0)::BIGINT,"
        " list(DISTINCT Compiled_For) FILTER (Compiled_For IS NOT NULL),"
        " list(DISTINCT Compiler) FILTER (Compiler IS NOT NULL)"
        " FROM kernels GROUP BY Build"
    )
    sums: dict[str, _Sums] = {}
    for name, *totals, targets, stamps in found.fetchall():
        compilers = {one for stamp in stamps or () for one in stamp.split(BETWEEN_COMPILERS)}
        sums[name] = totals, Build((), tuple(sorted(compilers)), targets=tuple(targets or ()))
    return sums


def _movers(
    connection: duckdb.DuckDBPyConnection, builds: int, moved: bool
) -> dict[str, list[KernelSummary]]:
    """Build -> its kernels that differ in some other build, in numbers or in count."""
    numbers = [number.column for number in NUMBERS if number.column in COLUMNS]
    affecting = [number.column for number in NUMBERS if number.affects]
    columns = ", ".join((*_IDENTITY, *(numbers if moved else affecting)))
    connection.execute(f"CREATE TEMP VIEW hashed AS SELECT *, hash({columns}) AS h FROM kernels")
    connection.execute(
        "CREATE TEMP TABLE movers AS SELECT h FROM"
        " (SELECT h, Build, count(*) AS n FROM hashed GROUP BY ALL)"
        f" GROUP BY h HAVING count(*) < {builds} OR min(n) <> max(n)"
    )
    found = defaultdict[str, list[KernelSummary]](list)
    texts: dict[Any, Any] = {}  # text -> the one copy that all rows share
    query = f"SELECT Build, {_LISTED} FROM hashed WHERE h IN (FROM movers)"
    answer = connection.execute(query)
    while rows := answer.fetchmany(_ROWS_AT_ONCE):
        for build, *values in rows:
            shared = (texts.setdefault(v, v) if isinstance(v, str) else v for v in values)
            saved = read_row(dict(zip(_READ, shared, strict=True)))
            place = path_under("", saved.path, saved.member)
            found[build].append(saved.summary._replace(code_object=texts.setdefault(place, place)))
    return found
