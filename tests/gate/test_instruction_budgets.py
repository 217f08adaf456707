"""Numbers of instructions in the gate and in comparisons: regressions that occupancy hides."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from ..conftest import FIXTURES
from ..test_golden import run

BEFORE, AFTER = "regression/before", "regression/after"
CONFIG, BASELINE = "regression/kernelinfo.toml", "regression/after/baseline.json"
SPLIT = "scale (gfx942): 4 loads, and the budget is loads ≤ 1"
LOST = "tile (gfx942): 0 matrix instructions, and the budget is matrix ≥ 4"
VANISHED = "tile (gfx942): matrix instructions vanished: 4 → 0 since the baseline"


def test_both_regressions_leave_the_occupancy_as_it_was() -> None:
    out, _, _ = run("diff", BEFORE, AFTER, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {row["Kernel_Name"] if "Kernel_Name" in row else row["New_Symbol"] for row in rows} == {
        "tile",
        "scale",
    }
    assert all(row["Old_Waves_Per_SIMD"] == row["New_Waves_Per_SIMD"] for row in rows)


@pytest.mark.parametrize("line", [LOST, SPLIT])
def test_a_budget_fails_with_one_line_that_says_so(line: str) -> None:
    assert run("check", BEFORE, "--config", CONFIG)[2] == 0
    out, _, code = run("check", AFTER, "--config", CONFIG)
    assert code == 1
    assert [found for found in out.splitlines() if line in found] != []
    assert out.count("KI206") == 2


def test_a_vanished_matrix_instruction_fails_against_the_baseline(tmp_path: Path) -> None:
    assert run("check", BEFORE, "--baseline", BASELINE)[2] == 0
    out, _, code = run("check", AFTER, "--baseline", BASELINE)
    assert code == 1
    assert [line for line in out.splitlines() if " error " in line and VANISHED in line] != []
    assert out.count(": error ") == 1


def test_a_baseline_without_instructions_asks_for_none(tmp_path: Path) -> None:
    baseline = str(tmp_path / "base.json")
    run("check", BEFORE, "--baseline", baseline, "--update-baseline")
    assert '"matrix"' not in Path(baseline).read_text()
    assert run("check", AFTER, "--baseline", baseline)[2] == 0


def test_an_update_keeps_the_instructions_of_a_baseline(tmp_path: Path) -> None:
    baseline = tmp_path / "base.json"
    baseline.write_text((FIXTURES / BASELINE).read_text())
    run("check", BEFORE, "--baseline", str(baseline), "--update-baseline")
    assert '"matrix":4' in baseline.read_text()


def test_an_allowance_bounds_what_a_kernel_gains(tmp_path: Path) -> None:
    config = tmp_path / "kernelinfo.toml"
    config.write_text('[gate]\nloads = "+1"\n')
    out, _, code = run("check", AFTER, "--config", str(config), "--baseline", BASELINE)
    assert code == 1
    assert "scale (gfx942): 1 → 4 loads since the baseline" in out


def test_a_comparison_counts_instructions_if_asked() -> None:
    plain, _, _ = run("diff", BEFORE, AFTER)
    assert "matrix" not in plain
    out, _, code = run("diff", BEFORE, AFTER, "--instructions")
    assert code == 0
    assert "4 → 0 matrix" in out
    assert "1 → 4 loads" in out


def test_totals_are_the_last_line() -> None:
    for extra in ((), ("--instructions",)):
        out, _, _ = run("diff", BEFORE, AFTER, *extra)
        last = out.rstrip().splitlines()[-1]
        assert last.startswith(
            " Totals from 2 (100 %) moved kernels: VGPRs +21 (+100 %, 1 worse), SGPRs +4 "
            "(+17 %, 1 worse), spills 0, scratch 0, LDS 0, code +360 (+167 %, 2 worse)"
        )
        assert last.endswith("waits +9 (+150 %, 2 more)") is bool(extra)
        document = json.loads(run("diff", BEFORE, AFTER, *extra, "--format", "json")[0])
        totals = document["summary"]["totals"]
        assert totals["kernels"] == 2
        assert totals["vgprs"] == {"old": 21, "new": 42, "less": 0, "more": 1}
        assert totals["spills"] == {"old": 0, "new": 0, "less": 0, "more": 0}
        assert totals["code_bytes"]["new"] - totals["code_bytes"]["old"] == 360
        assert ("waits" in totals) is bool(extra)
        assert not extra or totals["waits"] == {"old": 6, "new": 15, "less": 0, "more": 2}
    back, _, _ = run("diff", AFTER, BEFORE)
    assert "VGPRs −21 (−50 %, 1 better)" in back
    assert "Totals" not in run("diff", BEFORE, BEFORE)[0]


def test_saved_rows_keep_the_counts(tmp_path: Path) -> None:
    for format in ("jsonl", "csv"):
        saved = tmp_path / f"before.{format}"
        command = ("report", BEFORE, "--instructions", "--format", format, "-o", str(saved))
        assert run(*command)[2] == 0
        out, _, _ = run("diff", str(saved), AFTER, "--instructions")
        assert "4 → 0 matrix" in out
        assert "?" not in re.sub(r"[^\n]*waves[^\n]*", "", out)


def test_a_side_without_counts_moves_nothing(tmp_path: Path) -> None:
    saved = tmp_path / "before.jsonl"
    run("report", BEFORE, "--format", "jsonl", "-o", str(saved))
    out, _, _ = run("diff", str(saved), AFTER, "--instructions", "--format", "json")
    measures = {move["measure"] for one in json.loads(out)["kernels"] for move in one["moves"]}
    assert "matrix" not in measures
    assert "vgprs" in measures
