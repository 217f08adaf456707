"""clang's offload bundles, alone and in runs, whole and damaged."""

from __future__ import annotations

from pathlib import Path
from struct import pack

import pytest

from kernelinfo.reading.blob import Blob, Problem, SpirV
from kernelinfo.reading.containers import bounds, open_bytes, open_paths

FIXTURES = Path(__file__).parents[3] / "fixtures"
OBJECT = (FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co").read_bytes()
MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
GFX90A = "hipv4-amdgcn-amd-amdhsa--gfx90a"
HOST = "host-x86_64-unknown-linux--"


def bundle(*entries: tuple[str, bytes], align: int = 1) -> bytes:
    header = 32 + sum(24 + len(id) for id, _ in entries)
    table, body = MAGIC + pack("<Q", len(entries)), b""
    for id, data in entries:
        body += bytes(-(header + len(body)) % align)
        table += pack("<QQQ", header + len(body), len(data), len(id)) + id.encode()
        body += data
    return table + body


def table(*entries: tuple[int, int, bytes]) -> bytes:
    rows = (pack("<QQQ", offset, size, len(id)) + id for offset, size, id in entries)
    return MAGIC + pack("<Q", len(entries)) + b"".join(rows)


def opened(data: bytes) -> tuple[list[Blob], list[str]]:
    blobs, messages = [], []
    for item in open_bytes(data, "file"):
        if isinstance(item, Problem):
            messages.append(item.message)
        elif isinstance(item, Blob):
            assert item.offset is not None
            assert data[item.offset : item.offset + len(item.data)] == bytes(item.data)
            blobs.append(item)
    return blobs, messages


def test_an_entry_for_each_target() -> None:
    [path] = [str(FIXTURES / "container" / "tiny.hipfb")]
    items = list(open_paths([path]))
    blobs = [item for item in items if isinstance(item, Blob)]
    assert len(blobs) == len(items)
    assert all(blob.containers == ("bundle",) for blob in blobs)
    assert [blob.member for blob in blobs] == [GFX90A, "hipv4-amdgcn-amd-amdhsa--gfx1030"]
    assert bytes(blobs[0].data) == OBJECT


@pytest.mark.parametrize("gap", [0, 1, 8, 4096])
def test_bundles_follow_each_other_with_zeros_between(gap: int) -> None:
    one = bundle((HOST, b""), (GFX90A, OBJECT), align=4096)
    blobs, messages = opened((one + bytes(gap)) * 3)
    assert len(blobs) == 3
    assert not messages


def test_what_is_no_bundle_does_not_end_the_run() -> None:
    one = bundle((GFX90A, OBJECT))
    blobs, messages = opened(one + b"junk" + one + b"more")
    assert [bytes(blob.data) for blob in blobs] == [OBJECT, OBJECT]
    assert messages == ["4 bytes that are no bundle follow a bundle; not read"] * 2


def test_an_id_that_stands_twice_is_named() -> None:
    blobs, messages = opened(bundle((GFX90A, OBJECT), (GFX90A, OBJECT)))
    assert len(blobs) == 2
    assert messages == ["1 of its entries has the id of another; all are read"]


def test_damage_is_not_told_without_end() -> None:
    _, messages = opened(bundle((GFX90A, OBJECT)) + MAGIC * 1000)
    assert len(messages) == bounds.MOST_DAMAGED


def test_magics_inside_an_entry_are_not_bundles() -> None:
    text = b"\t.amdgcn_target\n" + MAGIC + b"CCOB"
    blobs, messages = opened(bundle((GFX90A, text)))
    assert [bytes(blob.data) for blob in blobs] == [text]
    assert not messages


@pytest.mark.parametrize(
    "id", ["openmp-nvptx64-nvidia-cuda--sm_70", "sycl-spir64_gen", "host-x86_64-unknown-linux-gnu-"]
)
def test_entries_for_other_devices_are_passed_over(id: str) -> None:
    blobs, messages = opened(bundle((id, b"\x7fELF of another"), (GFX90A, OBJECT)))
    assert [blob.member for blob in blobs] == [GFX90A]
    assert not messages


def test_entries_without_code_for_kernels() -> None:
    entries = (HOST, b"host code"), (GFX90A, b""), ("hip-spirv64", b"\x03\x02\x23\x07more")
    assert [*open_bytes(bundle(*entries), "file")] == [SpirV("file", "hip-spirv64")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (MAGIC, "cut off"),
        (MAGIC + pack("<Q", 3) + bytes(20), "cut off"),
        (MAGIC + pack("<Q", 0), "without entries"),
        (MAGIC + pack("<Q", (1 << 64) - 1), "claims 18446744073709551615 entries"),
        (MAGIC + pack("<QQQQ", 1, 0, 0, 1 << 63), "claims an id"),
        (table((1 << 40, 100, b"a")), "outside its bundle"),
        (table(((1 << 64) - 8, 100, b"a")), "outside its bundle"),
        (table((0, 57, b"a")), "outside its bundle"),
        (table((57, 1, b"a")) + b"\1", "no AMDGPU assembly"),
    ],
)
def test_damaged_bundles_are_said_to_be(data: bytes, message: str) -> None:
    blobs, [first] = opened(data)
    assert not blobs
    assert message in first


def test_many_entries_on_the_same_bytes_are_not_all_read() -> None:
    entries = [(0, 0, b"a%d" % index) for index in range(1000)]
    start = len(table(*entries))
    entries = [(start, len(OBJECT), id) for _, _, id in entries]
    blobs, messages = opened(table(*entries) + OBJECT)
    assert 0 < len(blobs) < 100
    assert messages == ["bundle entries repeat the same bytes; not read from here on"]


@pytest.mark.parametrize("count", [20, 60])
def test_bundles_that_claim_what_follows_give_few_parts(count: int) -> None:
    """Each would hand out all bundles behind it, at each level of nesting again: 60 of them took
    100,000 members."""
    id, data = GFX90A.encode(), OBJECT
    for _ in range(count):
        header = len(table((0, 0, id)))
        data = table((header, header + len(data) + 1, id)) + data
    items = [*open_bytes(data, "file")]
    assert any("repeat the same bytes" in str(item) for item in items)
    assert not any("100000 members" in str(item) for item in items)
    assert len(items) < 150 * count


def test_nesting_ends() -> None:
    data = OBJECT
    for _ in range(6):
        data = bundle((GFX90A, data))
    assert len(opened(data)[0]) == 1
    blobs, messages = opened(bundle((GFX90A, data)))
    assert not blobs
    assert messages == ["containers nested more than 6 deep; --bound nesting=N reads deeper"]


def test_an_id_that_is_no_text() -> None:
    data = table((58, len(OBJECT), b"\xff\x1b")) + OBJECT
    [blob], messages = opened(data)
    assert blob.member == "\\xff\x1b"
    assert not messages
