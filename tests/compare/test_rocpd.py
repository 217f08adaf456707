"""Reading rocpd databases; they are written here to the columns of rocprofiler-sdk's schema."""

from __future__ import annotations

import json
import sqlite3
import struct
from contextlib import closing
from itertools import pairwise
from pathlib import Path

from ..conftest import FIXTURES
from ..messages import code_of, do_lines_match
from ..test_golden import run

OBJECT = str(FIXTURES / "code_object" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.out")

ID = "_00000a07_ba5e_7d31"
SIZES = (
    "workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z"
)
COMMON = f"""
CREATE TABLE rocpd_info_agent{ID} (id INTEGER PRIMARY KEY, type TEXT, name TEXT);
INSERT INTO rocpd_info_agent{ID} VALUES (1, 'CPU', 'EPYC'), (2, 'GPU', 'gfx90a');
CREATE TABLE rocpd_info_kernel_symbol{ID} (
    id INTEGER PRIMARY KEY, kernel_name TEXT, group_segment_size INTEGER, sgpr_count INTEGER,
    arch_vgpr_count INTEGER, accum_vgpr_count INTEGER, extdata JSONB);
INSERT INTO rocpd_info_kernel_symbol{ID} VALUES (7, '_Z9vgprboundiPd.kd', 0, 80, 124, 4, '{{}}');
CREATE TABLE rocpd_info_pmc{ID} (id INTEGER PRIMARY KEY, name TEXT, symbol TEXT);
INSERT INTO rocpd_info_pmc{ID} VALUES (3, 'OccupancyPercent', 'OccupancyPercent'), (4, 'W', 'W');
CREATE TABLE rocpd_pmc_event{ID} (event_id INTEGER, pmc_id INTEGER, value REAL);
INSERT INTO rocpd_pmc_event{ID} VALUES (9, 3, 49.5), (9, 4, 1e6), (NULL, 3, 99.0);
"""
SCHEMA_3 = f"""{COMMON}
CREATE TABLE rocpd_kernel_dispatch{ID} (
    id INTEGER PRIMARY KEY, agent_id INTEGER, kernel_id INTEGER, start BIGINT, "end" BIGINT,
    private_segment_size INTEGER, group_segment_size INTEGER, {SIZES}, event_id INTEGER);
INSERT INTO rocpd_kernel_dispatch{ID} VALUES
    (1, 2, 7, 100, 150, 60, 512, 16, 16, 1, 26624, 1, 1, 9);
CREATE VIEW rocpd_kernel_dispatch AS SELECT * FROM rocpd_kernel_dispatch{ID};
"""
SCHEMA_4 = f"""{COMMON}
CREATE TABLE rocpd_track{ID} (id INTEGER PRIMARY KEY, agent_id INTEGER);
INSERT INTO rocpd_track{ID} VALUES (5, 2);
CREATE TABLE rocpd_timestamp{ID} (id INTEGER PRIMARY KEY, value BIGINT);
INSERT INTO rocpd_timestamp{ID} VALUES (20, 100), (21, 150);
CREATE TABLE rocpd_kernel_dispatch{ID} (
    id INTEGER PRIMARY KEY, track_id INTEGER, kernel_id INTEGER, start_id INTEGER, end_id INTEGER,
    private_segment_size INTEGER, group_segment_size INTEGER, {SIZES}, event_id INTEGER);
INSERT INTO rocpd_kernel_dispatch{ID} VALUES (1, 5, 7, 20, 21, 60, 512, 16, 16, 1, 26624, 1, 1, 9);
"""
FACTS = {
    "profiled_as": "_Z9vgprboundiPd.kd",
    "target": "gfx90a",
    "dispatches": 1,
    "duration_ns": 50,
    "workgroup_size": 256,
    "workgroups": 104,
    "vgprs_measured": 124,
    "agprs_measured": 4,
    "sgprs_measured": 80,
    "lds_bytes_measured": 512,
    "scratch_bytes_per_lane_measured": 60,
    "percent_measured": 49.5,
}


def read(path: Path) -> dict[str, object]:
    """Facts of the only launch of a database."""
    out, err, code = run("compare-profile", str(path), OBJECT, "--format", "json")
    assert (err, code) == ("", 0)
    (launch,) = json.loads(out)["launches"]
    assert code_of(launch["why_target"]) == "target-of-run"
    return {key: launch[key] for key in FACTS}


def is_refused(path: Path, *reason: str) -> bool:
    """Whether a database is not read, and one line says the reason."""
    out, err, code = run("compare-profile", str(path), OBJECT)
    assert (out, code) == ("", 2)
    return do_lines_match(err, " ".join(("profile-not-read", *reason, f"kernelinfo: {path}: ")))


def database(folder: Path, script: str) -> Path:
    path = folder / "results.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path


def test_a_dispatch_with_its_symbol_agent_and_counters(tmp_path: Path) -> None:
    for name, schema in (("3", SCHEMA_3), ("4", SCHEMA_4)):
        (tmp_path / name).mkdir()
        assert read(database(tmp_path / name, schema)) == FACTS, name


def test_each_process_has_its_own_tables(tmp_path: Path) -> None:
    other = SCHEMA_3.partition("CREATE VIEW")[0].replace(ID, "_other")
    assert read(database(tmp_path, SCHEMA_3 + other)) == FACTS | {"dispatches": 2}


def test_nothing_is_written_beside_a_database_in_wal_mode(tmp_path: Path) -> None:
    path = database(tmp_path, f"PRAGMA journal_mode = WAL; {SCHEMA_3}")
    assert read(path) == FACTS
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_rows_that_are_not_yet_in_the_database_are_missed(tmp_path: Path) -> None:
    path = database(tmp_path, SCHEMA_3)
    path.with_name("results.db-wal").write_bytes(b"pages")
    assert is_refused(path, "profile-log-unread")


def test_other_databases_are_named(tmp_path: Path) -> None:
    dispatches = f"rocpd_kernel_dispatch{ID}"
    for number, (script, message) in enumerate(
        (
            ("CREATE TABLE x (y)", "profile-other-database"),
            ("CREATE TABLE rocpd_kernelapi (id); CREATE TABLE rocpd_op (id)", "profile-of-rpd"),
            ("CREATE VIEW rocpd_kernel_dispatch AS SELECT 1", "profile-other-database"),
            (f"{SCHEMA_3} DELETE FROM {dispatches}", "profile-empty"),
            (f"{SCHEMA_3} DROP TABLE rocpd_info_kernel_symbol{ID}", "profile-dispatch-unnamed"),
            (
                f"{SCHEMA_3} UPDATE {dispatches} SET workgroup_size_x = x'00'",
                "profile-dispatch-unnamed",
            ),
        )
    ):
        (folder := tmp_path / str(number)).mkdir()
        assert is_refused(database(folder, script), message), script


def test_what_a_column_computes_is_not_read(tmp_path: Path) -> None:
    symbols = f"CREATE TABLE rocpd_info_kernel_symbol{ID} ("
    hostile = "kernel_name AS (printf('%.*c', 900000, 'x'))"
    script = SCHEMA_3.replace(symbols, f"CREATE TABLE honest{ID} (")
    script = script.replace(f"INTO rocpd_info_kernel_symbol{ID}", f"INTO honest{ID}")
    path = database(tmp_path, f"{script} {symbols}id INTEGER PRIMARY KEY, {hostile})")
    assert is_refused(path, "profile-dispatch-unnamed")


def test_a_default_that_every_row_repeats_is_more_than_the_file_holds(tmp_path: Path) -> None:
    added = f"ALTER TABLE rocpd_info_kernel_symbol{ID} ADD COLUMN"
    script = (
        SCHEMA_3.replace("kernel_name TEXT, group", "unused TEXT, group")
        + f"""
        WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
        INSERT INTO rocpd_info_kernel_symbol{ID} (id) SELECT i FROM n;
        {added} kernel_name TEXT DEFAULT '{"x" * 50_000}';
        """
    )
    assert is_refused(database(tmp_path, script), "profile-text-too-long")


def test_a_database_that_is_cut_off(tmp_path: Path) -> None:
    path = database(tmp_path, SCHEMA_3)
    whole = path.read_bytes()
    for length in range(100, len(whole), 997):
        path.write_bytes(whole[:length])
        assert is_refused(path), length


def test_pages_that_refer_to_the_same_pages_again_and_again_come_to_an_end(tmp_path: Path) -> None:
    """Ten levels of a table's tree, with some fifty times the same page in each."""
    rows = f"""
        WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        INSERT INTO rocpd_kernel_dispatch{ID}
            SELECT i, 2, 7, 1, 2, 0, 0, 64, 1, 1, 64, 1, 1, 9 FROM n;
        """
    path = database(tmp_path, f"PRAGMA page_size = 512; {SCHEMA_3} {rows}")
    with closing(sqlite3.connect(path)) as connection:
        query = f"SELECT rootpage FROM sqlite_master WHERE name = 'rocpd_kernel_dispatch{ID}'"
        ((root,),) = connection.execute(query)
    data = bytearray(path.read_bytes())
    inner = [page for page in range(2, len(data) // 512) if data[512 * (page - 1)] == INNER]
    inner.remove(root)
    leaf = root
    while data[512 * (leaf - 1)] == INNER:
        (leaf,) = struct.unpack_from(">I", data, 512 * (leaf - 1) + 8)
    levels = [root, *inner[:9], leaf]
    for page, below in pairwise(levels):
        refer_to(memoryview(data)[512 * (page - 1) : 512 * page], below)
    path.write_bytes(data)
    assert is_refused(path, "profile-damaged")


INNER = 5
"""Pages of a table that refer to others; sqlite.org/fileformat2.html, 1.6."""


def refer_to(page: memoryview, below: int) -> None:
    """All cells of an inner page."""
    (cells,) = struct.unpack_from(">H", page, 3)
    places = struct.unpack_from(f">{cells}H", page, 12)
    for place in (8, *places):
        struct.pack_into(">I", page, place, below)
