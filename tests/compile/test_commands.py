"""Compile commands lead to headers and macros, and to nothing that runs."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kernelinfo.compile.commands import CommandEntry, entries_of
from kernelinfo.errors import ReadError

from ..compiling import needs_clang
from ..sweep.compilers import script
from ..test_golden import run

CLOSED = ("-nogpuinc", "-nogpulib")
SOURCE = """
#include "depth.h"
#include <far.h>
#define __global__ __attribute__((global))
__global__ void k(float *a) {
  __attribute__((shared)) static float tile[DEPTH * WIDTH];
  tile[a[0] > 0] = a[1];
  a[2] = tile[2];
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a source that compiles only with the flags of its build."""
    for name, text in (
        ("src/k.hip", SOURCE),
        ("include/depth.h", "#define DEPTH 4\n"),
        ("far/far.h", ""),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "build").mkdir()
    return tmp_path


def written(project: Path, *arguments: str, **entry: Any) -> str:
    """Path of a list of compile commands with one entry."""
    words = ["clang++", *arguments, "-c", "../src/k.hip"]
    one = {"directory": str(project / "build"), "file": "../src/k.hip", "arguments": words}
    path = project / "build" / "compile_commands.json"
    path.write_text(json.dumps([one | entry]))
    return str(path)


def entry_of(path: str, commands: str) -> CommandEntry:
    return entries_of([path], commands)[path]


FLAGS = ("-I../include", "-isystem", "../far", "-DWIDTH=8", "-std=c++17", "-O1", "-g")


@needs_clang
def test_headers_and_macros_of_the_build_count(project: Path) -> None:
    commands = written(project, *FLAGS, "--offload-arch=gfx90a", "-x", "hip")
    source = str(project / "src" / "k.hip")
    words = ("--compiler", "clang++-22", "--compile-commands", commands, "--format", "jsonl")
    out, err, code = run(source, *words, "--", *CLOSED)
    assert code == 0, err
    row = json.loads(out)
    assert (row["Target"].partition(":")[0], row["LDS_Block_Size"]) == ("gfx90a", 512)
    assert " -O3 " in err
    out, err, code = run(
        source, *words, "--arch", "gfx1100", "--", *CLOSED, "-UWIDTH", "-DWIDTH=16"
    )
    assert json.loads(out)["Target"] == "gfx1100"
    assert code == 0


def test_only_headers_macros_and_language_are_taken(project: Path) -> None:
    others = ("-Xclang", "-Ievil", "-Xarch_device", "-DNO", "-o", "-DNO", "-include-pch", "p.pch")
    commands = written(
        *(project, *FLAGS, *others, "-fplugin=x.so", "-B.", "@flags", "-mllvm", "-Devil"),
        *("-include", "a.h", "-iquote", "q", "-U", "OLD", "-xhip", "-Wl,@x", "-specs=x"),
    )
    entry = entry_of(str(project / "src/k.hip"), commands)
    build = str(project / "build")
    assert entry.flags == (
        *("-I", f"{build}/../include", "-isystem", f"{build}/../far", "-DWIDTH=8"),
        *("-std=c++17", "-include", f"{build}/a.h", "-iquote", f"{build}/q", "-UOLD"),
    )
    assert entry.language == "hip"
    assert entry.targets == ()


@needs_clang
@pytest.mark.nightly
def test_nothing_in_a_compile_command_runs(project: Path) -> None:
    """A plug-in that leaves a mark when it is loaded leaves none; by hand it does."""
    mark, plugin = project / "mark", project / "build" / "plugin.so"
    (project / "plugin.c").write_text(
        f"#include <stdio.h>\n__attribute__((constructor)) static void m(void) "
        f'{{ fclose(fopen("{mark}", "w")); }}\n'
    )
    subprocess.run(
        ["clang-22", "-shared", "-fPIC", str(project / "plugin.c"), "-o", str(plugin)], check=True
    )
    for name in ("ld.lld", "clang-offload-bundler", "as", "cc1", "clang++"):
        script(project / "build" / name, f"touch {mark}")
    (project / "build" / "flags").write_text(f"-fplugin={plugin}\n")
    evil = (
        *(f"-fplugin={plugin}", "-Xclang", "-load", "-Xclang", str(plugin), "@flags", "-B."),
        *(f"-fpass-plugin={plugin}", "-fno-integrated-as", "-fuse-ld=x", "--config=flags"),
    )
    by_hand = ["clang++-22", "-x", "hip", "--cuda-device-only", *CLOSED, *FLAGS, *evil[:4]]
    device = ["--offload-arch=gfx90a", "-S", "-o", os.devnull, "../src/k.hip"]
    subprocess.run([*by_hand, *device], cwd=project / "build", capture_output=True)
    assert mark.exists()
    mark.unlink()
    foreign = script(project / "build" / "compiler", f"touch {mark}")
    commands = written(project, arguments=[foreign, *FLAGS, *evil, "../src/k.hip"])
    source = str(project / "src" / "k.hip")
    words = ("--arch", "gfx90a", "--compiler", "clang++-22", "--compile-commands", commands)
    _, err, code = run(source, *words, "--", *CLOSED, folder=project / "build")
    assert code == 0, err
    assert not mark.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "No such file or directory"),
        ("{", "is no JSON; give a compile_commands.json"),
        ("{}", "is no list of compile commands"),
        ("[1]", "is no list of compile commands"),
        ('[{"directory": "/", "file": 1}]', "is no list of compile commands"),
        ("[" * 100_000, "is no JSON"),
        ("[]", "has no entry for"),
        (r'[{"directory": "\u0000", "file": "k.hip"}]', "has no entry for"),
        (r'[{"directory": "/", "file": "a\u0000"}]', "has no entry for"),
        (r'[{"directory": "\ud800", "file": "k.hip"}]', "has no entry for"),
        (r'[{"directory": "/", "file": "\ud800"}]', "has no entry for"),
    ],
)
def test_a_bad_list_is_one_line(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "compile_commands.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ReadError, match=message) as raised:
        entry_of("k.hip", str(path))
    assert "\n" not in str(raised.value)


def test_a_fifo_instead_of_a_list_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "compile_commands.json")
    with pytest.raises(ReadError, match="is no regular file"):
        entry_of("k.hip", str(tmp_path / "compile_commands.json"))


def test_a_target_that_is_none_is_refused(project: Path) -> None:
    for target in ("gfx90a:$(touch x)", "native", "gfx1", "gfx90a:xnack"):
        with pytest.raises(ReadError, match="is no known target; give --arch"):
            entry_of(str(project / "src/k.hip"), written(project, f"--offload-arch={target}"))
    commands = written(project, "--offload-arch=gfx90a:xnack-,gfx942")
    assert entry_of(str(project / "src/k.hip"), commands).targets == ("gfx90a:xnack-", "gfx942")


@pytest.mark.nightly
@pytest.mark.needs("cmake")
@needs_clang
def test_the_list_of_a_cmake_project(project: Path) -> None:
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(p LANGUAGES CXX)\n"
        "set_source_files_properties(src/k.hip PROPERTIES LANGUAGE CXX)\n"
        "add_library(k OBJECT src/k.hip)\n"
        "target_include_directories(k PRIVATE include far)\n"
        "target_compile_definitions(k PRIVATE WIDTH=8)\n"
    )
    words = ["cmake", "-S", ".", "-B", "out", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    compiler = "-DCMAKE_CXX_COMPILER=clang++-22"
    subprocess.run([*words, compiler], cwd=project, check=True, capture_output=True)
    out, err, code = run(
        *("src/k.hip", "--compile-commands", "out/compile_commands.json", "--arch", "gfx90a"),
        *("--compiler", "clang++-22", "--format", "jsonl", "--", *CLOSED),
        folder=project,
    )
    assert code == 0, err
    assert json.loads(out)["LDS_Block_Size"] == 512
