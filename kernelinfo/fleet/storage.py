"""Files of a dataset, on a disk or in an object store."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import duckdb

from kernelinfo.analysis.parallel import signals_wait
from kernelinfo.atomic_write import atomic_write, create_aside, name_of_aside
from kernelinfo.errors import KernelinfoError
from kernelinfo.fleet import listing
from kernelinfo.fleet.listing import address, is_local, store_error
from kernelinfo.fleet.messages import say
from kernelinfo.opening import check_below, open_regular
from kernelinfo.reading.messages import in_file

_SMALL = 1 << 16  # most bytes of a small file
_MEMORY = "160MB"  # memory limit of DuckDB in a worker; larger sorts use its disk


class Storage:
    """Files below a path or URL. Raises `KernelinfoError` if its store cannot be used."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._is_local = is_local(url)
        self._fs: Any = None  # fsspec file system; None on a disk
        self._database: duckdb.DuckDBPyConnection | None = None  # shared by connections
        root = address(url)
        if self._is_local:
            check_below(root)
        else:
            try:
                self._fs, root = listing.store(url)
            except Exception as error:  # libraries of stores share no error class
                raise store_error(url, error) from error
        self.root = root.rstrip("/")

    def __reduce__(self) -> tuple[Any, ...]:
        return Storage, (self.url,)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn every error of a store's library into a `KernelinfoError`."""
        try:
            yield
        except KernelinfoError:
            raise
        except Exception as error:
            raise store_error(self.url, error) from error

    @contextmanager
    def one_database(self) -> Iterator[None]:
        """One DuckDB database for all connections within the block: opening one takes 15 ms."""
        with self._open({}) as self._database:
            yield
        self._database = None

    def _open(self, config: dict[str, Any]) -> duckdb.DuckDBPyConnection:
        database = duckdb.connect(config=config)
        if not self._is_local:
            database.register_filesystem(self._fs)
        return database

    @contextmanager
    def connect(
        self, scratch: str | None = None, *, is_long: bool = False
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """A DuckDB connection that can read and write the files; its errors are `KernelinfoError`.

        A worker passes a `scratch` folder: its database then has one thread and 160 MB of memory.
        Within `one_database` all connections share one database. Signals wait until the connection
        ends, unless `is_long` is set or the files are in a store: DuckDB drops the exception that a
        signal handler raises and raises `RuntimeError`, which becomes `KeyboardInterrupt` here.
        """
        small = {"threads": 1, "memory_limit": _MEMORY, "temp_directory": scratch}
        waiting = nullcontext() if is_long or not self._is_local else signals_wait()
        shared = self._database
        opened = self._open(small if scratch else {}) if shared is None else shared.cursor()
        with waiting, opened as connection:
            try:
                yield connection
            except (duckdb.Error, OSError) as error:
                raise store_error(self.url, error) from error
            except RuntimeError as error:
                if str(error) == "Query interrupted":
                    raise KeyboardInterrupt from None
                raise

    def names(self, folder: str) -> list[str]:
        """Names in a folder; empty if there is no such folder."""
        with self._errors():
            try:
                if self._is_local:
                    return os.listdir(folder)
                self._fs.invalidate_cache()
                paths = self._fs.ls(folder, detail=False)
            except FileNotFoundError:
                return []
        return [path.rstrip("/").rpartition("/")[2] for path in paths]

    def address_of(self, path: str) -> str:
        """The path or URL by which DuckDB opens a file. Raises `OSError` for a local path outside
        the folder to which this process is bound, if it is."""
        if not self._is_local:
            return str(self._fs.unstrip_protocol(path))
        check_below(path)
        return path

    def check_regular(self, path: str) -> None:
        """Raises `KernelinfoError` if a local path is not a regular file: opening a FIFO blocks
        until a writer opens it."""
        if self._is_local and os.path.lexists(path) and not os.path.isfile(path):
            raise KernelinfoError(in_file(path, say("dataset-not-regular")))

    def write_rows(
        self, connection: duckdb.DuckDBPyConnection, query: str, path: str, **parameters: object
    ) -> None:
        """Write the rows of a query as Parquet: a local file is renamed when complete, a store gets
        one PUT."""
        where = self.address_of(path)
        if self._is_local:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            where = create_aside(path)
        literal = "'" + where.replace("'", "''") + "'"
        connection.execute(f"COPY ({query}) TO {literal} (FORMAT parquet)", parameters)
        if self._is_local:
            os.replace(where, path)

    def create(self, path: str, content: bytes) -> bool:
        """Create a file with this content. Returns False if the file exists. Atomic on disks and
        S3; other stores may let two writers create it, and the later content wins."""
        with self._errors():
            if self._is_local:
                return _create(path, content)
            try:
                self._fs.pipe_file(path, content, mode="create")
            except Exception:
                self._fs.invalidate_cache()
                if self._fs.exists(path):
                    return False
                raise
        return True

    def replace(self, path: str, content: bytes) -> None:
        """Write a small file, replacing an older one."""
        with self._errors():
            if self._is_local:
                with atomic_write(path) as file:
                    file.write(content)
            else:
                self._fs.pipe_file(path, content)

    def read(self, path: str) -> bytes | None:
        """The content of a small file; None if there is no such file."""
        with self._errors():
            try:
                if not self._is_local:
                    self._fs.invalidate_cache()
                    return bytes(self._fs.cat_file(path))
                with open_regular(path) as file:
                    return file.read(_SMALL)
            except FileNotFoundError:
                return None

    def delete(self, path: str) -> None:
        """Delete a file if it exists."""
        with self._errors(), suppress(FileNotFoundError):
            if self._is_local:
                check_below(path)
                os.unlink(path)
            else:
                self._fs.rm_file(self._fs._strip_protocol(path))

    def delete_folder(self, folder: str) -> None:
        """Delete a folder and all its files if it exists."""
        with self._errors(), suppress(FileNotFoundError):
            if self._is_local:
                check_below(folder)
                shutil.rmtree(folder)
            else:
                self._fs.rm(folder, recursive=True)

    def hidden(self, folder: str) -> list[tuple[str, str]]:
        """(current name, final name) of files that a run has not renamed yet, or never will because
        it was killed."""
        names = self.names(folder) if self._is_local else ()
        return [(name, to_be) for name in names if (to_be := name_of_aside(name))]


def _create(path: str, content: bytes) -> bool:
    """Create a local file; returns False if it exists. Only on a file system without hard links is
    it visible before it has its content."""
    check_below(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    aside = create_aside(path)
    try:
        with open(aside, "wb") as file:
            file.write(content)
        try:
            os.link(aside, path)
        except FileExistsError:
            return False
        except OSError:  # a file system without hard links
            with suppress(FileExistsError), open(path, "xb") as file:
                file.write(content)
                return True
            return False
    finally:
        with suppress(FileNotFoundError):
            os.unlink(aside)
    return True
