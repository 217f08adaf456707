"""Files of paths: directories, globs, standard input, and special files."""

from __future__ import annotations

import io
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kernelinfo.reading.blob import Blob, Found, Problem
from kernelinfo.reading.containers import files, open_bytes, open_file, open_paths

FIXTURES = Path(__file__).parents[3] / "fixtures"
OBJECT = (FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co").read_bytes()
ASSEMBLY = b'\t.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\n\t.text\n'


def opened(*paths: object) -> list[Found]:
    return list(open_paths(map(str, paths)))


def only_problem(*paths: object) -> Problem:
    [problem] = opened(*paths)
    assert isinstance(problem, Problem)
    return problem


def names(items: list[Found]) -> list[str]:
    return [Path(item.path).name for item in items if isinstance(item, Blob)]


@pytest.mark.parametrize(
    "data", [OBJECT, OBJECT[:19], ASSEMBLY], ids=["code object", "its beginning", "assembly"]
)
def test_the_first_bytes_decide_and_not_the_name(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "kernel.json"
    path.write_bytes(data)
    [blob] = opened(path)
    assert isinstance(blob, Blob)
    assert (blob.path, blob.containers, blob.offset) == (str(path), (), 0)
    assert bytes(blob.data) == data
    [same] = open_bytes(data, str(path))
    assert isinstance(same, Blob)
    assert bytes(same.data) == data
    assert same._replace(data=blob.data, budget=blob.budget, kernels=blob.kernels) == blob


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_texts_of_any_encoding(tmp_path: Path, encoding: str, end: str) -> None:
    (tmp_path / "kernel.s").write_bytes(ASSEMBLY.decode().replace("\n", end).encode(encoding))
    [blob] = opened(tmp_path / "kernel.s")
    assert isinstance(blob, Blob)
    assert b".amdgcn_target" in bytes(blob.data)


def test_a_directory_is_walked_in_order_and_other_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "z.co").write_bytes(OBJECT)
    (tmp_path / "b" / "a.bin").write_bytes(OBJECT)
    (tmp_path / "kernel.s").write_bytes(ASSEMBLY)
    (tmp_path / "utf16.s").write_bytes(ASSEMBLY.decode().encode("utf-16"))
    (tmp_path / "x86.s").write_bytes(b"\tmovq %rax, %rbx\n")
    (tmp_path / "notes.md").write_bytes(ASSEMBLY)
    (tmp_path / "empty.txt").touch()
    (tmp_path / "library.a").write_bytes(b"!<arch>\n")
    (tmp_path / "host.o").write_bytes((FIXTURES / "broken" / "x86.o").read_bytes())
    os.mkfifo(tmp_path / "pipe")
    items = opened(tmp_path)
    assert names(items) == ["kernel.s", "utf16.s", "a.bin", "z.co"]
    assert len(items) == 4


def test_links_are_not_followed_twice(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "k.co").write_bytes(OBJECT)
    (tmp_path / "lib" / "link.co").symlink_to("k.co")
    (tmp_path / "lib" / "circle").symlink_to(tmp_path)
    (tmp_path / "nowhere.co").symlink_to("missing")
    assert names(opened(tmp_path)) == ["k.co"]


def test_globs(tmp_path: Path) -> None:
    for name in ("b.co", "a.co", "c.txt", "[1].co"):
        (tmp_path / name).write_bytes(OBJECT)
    assert names(opened(tmp_path / "?.co")) == ["a.co", "b.co"]
    assert names(opened(tmp_path / "[1].co")) == ["[1].co"], "a file of that name comes first"
    assert "matches no file" in only_problem(tmp_path / "*.s").message


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(OBJECT))
    monkeypatch.setattr("sys.stdin", stream)
    [blob] = opened("-")
    assert isinstance(blob, Blob)
    assert bytes(blob.data) == OBJECT
    assert only_problem("-").message.startswith("is empty")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing", "no such file"),
        ("empty", "is empty"),
        ("pipe", "no regular file"),
        ("nul\0byte", "null"),
    ],
)
def test_what_is_no_file_is_a_problem(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "pipe")
    assert message in only_problem(tmp_path / name).message


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (b"hello\n", "no AMDGPU assembly found"),
        (b"\n<!DOCTYPE html><html>\n", "an HTML page; give the file itself"),
        (b"\t.section .hip_fatbin\n", "host code; give the *-hip-amdgcn-*.s"),
        (b"\x00\x01\x02\x03", "neither AMD GPU code nor text"),
        (b"\x82\xa9solutions\x90\xa7library\x80", "a catalogue of Tensile without code"),
        (zlib.compress(b"\x81\xa7library\x80"), "a catalogue of Tensile without code"),
        (zlib.compress(b"text"), "neither AMD GPU code nor text"),
        (b"BC\xc0\xde", "LLVM bitcode carries no resource usage"),
        (b"\xde\xc0\x17\x0b", "LLVM bitcode carries no resource usage"),
        (b"\x10\xff\x10\xad", "OffloadBinary cut off"),
        (b"!<arch>\n", "no AMD GPU code found"),
        (b"!<arch>\nx", "damaged archive"),
        (b"!<thin>\n", "no AMD GPU code found"),
        (b"MZ", "PE or COFF file cut off"),
        (b"\x64\x86", "PE or COFF file cut off"),
        (b"\x1f\x8b", "gzip data cut off"),
        (b"\x28\xb5\x2f\xfd", "zstd data cut off"),
        (b"\xfd7zXZ\0", "xz data cut off"),
        (b"BZh9", "bzip2 data cut off"),
        (b"PK\x03\x04", "damaged zip"),
        (b"name" + bytes(253) + b"ustar", "damaged tar"),
    ],
)
def test_what_holds_no_kernels_or_is_not_read(start: bytes, message: str) -> None:
    [problem] = open_bytes(start, "file")
    assert isinstance(problem, Problem)
    assert problem.message.startswith(message)


def test_bytes_that_were_let_go_of_are_read_again(tmp_path: Path) -> None:
    large = OBJECT + os.urandom(1 << 18)
    path = tmp_path / "large.co"
    path.write_bytes(large)
    [blob] = opened(path)
    assert isinstance(blob, Blob)
    assert bytes(blob.data) == large


@pytest.mark.parametrize("name", ["kernel.s", "kernel.co", "kernel.hsaco"])
@pytest.mark.parametrize(
    ("data", "message"),
    [(b"", "is empty; build it again"), (bytes(4096), "is all zero"), (bytes(3 << 20), "is all")],
)
def test_output_of_the_compiler_that_is_not_there(
    tmp_path: Path, name: str, data: bytes, message: str
) -> None:
    """In a folder and as a file of many, too: what its name promises must not be missed."""
    (tmp_path / name).write_bytes(data)
    (tmp_path / "notes.txt").write_bytes(data)
    assert only_problem(tmp_path).message.startswith(message)
    (problem,) = open_paths([str(tmp_path / name)], required=False)
    assert isinstance(problem, Problem)


def test_a_file_of_a_folder_that_may_not_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.bin").write_bytes(OBJECT)

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refused)  # whoever runs as root may read everything
    assert only_problem(tmp_path) == Problem(str(tmp_path / "a.bin"), "permission denied")


@pytest.mark.parametrize(
    "pattern", ["", "**", "**/*", "**/**", "*/../**/*.*", "lib/../**/*.co"], ids=repr
)
def test_two_stars_see_what_the_walk_of_a_folder_sees(tmp_path: Path, pattern: str) -> None:
    hidden, lib = tmp_path / ".hidden", tmp_path / "lib"
    for folder in (hidden, lib):
        folder.mkdir()
        (folder / "k.co").write_bytes(OBJECT)
    (lib / "again.co").symlink_to("k.co")
    (lib / "circle").symlink_to(tmp_path)
    (hidden / "circle").symlink_to(lib)
    (tmp_path / ".k.co").write_bytes(OBJECT)
    found = [item.path for item in opened(tmp_path / pattern) if isinstance(item, Blob)]
    real = {os.path.realpath(path) for path in found}
    assert len(found) == len(real) == 3


def test_a_pattern_below_two_stars(tmp_path: Path) -> None:
    for name in ("a.s", "x/b.s", "x/y/c.s", "x/y/d.txt", "z.s/e.co"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(ASSEMBLY if name.endswith(".s") else OBJECT)
    assert names(opened(tmp_path / "**" / "*.s")) == ["a.s", "b.s", "c.s", "e.co"]
    assert names(opened(tmp_path / "**" / "y" / "*")) == ["c.s", "d.txt"]
    assert names(opened(tmp_path / "x" / "**" / "*.s")) == ["b.s", "c.s"]
    assert names(opened(tmp_path / "?" / "**" / "*.s")) == ["b.s", "c.s"]
    assert "matches no file" in only_problem(tmp_path / "**" / "*.hsaco").message
    assert "matches no file" in only_problem(tmp_path / "none" / "**" / "*.s").message


def test_a_small_file_of_a_folder_is_looked_up_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.co", "b.co"):
        (tmp_path / name).write_bytes(OBJECT)
    looked_up: list[str] = []

    def stat(path: str, status: Callable[[str], os.stat_result] = os.stat) -> os.stat_result:
        looked_up.append(os.path.basename(path))
        return status(path)

    monkeypatch.setattr(os, "stat", stat)
    assert names(opened(tmp_path)) == ["a.co", "b.co"]
    assert looked_up.count("a.co") == looked_up.count("b.co") == 1


def test_a_file_of_a_folder_that_was_emptied_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "k.co"
    path.write_bytes(OBJECT)
    for file in files.find(str(tmp_path)):
        path.write_bytes(b"")
        assert [*open_file(file)] == [Problem(str(path), files.EMPTY)]


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may read everything; for a while this process is another user's."""
    if os.geteuid():
        yield
        return
    os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


@pytest.mark.parametrize("pattern", ["*/*.s", "*/x/*.s", "?/x/a.s", "**/*.s"])
def test_a_folder_that_a_glob_may_not_look_into(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        for path in ("a/a.s", "a/x/a.s", "b/a.s", "b/x/a.s"):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(ASSEMBLY)
        monkeypatch.chdir(folder)
        readable = opened(pattern)  # which imports all that is needed
        (folder / "b").chmod(0)
        with as_nobody():
            items = opened(pattern)
        (folder / "b").chmod(0o755)
        monkeypatch.undo()
    problems = [item for item in items if isinstance(item, Problem)]
    assert problems == [Problem("b", "permission denied")]
    assert 2 * len(names(items)) == len(names(readable)) > 0
