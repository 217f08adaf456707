"""Numbers of a source are those of the assembly that the same command writes by hand."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ..compiling import bitcode, needs_clang
from ..conftest import FIXTURES
from ..test_golden import run

pytestmark = pytest.mark.slow

SOURCES = Path(__file__).parent / "sources"
CLOSED = ("-nogpuinc", "-nogpulib", "-DFREESTANDING")
LIBRARIES = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"
WITH_HEADERS = ("--hip-path=/usr", f"--rocm-device-lib-path={LIBRARIES}")
NEED_HEADERS = ("mathematics.hip", "halves.hip", "atomics.cu")
HIP = sorted(str(path) for path in SOURCES.iterdir() if path.suffix in (".hip", ".cu", ".cpp")) + [
    str(FIXTURES / "src" / name) for name in ("occupancy.hip",)
]
OPENCL = sorted(map(str, SOURCES.glob("*.cl")))
WITHOUT_HEADERS = [path for path in HIP if not path.endswith(NEED_HEADERS)]
LLVM = [str(FIXTURES / "src" / name) for name in ("required.ll", "agprs-alone.ll")]
REGISTERS = (
    *("VGPR_Count", "Accum_VGPR_Count", "SGPR_Count", "VGPR_Used", "AGPR_Used", "SGPR_Used"),
    *("LDS_Block_Size", "Scratch_Size", "VGPR_Spills", "SGPR_Spills", "Waves_Per_SIMD"),
    "Code_Size",
)


def needs(program: str, file: str = "/") -> Any:
    is_here = shutil.which(program) is not None and Path(file).exists()
    return pytest.mark.skipif(not is_here, reason=f"{program} or {file} is not installed")


HEADER = "/usr/include/hip/hip_runtime.h"
BUILDS = [
    pytest.param("hipcc", "gfx90a", HIP, (), id="hipcc", marks=needs("hipcc", HEADER)),
    pytest.param(
        *("clang++-19", "gfx1030", HIP, WITH_HEADERS), marks=needs("clang++-19", HEADER), id="19"
    ),
    *(
        pytest.param(
            *(f"clang++-{version}", target, WITHOUT_HEADERS, CLOSED),
            marks=needs(f"clang++-{version}"),
            id=f"{version}-closed",
        )
        for version, target in ((15, "gfx906"), (16, "gfx90a"), (19, "gfx1100"), (22, "gfx942"))
    ),
]


def rows(*words: str) -> dict[tuple[str, str], dict[str, Any]]:
    """(stem of the file, symbol) -> row, without the path."""
    out, err, code = run("--format", "jsonl", *words)
    assert code == 0, err
    found = {}
    for line in out.splitlines():
        row = json.loads(line)
        del row["Library"]  # after the path
        found[Path(row.pop("Path")).stem, row["Symbol"]] = row
    return found


def written(command: list[str], paths: list[str], folder: Path) -> list[str]:
    """Paths of the assembly that the command writes of each source."""
    outputs = [str(folder / f"{Path(path).stem}.s") for path in paths]
    for path, output in zip(paths, outputs, strict=True):
        platform = {"HIP_PLATFORM": "amd", "PATH": "/usr/bin:/bin"}
        subprocess.run([*command, path, "-o", output], check=True, env=platform, cwd=folder)
    return outputs


@pytest.mark.parametrize(("compiler", "target", "paths", "flags"), BUILDS)
def test_sources_equal_their_assembly(
    compiler: str, target: str, paths: list[str], flags: tuple[str, ...], tmp_path: Path
) -> None:
    """Line tables move no register, either."""
    device = ["-x", "hip", "--cuda-device-only", "-S", "-O3", "-w", f"--offload-arch={target}"]
    end = ("--", "-w", *flags)
    found = rows(*paths, "--arch", target, "--compiler", compiler, *end)
    assert len(found) >= len(paths)
    with_lines = [compiler, *device, "-gline-tables-only", *flags]
    assert rows(*written(with_lines, paths, tmp_path)) == found
    plain = rows(*written([compiler, *device, *flags], paths, tmp_path))
    assert plain.keys() == found.keys()
    for key, row in plain.items():
        assert [row[name] for name in REGISTERS] == [found[key][name] for name in REGISTERS], key


@needs_clang
def test_opencl_equals_its_assembly(tmp_path: Path) -> None:
    device = ["-x", "cl", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx942", "-nogpulib", "-w"]
    found = rows(*OPENCL, "--arch", "gfx942", "--compiler", "clang-22", "--", "-nogpulib", "-w")
    command = ["clang-22", *device, "-S", "-O3", "-gline-tables-only"]
    assert rows(*written(command, OPENCL, tmp_path)) == found
    assert {stem for stem, _ in found} == {"reduce", "stencil"}


@needs_clang
def test_bitcode_equals_the_source_that_it_is_made_of(tmp_path: Path) -> None:
    paths = []
    for path in WITHOUT_HEADERS[:6]:
        text = Path(path).read_text("utf-8").replace('#include "closed.h"', "")
        words = (SOURCES / "closed.h").read_text("utf-8")
        stem = Path(path).stem
        paths.append(bitcode(f"#define FREESTANDING\n{words}\n{text}", tmp_path / f"{stem}.bc"))
    target = ("--arch", "gfx90a", "--compiler", "clang-22")
    found = rows(*paths, *target)
    truth = rows(
        *WITHOUT_HEADERS[:6], "--arch", "gfx90a", "--compiler", "clang++-22", "--", *CLOSED
    )
    assert found.keys() == truth.keys()
    for key, row in found.items():
        assert [row[name] for name in REGISTERS] == [truth[key][name] for name in REGISTERS], key


@pytest.mark.parametrize(
    "compiler",
    [
        pytest.param("clang-22", marks=needs("llc-22")),
        pytest.param(
            "llvmlite",
            marks=pytest.mark.skipif(find_spec("llvmlite") is None, reason="llvmlite is missing"),
        ),
    ],
)
def test_textual_ir_equals_its_assembly(compiler: str, tmp_path: Path) -> None:
    for path in LLVM:
        text = Path(path).read_text("utf-8")
        target = "gfx90a" if "gfx90a" in text else "gfx1010"
        found = rows(path, "--arch", target, "--compiler", compiler)
        command = ["clang-22", "-x", "ir", "--target=amdgcn-amd-amdhsa", f"-mcpu={target}"]
        truth = rows(*written([*command, "-nogpulib", "-O3", "-S", "-w"], [path], tmp_path))
        assert found.keys() == truth.keys()
        for key, row in found.items():
            assert row["VGPR_Used"] == truth[key]["VGPR_Used"]
