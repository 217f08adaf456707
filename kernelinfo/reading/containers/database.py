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
from itertools import islice
from pathlib import Path

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Note, Problem
from kernelinfo.reading.containers import bounds
from kernelinfo.reading.containers.parts import part, problem
from kernelinfo.reading.containers.streams import Decompressed

_QUERIES = {
    "kern_db": "SELECT rowid, kernel_name, kernel_args, kernel_blob, uncompressed_size, "
    "kernel_hash FROM kern_db",
    "cache_v1": "SELECT rowid, kernel_name, arch, code, 0, NULL FROM cache_v1",
}
"""By table: the row's number, name, what distinguishes kernels of that name, bytes, their size once
decompressed and their MD5 sum."""
_WAL_FLAGS = slice(18, 20)
_LEGACY = b"\1\1"
_STEPS = 1 << 16
_LONGEST_REASON = 100


def read(blob: Blob) -> Iterator[Blob | Problem | Note]:
    """The blob of each row; nothing of other databases."""
    if not blob.containers and os.path.exists(f"{blob.path}-wal"):
        yield Note(blob.path, "its write-ahead log is not read: rows in it are not counted")
    try:
        with closing(_opened(blob)) as database:
            for table in _tables(database):
                yield from _of_table(blob, database, table)
    except (sqlite3.Error, UnicodeDecodeError, OverflowError, MemoryError) as error:
        why = " ".join(str(error).split())[:_LONGEST_REASON]  # it may quote the database
        yield problem(blob, f"damaged database ({why}); not read from here on")


def _opened(blob: Blob) -> sqlite3.Connection:
    """A connection that writes nothing, to the file or to a copy of a container's member."""
    path = Path(blob.path)
    if not blob.containers and path.is_file():
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        database = sqlite3.connect(uri, uri=True)
    else:
        copy = bytearray(blob.data)
        copy[_WAL_FLAGS] = _LEGACY  # a copy in memory has no write-ahead log
        database = sqlite3.connect(":memory:")
        database.deserialize(bytes(copy))
    database.text_factory = lambda text: text.decode("utf-8", "backslashreplace")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, bounds.DATABASE_BLOB_BYTES)
    database.execute("PRAGMA trusted_schema = OFF")
    left = iter(range(bounds.DATABASE_STEPS // _STEPS))
    database.set_progress_handler(lambda: next(left, None) is None, _STEPS)
    return database


def _tables(database: sqlite3.Connection) -> list[str]:
    """The tables that may hold kernels; a view of such a name could be endless."""
    rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return [name for (name,) in rows if name in _QUERIES]


def _of_table(
    blob: Blob, database: sqlite3.Connection, table: str
) -> Iterator[Blob | Problem | Note]:
    rows = database.execute(_QUERIES[table])
    last = None
    for row, name, other, data, size, checksum in islice(rows, bounds.DATABASE_ROWS):
        if last is not None and row <= last:
            yield problem(blob, f"damaged database: row {row} of {table} again; not read on")
            return
        last = row
        member = " ".join(str(text) for text in (name, other) if text)
        try:
            plain = _plain(blob, data, size)
        except ReadError as error:
            yield problem(blob, str(error), at=None, member=member)
            continue
        if checksum is not None and not _has_checksum(plain, checksum):
            yield problem(blob, "its checksum is another; build it again", at=None, member=member)
        yield part(blob, "sqlite", plain, at=None, member=member)
    if next(rows, None) is not None:
        yield problem(blob, f"more than {bounds.DATABASE_ROWS} rows; not read from here on")


def _plain(blob: Blob, data: object, size: object) -> memoryview:
    """The bytes of a row, decompressed. Raises `ReadError` where they are none."""
    if not isinstance(data, bytes) or not isinstance(size, int) or size < 0:
        raise ReadError("a row of a kernel whose code is no blob; not read")
    if not size:
        return memoryview(data)
    held = blob.bounds.held_bytes(len(data), nested=blob.offset is None)
    stream = Decompressed("bzip2", memoryview(data), min(size, held), blob.budget)
    plain = stream.read_all()
    if len(plain) != size:
        raise ReadError(f"{len(plain)} bytes of code where its row says {size}; not read")
    return plain


def _has_checksum(data: memoryview, checksum: object) -> bool:
    from hashlib import md5

    return md5(data, usedforsecurity=False).hexdigest() == checksum
