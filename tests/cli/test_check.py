"""The gate: what its configuration means when it is printed, and what several runs write."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kernelinfo

from ..conftest import FIXTURES
from ..messages import do_lines_match
from ..test_golden import run

SPILLING = FIXTURES / "assembly" / "occupancy-clang22-gfx90a.s"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "build").mkdir()
    shutil.copy(SPILLING, tmp_path / "build" / "a.s")
    shutil.copy(FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co", tmp_path / "build" / "b.co")
    (tmp_path / "kernelinfo.toml").write_text('paths = ["build/**/*.s", "build/*.co"]\n')
    return tmp_path


def check(folder: Path, *arguments: str) -> tuple[str, str, int]:
    return run("check", *arguments, folder=folder)


def test_a_baseline_is_the_same_from_anywhere(folder: Path) -> None:
    with (folder / "kernelinfo.toml").open("a") as file:
        file.write('baseline = "pinned.json"\nfail-on = "error"\n')
    assert check(folder, "--update-baseline")[1:] == ("", 0)
    before = (folder / "pinned.json").read_bytes()
    assert check(folder / "build")[1:] == ("", 0)
    assert check(folder / "build", "--update-baseline")[2] == 0
    assert (folder / "pinned.json").read_bytes() == before
    moved = folder.rename(folder.with_name("moved"))
    assert check(moved, "--update-baseline", "-k", "vgprbound", "build/a.s")[2] == 0
    assert (moved / "pinned.json").read_bytes() == before


def test_show_config_is_toml_that_means_the_same(folder: Path) -> None:
    (folder / "kernelinfo.toml").write_text(
        '"fail-on" = "note"\npaths = ["b\\u00fcild/*"]\nseverity.KI201 = "error"\n'
        '[workgroup-size]\n\'gemm<"a">*\' = 64\n[gate]\nvgpr = "+5%"\n'
        '[[budget]]\nwaves = ">=2"\n[[budget]]\nlds = 4\n'
        '[[suppress]]\nrule = "KI1"\nkernel = "*"\nreason = "so\\nit is"\nuntil = 2999-01-01\n'
    )
    out, _, _ = check(folder, "--show-config")
    (folder / "other.toml").write_text(out)
    one = kernelinfo.read_config(folder / "kernelinfo.toml")
    two = kernelinfo.read_config(folder / "other.toml")
    assert one.gate == two.gate
    assert one.selection == two.selection
    assert (one.paths, one.fail_on, one.workgroup_sizes) == (
        two.paths,
        two.fail_on,
        two.workgroup_sizes,
    )
    assert [budget.bounds for budget in one.budgets] == [budget.bounds for budget in two.budgets]
    assert [s.reason for s in one.suppressions] == [s.reason for s in two.suppressions]


def test_in_python(folder: Path) -> None:
    config = kernelinfo.read_config(folder / "kernelinfo.toml")
    outcome = kernelinfo.check(kernelinfo.load(SPILLING), config)
    assert (outcome.failed, outcome.answered) == (True, True)
    assert {finding.rule for finding in outcome.findings} >= {"KI106", "KI302"}


def test_updates_at_once_all_count(folder: Path) -> None:
    """Each pins its part and keeps what others pinned meanwhile."""
    names = ["empty", "vgprbound", "ldsbound", "sgprbound"]
    command = [sys.executable, "-m", "kernelinfo", "check", "build/a.s", "--update-baseline"]
    running = [
        subprocess.Popen(
            [*command, "--baseline", "p.json", "-k", name], cwd=folder, stdout=subprocess.DEVNULL
        )
        for name in names
    ]
    assert [process.wait(timeout=120) for process in running] == [0] * len(names)
    (pinned,) = json.loads((folder / "p.json").read_text())["kernels"].values()
    assert len({kernel["symbol"] for kernel in pinned}) == len(pinned) == len(names)
    assert {path.name for path in folder.iterdir()} == {"build", "kernelinfo.toml", "p.json"}


def test_without_a_demangler_names_stay_mangled_and_one_line_says_so(folder: Path) -> None:
    code = (
        "import sys; sys.modules['pycxxfilt'] = None; from kernelinfo.__main__ import main; main()"
    )
    command = [sys.executable, "-c", code, "build/a.s", "build"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0
    assert "_Z9vgprboundiPd" in done.stdout
    assert do_lines_match(done.stderr, "cxx-names-mangled build/a.s")
