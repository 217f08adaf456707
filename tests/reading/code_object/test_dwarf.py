"""Source lines of kernels: directives in text, DWARF in code objects."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from kernelinfo import Options, ReadError, Result, analyse, load
from tests.compiling import needs_clang
from tests.conftest import CORPUS, FIXTURES, needs_corpus
from tests.test_golden import run

LINES = "tiny-lines-clang22-gfx90a"
OBJCOPY = shutil.which("llvm-objcopy-22") or shutil.which("llvm-objcopy-19")


def sources(path: Path, *, locate: bool = True) -> list[tuple[str, int] | None]:
    options = Options(locate=(lambda _: True) if locate else None)
    return [i.kernel.source for i in analyse([str(path)], options) if isinstance(i, Result)]


def lines(path: Path) -> list[int | None]:
    return [source and source[1] for source in sources(path)]


def test_without_debug_information_nothing_is_said() -> None:
    assert set(sources(FIXTURES / "assembly" / "tiny-v6-clang22-gfx90a.s")) == {None}
    assert set(sources(FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co")) == {None}


def test_dwarf_is_read_only_when_asked_for() -> None:
    path = FIXTURES / "code_object" / f"{LINES}.co"
    assert set(sources(path, locate=False)) == {None}


@pytest.mark.parametrize("name", [f"assembly/{LINES}.s", f"code_object/{LINES}.co"])
def test_line_tables_alone(name: str) -> None:
    path = "src/tiny.hip"
    assert sources(FIXTURES / name) == [(path, 15), (path, 18)]


@needs_corpus
@pytest.mark.parametrize("compiler", ["llvm13", "llvm16", "llvm19", "llvm22"])
@pytest.mark.parametrize("version", ["g", "gdwarf-4", "gline-tables-only"])
def test_versions_4_and_5(compiler: str, version: str) -> None:
    declared, body = [6, 7, 8, 10, 12, 14], [6, 7, 9, 10, 12, 14]
    stem = CORPUS / "debug" / f"small-{version}-{compiler}"
    assert lines(stem.with_suffix(".s")) in (declared, body)
    found = lines(stem.with_suffix(".co"))
    assert found == declared or (version == "gline-tables-only" and found == body)


@needs_corpus
@pytest.mark.parametrize("suffix", [".s", ".co"])
def test_markers_of_a_preprocessor_move_the_line(suffix: str) -> None:
    path = CORPUS / "debug" / f"lined-llvm22{suffix}"
    assert sources(path) == [("/elsewhere/real file.hip", 100)]


@needs_corpus
@pytest.mark.needs("llvm-22")
def test_compressed_sections(tmp_path: Path) -> None:
    assert OBJCOPY is not None
    path, packed = CORPUS / "debug" / "small-g-llvm22.co", tmp_path / "packed.co"
    subprocess.run([OBJCOPY, "--compress-debug-sections=zlib", path, packed], check=True)
    assert packed.read_bytes() != path.read_bytes()
    assert sources(packed) == sources(path)


@needs_corpus
def test_damage_is_told(tmp_path: Path) -> None:
    data = (CORPUS / "debug" / "small-g-llvm22.co").read_bytes()
    seen = 0
    for start in range(0, len(data) - 64, 509):
        damaged = data[:start] + b"\xff" * 64 + data[start + 64 :]
        try:
            load(damaged, Options(locate=lambda _: True))
        except ReadError:
            seen += 1
    assert seen


RELOCATION = struct.Struct("<QQq")
SECTION = struct.Struct("<IIQQQQIIQQ")


def unlinked(data: bytes, offset: int, behind: int) -> bytes:
    """The object as before linking, with a relocation that sets 8 bytes of its `.debug_info`.

    A negative `offset` counts from the end of the section; the symbol is so many behind the last.
    """
    (table,) = struct.unpack_from("<Q", data, 0x28)
    count, names = struct.unpack_from("<HH", data, 0x3C)
    headers = [SECTION.unpack_from(data, table + 64 * number) for number in range(count)]
    titles = data[headers[names][4] :][: headers[names][5]]
    called = [titles[header[0] :].partition(b"\0")[0] for header in headers]
    info, symbols = called.index(b".debug_info"), called.index(b".symtab")
    offset += headers[info][5] if offset < 0 else 0
    row = RELOCATION.pack(offset, headers[symbols][5] // 24 - 1 + behind << 32 | 3, 0)
    end, renamed = len(data), titles + b".rela.debug_info\0"
    headers[names] = (*headers[names][:4], end + len(row), len(renamed), *headers[names][6:])
    headers.append((len(titles), 4, 0, 0, end, len(row), symbols, info, 8, 24))
    whole = bytearray(data + row + renamed)
    struct.pack_into("<H", whole, 0x10, 1)  # ET_REL
    struct.pack_into("<Q", whole, 0x28, len(whole))
    struct.pack_into("<H", whole, 0x3C, len(headers))
    return bytes(whole) + b"".join(SECTION.pack(*header) for header in headers)


def test_relocations_that_leave_their_section_or_the_symbols_are_skipped(tmp_path: Path) -> None:
    linked = (FIXTURES / "lines" / "attention-clang22-gfx942.co").read_bytes()
    answers = set()
    for offset, behind in [(-7, 0), (-1, 0), (1 << 40, 0), (0, 1), (0, 2), (0, 1 << 30)]:
        (tmp_path / "k.o").write_bytes(unlinked(linked, offset, behind))
        answers.add(run("k.o", "--source-lines", folder=tmp_path))
    ((_, err, _),) = answers
    assert err.count("\n") == 1, "its descriptors, whose addresses it lacks"
    (tmp_path / "k.o").write_bytes(unlinked(linked, 0, 0))  # over the length of the first unit
    assert run("k.o", "--source-lines", folder=tmp_path) not in answers


def test_paths_inside_the_repository_are_relative_to_its_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "build").mkdir()
    text = (FIXTURES / "assembly" / f"{LINES}.s").read_text("utf-8")
    own, other = tmp_path / "own.s", tmp_path / "other.s"
    own.write_text(text.replace('.file\t0 "."', f'.file\t0 "{tmp_path}"'), "utf-8")
    other.write_text(text.replace('.file\t0 "."', '.file\t0 "/elsewhere"'), "utf-8")
    monkeypatch.chdir(tmp_path / "build")
    assert sources(own)[0] == ("src/tiny.hip", 15)
    assert sources(other)[0] == ("/elsewhere/src/tiny.hip", 15)


def test_explain_names_the_source_and_the_report_does_so_when_asked() -> None:
    name = f"code_object/{LINES}.co"
    assert "src/tiny.hip:18" in run("explain", name, "claim")[0].splitlines()[0]
    document = json.loads(run(name, "--format", "json", "--source-lines")[0])
    assert [k["source"]["line"] for k in document["kernels"]] == [15, 18]
    assert '"source": null' in run(name, "--format", "json")[0]
    assert run(name, "--source-lines") == run(name)


SOURCE = """\
#include "../include/helper.h"

KERNEL void
spread(int *p,
       int n)
{
  int sum = 0;

  for (int i = 0; i < n; ++i)
    sum += p[i];
  *p = sum;
}

KERNEL void inlined(int *p) { helper(p); }
"""
HEADER = """\
#define KERNEL extern "C" __attribute__((global))
inline __attribute__((device)) void helper(int *p) {
  p[1] = p[0] * 3;
}
KERNEL void included(int *p) { *p = 2; }
"""
DECLARED = {
    "spread": ("src/k.hip", 4),
    "inlined": ("src/k.hip", 14),
    "included": ("include/helper.h", 5),
}


@needs_clang
@pytest.mark.parametrize(
    "flags",
    ["-g", "-g -gdwarf-4", "-gline-tables-only", "-g -gz", "-g -ffile-compilation-dir=app"],
)
def test_all_files_of_a_build_name_one_line(
    flags: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiled in a folder of its own, as CMake does; read from anywhere in the repository."""
    for name, text in (("src/k.hip", SOURCE), ("include/helper.h", HEADER)):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / ".git").mkdir()
    (build := tmp_path / "build").mkdir()
    monkeypatch.chdir(build)
    device = "-x hip --cuda-device-only -nogpuinc -nogpulib -fuse-cuid=none -O3 -w"
    compile = ["clang-22", *device.split(), "--offload-arch=gfx90a", *flags.split(), "-S"]
    subprocess.run([*compile, "../src/k.hip", "-o", "k.s"], check=True)
    subprocess.run([*compile, "-Xclang", "-emit-obj", "../src/k.hip", "-o", "k.o"], check=True)
    subprocess.run(["ld.lld-22", "-shared", "k.o", "-o", "k.out"], check=True)
    for name in ("k.s", "k.out") if "-gz" in flags else ("k.s", "k.o", "k.out"):
        items = analyse([name], Options(locate=lambda _: True))
        found = {i.kernel.symbol: i.kernel.source for i in items if isinstance(i, Result)}
        first_row = {"spread": ("src/k.hip", 9)} if "tables" in flags else {}
        assert found == DECLARED | first_row, name
