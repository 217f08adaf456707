"""Host programs, libraries and objects: the code for the device in their sections."""

from __future__ import annotations

from pathlib import Path
from struct import pack, pack_into, unpack_from

import pytest

from kernelinfo.reading.blob import Blob, Found, Problem
from kernelinfo.reading.containers import open_bytes, open_paths

FIXTURES = Path(__file__).parents[3] / "fixtures"
OBJECT = (FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co").read_bytes()
PROGBITS, NOBITS = 1, 8
E_SHOFF = 40


def host(*sections: tuple[str, bytes], kind: int = PROGBITS) -> bytes:
    """An x86-64 object with these sections and the table of their names."""
    named = [("", b""), *sections, (".shstrtab", b"")]
    strings = b"".join(name.encode() + b"\0" for name, _ in named)
    named[-1] = (".shstrtab", strings)
    body, headers, name_at = bytearray(), bytearray(), 0
    for name, data in named:
        headers += pack(
            "<IIQQQQIIQQ", name_at, kind if name else 0, 0, 0, 64 + len(body), len(data), 0, 0, 1, 0
        )
        name_at += len(name) + 1
        body += data
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    count = len(named)
    header = ident + pack(
        "<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, count, count - 1
    )
    return header + bytes(body + headers)


def opened(data: bytes) -> list[Found]:
    return list(open_bytes(data, "file"))


def only_message(data: bytes) -> str:
    [problem] = opened(data)
    assert isinstance(problem, Problem)
    return problem.message


def test_a_library_of_two_translation_units() -> None:
    path = FIXTURES / "container" / "libtwo.so"
    blobs = [blob for blob in open_paths([str(path)]) if isinstance(blob, Blob)]
    ids = ["hipv4-amdgcn-amd-amdhsa--gfx90a", "hipv4-amdgcn-amd-amdhsa--gfx1030"]
    assert sorted(str(blob.member) for blob in blobs) == sorted(ids * 2)
    whole = path.read_bytes()
    for blob in blobs:
        assert blob.containers == ("fatbin", "bundle")
        assert blob.offset is not None
        assert whole[blob.offset : blob.offset + len(blob.data)] == bytes(blob.data)


@pytest.mark.parametrize("name", ["occupancy", "occupancy-host-x86_64-pc-linux-gnu.o"])
def test_what_hipcc_leaves(name: str) -> None:
    [blob] = open_paths([str(FIXTURES / "container" / name)])
    assert isinstance(blob, Blob)
    device = FIXTURES / "code_object" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.out"
    assert bytes(blob.data) == device.read_bytes()


def test_a_fat_binary_may_be_one_code_object() -> None:
    [blob] = opened(host((".text", b"\x90"), (".hip_fatbin", OBJECT)))
    assert isinstance(blob, Blob)
    assert (blob.containers, blob.member) == (("fatbin",), None)
    assert bytes(blob.data) == OBJECT


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        (".hip_fatbin", b"CCOB\x01\x00\x01\x00", "a compressed bundle cut off"),
        (".hip_fatbin", bytes(4096), "no AMD GPU code found"),
        (".llvm.offloading", b"\x10\xff\x10\xad", "OffloadBinary cut off"),
        ("__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--gfx90a", b"BC\xc0\xde", "LLVM bitcode"),
        ("__CLANG_OFFLOAD_BUNDLE__host-x86_64", b"\0", "no AMD GPU code found"),
        ("__CLANG_OFFLOAD_BUNDLE__sycl-spir64", b"\x03\x02\x23\x07", "no AMD GPU code found"),
        (".hipFatBinSegment", b"FPIH", "no AMD GPU code found"),
        (".text", OBJECT, "no AMD GPU code found"),
    ],
)
def test_sections_that_hold_no_kernels(name: str, data: bytes, message: str) -> None:
    assert only_message(host((name, data))).startswith(message)


def test_code_that_was_split_off() -> None:
    message = only_message(host((".hip_fatbin", OBJECT), kind=NOBITS))
    assert message == "the bytes of .hip_fatbin are not in this file"


def test_entries_in_sections_of_their_own_keep_their_ids() -> None:
    id = "openmp-amdgcn-amd-amdhsa--gfx90a"
    [problem] = opened(host((f"__CLANG_OFFLOAD_BUNDLE__{id}", b"BC\xc0\xde")))
    assert isinstance(problem, Problem)
    assert problem.member == id


def test_sections_on_the_same_bytes_are_not_all_read() -> None:
    data = bytearray(host(*[(".hip_fatbin", OBJECT)] + [(".hip_fatbin", b"")] * 100))
    (headers,) = unpack_from("<Q", data, E_SHOFF)
    for index in range(2, 102):
        pack_into("<QQ", data, headers + 64 * index + 24, 64, len(OBJECT))
    items = opened(bytes(data))
    assert 0 < len(items) < 10
    assert isinstance(items[-1], Problem)
    assert items[-1].message == "sections repeat the same bytes; not read from here on"


@pytest.mark.parametrize(
    ("name", "containers"),
    [
        ("libmixed.so", ["ccob", None, "ccob"]),
        ("libmixed-no-section-headers.so", ["ccob", None, "ccob"]),
        ("libwrapped.so", ["ccob", "ccob", "ccob", "ccob", None, None]),
    ],
)
def test_plain_and_compressed_bundles_at_pages_and_not(
    name: str, containers: list[str | None]
) -> None:
    blobs = list(open_paths([str(FIXTURES / "container" / name)]))
    assert all(isinstance(blob, Blob) for blob in blobs)
    assert [blob.containers for blob in blobs if isinstance(blob, Blob)] == [
        ("fatbin", "ccob", "bundle") if kind else ("fatbin", "bundle") for kind in containers
    ]


def test_a_linked_code_object_is_the_fat_binary() -> None:
    [blob] = open_paths([str(FIXTURES / "container" / "libbare.so")])
    assert isinstance(blob, Blob)
    assert blob.containers == ("fatbin",)
    assert bytes(blob.data) == OBJECT


def without_sections(*parts: bytes) -> bytes:
    header = bytearray(host((".text", b"\x90")))
    pack_into("<Q", header, E_SHOFF, 0)
    return b"".join((bytes(header), *parts))


BUNDLE = (FIXTURES / "container" / "tiny.hipfb").read_bytes()
COMPRESSED = (FIXTURES / "container" / "tiny-compressed.hipfb").read_bytes()


def test_bundles_at_pages_of_a_file_without_section_headers() -> None:
    data = without_sections().ljust(4096, b"\x90")
    data += BUNDLE.ljust(5 * 4096, b"\0") + COMPRESSED.ljust(4096, b"\0") + BUNDLE
    blobs = opened(data)
    assert [isinstance(blob, Blob) for blob in blobs] == [True] * 6


def test_bundles_elsewhere_in_a_file_without_section_headers() -> None:
    """Only plain ones, and only tables that make sense: other bytes may hold the magic."""
    string = b"__CLANG_OFFLOAD_BUNDLE__\0CCOB\3\0\1\0" + b"more strings\0"
    blobs = opened(without_sections(string, BUNDLE, b"\x90", COMPRESSED, BUNDLE))
    assert [isinstance(blob, Blob) for blob in blobs] == [True] * 4
    nothing = only_message(without_sections(string * 100))
    assert nothing.startswith("no AMD GPU code found")


def test_a_damaged_bundle_at_a_page_does_not_hide_the_next() -> None:
    data = without_sections().ljust(4096, b"\x90") + BUNDLE[:24].ljust(4096, b"\xff") + BUNDLE
    problem, *blobs = opened(data)
    assert isinstance(problem, Problem)
    assert problem.offset == 4096
    assert len(blobs) == 2


def test_damaged_section_headers() -> None:
    data = bytearray(host((".hip_fatbin", OBJECT)))
    pack_into("<Q", data, E_SHOFF, 1 << 60)
    damage, found, _ = opened(bytes(data))
    assert isinstance(damage, Problem)
    assert "headers of 64 bytes" in damage.message
    assert isinstance(found, Blob)  # by its own header
    assert bytes(found.data) == OBJECT


def test_hosts_that_drive_no_amd_gpu() -> None:
    assert only_message(b"\x7fELF\x01\x01".ljust(64, b"\1")).startswith("no AMD GPU code found")
