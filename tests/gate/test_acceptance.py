"""Findings that a baseline accepts: only new and worse ones fail, and ended ones are told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kernelinfo.compare.summary import COMPARED
from kernelinfo.errors import BaselineError
from kernelinfo.gate.baseline import read_baseline

from ..conftest import FIXTURES
from ..test_golden import run
from .test_scenarios import NEW, OLD, SAXPY, SCALE, Files, K, assembly, written

SPILLS = K(SAXPY, vgprs=50, spills=30, scratch=120)
CONFIG = 'paths = ["build"]\nbaseline = "b.json"\n'
WITH_WARNING: Files = {"a.s": assembly(SPILLS), "b.s": assembly(K(SCALE))}


def adopted(folder: Path, build: Files = WITH_WARNING, config: str = "") -> None:
    """A repository whose findings of today are accepted."""
    (folder / "kernelinfo.toml").write_text(CONFIG + config)
    written(build, folder)
    out, err, code = run("check", "--update-baseline", folder=folder)
    assert (err, code) == ("", 0), out


def test_findings_of_today_pass_and_are_counted(tmp_path: Path) -> None:
    written(WITH_WARNING, tmp_path)
    assert run("check", "build", folder=tmp_path)[2] == 1
    adopted(tmp_path)
    out, _, code = run("check", folder=tmp_path)
    assert code == 0
    assert "accepted by b.json: 1 KI101; --strict lists and judges them" in out
    assert out.splitlines()[-1].startswith("kernelinfo check passed: ")
    assert " · 1 accepted · " in out.splitlines()[-1]


def test_strict_ignores_the_acceptance(tmp_path: Path) -> None:
    adopted(tmp_path)
    out, _, code = run("check", "--strict", folder=tmp_path)
    assert code == 1
    assert "warning KI101 saxpy (gfx90a): 30 VGPRs spilled" in out
    assert "accepted" not in out


def test_the_update_prints_what_it_accepts(tmp_path: Path) -> None:
    (tmp_path / "kernelinfo.toml").write_text(CONFIG)
    written(WITH_WARNING, tmp_path)
    out, _, _ = run("check", "--update-baseline", folder=tmp_path)
    assert "accepted KI101 vgpr-spill of saxpy (gfx90a)\n" in out
    assert "; 1 finding accepted (1 KI101), 1 of them new\n" in out
    assert out.endswith("commit b.json; `kernelinfo check` then fails on what is new or worse\n")
    out, _, _ = run("check", "--update-baseline", folder=tmp_path)
    assert out.endswith("0 dropped; 1 finding accepted (1 KI101)\n")
    out, _, _ = run("check", "--update-baseline", "--strict", folder=tmp_path)
    assert "accepted" not in out
    assert run("check", folder=tmp_path)[2] == 1


def test_only_new_findings_fail(tmp_path: Path) -> None:
    adopted(tmp_path)
    written({"b.s": assembly(K(SCALE), K("other", vgprs=50, spills=40, scratch=160))}, tmp_path)
    out, _, code = run("check", folder=tmp_path)
    assert code == 1
    assert "warning KI101 other (gfx90a)" in out
    assert "KI101 saxpy" not in out
    assert " · 1 accepted · " in out


def test_a_worse_number_fails_although_the_finding_is_accepted(tmp_path: Path) -> None:
    adopted(tmp_path)
    written({"a.s": assembly(K(SAXPY, vgprs=50, spills=31, scratch=124))}, tmp_path)
    out, _, code = run("check", folder=tmp_path)
    assert code == 1
    assert "error KI501 saxpy (gfx90a): 30 → 31 VGPRs spilled since the baseline" in out


def test_an_ended_finding_is_an_improvement(tmp_path: Path) -> None:
    adopted(tmp_path)
    written({"a.s": assembly(K(SAXPY))}, tmp_path)
    ended = "KI504 saxpy (gfx90a): KI101 vgpr-spill, which the baseline accepts, has ended"
    out, _, code = run("check", folder=tmp_path)
    assert f"note {ended}; pin it with --update-baseline" in out
    assert code == 0
    out, _, code = run("check", "--strict-baseline", folder=tmp_path)
    assert f"error {ended}" in out
    assert code == 1
    assert ended not in run("check", "--select", "KI106", folder=tmp_path)[0], "KI101 did not run"


@pytest.mark.parametrize(("rule", "is_told"), [("KI101", 1), ("KI104", 1), ("KI106", 0)])
def test_a_code_object_tells_what_ended_of_the_rules_that_judge_it(
    rule: str, is_told: int, tmp_path: Path
) -> None:
    """KI106 needs the instructions of assembly: it may find the same there."""
    objects = tmp_path / "build"
    objects.mkdir()
    shutil.copy(FIXTURES / "code_object/variety-clang22-gfx90a.co", objects / "v.co")
    adopted(tmp_path, {})
    baseline = tmp_path / "b.json"
    entry = '{"symbol":"plain_c", '
    text = baseline.read_text()
    assert text.count(entry) == 1
    baseline.write_text(text.replace(entry, f'{entry}"accepted":{{"{rule}": "warning"}}, '))
    out, _, code = run("check", "--strict-baseline", folder=tmp_path)
    assert (f"KI504 plain_c (gfx90a): {rule}" in out, code) == (bool(is_told), is_told), out


def test_a_severer_finding_of_an_accepted_rule_fails(tmp_path: Path) -> None:
    adopted(tmp_path)
    out, _, code = run("check", "--severity", "KI101=error", folder=tmp_path)
    assert code == 1
    assert "error KI101 saxpy" in out


BUDGET = '[[budget]]\nkernel = "saxpy"\nvgpr = 32\n'


@pytest.mark.parametrize(("vgprs", "code"), [(64, 0), (60, 0), (65, 1)])
def test_a_broken_budget_is_accepted_until_its_number_gets_worse(
    tmp_path: Path, vgprs: int, code: int
) -> None:
    adopted(tmp_path, {"a.s": assembly(K(SAXPY))}, BUDGET)
    written({"a.s": assembly(K(SAXPY, vgprs=vgprs))}, tmp_path)
    out, _, ended = run("check", folder=tmp_path)
    assert ended == code
    assert (f"error KI206 saxpy (gfx90a): {vgprs} VGPRs used" in out) == bool(code)


@pytest.mark.parametrize(("change", "code"), [("report", 1), ("strict", 1), ("accept", 0)])
def test_another_compiler_may_be_accepted_as_a_whole(
    tmp_path: Path, change: str, code: int
) -> None:
    clean = {"a.s": assembly(K(SAXPY))}
    adopted(tmp_path, clean, f'[gate]\ntoolchain-change = "{change}"\n')
    written({"a.s": assembly(SPILLS, stamps=(NEW,))}, tmp_path)
    out, _, ended = run("check", folder=tmp_path)
    assert ended == code, out
    assert OLD in out
    assert ("warning KI101" in out) == bool(code)


def test_all_formats_tell_accepted_findings_from_others(tmp_path: Path) -> None:
    adopted(tmp_path)

    def as_(format: str) -> str:
        out, err, code = run("check", "--format", format, folder=tmp_path)
        assert (err, code) == ("", 0)
        return out

    document = json.loads(as_("json"))
    assert document["gate"]["accepted"] == 1
    assert document["summary"]["warnings"] == 0
    assert [k["accepted"][0]["rule"] for k in document["kernels"] if k["accepted"]] == ["KI101"]
    (result,) = json.loads(as_("sarif"))["runs"][0]["results"]
    assert (result["ruleId"], result["baselineState"]) == ("KI101", "unchanged")
    assert result["suppressions"][0]["justification"] == "accepted by the baseline"
    assert json.loads(as_("gitlab")) == []
    cases = ElementTree.fromstring(as_("junit"))
    assert cases.get("failures") == "0"
    assert len(cases.findall(".//skipped")) == 1
    assert "1 accepted by the baseline" in as_("markdown")
    assert "KI101" not in as_("github")
    assert "Accepted by the baseline" in as_("html")


def test_what_is_accepted_outside_of_the_part_stays(tmp_path: Path) -> None:
    both = {"a.s": assembly(SPILLS), "b.s": assembly(K(SCALE, vgprs=50, spills=30, scratch=120))}
    adopted(tmp_path, both)
    out, _, _ = run("check", "build/b.s", "--update-baseline", folder=tmp_path)
    assert "2 findings accepted (2 KI101)" in out
    assert run("check", folder=tmp_path)[2] == 0


def test_an_older_baseline_accepts_nothing_and_a_note_says_so(tmp_path: Path) -> None:
    adopted(tmp_path)
    path = tmp_path / "b.json"
    kernels = [
        {name: getattr(kernel, name) for name in COMPARED} for kernel in read_baseline(path).kernels
    ]
    old = {"schema": "kernelinfo-baseline/1", "toolchain": [OLD], "kernels": kernels}
    path.write_text(json.dumps(old))
    out, err, code = run("check", folder=tmp_path)
    assert code == 1
    assert "warning KI101 saxpy" in out
    assert "note: b.json: has the form of an older kernelinfo and accepts no findings" in err
    assert run("check", "--update-baseline", folder=tmp_path)[2] == 0
    assert run("check", folder=tmp_path)[1:] == ("", 0)


def test_what_was_not_read_whole_is_not_accepted(tmp_path: Path) -> None:
    adopted(tmp_path)
    before = (tmp_path / "b.json").read_bytes()
    written({"c.s": assembly(SPILLS)[:300]}, tmp_path)
    _, err, code = run("check", "--update-baseline", folder=tmp_path)
    assert code == 2
    assert "left unchanged" in err
    assert (tmp_path / "b.json").read_bytes() == before
    assert BaselineError.__name__ not in err
