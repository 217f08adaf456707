"""Compressed offload bundles: versions, methods, runs of them, lies and bombs."""

from __future__ import annotations

import sys
import threading
import zlib
from hashlib import md5
from struct import pack, pack_into

import pytest

from kernelinfo.reading import budget
from kernelinfo.reading.containers import bounds
from kernelinfo.reading.containers import ccob as reader

from .opening import CONTAINERS, NOTHING, OBJECT, opened, opened_path

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PLAIN = (CONTAINERS / "tiny.hipfb").read_bytes()


def compress(method: int, plain: bytes) -> bytes:
    return zstd.compress(plain) if method else zlib.compress(plain)


def ccob(
    version: int = 3, method: int = 1, plain: bytes = PLAIN, claimed: int | None = None
) -> bytes:
    packed = compress(method, plain)
    size = len(plain) if claimed is None else claimed
    lengths = {
        1: pack("<I", size),
        2: pack("<II", 24 + len(packed), size),
        3: pack("<QQ", 32 + len(packed), size),
    }
    start = b"CCOB" + pack("<HH", version, method)
    return start + lengths[version] + md5(plain).digest()[:8] + packed


@pytest.fixture(params=["small", "large"])
def summed_as(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contents count as small, or as large; a thread checksums large ones."""
    if request.param == "large":
        monkeypatch.setattr(reader, "_LARGE_BYTES", 0)


@pytest.mark.usefixtures("summed_as")
@pytest.mark.parametrize("method", [0, 1])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_version_and_method(version: int, method: int) -> None:
    blobs, messages = opened(ccob(version, method))
    assert not messages
    assert [blob.containers for blob in blobs] == [("ccob", "bundle")] * 2
    assert [blob.offset for blob in blobs] == [None] * 2
    assert blobs[0].member == "hipv4-amdgcn-amd-amdhsa--gfx90a"
    assert bytes(blobs[0].data) == OBJECT


def test_where_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(reader, "_LARGE_BYTES", 0)
    monkeypatch.setattr(threading.Thread, "start", refused)
    assert len(opened(ccob())[0]) == 2
    damaged = ccob()[:24] + bytes(7) + b"1" + ccob()[32:]
    assert any("checksum does not match" in message for message in opened(damaged)[1])


@pytest.mark.parametrize(
    "name",
    ["ccob-v1-zlib", "ccob-v1-zstd", "ccob-v2-zstd", "ccob-v3-zlib", "tiny-compressed"],
)
def test_what_clang_writes(name: str) -> None:
    blobs, messages = opened_path(CONTAINERS / f"{name}.hipfb")
    assert not messages
    assert [bytes(blob.data) == OBJECT for blob in blobs] == [True, False]


@pytest.mark.parametrize("gap", [0, 1, 15, 4096])
def test_runs_of_all_kinds(gap: int) -> None:
    kinds = [ccob(1, 0), PLAIN, ccob(3, 1), ccob(1, 1), ccob(2, 0), PLAIN]
    blobs, messages = opened(b"".join(kind + bytes(gap) for kind in kinds))
    assert not messages
    assert len(blobs) == 2 * len(kinds)


def test_a_magic_within_a_stream_is_no_bundle() -> None:
    text = b"\t.amdgcn_target\n" + b"CCOB" + PLAIN[:24]
    plain = PLAIN[:24] + pack("<QQQQ", 1, 57, len(text), 1) + b"a" + text
    blobs, messages = opened(ccob(2, 0, plain) * 2)
    assert [bytes(blob.data) for blob in blobs] == [text, text]
    assert not messages


@pytest.mark.parametrize("version", [2, 3])
def test_a_damaged_one_does_not_hide_the_next(version: int) -> None:
    damaged = bytearray(ccob(version))
    damaged[-100:] = bytes(100)
    blobs, [message] = opened(bytes(damaged) + ccob())
    assert len(blobs) == 2
    assert "compressed bundle" in message


@pytest.mark.usefixtures("summed_as")
def test_a_damaged_one_of_version_1_has_no_end() -> None:
    damaged = bytearray(ccob(1, 0))
    damaged[60:100] = bytes(40)
    blobs, [message] = opened(bytes(damaged) + ccob())
    assert len(blobs) == 2
    assert message.startswith("damaged zlib data")


@pytest.mark.usefixtures("summed_as")
def test_content_that_nobody_can_check() -> None:
    data = bytearray(ccob(2))
    pack_into("<Q", data, 16, 0)
    blobs, messages = opened(bytes(data))
    assert len(blobs) == 2
    assert messages == ["compressed bundle without a checksum: damage would not be seen"]


@pytest.mark.usefixtures("summed_as")
def test_content_that_was_changed() -> None:
    data = bytearray(ccob(2))
    pack_into("<Q", data, 16, 1)
    assert opened(bytes(data)) == (
        [],
        ["damaged compressed bundle: its checksum does not match; build it again"],
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"CCOB", "cut off within its header"),
        (b"CCOB\x03\x00\x01\x00" + bytes(20), "cut off within its header"),
        (b"CCOB\x04\x00\x01\x00" + bytes(40), "version 4; versions 1 to 3"),
        (b"CCOB\x03\x00\x07\x00" + bytes(40), "method 7"),
        (b"CCOB\x03\x00\x01\x00" + bytes(40), "claims 0 bytes"),
        (ccob()[:-100], "of which"),
        (ccob(1)[:-100], "zstd data cut off"),
        (ccob(claimed=100), "more than the 100 bytes"),
    ],
)
def test_damage_is_named(data: bytes, message: str) -> None:
    blobs, [first] = opened(data)
    assert not blobs
    assert message in first


def test_a_length_that_is_too_large_around_a_whole_stream() -> None:
    data = bytearray(ccob())
    pack_into("<Q", data, 8, 1 << 40)
    blobs, [message] = opened(bytes(data))
    assert len(blobs) == 2
    assert "1099511627776 bytes of which" in message


def test_a_size_that_is_too_large_around_a_whole_stream() -> None:
    blobs, [message] = opened(ccob(claimed=1 << 31))
    assert len(blobs) == 2
    assert f"{len(PLAIN)} bytes, but its header says {1 << 31}" in message


@pytest.mark.parametrize("method", [0, 1])
def test_bombs(method: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "_FREE_BYTES", 1 << 16)
    blobs, [message] = opened(ccob(method=method, plain=bytes(100 << 20)))
    assert not blobs
    assert "give more than" in message


def test_a_window_as_large_as_the_content() -> None:
    """clang's frames are so up to 128 MiB."""
    options = {
        int(zstd.CompressionParameter.window_log): bounds.ZSTD_WINDOW_LOG,
        int(zstd.CompressionParameter.enable_long_distance_matching): 1,
    }
    plain = PLAIN + bytes(1 << 20)
    compressor = zstd.ZstdCompressor(options=options)
    packed = compressor.compress(plain) + compressor.flush()
    header = b"CCOB" + pack("<HHII", 2, 1, 24 + len(packed), len(plain))
    blobs, messages = opened(header + md5(plain).digest()[:8] + packed)
    assert len(blobs) == 2
    assert not messages


def test_what_is_for_the_host_alone() -> None:
    entry = b"host-x86_64-unknown-linux--"
    plain = PLAIN[:24] + pack("<QQQQ", 1, 64, 0, len(entry)) + entry
    assert opened(ccob(plain=plain)) == ([], NOTHING)
