"""`kernelinfo diff` in Python, and its columns of several targets."""

from __future__ import annotations

import json
import re

import pytest

import kernelinfo

from ..conftest import FIXTURES
from ..test_golden import run

OLD, NEW = (f"assembly/variety-clang{version}-gfx90a.s" for version in (15, 22))


def test_python_takes_paths_and_reports() -> None:
    old, new = FIXTURES / OLD, FIXTURES / NEW
    of_paths = kernelinfo.diff(old, new)
    assert of_paths == kernelinfo.diff(kernelinfo.load(old), kernelinfo.load(new))
    assert [pair.new.name for pair in of_paths.pairs if pair.regressed] == ["sgpr_heavy(int*)"]
    with pytest.raises(kernelinfo.ReadError):
        kernelinfo.diff(FIXTURES / OLD, FIXTURES / "broken" / "truncated.s")


def test_a_column_is_what_one_target_alone_says() -> None:
    table = json.loads(run("diff", OLD, NEW, "--as", "gfx90a,gfx950", "--format", "json")[0])
    for target in ("gfx90a", "gfx950"):
        rows = run(NEW, "--as", target, "--format", "jsonl")[0].splitlines()
        alone = {row["Kernel_Name"]: row for row in map(json.loads, rows)}
        for column, key in (
            (f"{target}_new", "Waves_Per_SIMD"),
            ("vgpr_spills_new", "VGPR_Spills"),
        ):
            known = {name: row[key] for name, row in alone.items()}
            assert {row["kernel"]: row[column] for row in table["kernels"]} == known


def test_the_names_of_builds_break_at_the_width_of_a_terminal() -> None:
    out, _, _ = run("diff", OLD, NEW, "--as", "gfx90a,gfx942", "--width", "50")
    assert re.match(rf"{re.escape(OLD)} →\n {re.escape(NEW)}: waves/SIMD\n", out)
