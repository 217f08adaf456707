"""Memory that is fetched when it is touched."""

from __future__ import annotations

import io
import mmap
import random

import pytest

pytest.importorskip("fsspec", reason="the extra kernelinfo[fleet] is not installed")

from kernelinfo.fleet import remote as ranges
from kernelinfo.reading.containers.mapping import IS_WATCHED

pytestmark = pytest.mark.skipif(not IS_WATCHED, reason="large files are fetched whole here")

BLOCK = ranges.BLOCK
DATA = random.Random(1).randbytes(5 * BLOCK + 1234)


class Store(io.BytesIO):
    """A file of a store that counts what is read of it, and that may break off."""

    def __init__(self, data: bytes, end: int | None = None) -> None:
        super().__init__(data)
        self.fetched: list[int] = []
        self._end = end

    def read(self, size: int | None = -1) -> bytes:
        if self._end is not None and self.tell() >= self._end:
            raise OSError("connection reset")
        self.fetched.append(self.tell() // BLOCK)
        return super().read(size)


def test_it_holds_what_the_store_has() -> None:
    with ranges.remote_mapping(Store(DATA), len(DATA)) as mapping:
        assert bytes(memoryview(mapping)) == DATA
        assert mapping.failure is None


def test_only_what_is_touched_is_fetched_and_once() -> None:
    store = Store(DATA)
    with ranges.remote_mapping(store, len(DATA)) as mapping:
        view = memoryview(mapping)
        for at in (3 * BLOCK + 5, 3 * BLOCK + 7, len(DATA) - 1):
            assert view[at] == DATA[at]
    assert store.fetched == [3, 5]


def test_what_was_let_go_is_fetched_again() -> None:
    store = Store(DATA)
    with ranges.remote_mapping(store, len(DATA)) as mapping:
        view = memoryview(mapping)
        assert bytes(view[: 3 * BLOCK]) == DATA[: 3 * BLOCK]
        mapping.madvise(mmap.MADV_DONTNEED, 100, 2 * BLOCK)  # of which block 1 is whole
        assert bytes(view[: 3 * BLOCK]) == DATA[: 3 * BLOCK]
    assert store.fetched == [0, 1, 2, 1]


def test_no_more_than_a_bound_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "_MOST_BLOCKS", 2)
    with ranges.remote_mapping(Store(DATA), len(DATA)) as mapping:
        assert bytes(memoryview(mapping)) == DATA
        assert len(mapping.held) == 2


def test_what_cannot_be_fetched_is_a_failure_not_zeros_alone() -> None:
    with ranges.remote_mapping(Store(DATA, end=2 * BLOCK), len(DATA)) as mapping:
        view = memoryview(mapping)
        assert bytes(view[:BLOCK]) == DATA[:BLOCK]
        assert mapping.failure is None
        assert view[4 * BLOCK] == 0
        assert str(mapping.failure) == "connection reset"


def test_a_file_that_became_shorter_is_a_failure() -> None:
    with ranges.remote_mapping(Store(DATA[:BLOCK]), len(DATA)) as mapping:
        assert memoryview(mapping)[BLOCK] == 0
        assert "changed meanwhile" in str(mapping.failure)
