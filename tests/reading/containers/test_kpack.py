"""kpack archives by a writer of our own, from the layout that `containers.kpack` states."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from struct import pack
from typing import Any

import msgpack
import pytest

from .opening import GFX1030, OBJECT, members, opened

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Entries = Iterable[tuple[str, str, bytes]]
"""Binary, target, code object."""


def kpack(entries: Entries, *, compressed: bool = False, **other: object) -> bytes:
    """An archive; `other` replaces keys of its table."""
    entries = list(entries)
    toc: dict[str, Any] = {}
    for ordinal, (binary, target, data) in enumerate(entries):
        entry = {"type": "hsaco", "ordinal": ordinal, "original_size": len(data)}
        toc.setdefault(binary, {})[target] = entry
    pieces = [data for _, _, data in entries]
    table: dict[str, Any] = {"format_version": 1, "group_name": "x", "gfx_arches": [], "toc": toc}
    if compressed:
        pieces = [zstd.compress(data) for data in pieces]
        blob = pack("<I", len(pieces)) + b"".join(pack("<I", len(p)) + p for p in pieces)
        table |= {"compression_scheme": "zstd-per-kernel"}
        table |= {"zstd_offset": 64, "zstd_size": len(blob)}
    else:
        blob = b"".join(pieces)
        starts = [64 + sum(map(len, pieces[:index])) for index in range(len(pieces))]
        stated = [
            {"offset": at, "size": len(piece)} for at, piece in zip(starts, pieces, strict=True)
        ]
        table |= {"compression_scheme": "none", "blobs": stated}
    start = pack("<4sIQ", b"KPAK", 1, 64 + len(blob)).ljust(64, b"\0")
    return start + blob + bytes(msgpack.packb(table | other))


TWO = [("lib/x.so#0", "gfx90a", OBJECT), ("lib/x.so#1", "gfx1030:xnack-", GFX1030)]


@pytest.mark.parametrize("compressed", [False, True])
def test_each_entry_under_its_binary_and_target(compressed: bool) -> None:
    blobs, messages = opened(kpack(TWO, compressed=compressed))
    assert messages == []
    assert [bytes(blob.data) for blob in blobs] == [OBJECT, GFX1030]
    assert members(blobs) == ["lib/x.so#0/gfx90a", "lib/x.so#1/gfx1030:xnack-"]
    assert {blob.containers for blob in blobs} == {("kpack",)}


def test_bytes_behind_the_table_are_nothing() -> None:
    assert len(opened(kpack(TWO) + b"behind")[0]) == 2


def test_entries_of_one_ordinal_are_one_code_object() -> None:
    entry = {"ordinal": 0, "original_size": len(OBJECT)}
    toc = {f"lib/{n}.so#0": {"gfx90a": entry} for n in range(1000)}
    blobs, messages = opened(kpack(TWO, toc=toc))
    assert (members(blobs), messages) == (["lib/0.so#0/gfx90a"], [])


def test_a_scheme_that_is_not_stated_is_none() -> None:
    whole = kpack(TWO)
    at = int.from_bytes(whole[8:16], "little")
    table = msgpack.unpackb(whole[at:])
    del table["compression_scheme"]
    assert len(opened(whole[:at] + bytes(msgpack.packb(table)))[0]) == 2


def _entry(**stated: object) -> Mapping[str, object]:
    sound = {"ordinal": 1, "original_size": len(GFX1030)}
    return {"bad": {"gfx90a": stated}, "good": {"gfx1030": sound}}


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"ordinal": 7, "original_size": 1}, "kpack entry of ordinal 7, where there are 2"),
        ({"ordinal": "0", "original_size": 1}, "1 entries of its table are no entries; not read"),
        ({"ordinal": -1, "original_size": 1}, "1 entries of its table are no entries; not read"),
        ({"ordinal": 0}, "1 entries of its table are no entries; not read"),
    ],
)
def test_a_damaged_entry_hides_no_other(stated: dict[str, object], message: str) -> None:
    blobs, messages = opened(kpack(TWO, toc=_entry(**stated)))
    assert members(blobs) == ["good/gfx1030"]
    assert messages == [message]


def test_a_size_that_is_not_the_stated_one_is_a_problem() -> None:
    stated = {"ordinal": 0, "original_size": 100}
    _, [message] = opened(kpack(TWO, toc=_entry(**stated)))
    assert message == f"{len(OBJECT)} bytes where its table says 100"
    blobs, [message] = opened(kpack(TWO, toc=_entry(**stated), compressed=True))
    assert members(blobs) == ["good/gfx1030"]
    assert "more than the 100 bytes" in message


def test_frames_and_blobs_outside_of_the_file() -> None:
    whole = bytearray(kpack(TWO, compressed=True))
    whole[64:68] = pack("<I", 3)  # one frame more than there is room for
    blobs, messages = opened(bytes(whole))
    assert len(blobs) == 2
    assert messages == ["damaged kpack archive: frame 3 of 3 is not in its block"]
    far = {"offset": 1 << 62, "size": 1 << 62}
    blobs, messages = opened(kpack(TWO, blobs=[far, far]))
    assert blobs == []
    assert messages == ["kpack entry whose bytes lie outside of its archive; not read"] * 2


def test_blobs_that_share_their_bytes_end() -> None:
    shared = [{"offset": 64, "size": len(OBJECT)}] * 50
    entry = {"original_size": len(OBJECT)}
    toc = {f"lib/{n}": {"gfx90a": entry | {"ordinal": n}} for n in range(50)}
    blobs, messages = opened(kpack(TWO, toc=toc, blobs=shared))
    assert len(blobs) < 10
    assert messages == ["kpack entries repeat the same bytes; not read from here on"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"KPAK\1\0\0\0", "a kpack archive cut off within its header; build it again"),
        (pack("<4sIQ", b"KPAK", 2, 16), "kpack archive of version 2; version 1 is known"),
        (
            pack("<4sIQ", b"KPAK", 1, 99),
            "damaged kpack archive: its table of contents is at 99, in a file of 16 bytes",
        ),
        (
            pack("<4sIQ", b"KPAK", 1, 16) + b"\xdf\xff\xff\xff\xff",
            "damaged kpack archive: its table is not read",
        ),
        (pack("<4sIQ", b"KPAK", 1, 16) + b"\x91" * 200_000, "its table is not read"),
        (pack("<4sIQ", b"KPAK", 1, 16) + b"\x93", "its table is not read"),
        (pack("<4sIQ", b"KPAK", 1, 16) + b"\x90", "damaged kpack archive: its table is no map"),
        (kpack(TWO, compression_scheme="lz4"), "compressed by 'lz4'; none and zstd are known"),
        (kpack(TWO, blobs=None), "damaged kpack archive: its table has no list of blobs"),
        (kpack(TWO, toc=[]), "damaged kpack archive: its table names no binaries"),
        (
            kpack(TWO, compressed=True, zstd_size=1 << 62),
            "damaged kpack archive: its block of frames lies outside of it",
        ),
    ],
)
def test_a_damaged_table_is_one_problem(data: bytes, message: str) -> None:
    blobs, messages = opened(data)
    assert blobs == []
    assert len(messages) == 1
    assert message in messages[0]


def test_an_archive_in_itself_ends() -> None:
    inner = kpack(TWO)
    for _ in range(10):
        inner = kpack([("n", "gfx90a", inner)])
    blobs, messages = opened(inner)
    assert blobs == []
    assert messages == ["containers nested more than 6 deep; --bound nesting=N reads deeper"]
