"""Tar archives: regular files of any of its dialects, and headers that lie."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from .opening import ASSEMBLY, CONTAINERS, HOST, NOTHING, OBJECT, members, opened, opened_path

LONG = "a/very/long/path/" * 20 + "kernel.co"
DIALECTS = {"ustar": tarfile.USTAR_FORMAT, "GNU": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}


def tar(*files: tuple[str, bytes], dialect: int = tarfile.PAX_FORMAT, kind: bytes = b"0") -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w", format=dialect, encoding="latin-1") as archive:
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.type, info.size, info.linkname = kind, len(data), "elsewhere"
            archive.addfile(info, io.BytesIO(data))
    return whole.getvalue()


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_members_are_slices_of_the_file(dialect: int) -> None:
    files = [("README.txt", b"hello"), ("host.o", HOST), ("k.co", OBJECT), ("b/k.s", ASSEMBLY)]
    blobs, messages = opened(tar(*files, dialect=dialect))
    assert not messages
    assert members(blobs) == ["k.co", "b/k.s"]
    assert all(blob.containers == ("tar",) and blob.offset for blob in blobs)
    assert [bytes(blob.data) for blob in blobs] == [OBJECT, ASSEMBLY]


@pytest.mark.parametrize("dialect", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT], ids=["GNU", "pax"])
def test_long_names(dialect: int) -> None:
    [blob], messages = opened(tar((LONG, OBJECT), dialect=dialect))
    assert not messages
    assert blob.member == LONG


def test_names_that_are_no_text_can_be_printed() -> None:
    [blob], _ = opened(tar(("größe.co", OBJECT), dialect=tarfile.GNU_FORMAT))
    assert blob.member == "gr\\xf6\\xdfe.co"


def pax(body: bytes) -> bytes:
    """A pax header with these records."""
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, len(body)
    return info.tobuf(tarfile.USTAR_FORMAT) + body + bytes(-len(body) % 512)


@pytest.mark.parametrize(
    "body", [b"1" * 900_000, b"11 a=bbbbb\n" * 200_000], ids=["digits", "size"]
)
def test_a_pax_header_is_bounded_before_it_is_parsed(body: bytes) -> None:
    """Python's tarfile before 3.11.10 takes hours for 900,000 digits."""
    blobs, [message] = opened(pax(body) + tar(("k.co", OBJECT)))
    assert not blobs
    assert message.startswith("damaged tar (a header ")


@pytest.mark.parametrize("kind", [b"1", b"2", b"3", b"4", b"5", b"6"])
def test_only_regular_files(kind: bytes) -> None:
    assert opened(tar(("k.co", b""), kind=kind)) == ([], NOTHING)


@pytest.mark.parametrize("name", ["tiny.tar", "tiny.tar.zst"])
def test_what_tar_writes(name: str) -> None:
    blobs, messages = opened_path(CONTAINERS / name)
    assert not messages
    assert OBJECT in [bytes(blob.data) for blob in blobs]


def test_containers_in_it_are_opened() -> None:
    name = "tiny.hipfb"
    data = tar((name, (CONTAINERS / name).read_bytes()))
    blobs, messages = opened(data)
    assert not messages
    assert [blob.containers for blob in blobs] == [("tar", "bundle")] * 2
    assert blobs[0].member == f"{name}/hipv4-amdgcn-amd-amdhsa--gfx90a"


def test_cut_off() -> None:
    _, messages = opened(tar(("k.co", OBJECT))[: 512 + 1000])
    assert messages[0] == f"{len(OBJECT)} bytes claimed of which 1000 are there"


def test_junk_behind_a_member() -> None:
    data = tar(("k.co", OBJECT))
    end = 512 + len(OBJECT) + -len(OBJECT) % 512
    blobs, messages = opened(data[:end] + b"x" * 512)
    assert len(blobs) == 1
    assert messages == ["no tar header where one should follow"]


@pytest.mark.parametrize("size", [-1, -512, -(1 << 40), 1 << 60])
def test_sizes_that_lead_back_or_away(size: int) -> None:
    """Negative sizes made some versions of tarfile run in circles."""
    info = tarfile.TarInfo("k.co")
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[124:136] = (b"\x80" if size >= 0 else b"\xff") + (size % (1 << 88)).to_bytes(11, "big")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    _, messages = opened(tar(("a.co", OBJECT))[: -1024 * 2] + bytes(header) + OBJECT)
    assert len(messages) < 5


def test_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_bytes(tar(("README", b"hello")))
    assert opened_path(tmp_path / "x.tar") == ([], NOTHING)
    assert opened_path(tmp_path) == ([], [])


def header(size: int, kind: bytes = b"0", *, sparse: bytes = b"") -> bytes:
    """A header of 512 bytes for the member k.co; numbers that are too large as GNU tar has them."""
    info = tarfile.TarInfo("k.co")
    whole = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    whole[124:136] = b"\x80" + size.to_bytes(11, "big")
    whole[156:157] = kind
    whole[386 : 386 + len(sparse)] = sparse
    whole[148:156] = b" " * 8
    whole[148:156] = b"%06o\0 " % sum(whole)
    return bytes(whole)


def extended(record: bytes) -> bytes:
    """A pax header with one record, of up to 89 bytes with its length."""
    record = b"%d %s\n" % (len(record) + 4, record)
    return header(len(record), b"x") + record.ljust(512, b"\0")


LONG_LINK = header(4, b"L") + b"abc\0".ljust(512, b"\0")
LIES = {
    "2^62 bytes": header(1 << 62),
    "2^45 bytes": header(1 << 45),
    "pax says 2^62": extended(b"size=%d" % (1 << 62)) + header(10),
    "pax says 10^60": extended(b"size=" + b"9" * 60) + header(10),
    "a sparse map without end": header(10, b"S", sparse=b"00000000001\0" * 8 + b"\1")[:512],
    "a sparse map of no numbers": header(10, b"S", sparse=b"x" * 97),
    "400 long names": LONG_LINK * 400 + header(10),
    "5,000 pax headers": extended(b"comment=xxxxx") * 5000 + header(10),
}


@pytest.mark.parametrize("packed", [False, True], ids=["stored", "gzip"])
@pytest.mark.parametrize("name", LIES)
def test_headers_that_lie_end_the_tar(name: str, packed: bool) -> None:
    """As many steps as the size has megabytes would take hundreds of thousands of years."""
    data = (
        tar(("a.co", OBJECT))[: 512 + len(OBJECT) + -len(OBJECT) % 512] + LIES[name] + b"x" * 4096
    )
    blobs, messages = opened(gzip.compress(data, mtime=0) if packed else data)
    assert members(blobs)[:1] == ["a.co"]
    assert messages
    assert all(len(message) < 200 for message in messages)


def test_whatever_tarfile_raises_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    def surprise(_: object) -> None:
        raise KeyError("surprise")

    monkeypatch.setattr(tarfile.TarFile, "next", surprise)
    assert opened(tar(("k.co", OBJECT))) == (
        [],
        ["damaged tar ('surprise'); not read from there on"],
    )
