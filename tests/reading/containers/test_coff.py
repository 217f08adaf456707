"""PE images and COFF objects: long names, short names, damage."""

from __future__ import annotations

from struct import pack

import pytest

from .opening import CONTAINERS, NOTHING, OBJECT, opened, opened_path


def coff(*sections: tuple[str, bytes], long_names: bool = True) -> bytes:
    """An object for x86-64 without symbols; names over eight bytes in the string table."""
    names, table, body = b"", b"", b""
    start = 20 + 40 * len(sections)
    for name, data in sections:
        short = name.encode()
        if len(name) > 8 and long_names:
            short = b"/%d" % (4 + len(names))
            names += name.encode() + b"\0"
        table += short[:8].ljust(8, b"\0")
        table += pack("<IIIIIIHHI", 0, 0, len(data), start + len(body), 0, 0, 0, 0, 0)
        body += data
    symbols = start + len(body)
    header = pack("<HHIIIHH", 0x8664, len(sections), 0, symbols, 0, 0, 0)
    return header + table + body + pack("<I", 4 + len(names)) + names


def image(*sections: tuple[str, bytes]) -> bytes:
    start = b"MZ".ljust(60, b"\0") + pack("<I", 64) + b"PE\0\0"
    body = coff(*sections, long_names=False)
    moved = bytearray(start + body)
    for index in range(len(sections)):
        at = len(start) + 20 + 40 * index + 20
        offset = int.from_bytes(moved[at : at + 4], "little") + len(start)
        moved[at : at + 4] = pack("<I", offset)
    return bytes(moved)


@pytest.mark.parametrize("make", [coff, image])
@pytest.mark.parametrize("name", [".hip_fat", ".hip_fatbin", ".llvm.offloading"])
def test_sections_for_the_device(make: object, name: str) -> None:
    assert callable(make)
    [blob], messages = opened(make((".text", b"\x90"), (name, OBJECT), (".hipFatB", b"HIPF")))
    assert not messages
    assert blob.containers == ("fatbin",)
    assert bytes(blob.data) == OBJECT


@pytest.mark.parametrize("name", ["tiny.obj", "tiny.dll"])
def test_what_clang_and_lld_write(name: str) -> None:
    [blob], messages = opened_path(CONTAINERS / name)
    assert not messages
    assert (blob.containers, blob.member) == (
        ("fatbin", "bundle"),
        "hipv4-amdgcn-amd-amdhsa--gfx90a",
    )


def test_padding_of_an_image_is_no_part() -> None:
    data = bytearray(image((".hip_fat", OBJECT + b"padding")))
    data[68 + 20 + 8 : 68 + 20 + 12] = pack("<I", len(OBJECT))
    [blob], messages = opened(bytes(data))
    assert not messages
    assert bytes(blob.data) == OBJECT


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"MZ", "cut off within its headers"),
        (b"MZ".ljust(60, b"\0") + b"\xff\xff\xff\xff", "cut off within its headers"),
        (image((".hip_fat", OBJECT))[:80], "cut off within its headers"),
        (image((".hip_fat", OBJECT))[:200], "the bytes of .hip_fat are not in this file"),
        (coff((".hip_fatbin", OBJECT))[:30], "cut off within its headers"),
    ],
)
def test_damage_is_named(data: bytes, message: str) -> None:
    blobs, [first] = opened(data)
    assert not blobs
    assert message in first


@pytest.mark.parametrize(
    "data",
    [
        image((".text", OBJECT)),
        coff(("a very long name", OBJECT)),
        coff((".hip_fatbin", OBJECT))[:-20],
        b"MZ for DOS".ljust(200, b"\0"),
    ],
)
def test_files_without_code_for_the_device(data: bytes) -> None:
    assert opened(data) == ([], NOTHING)
