"""A real HIP build, made on the spot and answered in one command."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from kernelinfo import Options, Repeat, Result, analyse

from ..conftest import require
from ..test_golden import run

TARGETS = ("gfx90a", "gfx1030")
SOURCE = """
#include <hip/hip_runtime.h>
{attribute} __global__ void scale_{unit}(float *out, float by) {{ out[threadIdx.x] *= by; }}
__global__ __launch_bounds__(256) void shift_{unit}(float *out) {{
    __shared__ float tile[256];
    tile[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[255 - threadIdx.x];
}}
void launch_{unit}(float *out) {{
    scale_{unit}<<<1, 64>>>(out, 2.0f);
    shift_{unit}<<<1, 256>>>(out);
}}
"""
UNITS = [f"unit{number:02}" for number in range(8)]


def hipcc(folder: Path, *arguments: str) -> None:
    command = ["hipcc", "-O3", *(f"--offload-arch={target}" for target in TARGETS), *arguments]
    environment = {**os.environ, "HIP_PLATFORM": "amd"}
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=environment)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two units in a static library, two in a shared one, two in a program, two with RDC."""
    require("hipcc")
    root = tmp_path_factory.mktemp("tree")
    (root / "src").mkdir()
    (root / "build").mkdir()
    for unit in UNITS:
        (root / "src" / f"{unit}.hip").write_text(SOURCE.format(unit=unit, attribute=""))
        rdc = ["-fgpu-rdc"] if unit in UNITS[6:] else []
        source, target = f"src/{unit}.hip", f"build/{unit}.o"
        hipcc(root, *rdc, "-fPIC", "-c", source, "-o", target)
    (root / "src" / "main.hip").write_text("int main() { return 0; }")
    objects = [f"build/{unit}.o" for unit in UNITS]
    subprocess.run(["ar", "rcs", "build/libstatic.a", *objects[:2]], cwd=root, check=True)
    hipcc(root, "-shared", *objects[2:4], "-o", "build/libshared.so")
    hipcc(root, *objects[4:6], "src/main.hip", "-o", "build/program")
    hipcc(root, "-fgpu-rdc", "--hip-link", *objects[6:], "src/main.hip", "-o", "build/rdc-program")
    return root


def test_every_kernel_of_the_tree_is_found(tree: Path) -> None:
    """Eight objects, a static and a shared library and two programs: each kernel where it is."""
    items = list(analyse([str(tree)], Options()))
    places = Counter(
        (Path(item.kernel.code_object.path).name, item.kernel.symbol, item.kernel.target.name)
        for item in items
        if isinstance(item, Result) and item.kernel.target
    )
    assert set(places.values()) == {1}
    files = Counter(name for name, _, _ in places)
    per_unit = 2 * len(TARGETS)
    assert files == {
        **{f"{unit}.o": per_unit for unit in UNITS[:6]},
        "libstatic.a": 2 * per_unit,
        "libshared.so": 2 * per_unit,
        "program": 2 * per_unit,
        "rdc-program": 2 * per_unit,
    }


def test_objects_with_bitcode_alone_are_named(tree: Path) -> None:
    _, err, code = run("build", folder=tree)
    assert code == 2
    for unit in UNITS[6:]:
        assert f"{unit}.o" in err
    assert "bitcode" in err


def test_each_kernel_once(tree: Path) -> None:
    items = list(analyse([str(tree)], Options(unique=True)))
    found = [item for item in items if isinstance(item, Result)]
    names = Counter((r.kernel.symbol, r.kernel.code_object.target) for r in found)
    assert set(names.values()) == {1}
    assert len(names) == len(UNITS) * 2 * len(TARGETS)
    repeats = [item for item in items if isinstance(item, Repeat)]
    assert len(repeats) == 6 * len(TARGETS), "what is linked was in an object before"


def test_extracted_objects_hold_the_same_kernels(tree: Path, tmp_path: Path) -> None:
    program = str(tree / "build" / "program")
    out, err, code = run("extract", program, "-o", str(tmp_path / "out"), "--target", "gfx90a")
    assert (err, code) == ("", 0)
    report, _, code = run("-q", str(tmp_path / "out"))
    assert code == 0
    for unit in UNITS[4:6]:
        assert f"scale_{unit}(float*, float)" in report
    assert len(out.splitlines()) == 2
