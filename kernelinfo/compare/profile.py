"""The kernel dispatches of a profiled run.

Inputs are CSV files of rocprofv3 (kernel trace and counter collection; rocprofiler-sdk
docs/how-to/using-rocprofv3), of rocprofiler-compute (pmc_perf.csv, wide or one counter a row) and
of rocprof v1 (rocprofiler/bin/tblextr.py), and rocprofv3's rocpd databases (`rocpd`).
"""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from kernelinfo.compare.messages import say
from kernelinfo.errors import ReadError, bug
from kernelinfo.opening import check_below, open_regular
from kernelinfo.reading.blob import BY_DEFAULT, Bounds
from kernelinfo.reading.containers import formats
from kernelinfo.reading.containers.streams import Decompressed
from kernelinfo.reading.data import Data
from kernelinfo.reading.messages import in_file
from kernelinfo.reading.paths import read_document

_COLUMNS = {
    "kernel": "kernel_name kernelname",
    "agent": "agent_id gpu_id gpu-id",
    "dispatch": "dispatch_id",
    "workgroup_size": "workgroup_size wgr",
    "workgroup_x": "workgroup_size_x",
    "workgroup_y": "workgroup_size_y",
    "workgroup_z": "workgroup_size_z",
    "grid_size": "grid_size grd",
    "grid_x": "grid_size_x",
    "grid_y": "grid_size_y",
    "grid_z": "grid_size_z",
    "vgprs": "vgpr_count arch_vgpr vgpr",
    "agprs": "accum_vgpr_count accum_vgpr",
    "sgprs": "sgpr_count sgpr",
    "lds_bytes": "lds_block_size lds_per_workgroup group_segment_size lds",
    "scratch_bytes_per_lane": "scratch_size scratch_per_workitem private_segment_size scr",
    "start_ns": "start_timestamp beginns",
    "end_ns": "end_timestamp endns",
    "counter": "counter_name",
    "value": "counter_value",
    "percent": "occupancypercent",
    "waves_per_cu": "meanoccupancypercu",
    "wave_cycles": "sq_level_waves_accum",
    "cycles": "grbm_gui_active",
}
"""Our field → the profilers' columns, case ignored; sizes in workitems. rocprofv3 of ROCm 6.3 and
6.4 writes `*_segment_size` and no registers; rocprof v1 has the short names. The last four are
counters: derived metrics of rocprofv3, and those behind rocprofiler-compute's panel 2.1.15."""
FIELDS = {name: field for field, names in _COLUMNS.items() for name in names.split()}


class Resources(NamedTuple):
    """Allocated resources as the profiler counts them; a field is None if the profiler does not
    state it."""

    vgprs: int | None  # VGPRs per lane
    agprs: int | None  # AGPRs per lane
    sgprs: int | None  # SGPRs per wave
    lds_bytes: int | None  # bytes of LDS per workgroup, static and dynamic
    scratch_bytes_per_lane: int | None  # bytes of scratch per lane


class Dispatch(NamedTuple):
    """One or more launches of one kernel with equal sizes and resources."""

    kernel: str  # name as the profiler writes it
    workgroup_size: int  # workitems of a workgroup
    workgroups: int | None  # launched workgroups
    resources: Resources
    agent: str = ""  # id of the GPU; empty if the profile does not name it
    target: str | None = None  # processor of the GPU: gfx90a; None if the profile does not say
    launches: int = 1  # number of launches that were joined
    duration_ns: float | None = None  # mean time of a launch, in ns
    percent: float | None = None  # measured occupancy, of the wave slots of the device
    waves_per_cu: float | None = None
    wave_cycles: float | None = None  # cycles of all waves on the device, added up
    cycles: float | None = None  # cycles in which the device was busy, added up over its dies


_SHARED = Dispatch._fields.index("launches")
"""Number of leading fields of `Dispatch`, which joined launches share. The other fields are the
number of launches, and means of measurements or None if the run does not state them."""
_COUNTERS = ("percent", "waves_per_cu", "wave_cycles", "cycles")


def read(path: Path, within: Bounds = BY_DEFAULT) -> tuple[Dispatch, ...]:
    """The dispatches of a run, joined by `together`, in the order of their first launch.

    Raises `ReadError` for a file that is unreadable or of another kind.
    """
    try:
        if dispatches := together(map(_dispatch, _rows_of(path, within))):
            return dispatches
        raise ReadError(say("profile-empty"))
    except OSError as error:
        raise ReadError(say("profile-not-read", path=path, reason=error.strerror)) from None
    except ReadError as error:
        raise ReadError(say("profile-not-read", path=path, reason=error.message)) from None
    except (csv.Error, OverflowError, ValueError) as error:
        raise ReadError(say("profile-not-read", path=path, reason=error)) from None
    except Exception as error:
        raise ReadError(in_file(path, bug(error))) from error


_SQLITE = b"SQLite format 3\0"
_MOST_BYTES = 1 << 30  # of a trace as text; a database may be larger


def _rows_of(path: Path, within: Bounds) -> Iterator[Mapping[str, Any]]:
    if path.is_file():
        with open_regular(path) as file:
            is_database = file.read(len(_SQLITE)) == _SQLITE
        if is_database:
            return read_rocpd(path, FIELDS)
    data = _plain(read_document(path, _MOST_BYTES), within)
    if data.startswith(_SQLITE):
        raise ReadError(say("profile-compressed"))
    if data.lstrip()[:1] in (b"{", b"["):
        raise ReadError(say("profile-json"))
    return _rows(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def _plain(data: bytes, within: Bounds) -> bytes:
    if not data.startswith(formats.COMPRESSED["gzip"]):
        return data
    limit, budget = within.streamed_bytes(len(data)), within.budget(len(data))
    stream = Decompressed("gzip", Data.of(data), limit, budget)
    return bytes(stream.read_all())


def together(dispatches: Iterable[Dispatch]) -> tuple[Dispatch, ...]:
    """Dispatches joined by agent, kernel, sizes and resources, in the order of their first
    dispatch."""
    measured: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for dispatch in dispatches:
        measured.setdefault(dispatch[:_SHARED], []).append(dispatch[_SHARED:])
    return tuple(Dispatch(*shared, *_mean(measures)) for shared, measures in measured.items())


def _rows(table: csv.DictReader[str]) -> Iterator[dict[str, str]]:
    """The values of each dispatch, by the names of our fields. Rows with one counter each are
    joined into one dispatch."""
    names = [name for name in table.fieldnames or () if name]
    columns = {name: FIELDS[name.lower()] for name in names if name.lower() in FIELDS}
    if "kernel" not in columns.values():
        raise ReadError(say("profile-column-missing", column="Kernel_Name"))
    if not {"workgroup_size", "workgroup_x"} & set(columns.values()):
        raise ReadError(say("profile-column-missing", column="Workgroup_Size"))
    if "counter" in columns.values() and "value" not in columns.values():
        raise ReadError(say("profile-column-missing", column="Counter_Value"))
    folded: dict[tuple[str, str], dict[str, str]] = {}
    for row in table:
        values = {field: row[name] for name, field in columns.items() if row[name]}
        if "counter" not in columns.values():
            yield values
            continue
        key = (values.get("dispatch", ""), values.get("kernel", ""))
        whole = folded.setdefault(key, values)
        counter = FIELDS.get(values.get("counter", "").lower())
        if counter in _COUNTERS and "value" in values:
            whole[counter] = values["value"]
    yield from folded.values()


def _number(values: Mapping[str, Any], field: str) -> float | None:
    return float(values[field]) if field in values else None


def _count(values: Mapping[str, Any], field: str) -> int | None:
    return int(float(values[field])) if field in values else None


def _volume(values: Mapping[str, Any], noun: str) -> int | None:
    """Number of workitems, from one column or from three."""
    if f"{noun}_x" not in values:
        return _count(values, f"{noun}_size")
    return prod(_count(values, f"{noun}_{axis}") or 1 for axis in "xyz")


def _dispatch(values: Mapping[str, Any]) -> Dispatch:
    size, grid = _volume(values, "workgroup"), _volume(values, "grid")
    if "kernel" not in values or size is None or size < 1:
        raise ReadError(say("profile-dispatch-unnamed"))
    start, end = _number(values, "start_ns"), _number(values, "end_ns")
    return Dispatch(
        kernel=str(values["kernel"]),
        workgroup_size=size,
        workgroups=None if grid is None else -(-grid // size),
        resources=Resources(*(_count(values, field) for field in Resources._fields)),
        agent=str(values.get("agent", "")),
        target=str(values["target"]) if "target" in values else None,
        duration_ns=None if start is None or end is None else end - start,
        percent=_number(values, "percent"),
        waves_per_cu=_number(values, "waves_per_cu"),
        wave_cycles=_number(values, "wave_cycles"),
        cycles=_number(values, "cycles"),
    )


def _mean(measured: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """(number of launches, means, each weighted by the number of launches that measured it)."""
    if len(measured) == 1:
        return measured[0]
    counts, *columns = zip(*measured, strict=True)
    means: list[float | None] = []
    for values in columns:
        stated = [(v, count) for v, count in zip(values, counts, strict=True) if v is not None]
        whole = sum(count for _, count in stated)
        means.append(sum(value * count for value, count in stated) / whole if whole else None)
    return sum(counts), *means


# Kernel dispatches of a rocpd database: SQLite, rocprofv3's default output since ROCm 7.
#
# Tables and columns follow rocprofiler-sdk (share/rocprofiler-sdk-rocpd/rocpd_tables.sql), schema 3
# (times in the dispatch) and 4 (times and agent by reference). Each profiled process has its own
# set of tables; their names end with its id.

_DISPATCHES = "rocpd_kernel_dispatch"
_LONGEST_VALUE = 1 << 20  # bytes of one value; a kernel's name has a few thousand
_STEPS, _STEPS_PER_BYTE = 100_000, 5
"""Budget of SQLite's virtual machine. A real file takes about 2 steps a byte; a damaged file, whose
pages refer to each other in circles, never ends."""
_CALL = 10_000  # steps between two checks of the budget

RocpdRow = dict[str, Any]


def read_rocpd(path: Path, fields: Mapping[str, str]) -> Iterator[RocpdRow]:
    """Dispatches as dictionaries from our field to its value, without missing values.

    `fields` maps a profiler's column, in lower case, to our field (`profile.FIELDS`). Raises
    `ReadError` for a damaged database or one of another tool.
    """
    check_below(path)
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise ReadError(say("profile-log-unread", log=log.name))
    try:
        with closing(_opened(path)) as database:
            for read in _sets(database, path.stat().st_size):
                yield from _dispatches(read, {**fields, **_OWN_FIELDS})
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


ReadTable = Callable[..., Iterator[RocpdRow]]
"""(table, *columns) to the rows of the table, with the named columns that exist. No rows if the
table or all of these columns are missing."""


def _sets(database: sqlite3.Connection, size: int) -> list[ReadTable]:
    """The tables of each process. Views and virtual tables run code, so they are left out."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
    names = [str(row["name"]) for row in database.execute(query)]
    ids = [name.removeprefix(_DISPATCHES) for name in names if name.startswith(_DISPATCHES)]
    if "rocpd_kernelapi" in names:
        raise ReadError(say("profile-of-rpd"))
    if not ids:
        raise ReadError(say("profile-other-database", table=_DISPATCHES))
    return [_reader(database, id, names, size) for id in ids]


def _reader(database: sqlite3.Connection, id: str, names: Collection[str], size: int) -> ReadTable:
    """A function that reads the tables of one process; it omits values that are NULL or BLOB.

    The text of all rows may have at most two characters per byte of the file; beyond that the
    function raises `ReadError`.
    """
    text_left = 2 * size

    def read(table: str, *columns: str) -> Iterator[RocpdRow]:
        nonlocal text_left
        if (name := table + id) not in names:
            return
        described = database.execute(f"PRAGMA table_xinfo({_quoted(name)})").fetchall()
        stored = [row["name"] for row in described if row["hidden"] == 0]  # the others are computed
        selected = ", ".join(_quoted(column) for column in columns if column in stored)
        for row in database.execute(f"SELECT {selected} FROM {_quoted(name)}") if selected else ():
            values = {c: v for c, v in dict(row).items() if isinstance(v, int | float | str)}
            text_left -= sum(len(value) for value in values.values() if isinstance(value, str))
            if text_left < 0:
                raise ReadError(say("profile-damaged", error=say("profile-text-too-long")))
            yield values

    return read


def _by_id(read: ReadTable, table: str, *columns: str) -> dict[Any, RocpdRow]:
    """The rows of a table by their column `id`."""
    return {row.get("id"): row for row in read(table, "id", *columns)}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


_OWN_FIELDS = {"start": "start_ns", "end": "end_ns", "arch_vgpr_count": "vgprs"}
_DISPATCH_FIELDS = (
    *("workgroup_size_x", "workgroup_size_y", "workgroup_size_z"),
    *("grid_size_x", "grid_size_y", "grid_size_z", "group_segment_size", "private_segment_size"),
    *("start", "end", "agent_id", "kernel_id", "event_id", "track_id", "start_id", "end_id"),
)
_SYMBOL_COLUMNS = ("kernel_name", "arch_vgpr_count", "accum_vgpr_count", "sgpr_count")
_COUNTER_QUERY = {"OccupancyPercent": "percent", "MeanOccupancyPerCU": "waves_per_cu"}
"""Metrics that rocprofv3 derives. Raw counters have one row per hardware instance."""


def _dispatches(read: ReadTable, fields: Mapping[str, str]) -> Iterator[RocpdRow]:
    symbols = _by_id(read, "rocpd_info_kernel_symbol", *_SYMBOL_COLUMNS)
    agents = _by_id(read, "rocpd_info_agent", "name")
    tracks = _by_id(read, "rocpd_track", "agent_id")
    times = _by_id(read, "rocpd_timestamp", "value")
    counters = _counters(read)
    for row in read(_DISPATCHES, *_DISPATCH_FIELDS):
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


def _counters(read: ReadTable) -> dict[Any, RocpdRow]:
    """Event id → values of the counters."""
    fields = {
        row["id"]: _COUNTER_QUERY[name]
        for row in read("rocpd_info_pmc", "id", "symbol", "name")
        for name in (row.get("symbol"), row.get("name"))
        if name in _COUNTER_QUERY and "id" in row
    }
    counters: dict[Any, RocpdRow] = {}
    for row in read("rocpd_pmc_event", "event_id", "pmc_id", "value") if fields else ():
        if (field := fields.get(row.get("pmc_id"))) and {"event_id", "value"} <= row.keys():
            counters.setdefault(row["event_id"], {})[field] = row["value"]
    return counters
