"""A file of a store that is fetched in blocks when it is read."""

from __future__ import annotations

import random
from typing import Any

import pytest

from ..conftest import require

require("fsspec")

from fsspec.spec import AbstractBufferedFile

from kernelinfo.errors import ReadError
from kernelinfo.fleet import remote
from kernelinfo.reading.data import Data

BLOCK = remote.BLOCK
DATA = random.Random(1).randbytes(5 * BLOCK + 1234)


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
    return Data(remote.StoreFile(store), len(DATA))


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
    with pytest.raises(ReadError, match="changed meanwhile"):
        opened(Store(DATA[:BLOCK])).read(BLOCK, 1)
