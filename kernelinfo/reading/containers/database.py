"""Caches of compiled kernels in SQLite databases: MIOpen's `.kdb` and `.ukdb`, rocFFT's cache.

MIOpen, src/include/miopen/kern_db.hpp: a table `kern_db` whose blobs are bzip2 streams of
`uncompressed_size` bytes, or stored where that is 0; `kernel_hash` is the MD5 sum of the plain
bytes. rocFFT, library/src/rtc_cache.cpp: a table `cache_v1` of code objects by name and target.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from hashlib import md5
from pathlib import Path

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Found, Note, Problem
from kernelinfo.reading.containers import bounds
from kernelinfo.reading.containers.parts import part, problem
from kernelinfo.reading.containers.streams import held
from kernelinfo.reading.data import Data

_QUERIES = {
    "kern_db": "SELECT kernel_name, kernel_args, kernel_blob, uncompressed_size, kernel_hash "
    "FROM kern_db WHERE rowid = ?",
    "cache_v1": "SELECT kernel_name, arch, code, 0, NULL FROM cache_v1 WHERE rowid = ?",
}
"""By table: the name of a row, what distinguishes kernels of that name, bytes, their size once
decompressed and their MD5 sum."""
_STEPS = 1 << 16
_DAMAGE = (sqlite3.Error, UnicodeDecodeError, OverflowError, MemoryError)
"""What SQLite raises where a database is not what it should be."""


def read(blob: Blob) -> Iterator[Found]:
    """The blob of each row that can be read; nothing of other databases."""
    if not blob.containers and os.path.exists(f"{blob.path}-wal"):
        yield Note(blob.path, "its write-ahead log is not read: rows in it are not counted")
    try:
        with closing(_opened(blob)) as database:
            # No views: one of such a name could be endless.
            names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            for (name,) in names.fetchall():
                if name in _QUERIES:
                    yield from _of_table(blob, database, name)
    except _DAMAGE as error:
        yield problem(blob, f"damaged database ({_reason(error)}); not all of it is read")


def _opened(blob: Blob) -> sqlite3.Connection:
    """A connection that writes nothing, to the file or to a copy of a container's member."""
    path = Path(blob.path)
    if not blob.containers and path.is_file():
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        database = sqlite3.connect(uri, uri=True)
    else:
        copy = bytearray(blob.data.read())
        copy[18:20] = b"\1\1"  # a copy in memory has no write-ahead log
        database = sqlite3.connect(":memory:")
        database.deserialize(bytes(copy))
    database.text_factory = lambda text: text.decode("utf-8", "backslashreplace")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, bounds.DATABASE_BLOB_BYTES)
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA writable_schema = ON")  # or one that is cut off would not be read
    left = iter(range(bounds.DATABASE_STEPS // _STEPS))
    database.set_progress_handler(lambda: next(left, None) is None, _STEPS)
    return database


def _of_table(blob: Blob, database: sqlite3.Connection, table: str) -> Iterator[Found]:
    rows = unread = 0
    why = "rows out of order"
    for rows, number in enumerate(_row_numbers(database, table), 1):
        if rows > bounds.DATABASE_ROWS:
            yield problem(blob, f"more than {rows - 1} rows; not read from here on")
            return
        try:
            row = database.execute(_QUERIES[table], (number,)).fetchone()
        except _DAMAGE as error:
            row, why = None, _reason(error)
        if row is None:
            unread += 1
        else:
            yield from _of_row(blob, *row)
    if unread:
        lost = f"{unread} of {rows} rows of {table} are not read"
        yield problem(blob, f"damaged database ({why}); {lost}")
    yield from _index_problem(blob, database, table, rows)


def _row_numbers(database: sqlite3.Connection, table: str) -> Iterator[int]:
    """Upwards; where a page is damaged, downwards from the last one to it, and then raises
    `sqlite3.Error`."""
    low, high = -1 << 63, (1 << 63) - 1
    damage: sqlite3.Error | None = None
    for order in ("ASC", "DESC"):
        # Row by row: a cursor steps ahead, and would lose the row before the damage.
        query = f"SELECT rowid FROM {table} NOT INDEXED WHERE rowid > ? AND rowid < ?"
        query += f" ORDER BY rowid {order} LIMIT 1"
        try:
            while found := database.execute(query, (low, high)).fetchone():
                (number,) = found
                if not low < number < high:
                    raise sqlite3.DatabaseError(f"row {number} of {table} again")
                yield number
                low, high = (number, high) if order == "ASC" else (low, number)
        except sqlite3.Error as error:
            damage = error
        if damage is None:
            return
    if damage is not None:
        raise damage


def _of_row(
    blob: Blob, name: object, other: object, data: object, size: object, checksum: object
) -> Iterator[Blob | Problem]:
    member = " ".join(str(text) for text in (name, other) if text)
    try:
        plain = _plain(blob, data, size)
    except ReadError as error:
        yield problem(blob, str(error), at=None, member=member)
        return
    if checksum is not None and md5(plain, usedforsecurity=False).hexdigest() != checksum:
        yield problem(blob, "its checksum is another; build it again", at=None, member=member)
    yield part(blob, "sqlite", Data.of(plain), at=None, member=member)


def _index_problem(
    blob: Blob, database: sqlite3.Connection, table: str, rows: int
) -> Iterator[Problem]:
    """The problem of a table whose index, which SQLite counts by, does not list all its rows."""
    try:
        (indexed,) = database.execute(f"SELECT count(*) FROM {table}").fetchone()
        wrong = f"lists {indexed} rows of {rows}" if indexed != rows else ""
    except _DAMAGE as error:
        wrong = f"is not read ({_reason(error)})"
    if wrong:
        yield problem(blob, f"damaged database: the index of {table} {wrong}; build it again")


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split())[:100]  # it may quote the database


def _plain(blob: Blob, data: object, size: object) -> memoryview:
    """The bytes of a row, decompressed. Raises `ReadError` where they are none."""
    if not isinstance(data, bytes) or not isinstance(size, int) or size < 0:
        raise ReadError("a row of a kernel whose code is no blob; not read")
    if not size:
        return memoryview(data)
    plain = held("bzip2", blob, Data.of(data), size).read_all()
    if len(plain) != size:
        raise ReadError(f"{len(plain)} bytes of code where its row says {size}; not read")
    return plain
