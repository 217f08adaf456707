"""Host files whose code is in kpack archives: an ELF library split in two as rocm-kpack does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from struct import pack

import msgpack
import pytest

from kernelinfo import Kernel, Problem, Result, analyse
from kernelinfo.analysis.options import Options
from kernelinfo.reading.blob import Blob, Note
from kernelinfo.reading.containers import open_paths

from .opening import CONTAINERS, GFX1030, OBJECT, members, opened, opened_path, sorted_out
from .test_coff import image
from .test_kpack import kpack
from .test_zip_archive import packed

HERE = ("../.kpack/x_@GFXARCH@.kpack",)


def wrappers(*units: int, magic: bytes = b"HIPK") -> bytes:
    return b"".join(pack("<4sIQQ", magic, 1, 0, unit) for unit in units)


def marker(paths: Sequence[str] = HERE, name: str = "lib/x.so") -> bytes:
    return bytes(msgpack.packb({"kpack_search_paths": list(paths), "kernel_name": name}))


def host(
    reference: bytes | None = None, units: bytes | None = None, *, sections: bool = True
) -> bytes:
    """An ELF library with wrappers, a marker that a segment of its own loads, and no code."""
    reference = marker() if reference is None else reference
    parts = [(b".hipFatBinSegment", 1, wrappers(0) if units is None else units)]
    parts += [(b".rocm_kpack_ref", 1, reference), (b".hip_fatbin", 8, bytes(4096))]
    names = b"\0" + b"".join(name + b"\0" for name, _, _ in parts) + b".shstrtab\0"
    body, rows, at = b"", bytes(64), 64 + 56
    for name, kind, data in (*parts, (b".shstrtab", 3, names)):
        rows += pack("<IIQQQQIIQQ", names.index(name), kind, 2, at, at, len(data), 0, 0, 1, 0)
        if kind != 8:
            body += data
            at += len(data)
    start = 64 + 56 + len(parts[0][2])
    segment = pack("<IIQQQQQQ", 1, 4, start, start, start, len(reference), len(reference), 8)
    count = 5 if sections else 0
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header += pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, at * sections, 0, 64, 56, 1, 64, count, 4)
    return header + segment + body + rows * sections


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A library of two units, archives for two targets, and another target's without one unit."""
    (tmp_path / "lib").mkdir()
    (tmp_path / ".kpack").mkdir()
    (tmp_path / "lib" / "libx.so").write_bytes(host(units=wrappers(0, 1)))
    both = [("lib/x.so#0", OBJECT), ("lib/x.so#1", GFX1030), ("lib/other.so#0", OBJECT)]
    for target, entries in (("gfx90a", both), ("gfx1030", both[:1]), ("gfx90a:xnack+", both[1:2])):
        whole = kpack([(binary, target, data) for binary, data in entries], compressed=True)
        (tmp_path / ".kpack" / f"x_{target}.kpack").write_bytes(whole)
    return tmp_path


def test_a_library_leads_to_its_archives(installed: Path) -> None:
    blobs, messages = opened_path(installed / "lib" / "libx.so")
    assert messages == []
    assert members(blobs) == [
        "../.kpack/x_gfx1030.kpack/lib/x.so#0/gfx1030",
        "../.kpack/x_gfx90a.kpack/lib/x.so#0/gfx90a",
        "../.kpack/x_gfx90a.kpack/lib/x.so#1/gfx90a",
        "../.kpack/x_gfx90a:xnack+.kpack/lib/x.so#1/gfx90a:xnack+",
    ]
    assert {blob.containers for blob in blobs} == {("hipk", "kpack")}


def test_an_installation_counts_each_object_once(installed: Path) -> None:
    found, messages = opened_path(installed)
    assert (len(found), messages) == (5, [])
    assert {Path(blob.path).suffix for blob in found} == {".kpack"}
    both = [str(installed / "lib"), str(installed / ".kpack")]
    assert len(sorted_out(open_paths(both))[0]) == 5


def test_a_named_library_beside_its_archives_is_no_problem(installed: Path) -> None:
    archives = sorted(map(str, (installed / ".kpack").iterdir()))
    items = list(analyse([str(installed / "lib" / "libx.so"), *archives], Options()))
    assert len([item for item in items if isinstance(item, Result)]) == 10
    assert [item.message for item in items if isinstance(item, Problem)] == [
        "its id says gfx1030, the code says gfx90a; read as the latter",
        "its id says gfx90a, the code says gfx1030; read as the latter",
        "its id says gfx90a, the code says gfx1030; read as the latter",
    ]


def test_without_section_headers_the_marker_is_found_by_its_segment(installed: Path) -> None:
    (installed / "lib" / "libx.so").write_bytes(host(sections=False))
    blobs, messages = opened_path(installed / "lib" / "libx.so")
    assert (len(blobs), messages) == (4, [])


def test_a_pe_image(installed: Path) -> None:
    data = image(
        (".hipFatB", wrappers(0, 1)), (".kpackrf", marker() + bytes(99)), (".hip_fat", b"x")
    )
    (installed / "lib" / "x.dll").write_bytes(data)
    blobs, messages = opened_path(installed / "lib" / "x.dll")
    assert (len(blobs), messages) == (4, [])


def test_a_name_without_unit_is_the_whole_library(installed: Path) -> None:
    whole = kpack([("lib/x.so", "gfx90a", OBJECT)])
    (installed / ".kpack" / "y.kpack").write_bytes(whole)
    (installed / "lib" / "libx.so").write_bytes(host(marker(["gone.kpack", "../.kpack/y.kpack"])))
    blobs, messages = opened_path(installed / "lib" / "libx.so")
    assert members(blobs) == ["../.kpack/y.kpack/lib/x.so/gfx90a"]
    assert messages == []


def test_a_unit_that_is_missing_for_one_target_is_noted(installed: Path) -> None:
    library = str(installed / "lib" / "libx.so")
    [note] = [item for item in open_paths([library]) if isinstance(item, Note)]
    assert note.message == "lib/x.so#1: not in its kpack archives of gfx1030"


def test_a_unit_that_no_archive_has(installed: Path) -> None:
    (installed / "lib" / "libx.so").write_bytes(host(units=wrappers(0, 2)))
    blobs, messages = opened_path(installed / "lib" / "libx.so")
    assert len(blobs) == 2
    assert messages == ["lib/x.so#2 is in none of its kpack archives"]


def test_archives_without_any_unit(installed: Path) -> None:
    (installed / "lib" / "libx.so").write_bytes(host(marker(name="lib/y.so")))
    blobs, messages = opened_path(installed / "lib" / "libx.so")
    assert (blobs, messages) == ([], ["lib/y.so#0 is in none of its kpack archives"])


def test_host_files_without_archives_are_one_line(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"lib{number}.so").write_bytes(host())
    (tmp_path / "a.co").write_bytes(OBJECT)
    items = list(analyse([str(tmp_path)], Options()))
    assert any(isinstance(item, Result) for item in items)
    [problem] = [item for item in items if isinstance(item, Problem)]
    assert Path(problem.path).name == "lib0.so"
    assert problem.message == MISSING.format(HERE[0], "here") + MEND + " (and for 3 more)"


MISSING = "its device code is in {}, which is not {}; install the device package of your target, "
MEND = "or give the archive"


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "libx.so").write_bytes(host())
    for path in (tmp_path / "libx.so", tmp_path):
        blobs, messages = opened_path(path)
        assert blobs == []
        assert messages == [MISSING.format(HERE[0], "here") + MEND]


def test_a_package_has_both_halves_or_is_a_problem() -> None:
    archive = kpack([("lib/x.so#0", "gfx90a", OBJECT)])
    blobs, messages = opened(
        packed(("a/lib/libx.so", host()), ("a/.kpack/x_gfx90a.kpack", archive))
    )
    assert (len(blobs), messages) == (1, [])
    for other in ((), (("a/.kpack/y.kpack", kpack([("lib/x.so.1#0", "gfx90a", OBJECT)])),)):
        _, messages = opened(packed(("a/lib/libx.so", host()), *other))
        assert messages == [MISSING.format(HERE[0], "in this file") + MEND]


@pytest.mark.parametrize(
    "path",
    [
        "../secret",
        "../secret/@GFXARCH@",
        "../@GFXARCH@/x.kpack",
        "../*.kpack",
        "../directory.kpack",
        "../fifo.kpack",
        "../nul\0.kpack",
        "libx.so",
    ],
)
def test_nothing_but_archives_is_opened(tmp_path: Path, path: str) -> None:
    import os

    (tmp_path / "lib").mkdir()
    (tmp_path / "directory.kpack").mkdir()
    os.mkfifo(tmp_path / "fifo.kpack")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "gfx90a").write_bytes(kpack([("lib/x.so#0", "gfx90a", OBJECT)]))
    library = tmp_path / "lib" / "libx.so"
    library.write_bytes(host(marker([path])))
    blobs, messages = opened_path(library)
    assert blobs == []
    assert [message[: len(MISSING) // 2] for message in messages] == [
        MISSING.format(repr(path)[1:-1], "here")[: len(MISSING) // 2]
    ]


def test_a_file_that_only_bears_the_name(tmp_path: Path) -> None:
    (tmp_path / "libx.so").write_bytes(host(marker(["x.kpack"])))
    (tmp_path / "x.kpack").write_bytes(b"secret" * 10)
    blobs, [message] = opened_path(tmp_path / "libx.so")
    assert blobs == []
    assert message == "is no kpack archive, though its name says so; not read"


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (b"\xc1", "its reference to kpack archives is damaged"),
        (b"\x90", "its reference to kpack archives is damaged: no paths and name in it"),
        (marker([]), "its device code is in kpack archives, but its reference names none"),
        (bytes(msgpack.packb({"kpack_search_paths": "x", "kernel_name": 1})), "no paths and name"),
        (marker(["x" * 70_000]), "its reference to kpack archives has 70047 bytes; not read"),
    ],
)
def test_a_damaged_reference(reference: bytes, message: str) -> None:
    blobs, [complaint] = opened(host(reference))
    assert blobs == []
    assert message in complaint


def test_a_wrapper_with_code_of_its_own_that_is_gone() -> None:
    _, messages = opened(host(units=wrappers(0) + wrappers(1, magic=b"FPIH")))
    assert "the bytes of .hip_fatbin are not in this file" in messages
    assert any("its device code is in" in message for message in messages)


def test_numbers_are_those_of_the_library_before_it_was_split(tmp_path: Path) -> None:
    """`libtwo.so`: two units for gfx90a and gfx1030."""
    whole = CONTAINERS / "libtwo.so"
    blobs = [blob for blob in open_paths([str(whole)]) if isinstance(blob, Blob)]
    for target in ("gfx90a", "gfx1030"):
        own = [blob for blob in blobs if (blob.member or "").endswith(target)]
        entries = [(f"lib/x.so#{n}", target, bytes(blob.data)) for n, blob in enumerate(own)]
        (tmp_path / f"x_{target}.kpack").write_bytes(kpack(entries, compressed=True))
    split = tmp_path / "libtwo.so"
    split.write_bytes(host(marker(["x_@GFXARCH@.kpack"]), wrappers(0, 1)))
    assert kernels(split) == kernels(whole)
    assert len(kernels(split)) == 8


def kernels(path: Path) -> list[tuple[object, ...]]:
    """All that is known of each kernel but where it lies."""
    found = []
    for item in analyse([str(path)], Options()):
        assert isinstance(item, Result)
        nowhere = [item.kernel._asdict()[name] for name in Kernel._fields if name not in PLACES]
        target = item.kernel.code_object.target or ""
        found.append((target, item.kernel.symbol, repr(nowhere), item.occupancy, item.findings))
    return sorted(found, key=lambda row: row[:2])


PLACES = ("code_object",)
