"""Commands, files and kernels that are misspelled or not named: what may be meant."""

from __future__ import annotations

import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from kernelinfo.errors import did_you_mean

from ..conftest import FIXTURES
from ..test_golden import run

TEXT = "assembly/occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"


def test_the_names_of_a_file_are_listed() -> None:
    out, err, code = run("explain", TEXT)
    assert (err, code) == ("", 0)
    assert out.splitlines()[0] == f"{TEXT}: 4 kernels; name one after the path"
    assert out.split()[-4:] == ["empty", "ldsbound", "sgprbound", "vgprbound"]


@pytest.mark.parametrize("place", ["file", "standard input"])
def test_the_names_of_a_damaged_file_are_listed_with_its_damage(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = (FIXTURES / "code_object/variety-clang22-gfx90a.co").read_bytes()
    damaged = whole[:-400]
    (tmp_path / "cut.co").write_bytes(damaged)
    name = "cut.co" if place == "file" else "-"
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(damaged)))
    out, err, code = run("explain", name, folder=tmp_path)
    assert out.startswith(f"{name}: 26 kernels; name one after the path\n")
    assert f"18 headers of 64 bytes at 40912, in a file of {len(damaged)} bytes: not read" in err
    assert code == 2


@pytest.mark.parametrize("command", ["explain", "pressure"])
def test_a_name_means_a_kernel_of_each_target_that_is_named(command: str) -> None:
    """The library holds the kernel for two targets; one name is not enough to choose."""
    words = (command, "container/libtwo.so", "first_add")
    assert run(*words)[2] == 2
    out, err, code = run(*words, "--target", "gfx90a", "--target", "gfx1030")
    assert (err, code) == ("", 0)
    headings = [line for line in out.splitlines() if line.startswith("first_add(int*, int)   gfx")]
    assert [line.split()[2] for line in headings] == ["gfx1030", "gfx90a"]


def test_the_only_kernel_needs_no_name(tmp_path: Path) -> None:
    one = "assembly/handwritten.s"
    listed, _, _ = run(one, "--format", "csv")
    if len(listed.splitlines()) > 2:
        pytest.skip("the fixture has several kernels")
    assert run("explain", one) == run("explain", one, "*")


MISSPELLED = TEXT.replace("hip", "hib")
NEITHER = "neither a file nor a rule nor a topic"


@pytest.mark.parametrize(
    ("arguments", "message", "meant"),
    [
        (
            ("explain", TEXT, "vgprbond"),
            "no kernel is named 'vgprbond' (4 in the file)",
            "vgprbound",
        ),
        (("explian", TEXT), "explian: no such file or command", "explain"),
        (("explain", "occupncy"), f"occupncy: {NEITHER}", "occupancy"),
        (("explain", "vgpr-spil"), f"vgpr-spil: {NEITHER}", "vgpr-spill"),
        ((MISSPELLED,), f"{MISSPELLED}: no such file or directory", TEXT),
        ((TEXT, "-k", "vgprbuond"), "no kernel matches -k vgprbuond (4 in the file)", "vgprbound"),
    ],
)
def test_what_may_be_meant(arguments: tuple[str, ...], message: str, meant: str) -> None:
    out, err, code = run(*arguments)
    assert (out, code) == ("", 2)
    assert f"{message}; did you mean {meant}" in err
    assert err.endswith("?\n")


def test_long_names_are_not_compared() -> None:
    """The comparison is quadratic, and names of kernels are whatever a file says."""
    assert did_you_mean("a" * 100_000, ["a" * 100_000]) == ""
    assert did_you_mean("gem", ["g" * 100_000, "gemm"]) == "did you mean gemm?"


def test_a_file_that_is_called_much_like_a_command_is_read(tmp_path: Path) -> None:
    (tmp_path / "report1").write_text("")
    assert "is empty" in run("report1", folder=tmp_path)[1]


def test_explain_names_sizes_bounds_and_counters() -> None:
    out, _, _ = run("explain", TEXT, "vgprbound")
    assert "best     workgroups of 256, 128, 64 up to 256: 50 %" in out
    assert "__launch_bounds__(N) allows VGPRs  1024: 128  512: 256  256: 512 ◄" in out
    assert "6.2.5 Insufficient SIMD VGPRs > 0" in out
