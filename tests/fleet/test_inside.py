"""What a fleet's files do inside: stored URLs, groups that are read together, blocks, locks."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ..conftest import require
from ..messages import refused

require("fsspec", "duckdb")

import fsspec
from fsspec.spec import AbstractBufferedFile

from kernelinfo import Options, ReadError
from kernelinfo.fleet import recording, remote
from kernelinfo.fleet.dataset import Dataset
from kernelinfo.fleet.listing import SHARED_BYTES, InputFile, address, find, tasks, units
from kernelinfo.fleet.scanning import list_files, make_request

from ..reading.inside import Data
from .scans import scan
from .test_builds import ONE, holder, lock_of, locked

BLOCK = remote.BLOCK
DATA = random.Random(1).randbytes(5 * BLOCK + 1234)


def test_secrets_are_not_stored() -> None:
    for url, stored in {
        "https://user:word@host:1/a/b.so?token=x#y": "https://host:1/a/b.so",
        "s3://bucket/a?b#c.co": "s3://bucket/a?b#c.co",
        "sftp://me:word@host/a.co": "sftp://host/a.co",
        "file:///a/b.co": "/a/b.co",
        "a/../b.co": os.path.abspath("b.co"),
    }.items():
        assert address(url) == stored


def file(url: str, size: int = 1) -> InputFile:
    return InputFile(url, url, size, "1", named=False)


def test_what_belongs_together_is_read_together() -> None:
    names = ("/c/k.json", "/c/k.hsaco", "/c/other.co", "/d/k.co", "s3://b/x.s", "s3://b/y.o")
    assert [[one.url for one in unit] for unit in units(map(file, names))] == [
        ["/c/k.json", "/c/k.hsaco"],
        ["/c/other.co"],
        ["/d/k.co"],
        ["s3://b/x.s", "s3://b/y.o"],
    ]


def test_large_files_are_shared_and_small_ones_gathered() -> None:
    large, *small = file("/l.so", 2 * SHARED_BYTES + 1), *(file(f"/{n}.co") for n in range(1000))
    found = tasks(units([large, *small]), 2, "run")
    assert [(task.share, task.shares) for task in found if large in task.files] == [
        (0, 3), (1, 3), (2, 3),
    ]  # fmt: skip
    rest = [one for task in found if large not in task.files for one in task.files]
    assert sorted(rest) == sorted(small)
    assert len(found) < 30


def test_local_files_are_relative_to_what_was_given(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a.co").touch()
    for given in (tmp_path, tmp_path / "lib", tmp_path / "lib" / "a.co", tmp_path / "lib" / "*.co"):
        (found,) = find(str(given), 60, set())
        assert isinstance(found, InputFile)
        assert found.url == str(tmp_path / "lib" / "a.co")
        assert found.path == ("lib/a.co" if given == tmp_path else "a.co")


def test_a_file_of_two_roots_is_read_once_and_neither_root_is_without_kernels(
    tmp_path: Path,
) -> None:
    (tmp_path / "lib").mkdir()
    for name in ("a.co", "c.kdb", "c.kdb-wal"):
        (tmp_path / "lib" / name).write_bytes(name.encode())
    (tmp_path / "link").symlink_to("lib")
    roots = [str(tmp_path / name) for name in ("lib", "link", "lib/a.co")]
    request = make_request(roots, str(tmp_path / "fleet"), "b", Options(), rows=None)
    listing = list_files(request)
    assert [one.path for one in listing.files] == ["a.co", "c.kdb", "c.kdb-wal"]
    assert [one.url for one in units(listing.files)[1]] == [
        str(tmp_path / "lib" / name) for name in ("c.kdb", "c.kdb-wal")
    ]
    assert listing.repeating == {*roots[1:3]}


class Store(AbstractBufferedFile):  # type: ignore[misc]
    """A file of a store that counts what is fetched of it, and that may break off."""

    def __init__(self, data: bytes, end: int | None = None) -> None:
        options = {"maxblocks": remote.MOST_BLOCKS}
        super().__init__(
            None,
            "file",
            block_size=BLOCK,
            cache_type="blockcache",
            cache_options=options,
            size=len(DATA),
        )
        self.content = data
        self.fetched: list[int] = []
        self.end = end

    def _fetch_range(self, start: int, end: int) -> bytes:
        if self.end is not None and end > self.end:
            raise OSError("connection reset")
        self.fetched.append(start // BLOCK)
        return self.content[start:end]


def opened(store: Any) -> Data:
    return Data(partial(remote.read_range, store), len(DATA))


def test_it_holds_what_the_store_has() -> None:
    assert bytes(opened(Store(DATA))) == DATA


def test_only_what_is_touched_is_fetched_and_once() -> None:
    store = Store(DATA)
    data = opened(store)
    for at in (3 * BLOCK + 5, 3 * BLOCK + 7, len(DATA) - 1):
        assert data.read(at, 1) == DATA[at : at + 1]
    assert store.fetched == [3, 5]


def test_no_more_than_a_bound_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MOST_BLOCKS", 2)
    store = Store(DATA)
    data = opened(store)
    for at in (0, 1, 2, 0):
        assert data.read(at * BLOCK, 10) == DATA[at * BLOCK :][:10]
    assert store.fetched == [0, 1, 2, 0]


def test_what_cannot_be_fetched_is_a_failure_not_zeros_alone() -> None:
    data = opened(Store(DATA, end=2 * BLOCK))
    assert data.read(0, BLOCK) == DATA[:BLOCK]
    with pytest.raises(ReadError, match="connection reset"):
        data.read(4 * BLOCK, 1)


def test_a_file_that_became_shorter_is_a_failure() -> None:
    with pytest.raises(ReadError, match=r"changed during the transfer; scan it again$"):
        opened(Store(DATA[:BLOCK])).read(BLOCK, 1)


def machine() -> dict[str, object]:
    """Content of a lock that names this machine."""
    return {"host": "here", "machine": recording._machine()}


def test_locks_that_nobody_holds_do_not_block(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    stale = [
        *(holder(until=until) for until in (time.time() - 1, float("nan"), float("inf"), 1e18)),
        holder(**machine(), process=ended.pid),
        holder(**machine(), process=os.getpid(), begun="0"),  # a number that is used again
        *("", "{}", "[]", "null", '{"host": 1}', "\0" * 100, "[" * 100_000),
    ]
    for content in stale:
        locked(tmp_path, content)
        scan(ONE, to=tmp_path)
        assert not lock_of(tmp_path).exists()


def test_a_scan_whose_lock_was_taken_over_says_so(tmp_path: Path) -> None:
    own = recording.Lock(Dataset(str(tmp_path)), "b", "", 60)
    with recording.held(own):
        own.check()
        locked(tmp_path, holder())
        with refused("build-taken-over scan-holding far"):
            own.check()
    assert lock_of(tmp_path).exists()  # it is not ours


def test_a_scan_whose_lock_is_damaged_does_not_blame_another_one(tmp_path: Path) -> None:
    own = recording.Lock(Dataset(str(tmp_path)), "b", "", 60)
    with recording.held(own):
        locked(tmp_path, "no JSON")
        with refused("scan-unknown"):
            own.check()


def test_of_two_writers_without_exclusive_files_one_is_named(tmp_path: Path) -> None:
    """A store that lets both create the lock, as some do: the first finds it is not its own."""
    memory = fsspec.filesystem("memory")
    own = recording.Lock(Dataset("memory://fleet"), "b", "", 60)
    with recording.held(own):
        memory.pipe_file("/fleet/inputs/Build=b/lock", holder().encode())
        with refused("build-taken-over scan-holding far"):
            own.check()
    memory.rm("/fleet", recursive=True)
