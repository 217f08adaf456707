"""Text that tells kernels of one name apart: target, library or member, options of Triton."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from ..conftest import FIXTURES
from ..test_golden import run

TWO = FIXTURES / "container/libtwo.so"  # gfx1030 and gfx90a, four kernels each
TRITON = FIXTURES / "code_object"


@pytest.fixture
def wheel(tmp_path: Path) -> str:
    """A wheel of two libraries with the same kernels."""
    path = tmp_path / "demo-1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        for name in ("libone.so.1", "libtwo.so.1"):
            file.write(TWO, f"demo/lib/{name}")
    return str(path)


def names(error: str) -> list[str]:
    return [line.strip() for line in error.splitlines()[1:]]


def test_namesakes_bear_their_target_and_member(wheel: str) -> None:
    out, err, code = run("explain", wheel, "first_add")
    assert (out, code) == ("", 2)
    assert err.startswith(f"{wheel}: 4 kernels are named 'first_add'; ")
    assert sorted(names(err)) == [
        "first_add · gfx1030 · libone.so.1",
        "first_add · gfx1030 · libtwo.so.1",
        "first_add · gfx90a · libone.so.1",
        "first_add · gfx90a · libtwo.so.1",
    ]


def test_only_what_is_needed_is_added(wheel: str) -> None:
    of_one = run("explain", wheel, "first_add", "--member", "libone.so.1")[1]
    assert names(of_one)[1:] == ["first_add · gfx1030", "first_add · gfx90a"]
    of_target = run("explain", wheel, "first_add", "--target", "gfx90a")[1]
    assert sorted(names(of_target)[1:]) == ["first_add · libone.so.1", "first_add · libtwo.so.1"]
    both = ("--target", "gfx90a", "--member", "demo/lib/libone.so.1")
    assert run("explain", wheel, "first_add", *both)[2] == 0


@pytest.mark.parametrize("glob", ["libone.so.1", "demo/lib/libone*", "*libone*", "re:libone"])
def test_a_member_is_chosen_by_any_part_of_its_path(wheel: str, glob: str) -> None:
    out, err, code = run(wheel, "--member", glob, "--format", "jsonl")
    assert (err, code) == (f"{wheel}: 8 kernels are in other members than {glob}\n", 0)
    members = {json.loads(line)["Member"] for line in out.splitlines()}
    assert len(members) == 2
    assert len(out.splitlines()) == 8
    assert all("libone" in member for member in members)


def test_a_member_that_is_not_there_is_named(wheel: str) -> None:
    assert run(wheel, "--member", "nope")[1:] == (
        f"{wheel}: no kernel matches --member nope (16 in the file)\n",
        2,
    )
    assert run(wheel, "--member", "nope", "--member", "libone*")[1:] == (
        f"{wheel}: 8 kernels are in other members than nope and libone*\n"
        f"{wheel}: --member nope matches no kernel\n",
        0,
    )
    assert run("check", wheel, "--member", "nope", "--member", "libone*")[2] == 2


def test_triton_s_kernels_bear_the_options_that_differ(tmp_path: Path) -> None:
    for number, block in enumerate((64, 128)):
        folder = tmp_path / f"HASH{number}"
        folder.mkdir()
        shutil.copy(FIXTURES / "code_object/tiny-v6-clang22-gfx90a.co", folder / "add.hsaco")
        stated = {"name": "_Z5claimPi", "num_warps": 4, "constants": {"BLOCK_M": block}}
        (folder / "add.json").write_text(json.dumps(stated))
    out, err, code = run("explain", str(tmp_path), "_Z5claimPi")
    assert (out, code) == ("", 2)
    assert sorted(names(err)) == [
        "claim · BLOCK_M=128",
        "claim · BLOCK_M=64",
    ]
