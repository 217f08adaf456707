"""gzip, zstd, xz and bzip2 around anything, in several members, cut off, and as bombs."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelinfo.reading import budget
from kernelinfo.reading.budget import Bounds

from .opening import ASSEMBLY, CONTAINERS, OBJECT, members, opened, opened_path

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Compress = Callable[[bytes], bytes]
METHODS: dict[str, Compress] = {
    "gzip": gzip.compress,
    "zstd": zstd.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
}
each = pytest.mark.parametrize(("name", "compress"), METHODS.items(), ids=METHODS)


@pytest.mark.parametrize(
    ("name", "method"),
    [("co.gz", "gzip"), ("co.zst", "zstd"), ("co.xz", "xz"), ("co.bz2", "bzip2")],
)
def test_what_the_tools_write(name: str, method: str) -> None:
    [blob], messages = opened_path(CONTAINERS / f"tiny.{name}")
    assert not messages
    assert (blob.containers, blob.member, blob.offset) == ((method,), None, None)
    assert bytes(blob.data) == OBJECT


@each
def test_several_streams_and_zeros_behind_them(name: str, compress: Compress) -> None:
    data = compress(OBJECT[:1000]) + compress(OBJECT[1000:]) + bytes(512)
    [blob], messages = opened(data)
    assert not messages
    assert bytes(blob.data) == OBJECT


@each
def test_a_tar_whose_first_stream_is_short(name: str, compress: Compress) -> None:
    data = tar(("a.co", OBJECT))
    [blob], messages = opened(compress(data[:100]) + compress(data[100:]))
    assert not messages
    assert blob.containers == (name, "tar")


@each
def test_what_follows_is_named(name: str, compress: Compress) -> None:
    [blob], messages = opened(compress(OBJECT) + b"junk")
    assert bytes(blob.data) == OBJECT
    assert messages == [f"4 bytes behind {name} data; not read"]


@each
def test_cut_off(name: str, compress: Compress) -> None:
    blobs, [message] = opened(compress(OBJECT)[:-20])
    assert not blobs
    assert message.startswith(f"{name} data cut off")


@each
def test_damage(name: str, compress: Compress) -> None:
    data = bytearray(compress(OBJECT))
    data[20:200] = b"\xff" * 180
    blobs, [message] = opened(bytes(data))
    assert not blobs
    assert f"{name} data" in message


@each
def test_bombs(name: str, compress: Compress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "_FREE_BYTES", 1 << 16)
    blobs, [message] = opened(compress(OBJECT + bytes(100 << 20)))
    assert not blobs
    assert message.startswith(f"{name} data give more than")


@each
def test_a_tar_is_read_member_by_member(name: str, compress: Compress) -> None:
    [first, second], messages = opened(compress(tar(("a.co", OBJECT), ("b.s", ASSEMBLY))))
    assert not messages
    assert (first.containers, first.member) == ((name, "tar"), "a.co")
    assert bytes(first.data) == OBJECT
    assert bytes(second.data) == ASSEMBLY


def test_a_tar_may_be_larger_than_what_one_file_may_be() -> None:
    parts = tar(("a.co", OBJECT), *[(str(n), bytes(1 << 16)) for n in range(50)], ("b.co", OBJECT))
    blobs, messages = opened(gzip.compress(parts), Bounds(memory=1 << 16))
    assert members(blobs) == ["a.co", "b.co"]
    assert not messages


def test_what_is_compressed_twice_may_grow_less() -> None:
    little = Bounds(memory=1 << 13)
    assert opened(gzip.compress(OBJECT), little)[0]
    blobs, [message] = opened(gzip.compress(gzip.compress(OBJECT)), little)
    assert not blobs
    assert message.startswith("gzip data give more than the 1024 bytes allowed here; --bound")


def test_nesting_ends() -> None:
    data = OBJECT
    for _ in range(Bounds().nesting):
        data = gzip.compress(data)
    assert len(opened(data)[0]) == 1
    message = "containers nested more than 6 deep; --bound nesting=N reads deeper"
    assert opened(gzip.compress(data)) == ([], [message])


def test_among_other_files_only_what_holds_code_is_named(tmp_path: Path) -> None:
    (tmp_path / "k.s.gz").write_bytes(gzip.compress(ASSEMBLY))
    (tmp_path / "k.co.zst").write_bytes(zstd.compress(OBJECT))
    (tmp_path / "page.1.gz").write_bytes(gzip.compress(b".TH PAGE 1"))
    (tmp_path / "table.bz2").write_bytes(bz2.compress(bytes(1000)))
    blobs, messages = opened_path(tmp_path)
    assert [Path(blob.path).name for blob in blobs] == ["k.co.zst", "k.s.gz"]
    assert not messages
    _, [message] = opened_path(tmp_path / "page.1.gz")
    assert message.startswith("no AMDGPU assembly found")


def tar(*files: tuple[str, bytes]) -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as archive:
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return whole.getvalue()
