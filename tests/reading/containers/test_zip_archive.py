"""Zip archives and wheels: methods, kinds of members, directories that lie, bombs."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import Path
from struct import pack, pack_into

import pytest

from kernelinfo.reading import budget
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.containers import open_bytes

from .opening import ASSEMBLY, CONTAINERS, HOST, NOTHING, OBJECT, members, opened, opened_path


def packed(*files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED, mode: int = 0) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", method) as archive:
        for name, data in files:
            info = zipfile.ZipInfo(name)
            info.compress_type, info.external_attr = method, mode << 16
            archive.writestr(info, data)
    return whole.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_STORED])
def test_members_that_may_hold_code(method: int) -> None:
    files = [("README.txt", b"hello"), ("host.o", HOST), ("k.co", OBJECT), ("b/k.s", ASSEMBLY)]
    blobs, messages = opened(packed(*files, method=method))
    assert not messages
    assert members(blobs) == ["k.co", "b/k.s"]
    assert all(blob.containers == ("zip",) for blob in blobs)
    assert [bytes(blob.data) for blob in blobs] == [OBJECT, ASSEMBLY]
    assert all((blob.offset is None) == (method != zipfile.ZIP_STORED) for blob in blobs)


def test_a_wheel() -> None:
    blobs, messages = opened_path(CONTAINERS / "tiny.whl")
    assert not messages
    assert sorted({blob.containers for blob in blobs}) == [
        ("zip",),
        ("zip", "fatbin", "ccob", "bundle"),
    ]


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_only_regular_files(kind: int) -> None:
    assert opened(packed(("k.co", OBJECT), mode=kind | 0o644)) == ([], NOTHING)
    assert opened(packed(("k.co", OBJECT), mode=stat.S_IFREG | 0o644))[0]


def changed(offset: int, value: int, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """With a 32-bit number of the only member's directory entry changed."""
    data = bytearray(packed(("k.co", OBJECT), method=method))
    pack_into("<I", data, data.index(b"PK\1\2") + offset, value)
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (packed(("k.co", OBJECT))[:-1], "damaged zip"),
        (packed(("k.co", OBJECT))[:1000], "damaged zip"),
        (changed(42, 1), "no member where its directory says"),
        (changed(42, 0xFFFFFFF0), "no member where its directory says"),
        (changed(20, 0xFFFFFFF0), "repeat the same bytes"),
        (changed(20, 2000), "a member cut off"),
        (changed(20, 100), "deflate data cut off"),
        (changed(8, 1), "an encrypted member"),
        (packed(("k.co", OBJECT), method=zipfile.ZIP_LZMA), "compressed by method 14"),
    ],
)
def test_damage_is_named(data: bytes, message: str) -> None:
    blobs, [first] = opened(data)
    assert not blobs
    assert message in first


def zip64(offset: int) -> bytes:
    """A zip whose directory says in 64 bits where its member is."""
    whole = bytearray(packed(("k.co", OBJECT)))
    entry, end = whole.index(b"PK\1\2"), whole.index(b"PK\5\6")
    extra = pack("<HHQ", 1, 8, offset)
    pack_into("<H", whole, entry + 30, len(extra))
    pack_into("<I", whole, entry + 42, 0xFFFFFFFF)
    pack_into("<I", whole, end + 12, end - entry + len(extra))
    return bytes(whole[:end] + extra + whole[end:])


@pytest.mark.parametrize("offset", [1 << 40, (1 << 63) - 1, (1 << 64) - 1])
def test_offsets_that_are_none_are_not_printed(offset: int) -> None:
    problems = [item for item in open_bytes(zip64(offset), "x.zip") if isinstance(item, Problem)]
    assert problems
    assert all(problem.offset in (None, 0) for problem in problems)


def test_whatever_zipfile_raises_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    def surprise(_: object) -> None:
        raise IndexError("surprise")

    monkeypatch.setattr(zipfile.ZipFile, "infolist", surprise)
    assert opened(packed(("k.co", OBJECT))) == ([], ["damaged zip (surprise); not read"])


def test_bombs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "_FREE_BYTES", 1 << 16)
    blobs, messages = opened(packed(("bomb.co", OBJECT + bytes(100 << 20)), ("k.co", OBJECT)))
    assert members(blobs) == ["k.co"]
    assert messages[0].startswith("deflate data give more than")


def test_a_large_member_that_is_no_code_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "_FREE_BYTES", 1 << 22)
    blobs, messages = opened(packed(("weights.bin", bytes(100 << 20)), ("k.co", OBJECT)))
    assert members(blobs) == ["k.co"]
    assert not messages


def test_among_other_files(tmp_path: Path) -> None:
    (tmp_path / "x.jar").write_bytes(packed(("A.class", b"\xca\xfe\xba\xbe")))
    (tmp_path / "y.whl").write_bytes(packed(("k.co", OBJECT)))
    blobs, messages = opened_path(tmp_path)
    assert members(blobs) == ["k.co"]
    assert not messages
