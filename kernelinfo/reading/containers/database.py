"""Reads caches of compiled kernels in SQLite databases: of MIOpen, rocFFT and tinygrad.

MIOpen, src/include/miopen/kern_db.hpp: table `kern_db`. A blob is a bzip2 stream of
`uncompressed_size` bytes, or the plain bytes if that is 0; `kernel_hash` is the MD5 sum of the
plain bytes. rocFFT, library/src/rtc_cache.cpp: table `cache_v1`, code objects by name and target.
tinygrad, helpers.py `diskcache_put`: one table per compiler and version, such as
`compile_hip_gfx1100_22`, pickled code by source; pickles are searched and never unpickled.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from hashlib import md5
from pathlib import Path
from tempfile import TemporaryDirectory

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Found, Note, Problem
from kernelinfo.reading.containers import files, formats
from kernelinfo.reading.containers.formats import part, problem
from kernelinfo.reading.containers.streams import held
from kernelinfo.reading.data import Data, decode
from kernelinfo.reading.messages import say

_QUERIES = {
    "kern_db": "SELECT kernel_name, kernel_args, kernel_blob, uncompressed_size, kernel_hash "
    "FROM kern_db WHERE rowid = ?",
    "cache_v1": "SELECT kernel_name, arch, code, 0, NULL FROM cache_v1 WHERE rowid = ?",
}
"""Table → query of one row: the kernel's name, its arguments or target, the bytes, their size once
decompressed, and their MD5 sum."""
_TINYGRAD = "SELECT '{0}', rowid, val FROM \"{0}\" WHERE rowid = ?"
_TINYGRADS = r"compile_[\w+,.-]+"
_PICKLED = rb"(?:C(.)|B(.{4})|\x8e(.{8}))(?=\x7fELF\x02\x01.{12}\xe0\0)"
"""The length before the bytes of a code object for AMDGPU (Python, pickletools: SHORT_BINBYTES,
BINBYTES and BINBYTES8)."""
_STEPS = 1 << 16
_DAMAGE = (sqlite3.Error, OSError, UnicodeDecodeError, OverflowError, MemoryError)
"""Errors of SQLite on damaged databases."""


def read(blob: Blob) -> Iterator[Found]:
    """The code of each readable row; nothing for databases of other programs."""
    log = blob.path + files.LOG
    if not blob.containers and os.path.isfile(log) and not files.log_of(blob.path):
        yield Note(blob.path, say("database-log-unread"))
    try:
        with ExitStack() as opened, closing(_opened(blob, opened)) as database:
            # Tables only: a view with one of these names could be endless.
            names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            for (name,) in names.fetchall():
                if name in _QUERIES:
                    yield from _read_table(blob, database, name, _QUERIES[name], _read_row)
                elif _is_tinygrads(database, name):
                    query = _TINYGRAD.format(name)
                    yield from _read_table(blob, database, f'"{name}"', query, _read_pickle)
    except _DAMAGE as error:
        yield problem(blob, say("database-damaged", error=_reason(error)))


def _opened(blob: Blob, opened: ExitStack) -> sqlite3.Connection:
    """A connection that writes nothing next to the file.

    A member of a container is copied to memory. A database with a write-ahead log is copied to a
    temporary folder; `opened` removes it. Other files are opened read-only."""
    path = Path(blob.path)
    if blob.containers or not path.is_file():
        copy = bytearray(blob.data.read())
        copy[18:20] = b"\1\1"  # a copy in memory has no write-ahead log
        database = sqlite3.connect(":memory:")
        database.deserialize(bytes(copy))
    elif log := files.log_of(blob.path):
        folder = opened.enter_context(TemporaryDirectory())
        whole = Path(folder, "copy.db")
        shutil.copyfile(path, whole)
        shutil.copyfile(log, f"{whole}{files.LOG}")
        database = sqlite3.connect(whole)
    else:
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        database = sqlite3.connect(uri, uri=True)
    database.text_factory = decode
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, formats.DATABASE_BLOB_BYTES)
    database.setlimit(sqlite3.SQLITE_LIMIT_VDBE_OP, formats.DATABASE_OPERATIONS)
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA writable_schema = ON")  # lets SQLite read truncated databases
    left = iter(range(formats.DATABASE_STEPS // _STEPS))
    database.set_progress_handler(lambda: next(left, None) is None, _STEPS)
    return database


def _is_tinygrads(database: sqlite3.Connection, table: object) -> bool:
    # In a damaged schema a name may be no text.
    if not isinstance(table, str) or not re.fullmatch(_TINYGRADS, table, re.ASCII):
        return False
    columns = database.execute(f'PRAGMA table_info("{table}")').fetchall()
    return [column[1] for column in columns] == ["key", "val"]


def _read_table(
    blob: Blob,
    database: sqlite3.Connection,
    table: str,
    query: str,
    read_row: Callable[..., Iterator[Blob | Problem]],
) -> Iterator[Found]:
    rows = unread = 0
    why: str = say("database-rows-unordered")
    for rows, number in enumerate(_row_numbers(database, table), 1):
        if rows > formats.DATABASE_ROWS:
            yield problem(blob, say("database-rows-too-many", rows=rows - 1))
            return
        try:
            row = database.execute(query, (number,)).fetchone()
        except _DAMAGE as error:
            row, why = None, _reason(error)
        if row is None:
            unread += 1
        else:
            yield from read_row(blob, *row)
    if unread:
        lost = say("database-rows-unread", error=why, unread=unread, rows=rows, table=table)
        yield problem(blob, lost)
    yield from _index_problem(blob, database, table, rows)


def _row_numbers(database: sqlite3.Connection, table: str) -> Iterator[int]:
    """Row numbers of a table, ascending.

    At a damaged page the search continues from the last row, in descending order, down to the
    damage, and then raises `sqlite3.Error`.
    """
    low, high = -1 << 63, (1 << 63) - 1
    damage: sqlite3.Error | None = None
    for order in ("ASC", "DESC"):
        # One query per row: a cursor reads ahead and would lose the row before the damage.
        query = f"SELECT rowid FROM {table} NOT INDEXED WHERE rowid > ? AND rowid < ?"
        query += f" ORDER BY rowid {order} LIMIT 1"
        try:
            while row := database.execute(query, (low, high)).fetchone():
                (number,) = row
                if not low < number < high:
                    raise sqlite3.DatabaseError(
                        say("database-row-again", number=number, table=table)
                    )
                yield number
                low, high = (number, high) if order == "ASC" else (low, number)
        except sqlite3.Error as error:
            damage = error
        if damage is None:
            return
    if damage is not None:
        raise damage


def _read_row(
    blob: Blob, name: object, other: object, data: object, size: object, checksum: object
) -> Iterator[Blob | Problem]:
    member = " ".join(str(text) for text in (name, other) if text)
    try:
        plain = _plain(blob, data, size)
    except ReadError as error:
        yield problem(blob, error.message, offset=None, member=member)
        return
    if checksum is not None and md5(plain, usedforsecurity=False).hexdigest() != checksum:
        yield problem(blob, say("database-checksum"), offset=None, member=member)
    yield part(blob, "sqlite", Data.of(plain), offset=None, member=member)


def _read_pickle(blob: Blob, name: str, number: int, data: object) -> Iterator[Blob | Problem]:
    """The code object in a row of tinygrad's database; nothing for code of other backends."""
    match = re.search(_PICKLED, data, re.DOTALL) if isinstance(data, bytes) else None
    if not match or not isinstance(data, bytes):
        return
    member = f"{name} {number}"
    size = int.from_bytes(match[1] or match[2] or match[3], "little")
    code = Data.of(memoryview(data)[match.end() :][:size])
    if len(code) < size:
        message = say("member-cut-off", claimed=size, size=len(code))
        yield problem(blob, message, offset=None, member=member)
    yield part(blob, "sqlite", code, offset=None, member=member)


def _index_problem(
    blob: Blob, database: sqlite3.Connection, table: str, rows: int
) -> Iterator[Problem]:
    """A problem if the table's index, which SQLite uses for counting, does not list all rows
    or cannot be read."""
    try:
        (indexed,) = database.execute(f"SELECT count(*) FROM {table}").fetchone()
    except _DAMAGE as error:
        yield problem(blob, say("database-index-unread", table=table, error=_reason(error)))
        return
    if indexed != rows:
        wrong = say("database-index-incomplete", table=table, indexed=indexed, rows=rows)
        yield problem(blob, wrong)


def _reason(error: BaseException) -> str:
    # The message may quote the database; that of a lack of memory is empty.
    return " ".join(str(error).split())[:100] or say("database-memory")


def _plain(blob: Blob, data: object, size: object) -> memoryview:
    """Decompressed bytes of a row's code. Raises `ReadError` if `data` are not bytes, or if `size`
    is not their size once decompressed (0 for plain bytes)."""
    if not isinstance(data, bytes) or not isinstance(size, int) or size < 0:
        raise ReadError(say("database-row-no-blob"))
    if not size:
        return memoryview(data)
    plain = held("bzip2", blob, Data.of(data), size).read_all()
    if len(plain) != size:
        raise ReadError(say("database-row-size", size=len(plain), stated=size))
    return plain
