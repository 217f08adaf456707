"""Databases that SQLite itself writes, with the tables of MIOpen and rocFFT."""

from __future__ import annotations

import bz2
import pickle
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from hashlib import md5
from pathlib import Path
from unittest.mock import patch

import pytest

from kernelinfo.reading.blob import Note
from kernelinfo.reading.containers import bounds, open_paths

from .opening import CONTAINERS, GFX1030, HOST, OBJECT, members, opened, opened_path
from .test_zip_archive import packed

KERN_DB = """CREATE TABLE kern_db (id INTEGER PRIMARY KEY ASC, kernel_name TEXT NOT NULL,
kernel_args TEXT NOT NULL, kernel_blob BLOB NOT NULL, kernel_hash TEXT NOT NULL,
uncompressed_size INT NOT NULL)"""
CACHE = """CREATE TABLE cache_v1 (kernel_name TEXT NOT NULL, arch TEXT NOT NULL,
hip_version INTEGER NOT NULL, generator_sum BLOB NOT NULL, code BLOB NOT NULL,
timestamp INTEGER NOT NULL, PRIMARY KEY (kernel_name, arch, hip_version, generator_sum))"""
BUNDLE = (CONTAINERS / "tiny.hipfb").read_bytes()


def database(path: Path, *statements: str, rows: Sequence[tuple[object, ...]] = ()) -> Path:
    """A database; `rows` go into `kern_db` but for their numbers."""
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        for row in rows:
            connection.execute(
                "INSERT INTO kern_db (kernel_name, kernel_args, kernel_blob, kernel_hash, "
                "uncompressed_size) VALUES (?, ?, ?, ?, ?)",
                row,
            )
        connection.commit()
    return path


def kern_db(code: bytes) -> bytes:
    """MIOpen's table with one row."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("PRAGMA page_size = 512")
        connection.execute(KERN_DB)
        command = "INSERT INTO kern_db VALUES (1, 'k', '', ?, ?, 0)"
        connection.execute(command, (code, md5(code).hexdigest()))
        connection.commit()
        return connection.serialize()


def row(
    name: str, data: bytes, *, compressed: bool = True, size: object = None
) -> tuple[object, ...]:
    blob = bz2.compress(data) if compressed else data
    length = len(data) if compressed else 0
    return name, "-mcpu=x", blob, md5(data).hexdigest(), length if size is None else size


ROWS = [row("conv.o", OBJECT), row("raw.o", GFX1030, compressed=False), row("bundle.o", BUNDLE)]


@pytest.fixture
def kdb(tmp_path: Path) -> Path:
    return database(tmp_path / "gfx90a68.kdb", "PRAGMA page_size = 512", KERN_DB, rows=ROWS)


def test_miopens_rows(kdb: Path) -> None:
    blobs, messages = opened_path(kdb)
    assert messages == []
    assert [bytes(blob.data) == data for blob, data in zip(blobs, [OBJECT, GFX1030], strict=False)]
    assert members(blobs)[:3] == [
        "conv.o -mcpu=x",
        "raw.o -mcpu=x",
        "bundle.o -mcpu=x/hipv4-amdgcn-amd-amdhsa--gfx90a",
    ]
    assert len(blobs) == 4


def test_rocffts_rows(tmp_path: Path) -> None:
    path = database(tmp_path / "cache.db", CACHE)
    with closing(sqlite3.connect(path)) as connection:
        rows = [("fft", "gfx90a", 6, b"x", OBJECT, 1), ("fft", "gfx1030", 6, b"x", GFX1030, 1)]
        connection.executemany("INSERT INTO cache_v1 VALUES (?, ?, ?, ?, ?, ?)", rows)
        connection.commit()
    blobs, messages = opened_path(path)
    assert (members(blobs), messages) == (["fft gfx90a", "fft gfx1030"], [])
    assert [bytes(blob.data) for blob in blobs] == [OBJECT, GFX1030]


def test_in_a_container_and_in_memory(kdb: Path) -> None:
    data = kdb.read_bytes()
    assert len(opened(data)[0]) == 4
    assert len(opened(packed(("share/x.kdb", data)))[0]) == 4


def test_rows_of_an_open_log_are_read_and_nothing_is_written(kdb: Path) -> None:
    """Programs that never close their database leave their last rows in the log."""
    with closing(sqlite3.connect(kdb)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("DELETE FROM kern_db WHERE id = 1")
        connection.commit()
        before = {path: path.read_bytes() for path in kdb.parent.iterdir()}
        items = list(open_paths([str(kdb)]))
        assert {path: path.read_bytes() for path in kdb.parent.iterdir()} == before
        assert len(items) == 3
        with patch.object(bounds, "DATABASE_COPY_BYTES", 10_000):
            [note] = [item for item in open_paths([str(kdb)]) if isinstance(item, Note)]
        assert note.message == "its write-ahead log is not read: rows in it are not counted"
    assert len(opened(kdb.read_bytes())[0]) in (3, 4)


def test_a_damaged_log_hides_nothing(kdb: Path) -> None:
    log = Path(f"{kdb}-wal")
    for data in (b"x", bytes(5000), b"\x37\x7f\x06\x82" + b"\xff" * 5000):
        log.write_bytes(data)
        blobs, messages = opened_path(kdb)
        assert (len(blobs), messages) == (4, [])
        assert log.read_bytes() == data


TINYGRAD = "CREATE TABLE '{}' (key text, val blob, PRIMARY KEY (key))"
"""As tinygrad's `diskcache_put` makes it."""


def tinygrads(path: Path, *rows: tuple[str, object]) -> Path:
    """A database with a table of each name, with one row."""
    with closing(sqlite3.connect(path)) as connection:
        for table, value in rows:
            connection.execute(TINYGRAD.format(table))
            connection.execute(f"INSERT INTO '{table}' VALUES ('source', ?)", (value,))
        connection.commit()
    return path


@pytest.mark.parametrize("protocol", range(3, pickle.HIGHEST_PROTOCOL + 1))
def test_tinygrads_rows(tmp_path: Path, protocol: int) -> None:
    large = OBJECT + bytes(70_000)
    rows = (
        ("compile_hip_gfx90a_22", pickle.dumps(OBJECT, protocol)),
        ("compile_llvm_gfx1030_+cumode_opt_22", pickle.dumps(GFX1030, protocol)),
        ("compile_hipcc_gfx90a_0a1b2c3d_22", pickle.dumps(large, protocol)),
        ("compile_clang_obj_x86_64_22", pickle.dumps(HOST, protocol)),
        ("compile_cuda_sm_90_22", pickle.dumps(b".version 8.0", protocol)),
        ("beam_search_22", pickle.dumps(OBJECT, protocol)),
    )
    blobs, messages = opened_path(tinygrads(tmp_path / "cache.db", *rows))
    assert ([bytes(blob.data) for blob in blobs], messages) == ([OBJECT, GFX1030, large], [])
    assert members(blobs) == [f"{table} 1" for table, _ in rows[:3]]


@pytest.mark.parametrize("name", ["x'00ff'", "NULL", "7", "1.5"])
def test_names_of_tables_that_are_no_text(tmp_path: Path, name: str) -> None:
    path = tinygrads(tmp_path / "cache.db", ("compile_hip_gfx90a_22", pickle.dumps(OBJECT)))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE other (a)")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(f"UPDATE sqlite_master SET name = {name} WHERE name = 'other'")
        connection.commit()
    opened_path(path)  # must not raise


def test_rows_of_tinygrads_that_are_odd(tmp_path: Path) -> None:
    cut = pickle.dumps(OBJECT)[:-2000]
    rows = (
        ("compile_hip_gfx90a_22", cut),
        ("compile_hip_gfx942_22", 7),
        ("compile_hip_gfx1100_22", None),
        ("compile_hip_'; DROP TABLE x; --", b""),
        ("compile_hip_gfx90a_23", pickle.dumps(OBJECT)),
    )
    path = tmp_path / "cache.db"
    with closing(sqlite3.connect(path)) as connection:
        for table, value in rows:
            quoted = table.replace("'", "''")
            connection.execute(TINYGRAD.format(quoted))
            connection.execute(f"INSERT INTO '{quoted}' VALUES ('source', ?)", (value,))
        connection.execute("CREATE TABLE compile_times (file text, seconds real)")
        connection.execute("INSERT INTO compile_times VALUES ('x', 1.5)")
        connection.commit()
    blobs, messages = opened_path(path)
    assert members(blobs) == ["compile_hip_gfx90a_22 1", "compile_hip_gfx90a_23 1"]
    assert bytes(blobs[1].data) == OBJECT
    there = len(OBJECT) - 2000 + 2
    assert messages == [f"{len(OBJECT)} bytes claimed of which {there} are there"]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (("k", "", None, "", 0), "a row of a kernel whose code is no blob; not read"),
        (("k", "", "text", "", 0), "a row of a kernel whose code is no blob; not read"),
        (row("k", OBJECT, size=-1), "a row of a kernel whose code is no blob; not read"),
        (row("k", OBJECT, size=100), "bzip2 data give more than the 100 bytes allowed here"),
        (row("k", OBJECT, size=1 << 62), "bytes of code where its row says"),
        (("k", "", OBJECT, "0" * 32, len(OBJECT)), "damaged bzip2 data"),
    ],
)
def test_a_damaged_row_hides_no_other(
    bad: tuple[object, ...], message: str, tmp_path: Path
) -> None:
    table = KERN_DB.replace(" NOT NULL", "")
    path = database(tmp_path / "x.kdb", table, rows=[bad, ROWS[0]])
    blobs, [complaint] = opened_path(path)
    assert members(blobs) == ["conv.o -mcpu=x"]
    assert message in complaint


def test_a_wrong_checksum(tmp_path: Path) -> None:
    rows = [("k", "", OBJECT, "0" * 32, 0)]
    blobs, messages = opened_path(database(tmp_path / "x.kdb", KERN_DB, rows=rows))
    assert (len(blobs), messages) == (1, ["its checksum does not match; build it again"])


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE other (x)",
        "CREATE VIEW kern_db AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT i AS id, 'x' AS kernel_name, '' AS kernel_args, x'00' AS kernel_blob, "
        "'' AS kernel_hash, 0 AS uncompressed_size FROM n",
    ],
)
def test_other_databases_hold_nothing(statement: str, tmp_path: Path) -> None:
    path = database(tmp_path / "x.db", statement)
    assert opened_path(path) == (
        [],
        ["a database without kernels; give one of MIOpen's, rocFFT's or tinygrad's"],
    )
    assert opened_path(tmp_path) == ([], [])


def test_a_table_with_other_columns(tmp_path: Path) -> None:
    statements = ("CREATE TABLE kern_db (x)", "INSERT INTO kern_db VALUES (1)")
    _, [message] = opened_path(database(tmp_path / "x.db", *statements))
    assert message.startswith("damaged database (no such column")


@pytest.mark.parametrize("cut", [50, 100, 600, 3000])
def test_a_database_that_is_cut(kdb: Path, cut: int) -> None:
    kdb.write_bytes(kdb.read_bytes()[:cut])
    _, messages = opened_path(kdb)
    assert messages[-1].startswith("damaged database (")


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Forty rows, on pages of their own behind those of the table and its index."""
    rows = [row(f"{number}.o", OBJECT) for number in range(40)]
    index = "CREATE UNIQUE INDEX names ON kern_db(kernel_name, kernel_args)"
    return database(tmp_path / "x.kdb", KERN_DB, index, rows=rows)


def test_rows_before_the_end_of_a_cut_database_are_read(many: Path) -> None:
    whole = many.read_bytes()
    many.write_bytes(whole[: len(whole) * 3 // 4])
    blobs, messages = opened_path(many)
    assert 20 < len(blobs) < 35
    assert any("not all of it is read" in message for message in messages)


def pages_of(path: Path, table: str) -> list[int]:
    """Offsets of the leaves of a table or an index."""
    query = "SELECT pgoffset FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path"
    with closing(sqlite3.connect(path)) as connection:
        return [offset for (offset,) in connection.execute(query, (table,))]


@pytest.mark.parametrize(
    ("table", "fewer", "message"),
    [
        ("kern_db", range(1, 5), "damaged database (database disk image is malformed); not all"),
        ("names", range(1), "damaged database: the index of kern_db is not read"),
    ],
)
def test_a_page_of_noise_hides_no_other(table: str, fewer: range, message: str, many: Path) -> None:
    data = bytearray(many.read_bytes())
    leaves = pages_of(many, table)
    at = leaves[len(leaves) // 2]
    data[at : at + 4096] = b"\xa5" * 4096
    many.write_bytes(data)
    blobs, messages = opened_path(many)
    assert 40 - len(blobs) in fewer
    assert messages[0].startswith(message)


def test_rows_are_bounded(kdb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "DATABASE_ROWS", 2)
    blobs, [message] = opened_path(kdb)
    assert len(blobs) == 2
    assert message == "more than 2 rows; not read from here on"
