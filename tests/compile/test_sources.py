"""Sources become the assembly that the same command writes by hand."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from threading import Thread

import pytest

from kernelinfo import CompilerError, OptionError, Options, Report, analyse
from kernelinfo.compile import Settings
from kernelinfo.compile.ir import Compiled
from kernelinfo.compile.processes import Processes
from kernelinfo.compile.sources import compile_sources

from ..compiling import needs_clang
from ..lifeline import Lifeline
from ..messages import code_of, does_line_match, refused
from ..sweep.compilers import script

SOURCE = """
#include "scale.h"
#define __global__ __attribute__((global))
__global__ void scale(float *a) { a[__builtin_amdgcn_workitem_id_x()] *= SCALE; }
"""
CLOSED = ("-nogpuinc", "-nogpulib")


def compiled(path: Path, *flags: str, targets: tuple[str, ...] = ("gfx90a",)) -> list[Compiled]:
    settings = Settings(targets, (*CLOSED, *flags), "clang++-22")
    with Processes(60) as processes:
        return [*compile_sources([str(path)], settings, processes)]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "with blank"
    folder.mkdir()
    (folder / "scale.h").write_text("#define SCALE 2\n")
    (folder / "k.hip").write_text(SOURCE)
    return folder / "k.hip"


@needs_clang
def test_each_target_has_the_kernels_of_its_assembly(source: Path, tmp_path: Path) -> None:
    found = compiled(source, targets=("gfx90a", "gfx1100"))
    report = Report.of(analyse([str(source)], Options(compiled=tuple(found))))
    assert not report.problems
    assert [kernel.code_object.member for kernel in report] == ["gfx90a", "gfx1100"]
    for one, result in zip(found, report.results, strict=True):
        output = str(tmp_path / f"{one.target}.s")
        subprocess.run([*one.command, "-o", output], cwd=tmp_path, check=True)
        (by_hand,) = Report.of(analyse([output], Options())).results
        assert result.kernel.target == by_hand.kernel.target
        assert result.kernel.allocated == by_hand.kernel.allocated
        assert result.occupancy == by_hand.occupancy
        assert result.kernel.code_object.path == str(source)


@needs_clang
def test_headers_are_listed(source: Path) -> None:
    (one,) = compiled(source)
    assert one.dependencies == (str(source), str(source.parent / "scale.h"))
    source.write_text(SOURCE.replace("SCALE;", "UNKNOWN;"))
    (failed,) = compiled(source)
    assert failed.error is not None
    assert failed.dependencies == one.dependencies, "so that a mended header is seen"


@needs_clang
def test_places_of_a_missing_header_are_listed(source: Path) -> None:
    """`watch` sees that the header is made, and a save of the file that includes it."""
    (source.parent / "scale.h").write_text('#include "made/later.h"\n')
    include, system = source.parent / "include", source.parent / "system"
    (failed,) = compiled(source, f"-I{include}", "-isystem", str(system))
    places = (source.parent, include, system)
    expected = (source, source.parent / "scale.h", *(one / "made/later.h" for one in places))
    assert failed.dependencies == tuple(map(str, expected))


@pytest.mark.skipif(os.name != "posix", reason="the compiler of this test is a script")
def test_places_of_a_missing_header_are_those_that_flags_name(source: Path, tmp_path: Path) -> None:
    complaint = f"{source}:2:10: fatal error: 'later.h' file not found"
    compiler = script(tmp_path / "clang++", f'echo "{complaint}" >&2\nexit 1\n')
    settings = Settings(("gfx90a",), ("-I/made", "-isystem", "/far", "-DX"), compiler)
    with Processes(60) as processes:
        (one,) = compile_sources([str(source)], settings, processes)
    places = f"{source.parent}/later.h", "/made/later.h", "/far/later.h"
    assert one.dependencies == (str(source), *places)


@pytest.mark.skipif(os.name != "posix", reason="the compiler of this test is a script")
def test_a_device_library_that_is_too_old(source: Path, tmp_path: Path) -> None:
    complaint = (
        "clang-22: error: cannot find ROCm device library for ABI version 6, which requires "
        "ROCm 6.3 or higher"
    )
    compiler = script(tmp_path / "clang++", f"echo '{complaint}' >&2\nexit 1\n")
    with Processes(60) as processes:
        (one,) = compile_sources([str(source)], Settings(("gfx90a",), (), compiler), processes)
    assert code_of(str(one.error)) == "device-library-old"


@needs_clang
@pytest.mark.parametrize(
    ("text", "flags", "message"),
    [
        ("void f() { oops; }", (), "source-not-compiled gfx90a"),
        ("int main() {}", (), "source-without-kernels"),
        ("#include <hip/hip_runtime.h>", (), "hip-headers-left-out"),
        ("#include <cuda_runtime.h>", (), "source-cuda"),
        ("", ("--offload-arch=gfx1",), "compiler-target gfx90a"),
    ],
)
def test_a_failure_says_what_to_do(
    tmp_path: Path, text: str, flags: tuple[str, ...], message: str
) -> None:
    path = tmp_path / "k.hip"
    path.write_text(text)
    (one,) = compiled(path, "-nostdinc", *flags)
    assert one.error is not None
    assert one.error.startswith(f"{path}: ")
    assert does_line_match(one.error, message), one.error
    assert not one.assembly


@pytest.mark.skipif(os.name != "posix", reason="the compilers of this test are scripts")
def test_a_compiler_that_knows_the_target_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "k.hip"
    source.write_text(SOURCE)
    folder = tmp_path / "bin"
    lacks = "error: cannot find ROCm device library; provide its path"
    old = script(folder / "hipcc", "echo \"error: invalid target ID 'gfx942'\" >&2; exit 1")
    script(folder / "clang++-19", "exit 0")
    script(folder / "clang++-22", f"echo '{lacks}' >&2; exit 1")
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr("kernelinfo.compile.commands.NEWEST", 23)
    monkeypatch.setenv("HIPCC", old)

    def told(compiler: str | None, *flags: str) -> str:
        settings = Settings(("gfx942",), flags, compiler)
        with Processes(60) as processes:
            (made,) = compile_sources([str(source)], settings, processes)
        return str(made.error)

    words = "compiler-target-elsewhere gfx942 … clang++-22 and clang++-19 … --compiler clang++-22"
    assert does_line_match(told(None), f"{words} … -nogpuinc -nogpulib")
    assert told(None, *CLOSED).endswith("--compiler clang++-22")
    assert does_line_match(told("clang++-22"), "device-library-missing")
    (folder / "clang++-22").unlink()
    assert told(None).endswith("--compiler clang++-19")


def test_without_target_nothing_is_compiled(source: Path) -> None:
    with Processes(60) as processes, refused("source-without-target", OptionError):
        compile_sources([str(source)], Settings(), processes)


@pytest.mark.skipif(os.name != "posix", reason="the compiler of this test is a script")
@pytest.mark.parametrize(
    ("writes", "message"),
    [
        ("mkfifo $o", "compiler-output-unread is no regular file"),
        ("ln -s /dev/zero $o", "compiler-output-unread is no regular file"),
        ("truncate -s 1500K $o", "compiler-output-unread is larger than 1048576 bytes"),
        ("head -c 3000000 /dev/zero > $o", "source-not-compiled"),  # ended by the limit of files
    ],
)
def test_output_that_no_compiler_writes_is_one_line(
    source: Path, tmp_path: Path, writes: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernelinfo.compile.processes._MOST_FILE", 1 << 21)
    monkeypatch.setattr("kernelinfo.compile.sources._MOST_OUTPUT", 1 << 20)
    output = 'for o in "$@"; do [ "$last" = -o ] && break; last=$o; done'
    compiler = script(tmp_path / "clang", f"{output}; {writes}")
    with Processes(60) as processes:
        (made,) = compile_sources([str(source)], Settings(("gfx90a",), (), compiler), processes)
    assert made.error is not None
    assert does_line_match(made.error, message), made.error


@pytest.mark.skipif(os.name != "posix", reason="the compiler of this test is a script")
def test_a_compile_is_ended_with_its_children(source: Path, tmp_path: Path) -> None:
    line = Lifeline(tmp_path / "line")
    slow = script(tmp_path / "slow", f"{line.shell}; sleep 1000 & wait")
    with Processes(1000) as processes:

        def end() -> None:
            line.begun()
            processes.end()

        Thread(target=end, daemon=True).start()
        with refused("compiler-interrupted", CompilerError):
            compile_sources([str(source)], Settings(("gfx90a",), (), slow), processes)
    line.ended()
