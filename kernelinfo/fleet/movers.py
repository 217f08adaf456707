"""Trends: queries for the kernels of a dataset that moved between builds.

DuckDB drops kernels that are equal in all builds, which are nearly all. The rest is compared as
`diff` compares two builds, library by library.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import duckdb

from kernelinfo.analysis.inputs import listed_targets
from kernelinfo.analysis.options import Options
from kernelinfo.compare.saved import checked
from kernelinfo.compare.summary import KernelSummary, path_under, summary_of
from kernelinfo.errors import KernelinfoError, Message, OptionError
from kernelinfo.fleet import history
from kernelinfo.fleet.acceptance import accepted
from kernelinfo.fleet.dataset import Dataset, open_builds, quoted, unmatched_choices
from kernelinfo.fleet.messages import say
from kernelinfo.kernel import counted
from kernelinfo.kernel.code_object import library_of
from kernelinfo.kernel.columns import KernelSums, Where
from kernelinfo.kernel.record import BETWEEN_COMPILERS, COLUMNS, NUMBERS
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.data import integer
from kernelinfo.reading.messages import in_file
from kernelinfo.reading.target_id import UNKNOWN_TARGET

_KEYS: dict[history.By, str] = {
    "library": "Library",
    "target": f"coalesce(Compiled_For, '{UNKNOWN_TARGET}')",
    "limiter": "coalesce(nullif(array_to_string(Limiters, ' '), ''), '?')",
    "waves": "coalesce(Waves_Per_SIMD::VARCHAR, '?')",
}
"""SQL of the key that kernels are grouped by."""

_IDENTITY = "hash(Library, Target, Compiled_For, Symbol)"
_COMPARED = (*(number.name for number in NUMBERS),)
_AFFECTING_COLUMNS = [number.name for number in NUMBERS if number.affects]
_AFFECTING = f"hash({_IDENTITY}, {', '.join(f'coalesce({c}, 0)' for c in _AFFECTING_COLUMNS)})"
_ALL_NUMBERS = f"hash({_IDENTITY}, {', '.join(_COMPARED)})"
"""SQL of the hash of a kernel's identity and numbers. `_AFFECTING` has the numbers that affect the
kernel, with 0 for an unknown one as in `Move.affects`; `_ALL_NUMBERS` has all numbers of a row that
are compared."""
_READ_WHOLE = "FILTER (g.Build IS NULL)"
_ROWS_AT_ONCE = 10_000
_READ_COLUMNS = tuple(column for column in COLUMNS if column.name != "Library")
_READ = tuple(column.name for column in _READ_COLUMNS)
_LISTED = ", ".join(f'"{name}"' for name in _READ)
_SUMS = (
    "count(*), coalesce(sum(Waves_Per_SIMD), 0),"
    " count(*) FILTER (VGPR_Spills > 0 OR SGPR_Spills > 0),"
    " coalesce(max(coalesce(VGPR_Spills, 0) + coalesce(SGPR_Spills, 0)), 0)::BIGINT,"
    " coalesce(sum(Scratch_Size) FILTER (Dynamic_Stack IS DISTINCT FROM true), 0)::BIGINT,"
    " coalesce(sum(VGPR_Used), 0)::BIGINT, coalesce(sum(Code_Size), 0)::BIGINT"
)
"""SQL of the fields of `KernelSums`, but for `waves_lost`."""


def ask(
    url: str,
    options: Options,
    builds: Sequence[str] = (),
    since: str | None = None,
    *,
    moved: bool = False,
    by: history.By | None = None,
    may_be_first: bool = False,
) -> history.Trend:
    """The trend of the kernels that `options` choose in the dataset at `url`.

    `builds` are compared in the given order, by default all in natural order of their names (7.9
    before 7.10), starting with `since`. With `moved` the trend includes kernels that moved only
    within the steps of the hardware. `by` groups all kernels of the first and last build. With
    `may_be_first` the trend of a dataset's only build has no comparison. Raises `KernelinfoError`.
    """
    dataset = Dataset(url)
    names = _chosen(dataset, builds, since)
    with dataset.storage.connect(is_long=True) as connection:
        open_builds(connection, dataset, names)
        unfinished = _unfinished(connection)
        names = [name for name in names if name not in unfinished]
        _check_count(dataset, names, unfinished, may_be_first and since is None and not builds)
        places = _choose_kernels(connection, names, options)
        nights = _nights(connection, names)
        if not any(night.sums.kernels for night in nights):
            wrong, built = say("builds-without-kernels"), ""
            if options.targets:
                built = say("targets-there", targets=listed_targets(_targets(connection)))
            if choice := " ".join(options.choices):
                wrong = say("builds-without-choice", choice=choice, others=built)
            raise KernelinfoError(in_file(dataset.name, wrong))
        gaps = _gaps(connection, names)
        try:
            movers = _movers(connection, len(names), moved, gaps)
        except (TypeError, ValueError) as error:
            message = say("dataset-row-damaged", error=error)
            raise KernelinfoError(in_file(dataset.name, message)) from None
        asks_several = len(options.asked) > 1
        without = unmatched_choices(connection, "chosen", options) if asks_several else ()
        nights = history.carry(
            [
                night._replace(
                    movers=tuple(movers.get(night.name, ())),
                    gaps=tuple(sorted(gaps.get(night.name, ()))),
                )
                for night in nights
            ],
            places,
        )
        pairs = [*pairwise(names), (names[0], names[-1])]
        *within, whole = _within_steps(connection, pairs)
        neighbours = zip(nights, nights[1:], within, strict=False)
        steps = tuple(history.compare_nights(*neighbour, places) for neighbour in neighbours)
        traced = tuple(history.trace_histories(nights, steps))
        groups = _groups(connection, names, by, traced) if by else ()
    return history.Trend(
        dataset.name, tuple(nights), steps, traced, without, unfinished, by, groups, whole
    )


def kernel_names(url: str) -> list[tuple[str, str, str | None]]:
    """(name, symbol, member) of each kernel of the dataset's last build, sorted by name."""
    dataset = Dataset(url)
    last = sorted(dataset.builds(), key=_natural)[-1:]
    with dataset.storage.connect() as connection:
        open_builds(connection, dataset, last)
        query = "SELECT DISTINCT Kernel_Name, Symbol, Member FROM kernels ORDER BY ALL"
        kernels: list[tuple[str, str, str | None]] = connection.execute(query).fetchall()
    return kernels


def _chosen(dataset: Dataset, builds: Sequence[str], since: str | None) -> list[str]:
    """Names of the builds to compare, in order. Raises `OptionError` for a name that the dataset
    lacks, `KernelinfoError` for a dataset without builds."""
    there = sorted(dataset.builds(), key=_natural)
    if not there:
        raise KernelinfoError(in_file(dataset.name, say("dataset-empty")))
    names = list(builds) or there
    unknown = [f"--builds {name}" for name in builds if name not in there]
    if since is not None and since not in names:
        unknown.append(f"--since {since}")
    if unknown:
        raise dataset.unknown_build(unknown[0], there)
    if len(set(names)) < len(names):
        raise OptionError(say("builds-repeated", names=",".join(names)))
    return names[names.index(since) :] if since else names


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """Sort key: 7.9 before 7.10."""
    parts = re.findall(r"\d+|\D+", name)
    return [(part.isdigit(), integer(part) if part.isdigit() else 0, part) for part in parts]


def _unfinished(connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """Names of builds with files that no scan has read yet."""
    query = "SELECT DISTINCT Build FROM all_inputs WHERE Part IS NULL ORDER BY Build"
    return tuple(name for (name,) in connection.execute(query).fetchall())


def _check_count(
    dataset: Dataset, names: Sequence[str], unfinished: Sequence[str], may_be_first: bool
) -> None:
    """Raises `KernelinfoError` for fewer than two builds; with `may_be_first` one build is
    enough."""
    if len(names) > 1 or (may_be_first and names and not unfinished):
        return
    if unfinished:
        message = say("scan-unfinished", builds=", ".join(unfinished))
        raise KernelinfoError(in_file(dataset.name, message))
    message = say("builds-too-few", builds=counted(len(names), "build"))
    raise KernelinfoError(in_file(dataset.name, message))


def _choose_kernels(
    connection: duckdb.DuckDBPyConnection, names: Sequence[str], options: Options
) -> history.Whereabouts:
    """Create the view `chosen` of the kernels that `options` choose in these builds. Returns code
    object → (library, place).

    The view has the columns `Library` and `Place`; the place is the path below the root with the
    member, without versions.
    """
    conditions = [f"k.Build IN ({_literals(names)})"]
    if options.targets:
        chosen = [target for target in _targets(connection) if options.asks_for_target(target)]
        conditions.append(f"Target IN ({_literals(chosen or [''])})")
    if options.kernels or options.exclude:
        names_of = connection.execute("SELECT DISTINCT Symbol, Kernel_Name FROM kernels").fetchall()
        symbols = [symbol for symbol, name in names_of if options.asks_for(name, symbol)]
        connection.execute("CREATE TEMP TABLE wanted AS SELECT unnest($1) AS Symbol", [symbols])
        conditions.append("Symbol IN (FROM wanted)")
    if options.where is not None:
        conditions.append(_where(connection, options.where))
    members = connection.execute("SELECT DISTINCT Path, Member FROM kernels").fetchall()
    places: dict[str, tuple[str, str]] = {}
    rows = []
    for path, member in members:
        if options.asks_for_member(member):
            code_object = path_under("", path or "", member)
            places[code_object] = history.locate(code_object)
            rows.append((path, member, *places[code_object]))
    columns = ", ".join(
        f"unnest(${number}::VARCHAR[]) AS {name}"
        for number, name in enumerate(("Path", "Member", "Library", "Place"), 1)
    )
    connection.execute(
        f"CREATE TEMP TABLE places AS SELECT {columns}",
        [[row[n] for row in rows] for n in range(4)],
    )
    connection.execute(
        "CREATE TEMP VIEW chosen AS SELECT k.* REPLACE (p.Library AS Library), p.Place"
        " FROM kernels k JOIN places p ON k.Path IS NOT DISTINCT FROM p.Path"
        f" AND k.Member IS NOT DISTINCT FROM p.Member WHERE {' AND '.join(conditions)}"
    )
    return places


def _targets(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The target ids of all kernels."""
    query = "SELECT DISTINCT Target FROM kernels WHERE Target IS NOT NULL"
    return [target for (target,) in connection.execute(query).fetchall()]


def _where(connection: duckdb.DuckDBPyConnection, where: Where) -> str:
    """SQL of a condition. It lists the column values for which the condition holds."""
    columns = ", ".join(f'"{name}"' for name in where.reads)
    connection.execute(f"CREATE TEMP TABLE asked AS SELECT DISTINCT {columns} FROM kernels")
    rows = connection.execute(f"SELECT rowid, {columns} FROM asked").fetchall()
    met = [number for number, *row in rows if where.holds(dict(zip(where.reads, row, strict=True)))]
    same = " AND ".join(f'k."{name}" IS NOT DISTINCT FROM a."{name}"' for name in where.reads)
    return f"EXISTS (FROM asked a WHERE a.rowid IN ({', '.join(map(str, met)) or -1}) AND {same})"


def _literals(texts: Iterable[str]) -> str:
    return ", ".join(map(quoted, texts))


def _nights(connection: duckdb.DuckDBPyConnection, names: Sequence[str]) -> list[history.Night]:
    """The builds with their sums, without their kernels and gaps."""
    query = (
        f"SELECT Build, {_SUMS}, list(DISTINCT Compiled_For) FILTER (Compiled_For IS NOT NULL)"
        " FROM chosen GROUP BY Build"
    )
    sums = {name: rest for name, *rest in connection.execute(query).fetchall()}
    compilers = {name: defaultdict[str, set[str]](set) for name in names}
    query = "SELECT DISTINCT Build, Library, Compiler FROM chosen"
    for name, library, stamps in connection.execute(query).fetchall():
        compilers[name][library] |= set(stamps.split(BETWEEN_COMPILERS) if stamps else ())
    query = (
        "SELECT Build, sum(Problems), sum(Accepted), list(DISTINCT Labels ORDER BY Labels)"
        " FROM inputs GROUP BY Build"
    )
    about = {name: rest for name, *rest in connection.execute(query).fetchall()}
    query = "SELECT Build, count(*) FROM problems GROUP BY Build"
    unread = dict(connection.execute(query).fetchall())  # all of a build without a manifest
    nights = []
    for name in names:
        *numbers, targets = sums.get(name, [()])
        problems, accepted, of_shards = about.get(name, (None, None, []))
        labels = {key: value for shard in of_shards for key, value in _labels(shard).items()}
        problems = unread.get(name, 0) if problems is None else problems
        stamps = {library: frozenset(each) for library, each in compilers[name].items()}
        nights.append(
            history.Night(
                name,
                KernelSums(*numbers),
                problems,
                accepted or 0,
                labels,
                compilers=stamps,
                targets=tuple(targets or ()),
            )
        )
    return nights


def _labels(written: str | None) -> dict[str, str]:
    """The labels of a shard; none if they are damaged."""
    try:
        labels = json.loads(written or "{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(labels, dict):
        return {}
    return {str(name): str(value) for name, value in labels.items()}


def _gaps(connection: duckdb.DuckDBPyConnection, names: Sequence[str]) -> dict[str, set[str]]:
    """For each build, the libraries with a problem that some other build lacks. A folder's problem
    applies to all libraries below it."""
    rows = connection.execute("SELECT Build, Path, Member, Message FROM problems").fetchall()
    builds_of = defaultdict[Problem, dict[str, str]](dict)  # problem -> build -> path
    for build, path, member, message in rows:
        problem = accepted(path or "", Problem("", Message(message or "", ""), member))
        builds_of[problem][build] = path or ""
    places = connection.execute("SELECT DISTINCT Path, Library FROM places").fetchall()
    gaps = defaultdict[str, set[str]](set)
    for builds in builds_of.values():
        for build, path in builds.items() if len(builds) < len(names) else ():
            folder = path.rstrip("/") + "/"
            below = {library for file, library in places if (file or "").startswith(folder)}
            gaps[build] |= below or {library_of(path)}
    return gaps


def _movers(
    connection: duckdb.DuckDBPyConnection,
    builds: int,
    moved: bool,
    gaps: Mapping[str, Collection[str]],
) -> dict[str, list[KernelSummary]]:
    """For each build, its kernels that differ from some other build, in numbers or in count.

    A kernel that is missing because of a build's `gaps` is not a difference. Kernels that share
    library, target and symbol also differ if they swapped places.
    """
    content = _ALL_NUMBERS if moved else _AFFECTING
    connection.execute(
        f"CREATE TEMP TABLE contents AS SELECT {_IDENTITY} AS i, {_AFFECTING} AS affecting,"
        f" {_ALL_NUMBERS} AS whole, Build, count(*) AS n,"
        " hash(Library) AS library, sum((hash(Place) >> 24)::BIGINT) AS places"
        " FROM chosen GROUP BY ALL"
    )
    connection.execute("CREATE TEMP TABLE gaps (Build VARCHAR, library UBIGINT)")
    for build, libraries in gaps.items():
        query = "INSERT INTO gaps SELECT $1, hash(unnest($2::VARCHAR[]))"
        connection.execute(query, [build, [*libraries]])
    connection.execute(
        "CREATE TEMP TABLE shared AS"
        " SELECT i FROM contents GROUP BY i HAVING sum(n) > count(DISTINCT Build)"
    )
    column = "whole" if moved else "affecting"
    counts = (
        f"SELECT {column} AS h, Build, any_value(i) AS i, any_value(library) AS library,"
        " sum(n) AS n, sum(places) AS places FROM contents GROUP BY h, Build"
    )
    connection.execute(
        "CREATE TEMP TABLE movers AS SELECT h FROM ("
        f"SELECT h, any_value(i) AS i, count(*) {_READ_WHOLE} AS builds,"
        f" min(n) {_READ_WHOLE} <> max(n) {_READ_WHOLE} AS other_count,"
        f" min(places) {_READ_WHOLE} <> max(places) {_READ_WHOLE} AS other_places,"
        f" any_value(c.library) AS library FROM ({counts}) c"
        " LEFT JOIN gaps g ON g.Build = c.Build AND g.library = c.library GROUP BY h)"
        " LEFT JOIN (SELECT library, count(*) AS unread FROM gaps GROUP BY library) USING (library)"
        f" WHERE builds < {builds} - coalesce(unread, 0) OR other_count"
        " OR (other_places AND i IN (FROM shared)) OR (unread > 0 AND i IN"
        f" (SELECT i FROM contents GROUP BY i HAVING count(DISTINCT {column}) > 1))"
    )
    movers = defaultdict[str, list[KernelSummary]](list)
    texts: dict[Any, Any] = {}  # text -> the one copy that all rows share
    query = f"SELECT Build, {_LISTED} FROM chosen WHERE {content} IN (FROM movers)"
    answer = connection.execute(query)
    while rows := answer.fetchmany(_ROWS_AT_ONCE):
        for row in rows:
            build, *values = (texts.setdefault(v, v) if isinstance(v, str) else v for v in row)
            record = checked(dict(zip(_READ, values, strict=True)), _READ_COLUMNS)
            path = path_under("", record["Path"], record["Member"])
            kernel = summary_of(record)._replace(code_object=texts.setdefault(path, path))
            movers[build].append(kernel)
    return movers


def _within_steps(
    connection: duckdb.DuckDBPyConnection, pairs: Sequence[tuple[str, str]]
) -> list[int]:
    """For each pair of builds, the number of kernels of the same library, target and symbol that
    moved only within the hardware's steps: those equal in every number that affects the kernel,
    minus those equal in all numbers. Other builds do not matter."""
    connection.execute(
        "CREATE TEMP TABLE moving AS SELECT affecting, whole, Build, n FROM contents"
        " WHERE whole NOT IN (SELECT whole FROM contents GROUP BY whole"
        f" HAVING count(*) = {len({name for pair in pairs for name in pair})}"
        " AND min(n) = max(n))"
    )
    values = ", ".join(
        f"({number}, {quoted(old)}, {quoted(new)})" for number, (old, new) in enumerate(pairs)
    )
    counts = [0] * len(pairs)
    for column, sign in (("affecting", 1), ("whole", -1)):
        query = (
            f"WITH sums AS (SELECT {column} AS h, Build, sum(n) AS n FROM moving GROUP BY ALL)"
            f" SELECT p.number, sum(least(a.n, b.n))::BIGINT FROM (VALUES {values})"
            " p(number, old, new) JOIN sums a ON a.Build = p.old"
            " JOIN sums b ON b.Build = p.new AND b.h = a.h GROUP BY p.number"
        )
        for number, count in connection.execute(query).fetchall():
            counts[number] += sign * count
    return counts


def _groups(
    connection: duckdb.DuckDBPyConnection,
    names: Sequence[str],
    by: history.By,
    histories: Iterable[history.History],
) -> tuple[history.KernelGroup, ...]:
    """All kernels of the first and the last build, grouped; most waves lost first."""
    sums = defaultdict[str, dict[str, KernelSums]](dict)
    first, last, nothing = names[0], names[-1], KernelSums()
    query = (
        f"SELECT Build, {_KEYS[by]} AS key, {_SUMS} FROM chosen"
        f" WHERE Build IN ({_literals((first, last))}) GROUP BY ALL"
    )
    for build, key, *numbers in connection.execute(query).fetchall():
        sums[key or "?"][build] = KernelSums(*numbers)
    lost = history.sum_waves_lost(histories, by)
    groups = [
        history.KernelGroup(
            key, both.get(first, nothing), both.get(last, nothing), lost.get(key, 0)
        )
        for key, both in sums.items()
    ]
    return tuple(sorted(groups, key=lambda g: (-g.waves_lost, -g.new.kernels, g.key)))
