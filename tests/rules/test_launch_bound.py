"""A launch beyond what the code is compiled for: KI001 where the kernel is named, else a note."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kernelinfo import Kernel, Options, Result, analyse, load

from ..conftest import FIXTURES
from ..test_golden import run

TUTORIAL = "code_object/occupancy-clang22-gfx90a.co"  # bounds of 1024, 256, 256 and 1024
SHAPED = "code_object/shaped-clang22-gfx942.co"  # shaped_block is for 32x8x1 exactly
EXACT = "a workgroup of 512 is refused: compiled for exactly 256"
AT_MOST = "a workgroup of 512 is refused: compiled for at most 256"


def kernel(path: str, name: str) -> Kernel:
    return next(one for one in load(FIXTURES / path).kernels if one.name.startswith(name))


@pytest.mark.parametrize(
    ("path", "name", "message"), [(TUTORIAL, "vgprbound", AT_MOST), (SHAPED, "shaped_block", EXACT)]
)
def test_a_kernel_that_is_named_cannot_start(path: str, name: str, message: str) -> None:
    for arguments in (("-k", f"{name}*"), ("--kernel", f"re:{name}")):
        out, _, code = run(path, "--block", "512", *arguments)
        assert code == 0
        assert message in out
        assert "KI204" not in out
        assert "next" not in out
    out, _, _ = run("explain", path, name, "--block", "512")
    assert message.partition("is ")[2] in out
    assert kernel(path, name).occupancy(workgroup_size=512).percent == 0
    assert kernel(path, name).occupancy(workgroup_size=256).launchable


def test_a_smaller_size_than_the_exact_one_cannot_start_either() -> None:
    assert not kernel(SHAPED, "shaped_block").occupancy(workgroup_size=128).launchable
    assert kernel(TUTORIAL, "vgprbound").occupancy(workgroup_size=128).launchable


def test_a_configured_size_names_its_kernels(tmp_path: Path) -> None:
    configuration = tmp_path / "kernelinfo.toml"
    configuration.write_text('[workgroup-size]\n"vgprbound*" = 512\n"shaped_block" = 512\n')
    out, _, code = run(TUTORIAL, "--config", str(configuration))
    assert code == 0
    assert AT_MOST in out
    out, _, _ = run(SHAPED, "--config", str(configuration))
    assert EXACT in out


def test_of_many_kernels_one_note_counts_those_of_other_sizes() -> None:
    out, err, code = run(TUTORIAL, "--block", "512")
    assert code == 0
    assert "KI001" not in out
    (note,) = err.splitlines()
    assert "2 kernels are not compiled for this workgroup size: the launch is refused" in note
    rows = [line for line in out.splitlines() if "refused: compiled for at most 256" in line]
    assert [row.split()[0] for row in rows] == ["512", "512"]
    found = list(analyse([str(FIXTURES / TUTORIAL)], Options(workgroup_size=512)))
    refused = [i for i in found if isinstance(i, Result) and i.occupancy and i.occupancy.refusal]
    names = {one.kernel.name.partition("(")[0]: one.occupancy for one in refused}
    assert names.keys() == {"vgprbound", "ldsbound"}
    assert not any(one.launchable or one.waves for one in names.values() if one)


def test_rows_say_that_the_launch_is_refused() -> None:
    rows = [
        json.loads(line)
        for line in run(TUTORIAL, *["--block", "512", "--format", "jsonl"])[0].splitlines()
    ]
    told = {row["Kernel_Name"].partition("(")[0]: row["Launchable"] for row in rows}
    assert told == {"empty": True, "vgprbound": False, "ldsbound": False, "sgprbound": True}
    assert {row["Workgroup_Size"] for row in rows} == {512}


def test_the_gate_does_not_pass_what_is_refused(tmp_path: Path) -> None:
    configuration = tmp_path / "kernelinfo.toml"
    configuration.write_text('[[budget]]\nkernel = "*"\nwaves = ">=1"\n')
    arguments = ("check", TUTORIAL, "--config", str(configuration), "--fail-on", "error")
    assert run(*arguments)[2] == 0
    out, err, code = run(*arguments, "--block", "512")
    assert (code, out.count("KI206")) == (1, 2)
    assert "2 kernels are not compiled for this workgroup size" in err


def test_a_gate_that_can_judge_no_kernel_cannot_answer() -> None:
    _, err, code = run("check", TUTORIAL, "--block", "2048")
    assert (code, "no kernel is compiled for this workgroup size" in err) == (2, True)
