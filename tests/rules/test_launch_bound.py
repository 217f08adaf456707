"""A launch beyond what the code is compiled for: KI001 where the kernel is named, else a note."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelinfo import Kernel, Options, Result, analyse, load

from ..conftest import FIXTURES
from ..test_golden import run

TUTORIAL = "code_object/occupancy-clang22-gfx90a.co"  # bounds of 1024, 256, 256 and 1024
SHAPED = "code_object/shaped-clang22-gfx942.co"  # shaped_block is for 32x8x1 exactly
EXACT = "a workgroup of 512 cannot start: the code is compiled for workgroups of exactly 256"
AT_MOST = "a workgroup of 512 cannot start: the code is compiled for workgroups of at most 256"


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
    assert message.partition(": ")[2] in out
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
    assert "2 kernels are not compiled for this workgroup size: no occupancy is computed" in note
    items = analyse([str(FIXTURES / TUTORIAL)], Options(workgroup_size=512))
    claimed = {i.kernel.name.partition("(")[0]: i.occupancy for i in items if isinstance(i, Result)}
    assert {name for name, found in claimed.items() if found is None} == {"vgprbound", "ldsbound"}


def test_the_gate_does_not_pass_what_it_cannot_judge(tmp_path: Path) -> None:
    configuration = tmp_path / "kernelinfo.toml"
    configuration.write_text('[[budget]]\nkernel = "*"\nwaves = ">=1"\n')
    arguments = ("check", TUTORIAL, "--config", str(configuration), "--fail-on", "error")
    assert run(*arguments)[2] == 0
    _, err, code = run(*arguments, "--block", "512")
    assert code == 2
    assert "asks for waves" in err
    assert "2 kernels are not compiled for this workgroup size" in err
