"""Helpers for tests of containers: a code object, and the contents of bytes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kernelinfo.reading.blob import Blob, Found, Missing, Problem
from kernelinfo.reading.budget import BY_DEFAULT, Bounds
from kernelinfo.reading.containers import open_bytes, open_paths

FIXTURES = Path(__file__).parents[3] / "fixtures"
CONTAINERS = FIXTURES / "container"
OBJECT = (FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co").read_bytes()
GFX1030 = (FIXTURES / "code_object" / "tiny-v6-clang22-gfx1030.co").read_bytes()
ASSEMBLY = b'\t.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\n\t.text\n'
HOST = (FIXTURES / "broken" / "x86.o").read_bytes()
NOTHING = ["no AMD GPU code found; give what the compiler left for the device"]


def sorted_out(items: Iterable[Found]) -> tuple[list[Blob], list[str]]:
    """The code, and the messages."""
    blobs, messages = [], []
    for item in items:
        if isinstance(item, Problem):
            messages.append(item.message)
        elif isinstance(item, Missing):
            messages.append(Missing.problem([item]).message)
        elif isinstance(item, Blob):
            blobs.append(item)
    return blobs, messages


def opened(data: bytes, within: Bounds = BY_DEFAULT) -> tuple[list[Blob], list[str]]:
    """(blobs, messages) of `data`; each blob with an offset lies there."""
    blobs, messages = sorted_out(open_bytes(data, "file", within))
    for blob in blobs:
        if blob.offset is not None:
            assert data[blob.offset : blob.offset + len(blob.data)] == bytes(blob.data)
    return blobs, messages


def opened_path(path: Path) -> tuple[list[Blob], list[str]]:
    """(blobs, messages) of a file or folder."""
    return sorted_out(open_paths([str(path)]))


def members(blobs: list[Blob]) -> list[str | None]:
    return [blob.member for blob in blobs]
