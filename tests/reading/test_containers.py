"""What holds for containers of any kind: what goes in comes out, and damage is named."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import random
import shutil
import sqlite3
import subprocess
import tarfile
import threading
import zipfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from struct import pack_into

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import FIXTURES
from tests.containers import (
    GFX90A,
    OBJECT,
    WRAPPERS,
    database,
    elf,
    escaped,
    kpack,
    printed,
    table,
)
from tests.contract.files import make
from tests.messages import codes, do_lines_match, tells
from tests.tars import LIES
from tests.test_golden import run

CONTAINERS = sorted((FIXTURES / "container").iterdir())
OBJECTS = sorted((FIXTURES / "code_object").iterdir())
WAYS = (
    *("archive a/", "bundle hip-amdgcn--gfx90a", "offload amdgcn-amd-amdhsa--gfx90a", "zip k.co"),
    *("zip k.co --method=stored", "tar k.co", "cpio k.co", "elf .hip_fatbin", "coff .hip_fatbin"),
    *("pe .hip_fat", "kpack lib/x.so#0@gfx90a", "kpack lib/x.so#0@gfx90a --compressed"),
    *("aks2 'k 0 64'", "mlir x", "gz", "xz", "bz2", "zstd", "prepend bytes 00"),
)


def told(data: bytes, folder: Path, *options: str) -> tuple[list[dict[str, object]], str]:
    """The inputs that a report lists, and its lines on standard error."""
    (folder / "x").write_bytes(data)
    out, err, code = run("x", "--format", "json", *options, folder=folder)
    assert code in (0, 2)
    assert "bug" not in codes(err)
    return json.loads(out)["inputs"], err


def test_what_goes_in_comes_out(tmp_path: Path) -> None:
    """In each container of the fixtures' code objects, and of two levels, the same bytes."""
    noise, wholes = random.Random(7), [path.read_bytes() for path in OBJECTS]
    (tmp_path / "in").mkdir()
    for number, whole in enumerate(wholes):
        (tmp_path / f"in/{number}.mlir").write_bytes(printed(whole, whole))
        pieces = [noise.randbytes(noise.randrange(5000)) + whole for _ in range(3)]
        (tmp_path / f"in/{number}.cache").write_bytes(b"CACHE001" + b"".join(pieces))
    outer = ("archive a/", "elf .hip_fatbin", "zip k.co", "tar k.co", "zstd")
    nested = [[way, *second] for way in WAYS[:-1] for second in ([], *([one] for one in outer))]
    for number, steps in enumerate(nested):
        (tmp_path / f"in/nested-{number}").write_bytes(make(["gfx90a", *steps]))
    _, err, code = run("extract", "in", "-o", "out", folder=tmp_path)
    assert ("bug" in codes(err), code) == (False, 0)
    found = Counter(path.read_bytes() for path in (tmp_path / "out").iterdir())
    expected = Counter(wholes * 5) + Counter({OBJECT: len(nested)})
    assert found == expected


def test_places_are_those_of_the_bytes(tmp_path: Path) -> None:
    for steps in (["gfx90a", way] for way in WAYS):
        data = make(steps)
        [blob], _ = told(data, tmp_path)
        if blob["offset"] is not None:
            assert data[int(str(blob["offset"])) :].startswith(OBJECT), steps
    for bundled in ("tiny.hipfb", "tiny-compressed.hipfb"):
        whole = (FIXTURES / "container" / bundled).read_bytes()
        blobs, _ = told(b"CACHE001" + bytes(50) + whole + b"x" * 99 + whole, tmp_path)
        places = [str(blob["member"]).partition("/")[0] for blob in blobs]
        assert places == ["at 0x3a"] * 2 + [f"at 0x{58 + len(whole) + 99:x}"] * 2


def _shared_sections() -> bytes:
    data = bytearray(elf((".hip_fatbin", OBJECT), *[(".hip_fatbin", b"")] * 100))
    headers = int.from_bytes(data[40:48], "little")
    for index in range(2, 102):
        pack_into("<QQ", data, headers + 64 * index + 24, 64, len(OBJECT))
    return bytes(data)


def _shared_entries() -> bytes:
    start = len(table(*[(0, 0, b"a%d" % index) for index in range(1000)]))
    return table(*[(start, len(OBJECT), b"a%d" % index) for index in range(1000)]) + OBJECT


def _shared_blobs() -> bytes:
    blobs = [{"offset": 64, "size": len(OBJECT)}] * 50
    entries = [(f"lib/{n}@gfx90a", OBJECT if n == 0 else b"x" * len(OBJECT)) for n in range(50)]
    whole = kpack(*entries, table=json.dumps({"blobs": blobs}))
    start = 64 + 50 * len(OBJECT)
    moved = bytearray(whole[:64] + OBJECT + whole[start:])
    pack_into("<Q", moved, 8, 64 + len(OBJECT))
    return bytes(moved)


def _chain(count: int) -> bytes:
    """Bundles that each claim all behind them: 60 gave 100,000 members."""
    id, data = GFX90A.encode(), OBJECT
    for _ in range(count):
        header = len(table((0, 0, id)))
        data = table((header, header + len(data) + 1, id)) + data
    return data


def test_parts_that_share_their_bytes_end(tmp_path: Path) -> None:
    for data, most in (
        (_shared_sections(), 10),
        (_shared_entries(), 100),
        (_shared_blobs(), 10),
        (_chain(20), 3000),
        (_chain(60), 9000),
    ):
        blobs, err = told(data, tmp_path)
        assert any(code.endswith("-bytes-repeated") for code in codes(err)), err
        assert "100000 members" not in err
        assert len(blobs) < most


def test_headers_of_a_tar_that_lie_end_it(tmp_path: Path) -> None:
    """As many steps as the size has megabytes would take hundreds of thousands of years."""
    first = make(["gfx90a", "tar a.co"])[:6656]
    for name, lie in LIES.items():
        for packed in (bytes, gzip.compress):
            blobs, err = told(packed(first + lie + b"x" * 4096), tmp_path)
            assert blobs[0]["member"] == "a.co", name
            assert 0 < len(err.splitlines()) < 5, name
            assert all(len(line) < 200 for line in err.splitlines()), name


def test_streams_are_read_in_pieces_of_any_size(tmp_path: Path) -> None:
    """A decoder whose output was just full may give nothing before it asks for more input."""
    noise = random.Random(3)
    (tmp_path / "in").mkdir()
    sizes = (1, 7, 1000, 4095, 4096, 1 << 16, (1 << 17) - 1, (1 << 20) + 1)
    with tarfile.open(tmp_path / "all.tar", "w") as tar:
        for size in sizes:
            (tmp_path / "noise").write_bytes(noise.randbytes(size))
            tar.add(tmp_path / "noise", f"{size}.bin")
            tar.add(OBJECTS[0], f"{size}.co")
    steps = ("gz", "xz", "bz2", "zstd")
    for step in steps:
        (tmp_path / "in" / step).write_bytes(WRAPPERS[step]((tmp_path / "all.tar").read_bytes()))
    _, err, code = run("extract", "in", "-o", "out", folder=tmp_path)
    found = Counter(path.read_bytes() for path in (tmp_path / "out").iterdir())
    assert (err, code, found) == ("", 0, {OBJECTS[0].read_bytes(): len(steps) * len(sizes)})


NUMBERS = st.sampled_from([0, 1, 60, 255, 1 << 31, (1 << 32) - 1, 1 << 63, (1 << 64) - 1])


@settings(max_examples=100)
@given(data=st.data())
def test_changed_bytes(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """An answer or a problem, never an exception."""
    whole = bytearray(data.draw(st.sampled_from(CONTAINERS)).read_bytes())
    # Headers and tables lie at either end.
    places = st.one_of(
        st.integers(0, min(600, len(whole) - 1)),
        st.integers(max(0, len(whole) - 1500), len(whole) - 1),
        st.integers(0, len(whole) - 1),
    )
    for _ in range(data.draw(st.integers(0, 6))):
        at, width = data.draw(places), data.draw(st.sampled_from([1, 2, 4, 8]))
        number = data.draw(st.one_of(NUMBERS, st.integers(0, (1 << 64) - 1)))
        whole[at : at + width] = (number % (1 << 8 * width)).to_bytes(width, "little")
    cut = data.draw(st.one_of(st.just(len(whole)), places))
    told(bytes(whole[:cut]), tmp_path_factory.getbasetemp())


def test_nothing_in_a_pickle_is_run(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return Path.touch, (Path(tmp_path, "sprung"),)  # type: ignore[return-value]

    blobs, err = told(pickle.dumps((Trap(), printed(OBJECT).decode())), tmp_path)
    assert (len(blobs), err) == (1, "")
    assert not Path(tmp_path, "sprung").exists()


def test_what_libraries_raise_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def surprise(_: object) -> None:
        raise IndexError("surprise")

    monkeypatch.setattr(tarfile.TarFile, "next", surprise)
    monkeypatch.setattr(zipfile.ZipFile, "infolist", surprise)
    for way, kind in (("tar k.co", "tar"), ("zip k.co", "zip")):
        blobs, err = told(make(["gfx90a", way]), tmp_path)
        assert not blobs
        assert do_lines_match(err, f"{kind}-damaged x: … surprise"), err


def test_checksums_where_no_thread_can_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    large = ["container/tiny.hipfb", "zeros 0x180000", "ccob"]
    damaged = make([*large, "put 24 01"])
    for _ in range(2):  # with threads and without
        assert len(told(make(large), tmp_path)[0]) == 2
        assert codes(told(damaged, tmp_path)[1]) == ["ccob-checksum"]
        assert len(told(make([*large, "put 24 00*8"]), tmp_path)[0]) == 2
        monkeypatch.setattr(threading.Thread, "start", refused)


@pytest.fixture
def kdb(tmp_path: Path) -> Path:
    """A database of MIOpen's of forty rows, on pages behind those of the table and its index."""
    rows = [
        f"kern_db: {n}, '{n}.o', '', bz2(file('')), md5(file('')), {len(OBJECT)}" for n in range(40)
    ]
    index = "CREATE UNIQUE INDEX names ON kern_db(kernel_name, kernel_args)"
    path = tmp_path / "x"
    path.write_bytes(database(lambda _: OBJECT, rows[0], index, *rows[1:]))
    return path


def test_rows_of_an_open_log_are_read_and_nothing_is_written(kdb: Path) -> None:
    """Programs that never close their database leave their last rows in the log."""
    with closing(sqlite3.connect(kdb)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("DELETE FROM kern_db WHERE id = 1")
        connection.commit()
        before = {path.name: path.read_bytes() for path in kdb.parent.iterdir()}
        out, err, _ = run("x", "--format", "json", folder=kdb.parent)
        assert (len(json.loads(out)["inputs"]), err) == (39, "")
        assert {path.name: path.read_bytes() for path in kdb.parent.iterdir()} == before
        os.truncate(kdb, 1 << 30)  # with holes
        _, err, _ = run("x", "--format", "json", folder=kdb.parent)
        assert "database-log-unread" in codes(err)


def test_a_page_of_noise_hides_no_other(kdb: Path, tmp_path: Path) -> None:
    whole = kdb.read_bytes()
    blobs, err = told(whole[: len(whole) * 3 // 4], tmp_path)
    assert 20 < len(blobs) < 35
    assert "database-damaged" in codes(err)
    query = "SELECT pgoffset FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path"
    for name, fewer, message in (
        ("kern_db", range(1, 9), "database-damaged database disk image is malformed"),
        ("names", range(1), "database-index-unread kern_db"),
    ):
        kdb.write_bytes(whole)
        with closing(sqlite3.connect(kdb)) as connection:
            leaves = [offset for (offset,) in connection.execute(query, (name,))]
        at = leaves[len(leaves) // 2]
        blobs, err = told(whole[:at] + b"\xa5" * 512 + whole[at + 512 :], tmp_path)
        assert 40 - len(blobs) in fewer
        assert tells(err, message), err


def test_a_library_beside_its_kpack_archives_is_what_it_was(tmp_path: Path) -> None:
    """`libtwo.so`, of two units for gfx90a and gfx1030, taken apart as rocm-kpack does."""
    whole = FIXTURES / "container" / "libtwo.so"
    run("extract", str(whole), "-o", "objects", folder=tmp_path)
    for target in ("gfx90a", "gfx1030"):
        paths = sorted((tmp_path / "objects").glob(f"*{target}.co"))
        entries = [(f"lib/x.so#{n}@{target}", p.read_bytes()) for n, p in enumerate(paths)]
        (tmp_path / f"x_{target}.kpack").write_bytes(kpack(*entries, compressed=True))
    (tmp_path / "x.so").write_bytes(make(["split --paths=x_@GFXARCH@.kpack --units=0,1"]))
    joined, split = (
        json.loads(run(str(path), "--format", "json", folder=tmp_path)[0])["kernels"]
        for path in (whole, tmp_path / "x.so")
    )
    kernels = [sorted(json.dumps(k | {"input": 0}) for k in one) for one in (joined, split)]
    assert (kernels[0], len(split)) == (kernels[1], 8)


@pytest.mark.needs("mlir-opt-22", "lld-22")
@pytest.mark.nightly
def test_what_mlir_itself_prints(tmp_path: Path) -> None:
    """Debian's mlir-22-tools, with a folder of ROCm's names around Debian's linker."""
    source = tmp_path / "k.mlir"
    source.write_text(
        "module attributes {gpu.container_module} {\n"
        'gpu.module @k [#rocdl.target<chip = "gfx942">] {\n'
        "llvm.func @k(%p: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {\n"
        "%c = llvm.mlir.constant(1 : i32) : i32\nllvm.store %c, %p : i32, !llvm.ptr<1>\n"
        "llvm.return }}}\n"
    )
    (tmp_path / "llvm" / "bin").mkdir(parents=True)
    (tmp_path / "amdgcn" / "bitcode").mkdir(parents=True)
    (tmp_path / "llvm" / "bin" / "ld.lld").symlink_to(shutil.which("ld.lld-22") or "")
    to_binary = f"--gpu-module-to-binary=format=binary toolkit={tmp_path}"
    command = [shutil.which("mlir-opt-22") or "", str(source), to_binary]
    text = subprocess.run(command, check=True, capture_output=True).stdout
    (tmp_path / "x").write_bytes(text)
    _, err, code = run("extract", "x", "-o", "out", folder=tmp_path)
    [written] = (tmp_path / "out").iterdir()
    assert (err, code, escaped(written.read_bytes()) in text) == ("", 0, True)


@pytest.mark.needs("llvm-22")
def test_each_find_in_system_libraries_is_an_elf_file(tmp_path: Path) -> None:
    """A sample; all of /usr/lib was searched by hand."""
    libraries = Path("/usr/lib/x86_64-linux-gnu")
    sample = [p for p in sorted(libraries.glob("lib*.so*")) if p.is_file()][::40]
    sample += libraries.glob("libhsa-runtime64.so.1.*")
    run("extract", *map(str, sample), "-o", "out", folder=tmp_path)
    readelf = shutil.which("llvm-readelf-22") or "llvm-readelf"
    for path in (tmp_path / "out").glob("*"):
        shown = subprocess.run([readelf, "-h", path], capture_output=True, text=True, check=True)
        assert "EM_AMDGPU" in shown.stdout
