"""Kernel dispatches of a rocpd database: SQLite, rocprofv3's default output since ROCm 7.

Tables and columns follow rocprofiler-sdk (share/rocprofiler-sdk-rocpd/rocpd_tables.sql), schema 3
(times in the dispatch) and 4 (times and agent by reference). Each profiled process has its own set
of tables; their names end with its id.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from kernelinfo.compare.messages import say
from kernelinfo.errors import ReadError
from kernelinfo.opening import check_below

_DISPATCHES = "rocpd_kernel_dispatch"
_LONGEST_VALUE = 1 << 20  # bytes of one value; a kernel's name has a few thousand
_STEPS, _STEPS_PER_BYTE = 100_000, 5
"""Budget of SQLite's virtual machine. A real file takes about 2 steps a byte; a damaged file, whose
pages refer to each other in circles, never ends."""
_CALL = 10_000  # steps between two checks of the budget

RocpdRow = dict[str, Any]


def rows(path: Path, fields: Mapping[str, str]) -> Iterator[RocpdRow]:
    """Dispatches as dictionaries by our field; missing values are left out.

    `fields` maps a profiler's column, in lower case, to our field (`profile.FIELDS`). Raises
    `ReadError` for a damaged database or one of another tool.
    """
    check_below(path)
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise ReadError(say("profile-log-unread", log=log.name))
    try:
        with closing(_opened(path)) as database:
            for tables in _sets(database, path.stat().st_size):
                yield from _dispatches(tables, {**fields, **_OWN_FIELDS})
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise ReadError(say("profile-damaged", error=error)) from None


def _opened(path: Path) -> sqlite3.Connection:
    """The database, opened read-only. SQLite writes no other files."""
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    database.row_factory = sqlite3.Row
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    database.execute("PRAGMA trusted_schema = OFF")
    calls = iter(range((_STEPS + _STEPS_PER_BYTE * path.stat().st_size) // _CALL))
    database.set_progress_handler(lambda: next(calls, None) is None, _CALL)
    return database


def _sets(database: sqlite3.Connection, size: int) -> list[_RocpdTables]:
    """The tables of each process. Views and virtual tables run code, so they are left out."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
    names = [str(row["name"]) for row in database.execute(query)]
    ids = [name.removeprefix(_DISPATCHES) for name in names if name.startswith(_DISPATCHES)]
    if "rocpd_kernelapi" in names:
        raise ReadError(say("profile-of-rpd"))
    if not ids:
        raise ReadError(say("profile-other-database", table=_DISPATCHES))
    return [_RocpdTables(database, id, frozenset(names), size) for id in ids]


class _RocpdTables:
    """The tables of one process."""

    def __init__(
        self, database: sqlite3.Connection, id: str, names: frozenset[str], size: int
    ) -> None:
        self._database, self._id, self._names = database, id, names
        self._text_left = 2 * size
        """Text budget: two characters per byte of the file."""

    def rows(self, table: str, *columns: str) -> Iterator[RocpdRow]:
        """The rows of a table with those of the columns that exist; empty if there is no table."""
        if (name := table + self._id) not in self._names:
            return
        described = self._database.execute(f"PRAGMA table_xinfo({_quoted(name)})").fetchall()
        stored = [row["name"] for row in described if row["hidden"] == 0]  # the others are computed
        wanted = [column for column in columns if column in stored]
        if wanted:
            selected = ", ".join(map(_quoted, wanted))
            for row in self._database.execute(f"SELECT {selected} FROM {_quoted(name)}"):
                yield self._known(dict(row))

    def by_id(self, table: str, *columns: str) -> dict[Any, RocpdRow]:
        """The rows of a table by their column `id`."""
        return {row.get("id"): row for row in self.rows(table, "id", *columns)}

    def _known(self, row: RocpdRow) -> RocpdRow:
        """The row without NULL and BLOB values."""
        self._text_left -= sum(len(value) for value in row.values() if isinstance(value, str))
        if self._text_left < 0:
            raise ReadError(say("profile-damaged", error=say("profile-text-too-long")))
        return {name: value for name, value in row.items() if isinstance(value, int | float | str)}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


_OWN_FIELDS = {"start": "start_ns", "end": "end_ns", "arch_vgpr_count": "vgprs"}
_COLUMNS = (
    *("workgroup_size_x", "workgroup_size_y", "workgroup_size_z"),
    *("grid_size_x", "grid_size_y", "grid_size_z", "group_segment_size", "private_segment_size"),
    *("start", "end", "agent_id", "kernel_id", "event_id", "track_id", "start_id", "end_id"),
)
_SYMBOL_COLUMNS = ("kernel_name", "arch_vgpr_count", "accum_vgpr_count", "sgpr_count")
_COUNTERS = {"OccupancyPercent": "percent", "MeanOccupancyPerCU": "waves_per_cu"}
"""Metrics that rocprofv3 derives. Raw counters have one row per hardware instance."""


def _dispatches(tables: _RocpdTables, fields: Mapping[str, str]) -> Iterator[RocpdRow]:
    symbols = tables.by_id("rocpd_info_kernel_symbol", *_SYMBOL_COLUMNS)
    agents = tables.by_id("rocpd_info_agent", "name")
    tracks = tables.by_id("rocpd_track", "agent_id")
    times = tables.by_id("rocpd_timestamp", "value")
    counters = _counters(tables)
    for row in tables.rows(_DISPATCHES, *_COLUMNS):
        moments = {
            "agent_id": tracks.get(row.get("track_id"), {}).get("agent_id"),
            "start": times.get(row.get("start_id"), {}).get("value"),
            "end": times.get(row.get("end_id"), {}).get("value"),
        }
        row = {name: value for name, value in moments.items() if value is not None} | row
        agent = agents.get(row.get("agent_id"), {})
        row |= symbols.get(row.get("kernel_id"), {})
        yield {
            **{fields[column]: value for column, value in row.items() if column in fields},
            **counters.get(row.get("event_id"), {}),
            **({"target": str(agent["name"])} if "name" in agent else {}),
        }


def _counters(tables: _RocpdTables) -> dict[Any, RocpdRow]:
    """Event id → values of `_COUNTERS`."""
    fields = {
        row["id"]: _COUNTERS[name]
        for row in tables.rows("rocpd_info_pmc", "id", "symbol", "name")
        for name in (row.get("symbol"), row.get("name"))
        if name in _COUNTERS and "id" in row
    }
    found: dict[Any, RocpdRow] = {}
    for row in tables.rows("rocpd_pmc_event", "event_id", "pmc_id", "value") if fields else ():
        if (field := fields.get(row.get("pmc_id"))) and {"event_id", "value"} <= row.keys():
            found.setdefault(row["event_id"], {})[field] = row["value"]
    return found
