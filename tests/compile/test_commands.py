"""Compile commands lead to headers and macros, and to nothing that runs."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

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
