"""RPM packages and cpio archives by writers of our own; real ones are in the corpus."""

from __future__ import annotations

import bz2
import gzip
import lzma
from struct import pack

import pytest

from kernelinfo.reading.blob import Note
from kernelinfo.reading.containers import open_bytes

from .opening import NOTHING, OBJECT, members, opened, sorted_out


def member(name: str, data: bytes, *, mode: int = 0o100644, size: int | None = None) -> bytes:
    text = name.encode("utf-8", "surrogateescape") + b"\0"
    numbers = (1, mode, 0, 0, 1, 0, len(data) if size is None else size, 0, 0, 0, 0, len(text), 0)
    header = b"070701" + b"".join(b"%08x" % number for number in numbers) + text
    return header + bytes(-len(header) % 4) + data + bytes(-len(data) % 4)


END = member("TRAILER!!!", b"", mode=0)


def cpio(*members: tuple[str, bytes]) -> bytes:
    return b"".join(member(name, data) for name, data in members) + END


def header(entries: int = 0, store: bytes = b"", *, magic: bytes = b"\x8e\xad\xe8\x01") -> bytes:
    return pack(">4s4xII", magic, entries, len(store)) + bytes(16 * entries) + store


def rpm(payload: bytes) -> bytes:
    signature = header(1, b"sig")
    lead = b"\xed\xab\xee\xdb\3".ljust(96, b"\0")
    return lead + signature + bytes(-len(signature) % 8) + header(2, b"package") + payload


FILES = cpio(("./opt/a.co", OBJECT), ("./README", b"text"), ("./opt/b.co", OBJECT))
COMPRESSED = {
    "none": FILES,
    "gzip": gzip.compress(FILES),
    "xz": lzma.compress(FILES),
    "lzma": lzma.compress(FILES, format=lzma.FORMAT_ALONE),
    "bzip2": bz2.compress(FILES),
}


@pytest.mark.parametrize("how", COMPRESSED)
def test_files_of_a_package(how: str) -> None:
    blobs, messages = opened(rpm(COMPRESSED[how]))
    assert (members(blobs), messages) == (["./opt/a.co", "./opt/b.co"], [])
    assert all(bytes(blob.data) == OBJECT for blob in blobs)
    assert all((blob.offset is None) == (how != "none") for blob in blobs)


def test_a_bare_cpio() -> None:
    assert members(opened(FILES)[0]) == ["./opt/a.co", "./opt/b.co"]
    assert members(opened(gzip.compress(FILES))[0]) == ["./opt/a.co", "./opt/b.co"]


def test_members_of_one_name_are_all_read_and_noted() -> None:
    items = list(open_bytes(cpio(("a.co", OBJECT), ("b.co", OBJECT), ("a.co", OBJECT)), "x.cpio"))
    assert members(sorted_out(items)[0]) == ["a.co", "b.co", "a.co"]
    [note] = [item for item in items if isinstance(item, Note)]
    assert note == Note("x.cpio", "several members have this name: all are read", "a.co")


def test_a_member_that_is_cut_off_is_not_one_of_several() -> None:
    items = list(open_bytes(cpio(("a.co", OBJECT))[:-400], "x.cpio"))
    assert members(sorted_out(items)[0]) == ["a.co"]
    assert not any(isinstance(item, Note) for item in items)


def test_only_regular_files() -> None:
    whole = member("dev", OBJECT, mode=0o020644) + member("link", b"/etc/passwd", mode=0o120777)
    whole += member("folder", b"", mode=0o040755) + member("first-name", b"") + member("k", OBJECT)
    assert members(opened(whole + END)[0]) == ["k"]


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@pytest.mark.parametrize(
    ("whole", "found", "message"),
    [
        (member("k", OBJECT), 1, "a cpio archive without an end: members may be missing"),
        (member("k", OBJECT) + b"x" * 200, 1, "damaged cpio: no member header where one should be"),
        (member("k", OBJECT) + b"070701" + b"z" * 104, 1, "damaged cpio: no member header"),
        (member("k", OBJECT) + b"070701" + b"0" * 104, 1, "damaged cpio: a name of 0 bytes"),
        (member("k", OBJECT, size=1 << 31), 1, f"{1 << 31} bytes claimed of which"),
    ],
)
def test_damage_hides_nothing_before_it(
    whole: bytes, found: int, message: str, compress: type[bytes]
) -> None:
    if compress is not bytes and "claimed" in message:
        found = 0  # a stream holds no member of which so much is missing
    blobs, messages = opened(rpm(compress(whole)))
    assert len(blobs) == found
    assert any(message in complaint for complaint in messages)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (rpm(b"")[:96], "an RPM package cut off within its headers"),
        (rpm(b"")[:100], "an RPM package cut off within its headers"),
        (rpm(b""), "an RPM package without a payload"),
        (rpm(b"noise" * 100), "an RPM package whose payload is no cpio archive"),
        (rpm(b"07070X" + b"0" * 8 + OBJECT), "RPM's cpio archive for files beyond 4 GB"),
        (rpm(gzip.compress(b"07070X" + b"0" * 8 + OBJECT)), "RPM's cpio archive for files"),
        (rpm(FILES)[:96] + header(magic=b"xxxx") + FILES, "damaged RPM package: no header"),
        (rpm(FILES)[:96] + pack(">4s4xII", b"\x8e\xad\xe8\1", 1 << 31, 0), "damaged RPM package"),
        (rpm(gzip.compress(FILES)[:500]), "gzip data cut off"),
    ],
)
def test_damaged_packages(data: bytes, message: str) -> None:
    blobs, [complaint] = opened(data)
    assert blobs == []
    assert message in complaint


def test_many_empty_members_are_nothing() -> None:
    assert opened(member("x", b"") * 3000 + END) == ([], NOTHING)
