"""LLVM's OffloadBinary: both versions, several in a row, images of other kinds, damage."""

from __future__ import annotations

from struct import pack

import pytest

from .opening import CONTAINERS, GFX1030, NOTHING, OBJECT, members, opened, opened_path

MAGIC = b"\x10\xff\x10\xad"
GFX90A = {"arch": "gfx90a", "triple": "amdgcn-amd-amdhsa"}


def offload_binary(*images: tuple[dict[str, str], bytes], version: int = 1) -> bytes:
    """Header, entries, tables of strings, strings, images."""
    row = {1: 16, 2: 24}[version]
    table = 32 + 40 * len(images)
    text_at = table + row * sum(len(named) for named, _ in images)
    texts, rows, entries, blobs = b"", b"", b"", b""
    text_size = sum(len(f"{key}{value}") + 2 for named, _ in images for key, value in named.items())
    image_at = text_at + text_size + -(text_at + text_size) % 8
    for named, data in images:
        entries += pack(
            "<HHIQQQQ", 0, 4, 0, table + len(rows), len(named), image_at + len(blobs), len(data)
        )
        for key, value in named.items():
            places = [text_at + len(texts), text_at + len(texts) + len(key) + 1]
            rows += pack("<QQ", *places) + (pack("<Q", len(value)) if version == 2 else b"")
            texts += f"{key}\0{value}\0".encode()
        blobs += data + bytes(-len(data) % 8)
    size = image_at + len(blobs)
    header = MAGIC + pack("<IQQQ", version, size, 32, 40 if version == 1 else len(images))
    return (header + entries + rows + texts).ljust(image_at, b"\0") + blobs


def test_one_image_in_version_1() -> None:
    [blob], messages = opened(offload_binary((GFX90A, OBJECT)))
    assert not messages
    assert (blob.containers, blob.member) == (("offload-binary",), "amdgcn-amd-amdhsa--gfx90a")
    assert bytes(blob.data) == OBJECT


def test_several_images_in_version_2() -> None:
    named = {"triple": "amdgcn-amd-amdhsa", "arch": "gfx1030"}
    blobs, messages = opened(offload_binary((GFX90A, OBJECT), (named, GFX1030), version=2))
    assert not messages
    assert members(blobs) == ["amdgcn-amd-amdhsa--gfx90a", "amdgcn-amd-amdhsa--gfx1030"]
    assert [bytes(blob.data) for blob in blobs] == [OBJECT, GFX1030]


@pytest.mark.parametrize("gap", [0, 8, 4096])
def test_several_in_a_row(gap: int) -> None:
    one, two = offload_binary((GFX90A, OBJECT)), offload_binary((GFX90A, OBJECT), version=2)
    blobs, messages = opened((one + bytes(gap) + two + bytes(gap)) * 2)
    assert len(blobs) == 4
    assert not messages


@pytest.mark.parametrize("compiler", ["clang15", "clang19", "clang22"])
def test_what_llvm_writes(compiler: str) -> None:
    blobs, messages = opened_path(CONTAINERS / f"packaged-{compiler}.bin")
    assert not messages
    assert members(blobs) == ["amdgcn-amd-amdhsa--gfx90a", "amdgcn-amd-amdhsa--gfx1030"]
    assert bytes(blobs[0].data) == OBJECT


def test_embedded_in_a_host_object() -> None:
    blobs, messages = opened_path(CONTAINERS / "embedded.o")
    assert not messages
    assert [blob.containers for blob in blobs] == [("fatbin", "offload-binary")] * 2


def test_bitcode_is_named() -> None:
    blobs, [message] = opened(offload_binary((GFX90A, b"BC\xc0\xde and more")))
    assert not blobs
    assert message.startswith("LLVM bitcode carries no resource usage")


def test_images_for_other_devices_are_passed_over() -> None:
    named = {"arch": "sm_70", "triple": "nvptx64-nvidia-cuda"}
    assert opened(offload_binary((named, b"\x7fELF of another"))) == ([], NOTHING)


def test_an_image_that_says_nothing_may_be_ours() -> None:
    [blob], messages = opened(offload_binary(({}, OBJECT)))
    assert blob.member is None
    assert not messages


def changed(at: int, value: bytes, *, version: int = 1) -> bytes:
    data = offload_binary((GFX90A, OBJECT), version=version)
    return data[:at] + value + data[at + len(value) :]


HUGE = pack("<Q", 1 << 63)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (MAGIC, "cut off within its tables"),
        (offload_binary((GFX90A, OBJECT))[:-8], "of which"),
        (changed(4, b"\0"), "version 0; versions 1 and 2"),
        (changed(8, pack("<Q", 0)), "damaged OffloadBinary: 0 bytes"),
        (changed(8, HUGE), f"{1 << 63} bytes, of which"),
        (changed(16, HUGE), "cut off within its tables"),
        (changed(16, pack("<Q", len(offload_binary((GFX90A, OBJECT))) - 8)), "cut off"),
        (changed(24, HUGE, version=2), f"with {1 << 63} images"),
        (changed(56, HUGE), f"an image of {len(OBJECT)} bytes outside"),
    ],
)
def test_damage_is_named(data: bytes, message: str) -> None:
    blobs, [first] = opened(data)
    assert not blobs
    assert message in first


def test_an_image_that_claims_too_much_is_read_as_far_as_it_goes() -> None:
    [blob], [message] = opened(changed(64, HUGE))
    assert bytes(blob.data)[: len(OBJECT)] == OBJECT
    assert message.startswith(f"an image of {1 << 63} bytes outside its OffloadBinary of ")
