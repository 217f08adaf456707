"""Decompressing by pieces of any size gives what decompressing at once gives."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable

import pytest

from kernelinfo.errors import ReadError
from kernelinfo.reading.budget import FileBudget
from kernelinfo.reading.containers import bounds, streams
from kernelinfo.reading.containers.magic import Method
from kernelinfo.reading.containers.streams import Decompressed, ReadableView
from kernelinfo.reading.data import Data

from .opening import OBJECT

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Patch = pytest.MonkeyPatch
PLAIN = OBJECT + bytes(1 << 18) + OBJECT[::-1] * 20
METHODS: dict[Method, Callable[[bytes], bytes]] = {
    "zlib": zlib.compress,
    "deflate": lambda plain: zlib.compress(plain, wbits=-15),
    "gzip": gzip.compress,
    "zstd": zstd.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
}
each = pytest.mark.parametrize("method", METHODS)


def decompressed(method: Method, behind: bytes = b"", limit: int = len(PLAIN)) -> Decompressed:
    data = Data.of(METHODS[method](PLAIN) + behind)
    return Decompressed(method, data, limit, FileBudget(2 * limit))


@each
@pytest.mark.parametrize("taken", [1, 7, 1000])
@pytest.mark.parametrize("given", [1 << 12, 1 << 17, 1 << 20])
def test_pieces_of_any_size(
    method: Method, taken: int, given: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A decoder whose output was just full may give nothing before it asks for more input."""
    monkeypatch.setattr(streams, "_PIECE_BYTES", taken)
    stream = decompressed(method)
    pieces = list(iter(lambda: stream.read(given), b""))
    assert {len(piece) for piece in pieces[:-1]} <= {given}
    assert b"".join(pieces) == PLAIN


@each
@pytest.mark.parametrize("behind", [b"", b"x", b"CCOB", bytes(1 << 20)])
def test_where_a_stream_ends(method: Method, behind: bytes) -> None:
    stream = decompressed(method, behind)
    assert stream.read_all() == PLAIN
    assert stream.consumed == len(METHODS[method](PLAIN))


@each
def test_the_limit_is_exact(method: Method) -> None:
    assert decompressed(method, limit=len(PLAIN)).read_all() == PLAIN
    with pytest.raises(ReadError, match=f"the {len(PLAIN) - 1} bytes allowed"):
        decompressed(method, limit=len(PLAIN) - 1).read_all()


def test_a_view_is_a_file() -> None:
    view, file = ReadableView(Data.of(OBJECT)), io.BytesIO(OBJECT)
    for place, whence, size in [(10, 0, 20), (-5, 1, 3), (-8, 2, 100), (1 << 40, 0, 1), (0, 0, -1)]:
        assert view.seek(place, whence) == file.seek(place, whence) == view.tell()
        assert view.read(size) == file.read(size)
    with pytest.raises(ValueError, match="before the first byte"):
        view.seek(-1)


@pytest.mark.parametrize("method", ["gzip", "zstd", "xz", "bzip2"])
@pytest.mark.parametrize("inside", [b"", b"x"], ids=["empty", "one byte"])
def test_streams_of_nothing_end(method: Method, inside: bytes, monkeypatch: Patch) -> None:
    """Each takes as long to begin as kilobytes take to decompress."""
    monkeypatch.setattr(bounds, "STREAMS", 100)
    data = Data.of(METHODS[method](inside) * 1000)
    with pytest.raises(ReadError, match=f"101 {method} streams with next to nothing in them"):
        Decompressed(method, data, 1 << 20, FileBudget(1 << 20)).read_all()


@pytest.mark.parametrize("method", ["gzip", "zstd"])
def test_many_streams_that_give_something(method: Method, monkeypatch: Patch) -> None:
    monkeypatch.setattr(bounds, "STREAMS", 8)
    data = Data.of(METHODS[method](bytes(64 << 10)) * 50)
    whole = Decompressed(method, data, 1 << 30, FileBudget(1 << 30)).read_all()
    assert len(whole) == 50 * 64 << 10
