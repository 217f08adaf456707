"""Sources on the command line: what is compiled, what is not, and what is missing."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import kernelinfo

from ..compiling import needs_clang
from ..conftest import FIXTURES
from ..messages import codes, does_line_match, says, tells
from ..test_golden import run
from .hostile_words import Trap

KERNEL = "__attribute__((global)) void k(int *a) { a[1] = 2; }\n"
CLOSED = ("--compiler", "clang++-22", "--", "-nogpuinc", "-nogpulib")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (
        ("k.hip", KERNEL),
        ("wide.hip", KERNEL.replace("= 2", "= SIZE")),
        ("host.hip", "int main() { return 0; }\n"),
        ("cuda.cu", "#include <cuda_runtime.h>\n" + KERNEL),
        ("headers.hip", "#include <hip/hip_runtime.h>\n" + KERNEL),
        ("wrong.hip", KERNEL + "\nvoid wrong() { oops(); }\n"),
        ("k.txt", "text"),
    ):
        (tmp_path / name).write_text(text)
    return tmp_path


@needs_clang
def test_a_report_of_each_target(folder: Path) -> None:
    targets = ("--arch", "gfx90a", "--arch", "RX 7900 XTX")
    out, err, code = run("k.hip", *targets, "--format", "json", *CLOSED, folder=folder)
    assert code == 0, err
    document = json.loads(out)
    schema = Path(kernelinfo.__path__[0], "render", "report-schema.json").read_text("utf-8")
    jsonschema.validate(document, json.loads(schema))
    assert [(one["path"], one["member"], one["target"]) for one in document["inputs"]] == [
        ("k.hip", "gfx90a", "gfx90a"),
        ("k.hip", "gfx1100", "gfx1100"),
    ]
    for one, line in zip(document["inputs"], err.splitlines(), strict=True):
        assert does_line_match(line, f"compiled-by {' '.join(one['command'])}")
        assert one["command"][-1] == str(folder / "k.hip")
        assert f"--offload-arch={one['target']}" in one["command"]


@needs_clang
def test_each_command_that_shows_kernels_compiles(folder: Path) -> None:
    (folder / "new.hip").write_text(KERNEL.replace("= 2", "= a[2] * 3"))
    target = ("--arch", "gfx90a")
    for words, shown in (
        (("explain", "k.hip", "k"), "k(int*)"),
        (("pressure", "k.hip"), "k(int*)"),
        (("diff", "k.hip", "new.hip"), "k.hip → new.hip"),
        (("report", "*.hip", "-k", "k", "--exclude", "x"), "k(int*)"),
    ):
        names = [word for word in words if word == "*.hip"]
        for name in ("wide.hip", "host.hip", "headers.hip", "wrong.hip") if names else ():
            (folder / name).unlink()
        out, err, code = run(*words, *target, *CLOSED, folder=folder)
        assert (code, shown in out) == (0, True), err
        assert codes(err)[0] == "compiled-by"


def test_live_registers_of_a_source_whatever_the_number_of_processes(tmp_path: Path) -> None:
    """The source is compiled once, and its assembly read here."""
    trap = Trap(tmp_path)
    clang = trap.clang(FIXTURES / "assembly" / "tiny-v6-clang22-gfx90a.s")
    words = (*trap.sources(1), "--arch", "gfx90a", "--compiler", clang)
    answers = [run("pressure", *words, "--jobs", jobs, folder=tmp_path) for jobs in ("1", "2")]
    assert answers[0] == answers[1]
    assert "claim(int*)" in answers[0][0]


@needs_clang
def test_a_kernel_of_a_source_is_explained_for_each_target(folder: Path) -> None:
    targets = ("--arch", "gfx90a", "--arch", "gfx1100")
    out, err, code = run("explain", "k.hip", "k", *targets, *CLOSED, folder=folder)
    assert code == 0, err
    headings = [line.split()[1] for line in out.splitlines() if line.startswith("k(int*)   gfx")]
    assert headings == ["gfx90a", "gfx1100"]


IR = """\
target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @k(ptr addrspace(1) %p) {
  store float 1.0, ptr addrspace(1) %p
  ret void
}
"""


@needs_clang
def test_lines_of_the_assembly_are_not_lines_of_the_source(tmp_path: Path) -> None:
    (tmp_path / "k.ll").write_text(IR)
    words = ("k.ll", "--arch", "gfx942", "--compiler", "clang-22")
    explained, err, code = run("explain", words[0], "k", *words[1:], folder=tmp_path)
    assert code == 0, err
    assert explained.splitlines()[0].endswith("  k.ll")
    assert "lines    are those of the assembly that the compiler wrote" in explained
    watched, _, code = run("watch", *words, "--once", folder=tmp_path)
    assert code == 0
    assert " k.ll, line " in watched
    assert "k.ll:" not in watched


@needs_clang
def test_flags_behind_the_dashes(folder: Path) -> None:
    flags = (*CLOSED, "-O1", "-DSIZE=7")
    _, err, code = run("wide.hip", "--arch", "gfx90a", *flags, folder=folder)
    assert code == 0, err
    assert " -O1 " in err
    assert "-O3" not in err
    _, err, code = run("wide.hip", "--arch", "gfx90a", *CLOSED, folder=folder)
    assert code == 2
    assert ": error: use of undeclared identifier 'SIZE'" in err
    assert does_line_match(err.splitlines()[-1], "source-not-compiled wide.hip: … gfx90a")


@needs_clang
@pytest.mark.parametrize(
    ("source", "flags", "message"),
    [
        ("host.hip", (), "source-without-kernels"),
        ("cuda.cu", ("-nostdinc",), "source-cuda"),
        ("headers.hip", ("-nostdinc",), "hip-headers-left-out"),
        ("wrong.hip", (), "source-not-compiled"),
    ],
)
def test_a_source_that_fails_does_not_stop_the_others(
    folder: Path, source: str, flags: tuple[str, ...], message: str
) -> None:
    words = ("k.hip", source, "--arch", "gfx90a", *CLOSED, *flags)
    out, err, code = run(*words, folder=folder)
    assert code == 2
    assert "k(int*)" in out
    assert tells(err, f"{message} {source}"), err


@pytest.mark.parametrize("command", ["report", "check", "scan"])
def test_nothing_is_compiled_for_a_folder(
    folder: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = folder / "mark"
    for name in ("hipcc", "amdclang++", "clang++"):
        (folder / name).write_text(f"#!/bin/sh\n: > {mark}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("HIPCC", raising=False)
    words = {"scan": ("scan", ".", "--to", "out"), "check": ("check", ".")}
    run(*words.get(command, (".", "--arch", "gfx90a")), folder=folder)
    assert not mark.exists()
    run("*", "--arch", "gfx90a", folder=folder)
    assert not mark.exists()
    run("k.hip", "--arch", "gfx90a", folder=folder)
    assert mark.exists()


@pytest.mark.needs("hipcc")
@pytest.mark.nightly
def test_a_target_without_device_library(folder: Path) -> None:
    words = ("headers.hip", "--arch", "gfx1100", "--compiler", "clang++-19", "--")
    out, err, code = run(*words, "--hip-path=/usr", folder=folder)
    assert (out, code) == ("", 2)
    assert "error: cannot find ROCm device library" in err
    assert says(err, "device-library-missing headers.hip: … gfx1100")
