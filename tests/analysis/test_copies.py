"""One compilation in several files counts once; what differs is listed with what differs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ..conftest import FIXTURES
from ..messages import says, tells
from ..test_golden import run

NAME = "occupancy-hip-amdgcn-amd-amdhsa-gfx90a"
PARTLY_READ = ("macros", "nometadata")
PAIRS = sorted(
    path.stem
    for path in (FIXTURES / "assembly").glob("*.s")
    if (FIXTURES / "code_object" / f"{path.stem}.co").exists() and path.stem not in PARTLY_READ
)
SOURCE = """#include <hip/hip_runtime.h>
__global__ __launch_bounds__(256) void scale(float* x) { x[threadIdx.x] *= 2; }
__global__ __launch_bounds__(64) void add(float* x) { x[threadIdx.x] += x[0]; }
int main() { scale<<<1, 256>>>(nullptr); add<<<1, 64>>>(nullptr); }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(FIXTURES / "assembly" / f"{NAME}.s", tmp_path)
    shutil.copy(FIXTURES / "code_object" / f"{NAME}.out", tmp_path)
    return tmp_path


def rows(folder: Path, *arguments: str) -> list[dict[str, object]]:
    out, _, _ = run(*arguments, "--format", "jsonl", folder=folder)
    return [json.loads(line) for line in out.splitlines()]


def test_an_object_and_its_assembly_state_the_same(tmp_path: Path) -> None:
    """Object and assembly agree for every compiler of the fixtures."""
    for name in PAIRS:
        (folder := tmp_path / name).mkdir()
        shutil.copy(FIXTURES / "assembly" / f"{name}.s", folder)
        shutil.copy(FIXTURES / "code_object" / f"{name}.co", folder)
        assert {row["Path"] for row in rows(folder, ".")} == {f"./{name}.s"}


@pytest.mark.parametrize(
    "paths", [(".",), (f"{NAME}.s", f"{NAME}.out"), ("*",), (".", "--jobs", "2")]
)
def test_it_counts_once_however_it_is_named(folder: Path, paths: tuple[str, ...]) -> None:
    found = rows(folder, *paths)
    assert len(found) == 4
    assert all(str(row["Path"]).endswith(".s") for row in found)


def test_a_copy_whose_assembly_is_not_read_counts(folder: Path) -> None:
    assert len(rows(folder, f"{NAME}.out")) == 4


def test_every_copy_is_listed_on_demand(folder: Path) -> None:
    assert len(rows(folder, ".", "--all-copies")) == 8


def test_json_names_the_copies(folder: Path) -> None:
    out, _, _ = run(".", "--format", "json", folder=folder)
    (assembly,) = json.loads(out)["inputs"]
    assert [copy["path"] for copy in assembly["also"]] == [f"./{NAME}.out"]


def test_one_that_differs_is_listed_with_what_differs(folder: Path) -> None:
    text = folder / f"{NAME}.s"
    stated = text.read_text().replace(".vgpr_count:     122", ".vgpr_count:     112")
    text.write_text(stated.replace("65536", "61440"))
    out, _, code = run(".", folder=folder)
    assert code == 0
    assert len(rows(folder, ".")) == 8
    told = [line for line in out.splitlines() if says(line, "KI004-copies-mend")]
    assert [f"{NAME}.s states 112 VGPRs used, not 122; " in told[0], len(told)] == [True, 2]
    assert f"{NAME}.s states 61440 B of LDS, not 65536; " in told[1]


def test_no_copy_hides_that_a_name_is_wrong(folder: Path) -> None:
    _, err, code = run(".", "-k", "nosuch", folder=folder)
    assert code == 2
    assert tells(err, "choice-of-none -k nosuch")


@pytest.mark.needs("hipcc")
def test_what_hipcc_leaves(tmp_path: Path) -> None:
    """`kernelinfo *` and `kernelinfo *.s` answer, with a note for what is no device code."""
    (tmp_path / "app.hip").write_text(SOURCE)
    command = ["hipcc", "--offload-arch=gfx90a", "--save-temps", "-O3", "app.hip", "-o", "app"]
    environment = os.environ | {"HIP_PLATFORM": "amd"}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert {"app", "app-hip-amdgcn-amd-amdhsa-gfx90a.s"} < set(names)
    found = rows(tmp_path, *names)
    assert sorted(str(row["Kernel_Name"]) for row in found) == ["add(float*)", "scale(float*)"]
    _, err, code = run(*names, folder=tmp_path)
    assert code == 0
    assert "`kernelinfo sweep`" in err
    _, err, code = run(*(name for name in names if name.endswith(".s")), folder=tmp_path)
    assert code == 0
    assert "host code; pass the *-hip-amdgcn-*.s next to it" in err
    assert (
        run(*(name for name in names if "-host-" in name and name.endswith(".s")), folder=tmp_path)[
            2
        ]
        == 2
    )


def test_a_code_object_named_as_assembly_is_no_copy_of_itself(tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "code_object" / f"{NAME}.out", tmp_path / "k.s")
    assert len(rows(tmp_path, ".")) == 4
