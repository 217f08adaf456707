"""The question how kernels moved, asked of a dataset.

DuckDB leaves out the kernels that are the same in all builds, which is nearly all. The rest is
compared as `diff` compares two builds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import duckdb

from kernelinfo.analysis.options import Options, is_asked_for
from kernelinfo.compare.saved_rows import read_rows
from kernelinfo.compare.summary import Build, KernelSummary, path_under
from kernelinfo.errors import KernelinfoError, OptionError
from kernelinfo.fleet.dataset import Dataset, Table
from kernelinfo.fleet.history import BuildTotals, Trend, histories, steps_of
from kernelinfo.kernel.numbers import NUMBERS
from kernelinfo.kernel.rows import BETWEEN_COMPILERS, COLUMNS
from kernelinfo.light_typing import NamedTuple

_IDENTITY = ("Target", "Compiled_For", "Symbol", "Path", "Member")
_LISTED = tuple(f'"{name}"' for name in COLUMNS)


class Question(NamedTuple):
    """What is asked."""

    options: Options
    """Those that choose kernels and targets."""
    builds: tuple[str, ...] = ()
    """In this order; empty for all, in the natural order of their names."""
    since: str | None = None
    """The first build that counts."""
    moved: bool = False
    """Kernels that moved within the steps of the hardware, too."""


def ask(dataset: Dataset, question: Question) -> Trend:
    """How kernels moved from build to build. Raises `KernelinfoError`."""
    names = chosen(dataset, question)
    with dataset.connect() as connection:
        _open(connection, dataset, names, question.options)
        totals = tuple(_totals(connection, dataset, names))
        if not any(one.kernels for one in totals):
            choice = question.options.choice or "any name"
            raise KernelinfoError(f"{dataset.name}: no kernel matches {choice}")
        _find_movers(connection, len(names), question.moved)
        builds = [_build(connection, name) for name in names]
    steps = steps_of(names, builds)
    return Trend(dataset.name, totals, steps, tuple(histories(steps, builds)))


def chosen(dataset: Dataset, question: Question) -> list[str]:
    """The builds in their order. Raises `OptionError` for one that the dataset does not have."""
    there = sorted(dataset.builds(), key=_natural)
    names = list(question.builds) or there
    for option, wanted in (("--builds", question.builds), ("--since", (question.since,))):
        for name in wanted:
            if name is not None and name not in (names if option == "--since" else there):
                known = ", ".join(there[-10:]) or "none"
                raise OptionError(f"{option} {name}: no build of {dataset.name}; it has {known}")
    names = names[names.index(question.since) :] if question.since else names
    if len(names) < 2:
        has = f"{len(names)} build{'' if len(names) == 1 else 's'}"
        raise KernelinfoError(f"{dataset.name}: {has} to compare; scan another one into it")
    return names


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """A key that sorts 7.10 behind 7.9."""
    parts = re.findall(r"\d+|\D+", name)
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def _open(
    connection: duckdb.DuckDBPyConnection, dataset: Dataset, names: Sequence[str], options: Options
) -> None:
    """Make the view `kernels`: of each build the rows that count and that are asked for."""
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
    connection: duckdb.DuckDBPyConnection, dataset: Dataset, names: Sequence[str], table: Table
) -> None:
    files = [file for name in names for file in dataset.files(table, name)]
    if not files:
        raise KernelinfoError(f"{dataset.name}: holds no {table}; `kernelinfo scan` makes them")
    listed = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
    name = r"regexp_extract(filename, 'Build=([^/]+)/([^./]+)[^/]*$', {})"
    part = f", {name.format(2)} AS Part" if table == "kernels" else ""
    connection.execute(
        f"CREATE TEMP VIEW all_{table} AS SELECT *, {name.format(1)} AS Build{part} FROM"
        f" read_parquet([{listed}], filename=true, hive_partitioning=false, union_by_name=true)"
    )


def _choose(connection: duckdb.DuckDBPyConnection, options: Options) -> None:
    """Make the table `wanted`: the symbols of kernels that are asked for."""
    query = "SELECT DISTINCT Symbol, Kernel_Name FROM all_kernels"
    found = connection.execute(query).fetchall()
    wanted = [symbol for symbol, name in found if is_asked_for(name, symbol, options)]
    connection.execute("CREATE TEMP TABLE wanted AS SELECT unnest($1) AS Symbol", [wanted])


def _totals(
    connection: duckdb.DuckDBPyConnection, dataset: Dataset, names: Sequence[str]
) -> Iterator[BuildTotals]:
    sums = connection.execute(
        "SELECT Build, count(*), coalesce(sum(Waves_Per_SIMD), 0),"
        " count(*) FILTER (VGPR_Spills > 0 OR SGPR_Spills > 0),"
        " coalesce(sum(Scratch_Size) FILTER (Dynamic_Stack IS DISTINCT FROM true), 0)::BIGINT,"
        " coalesce(sum(VGPR_Used), 0)::BIGINT, coalesce(sum(Code_Size), 0)::BIGINT"
        " FROM kernels GROUP BY Build"
    )
    known = {row[0]: row for row in sums.fetchall()}
    for name in names:
        row = known.get(name, (name, *[0] * 6))
        yield BuildTotals._make((*row, len(dataset.problems(name))))


def _find_movers(connection: duckdb.DuckDBPyConnection, builds: int, moved: bool) -> None:
    """Make the table `movers`: hashes of rows that not every build has equally often."""
    numbers = [number.column for number in NUMBERS if number.column in COLUMNS]
    affecting = [number.column for number in NUMBERS if number.affects]
    columns = ", ".join((*_IDENTITY, *(numbers if moved else affecting)))
    connection.execute(f"CREATE TEMP VIEW hashed AS SELECT *, hash({columns}) AS h FROM kernels")
    connection.execute(
        "CREATE TEMP TABLE movers AS SELECT h FROM"
        " (SELECT h, Build, count(*) AS n FROM hashed GROUP BY ALL)"
        f" GROUP BY h HAVING count(*) < {builds} OR min(n) <> max(n)"
    )


def _build(connection: duckdb.DuckDBPyConnection, name: str) -> Build:
    """The kernels of a build that moved in any step."""
    found = connection.execute(
        f"SELECT {', '.join(_LISTED)} FROM hashed WHERE Build = $1 AND h IN (FROM movers)", [name]
    )
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in found.fetchall()]
    sides = "SELECT DISTINCT {} FROM kernels WHERE Build = $1"
    targets = _values(connection, sides.format("Compiled_For"), name)
    stamps = _values(connection, sides.format("Compiler"), name)
    compilers = {one for stamp in stamps for one in stamp.split(BETWEEN_COMPILERS)}
    return Build(tuple(_summaries(rows)), tuple(sorted(compilers)), targets=tuple(targets))


def _values(connection: duckdb.DuckDBPyConnection, query: str, name: str) -> list[str]:
    return [value for (value,) in connection.execute(query, [name]).fetchall() if value]


def _summaries(rows: list[dict[str, Any]]) -> Iterator[KernelSummary]:
    for saved in read_rows(rows):
        yield replace(saved.summary, code_object=path_under("", saved.path, saved.member))
