"""Code objects in data that no reader knows."""

from __future__ import annotations

import gzip
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelinfo import Result, analyse
from kernelinfo.analysis.options import Options
from kernelinfo.reading.blob import Blob, Note
from kernelinfo.reading.budget import Bounds
from kernelinfo.reading.containers import open_bytes, open_paths

from .opening import CONTAINERS, FIXTURES, GFX1030, OBJECT, members, opened, sorted_out
from .test_coff import coff
from .test_zip_archive import packed

RANDOM = random.Random(7)
NOISE = RANDOM.randbytes(70_000)
OBJECTS = sorted((FIXTURES / "code_object").iterdir())
BUNDLES = [CONTAINERS / name for name in ("tiny.hipfb", "tiny-compressed.hipfb")]


def embedded(whole: bytes) -> Iterator[tuple[list[int], bytes]]:
    """100 random offsets in random data, five of them at a time."""
    for _ in range(20):
        offsets, data = [], b"CACHE001"
        for _ in range(5):
            data += RANDOM.randbytes(RANDOM.randrange(5000))
            offsets.append(len(data))
            data += whole
        yield offsets, data + RANDOM.randbytes(RANDOM.randrange(5000))


@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: path.name)
def test_every_fixture_is_found_at_any_offset(path: Path) -> None:
    whole = path.read_bytes()
    for offsets, data in embedded(whole):
        blobs, messages = opened(data)
        assert [blob.offset for blob in blobs] == offsets
        assert members(blobs) == [f"at 0x{at:x}" for at in offsets]
        assert all(bytes(blob.data) == whole for blob in blobs)
        assert messages == []


@pytest.mark.parametrize("path", BUNDLES, ids=lambda path: path.name)
def test_bundles_are_found_at_any_offset_and_opened(path: Path) -> None:
    for offsets, data in embedded(path.read_bytes()):
        blobs, messages = opened(data)
        assert [bytes(blob.data) for blob in blobs] == [OBJECT, GFX1030] * len(offsets)
        places = list(dict.fromkeys((blob.member or "").partition("/")[0] for blob in blobs))
        assert places == [f"at 0x{at:x}" for at in offsets]
        assert messages == []


@pytest.mark.parametrize(
    "data",
    [
        b"\x7fELF\x02\x01\x01" * 100,
        b"__CLANG_OFFLOAD_BUNDLE__" * 100,
        b"__CLANG_OFFLOAD_BUNDLE__" + bytes(100),
        b"__CLANG_OFFLOAD_BUNDLE__" + b"\xff" * 100,
        b"CCOB\2\0\1\0\xff\xff\xff\xff" * 100,
        b"CCOB\1\0\1\0" * 100,
        NOISE,
    ],
)
def test_no_false_find(data: bytes) -> None:
    _, [message] = opened(b"\0" + data)
    assert message == "neither AMD GPU code nor text; give what the compiler left for the device"


def test_what_is_cut_off_is_one_problem() -> None:
    blobs, messages = opened(b"\0" + OBJECT[:3000] + b"\0" + OBJECT)
    assert [bytes(blob.data) for blob in blobs] == [OBJECT]
    assert messages == ["a code object cut off or damaged, by its header; not read"]
    blobs, messages = opened(b"\0" + OBJECT[:3000])
    assert blobs == []
    assert messages == ["a code object cut off or damaged, by its header; not read"]


def test_headers_that_claim_everything_take_linear_time() -> None:
    header = OBJECT[:64] * 5000
    _, [message] = opened(b"\0" + header)
    assert message == "a code object cut off or damaged, by its header and 4999 more; not read"


def test_in_host_files_and_members() -> None:
    host = coff((".rodata", b"abc" + OBJECT))
    for data in (host, packed(("m.fb", b"abc" + OBJECT)), gzip.compress(b"abc" + OBJECT)):
        blobs, messages = opened(data)
        assert [bytes(blob.data) for blob in blobs] == [OBJECT]
        assert messages == []


def test_not_where_a_reader_found_code() -> None:
    blobs, _ = opened((CONTAINERS / "libtwo.so").read_bytes())
    assert {blob.containers for blob in blobs} == {("fatbin", "bundle")}


def test_it_is_told_once_that_the_container_is_not_known(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.bin").write_bytes(b"abc" + OBJECT)
    items = list(analyse([str(tmp_path)], Options()))
    assert len([item for item in items if isinstance(item, Result)]) == 6
    [note] = [item for item in items if isinstance(item, Note)]
    assert note.message == "found by its header in data of a kind that is not known (so 2 more)"


def test_large_files_of_folders_are_left_out_and_counted(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"abc" + OBJECT)
    [note] = open_paths([str(tmp_path)], within=Bounds(carved=100))
    assert note == Note(
        str(tmp_path / "a.bin"),
        "more than 100 bytes of no known kind, not searched; --deep does",
    )
    assert len(sorted_out(open_paths([str(tmp_path / "a.bin")]))[0]) == 1


READELF = shutil.which("llvm-readelf-22") or shutil.which("llvm-readelf")


@pytest.mark.needs("llvm-22")
def test_each_find_in_system_libraries_is_an_elf_file(tmp_path: Path) -> None:
    """A sample; all of /usr/lib was searched by hand."""
    libraries = Path("/usr/lib/x86_64-linux-gnu")
    sample = [p for p in sorted(libraries.glob("lib*.so*")) if p.is_file()][::40]
    sample += libraries.glob("libhsa-runtime64.so.1.*")
    for path in sample:
        for item in open_bytes(path.read_bytes(), path.name):
            if isinstance(item, Blob) and "data" in item.containers:
                (tmp_path / "found").write_bytes(bytes(item.data))
                command = [READELF or "", "-h", str(tmp_path / "found")]
                printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                assert "EM_AMDGPU" in printed


def test_deep_searches_large_files_too(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"abc" + OBJECT)
    command = [sys.executable, "-m", "kernelinfo", str(tmp_path), "--bound", "carved=100"]
    for deep, code in ((False, 2), (True, 0)):
        run = subprocess.run(
            [*command, *["--deep"] * deep], capture_output=True, text=True, check=False
        )
        assert run.returncode == code
        assert ("not searched; --deep does" in run.stderr) != deep
