"""AOTriton's packs by a writer of our own, from the layout that `containers.aks2` states."""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from struct import pack

import pytest

from kernelinfo import Result
from kernelinfo.analysis import Analysis
from kernelinfo.analysis.options import Options
from kernelinfo.kernel import Kernel
from kernelinfo.reading.containers import open_bytes

from .opening import OBJECT, members, opened
from .test_zip_archive import packed

Entries = Sequence[tuple[str, int, int, bytes]]
"""Name, LDS in bytes, threads, image."""


def aks2(
    entries: Entries,
    *,
    size: int | None = None,
    count: int | None = None,
    directory: int | None = None,
) -> bytes:
    """A pack; the numbers replace those of its header."""
    rows, images = b"", b""
    for name, lds, threads, image in entries:
        text = name.encode() + b"\0"
        rows += pack("<IIIII", lds, threads, len(images), len(image), len(text)) + text
        images += image
    whole = rows + images
    numbers = (
        len(whole) if size is None else size,
        len(entries) if count is None else count,
        len(rows) if directory is None else directory,
    )
    return b"AKS2" + pack("<III", *numbers) + lzma.compress(whole, check=lzma.CHECK_CRC64)


TWO = [("dot;;0_0", 4096, 256, OBJECT), ("failed", 0, 0, b""), ("add", 0, 64, OBJECT)]


def kernels(data: bytes) -> list[Kernel]:
    items = Analysis(Options()).analyse_path("x", open_bytes(data, "x"))
    return [item.kernel for item in items if isinstance(item, Result)]


def test_an_image_for_each_kernel_that_compiled() -> None:
    blobs, messages = opened(aks2(TWO))
    assert (members(blobs), messages) == (["dot;;0_0", "add"], [])
    assert all(bytes(blob.data) == OBJECT and blob.containers == ("aks2",) for blob in blobs)


def test_lds_and_block_size_are_those_of_the_directory() -> None:
    first, _, second, _ = kernels(aks2(TWO))
    occupancy = first.occupancy()
    assert (occupancy.launch.dynamic_lds_bytes, occupancy.launch.workgroup_size) == (4096, 256)
    assert second.occupancy().launch.workgroup_size == 64


def test_without_either_the_lds_is_not_known() -> None:
    for kernel in kernels(aks2([("no-json", 0, 0, OBJECT)])):
        assert not kernel.occupancy().exact


def test_packs_in_a_zip_are_known_by_their_magic() -> None:
    blobs, messages = opened(packed(("FONLY__^fp16@16,64", aks2(TWO)), ("README", b"text")))
    assert (len(blobs), messages) == (2, [])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"AKS2\0\0", "cut off within its header"),
        (aks2(TWO, size=1 << 31), "bytes where its header says 2147483648"),
        (aks2(TWO, size=100), "more than the 100 bytes"),
        (aks2(TWO, count=1 << 31), "it claims 2147483648 kernels"),
        (aks2(TWO, count=4), "its directory is shorter than its entries"),
        (aks2(TWO, count=2), "of a directory of"),
        (aks2(TWO, directory=70), "shorter than its entries"),
        (aks2(TWO)[:200], "xz data cut off"),
        (aks2(TWO)[:16] + b"no xz", "damaged xz data"),
    ],
)
def test_a_damaged_pack_is_one_problem(data: bytes, message: str) -> None:
    blobs, [complaint] = opened(data)
    assert blobs == []
    assert message in complaint


def test_an_image_outside_hides_no_other() -> None:
    whole = bytearray(lzma.decompress(aks2(TWO)[16:]))
    whole[8:12] = pack("<I", 1 << 31)  # the first image's offset
    sizes = aks2(TWO)[4:16]
    blobs, messages = opened(b"AKS2" + sizes + lzma.compress(bytes(whole)))
    assert (members(blobs), messages) == (["add"], ["an image outside of its AKS2 pack"])
