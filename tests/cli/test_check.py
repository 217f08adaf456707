"""The gate on the command line: what it answers, and with which exit code."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import kernelinfo

from ..conftest import FIXTURES
from ..test_golden import SCHEMA, run

SPILLING = FIXTURES / "assembly" / "occupancy-clang22-gfx90a.s"
GOOD = FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co"
FAT = FIXTURES / "container" / "libtwo.so"
HOST = FIXTURES / "broken" / "x86.s"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "build").mkdir()
    shutil.copy(SPILLING, tmp_path / "build" / "a.s")
    shutil.copy(GOOD, tmp_path / "build" / "b.co")
    (tmp_path / "kernelinfo.toml").write_text('paths = ["build/**/*.s", "build/*.co"]\n')
    return tmp_path


def check(folder: Path, *arguments: str) -> tuple[str, str, int]:
    return run("check", *arguments, folder=folder)


# Exit codes


def test_0_where_nothing_is_as_severe_as_that(folder: Path) -> None:
    assert check(folder, "--fail-on", "error")[1:] == ("", 0)
    assert check(folder, "build/b.co")[1:] == ("", 0)


@pytest.mark.parametrize("fail_on", ["warning", "note"])
def test_1_for_a_claim(folder: Path, fail_on: str) -> None:
    out, err, code = check(folder, "--fail-on", fail_on)
    assert (err, code) == ("", 1)
    assert "build/a.s:2032: warning KI106 sgprbound(int, double*) (gfx90a): 12 spill" in out
    assert out.endswith(f"6 kernels · fails on {fail_on} (--fail-on)\n")
    assert ("KI201" in out or "KI208" in out) == (fail_on == "note")


def test_exit_zero_is_for_claims_alone(folder: Path) -> None:
    assert check(folder, "--exit-zero")[2] == 0
    assert check(folder, "--exit-zero", "build/missing.s")[2] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("build/none/*.s",), "build/none/*.s: matches no file; check the pattern"),
        (("build/missing.s",), "build/missing.s: no such file or directory"),
        ((str(HOST),), "no AMDGPU assembly found"),
        (("build", "--baseline", "none.json"), "none.json: No such file or directory; make it by"),
        (("build", "-k", "nothing"), "no kernel matches -k nothing (6 in the folder)"),
        (("--min-kernels", "7"), "kernelinfo.toml: 6 kernels found, at least 7 expected"),
        (("--fail-on", "never"), "Invalid value for '--fail-on'"),
        (("--update-baseline",), "--update-baseline needs a file"),
        (("build", "--config", "none.toml"), "none.toml: No such file or directory"),
    ],
)
def test_2_for_no_answer(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    _, err, code = check(folder, *arguments)
    assert code == 2
    assert message in err


def test_2_with_nothing_to_check(tmp_path: Path) -> None:
    out, err, code = check(tmp_path)
    assert (out, code) == ("", 2)
    assert "nothing to check; give a path, or `paths` in kernelinfo.toml" in err


def test_2_where_something_could_not_be_read_and_the_rest_is_still_told(folder: Path) -> None:
    shutil.copy(FIXTURES / "broken" / "truncated.co", folder / "build" / "c.co")
    out, err, code = check(folder, "--exit-zero")
    assert code == 2
    assert "build/c.co" in err
    assert "KI106" in out
    assert "cannot answer" in out


# Baseline


def test_a_baseline_of_what_is_passes_from_anywhere(folder: Path) -> None:
    more = '\nbaseline = "pinned.json"\nfail-on = "error"\n'
    with (folder / "kernelinfo.toml").open("a") as file:
        file.write(more)
    out, err, code = check(folder, "--update-baseline")
    assert (err, code) == ("", 0)
    counts = "pinned.json: 6 kernels pinned, 6 new, 0 changed, 0 dropped; 2 findings accepted "
    assert f"{counts}(1 KI106, 1 KI302), 2 of them new\n" in out
    assert out.splitlines()[-1].startswith("commit pinned.json; ")
    before = (folder / "pinned.json").read_bytes()
    assert check(folder)[1:] == ("", 0)
    assert check(folder / "build")[1:] == ("", 0)
    assert check(folder, "--strict-baseline")[1:] == ("", 0)
    assert check(folder / "build", "--update-baseline")[2] == 0
    assert (folder / "pinned.json").read_bytes() == before
    moved = folder.rename(folder.with_name("moved"))
    assert check(moved, "--update-baseline")[2] == 0
    assert (moved / "pinned.json").read_bytes() == before


def test_what_lies_elsewhere_is_not_missed(folder: Path) -> None:
    check(folder, "--baseline", "p.json", "--update-baseline")
    pinned = ("--baseline", "p.json", "--fail-on", "error")
    assert check(folder, *pinned, "build/b.co")[2] == 0
    assert check(folder, *pinned, "-k", "*bound")[2] == 0
    assert check(folder, *pinned, "-k", "*bound", "build/b.co")[2] == 2
    assert check(folder, *pinned, "-k", "*bound", "build/a.s")[2] == 0
    (folder / "build" / "a.s").unlink()
    (folder / "build" / "other.s").write_bytes(
        (FIXTURES / "assembly" / "tiny-v6-clang22-gfx1030.s").read_bytes()
    )
    out, _, code = check(folder, *pinned)
    assert code == 2
    assert out.count("KI502") == 4


def test_a_pinned_part_keeps_the_rest(folder: Path) -> None:
    pinned = ("--baseline", "p.json", "--update-baseline")
    check(folder, *pinned)
    before = (folder / "p.json").read_bytes()
    out, _, code = check(folder, *pinned, "-k", "vgprbound", "build/a.s")
    counts = "p.json: 6 kernels pinned, 0 new, 0 changed, 0 dropped; 2 findings accepted "
    assert (out, code) == (f"{counts}(1 KI106, 1 KI302)\n", 0)
    assert (folder / "p.json").read_bytes() == before


@pytest.mark.parametrize(
    "text", ["{}", '{"schema": "kernelinfo-baseline/9"}', "<<<<<<< ours\n", ""]
)
def test_a_baseline_that_cannot_be_read_is_left_alone(folder: Path, text: str) -> None:
    (folder / "p.json").write_text(text)
    for update in ((), ("--update-baseline",)):
        out, err, code = check(folder, "--baseline", "p.json", *update)
        assert (out, code) == ("", 2)
        assert err.startswith("kernelinfo: p.json: ")
        assert (folder / "p.json").read_text() == text


# Inputs and targets


def test_other_targets_are_skipped_and_counted(tmp_path: Path) -> None:
    (tmp_path / "kernelinfo.toml").write_text('arch = ["gfx1100"]\nfail-on = "error"\n')
    shutil.copy(FAT, tmp_path / "libtwo.so")
    targets = {k.code_object.target for k in kernelinfo.load(FAT).kernels}
    assert len(targets) > 1
    (tmp_path / "kernelinfo.toml").write_text(f'arch = ["{min(map(str, targets))}"]\n')
    out, err, code = check(tmp_path, "libtwo.so", "--fail-on", "error")
    assert (err, code) == ("", 0)
    assert "of other targets passed over" in out
    (tmp_path / "kernelinfo.toml").write_text('arch = ["gfx801"]\n')
    _, err, code = check(tmp_path, "libtwo.so")
    assert code == 2
    assert "kernels is for gfx801, but for gfx1030 and gfx90a; see target" in err


def test_of_a_subset_what_is_not_for_amd_gpus_is_passed_over(folder: Path) -> None:
    shutil.copy(HOST, folder / "memcpy.s")
    (folder / "empty.out").write_bytes(b"")
    (folder / "text.out").write_text("expected output\n")
    out, err, code = check(folder, "--subset", "memcpy.s", "empty.out", "text.out")
    assert (err, code) == ("", 0)
    assert (
        out == "kernelinfo check passed: nothing found · 0 kernels · only of 3 paths"
        " · fails on warning (--fail-on)\n"
    )
    assert check(folder, "--subset", "memcpy.s", "build/a.s")[2] == 1
    assert check(folder, "--subset", "memcpy.s", "missing.s")[2] == 2
    shutil.copy(FIXTURES / "broken" / "truncated.co", folder / "cut.co")
    assert check(folder, "--subset", "memcpy.s", "cut.co")[2] == 2


def test_of_a_subset_kernels_of_other_files_are_not_missed(folder: Path) -> None:
    check(folder, "--baseline", "p.json", "--update-baseline")
    (folder / "kernelinfo.toml").write_text("")
    pinned = ("--baseline", "p.json", "--fail-on", "error", "build/b.co")
    assert check(folder, *pinned)[2] == 2
    assert check(folder, "--subset", *pinned)[2] == 0


def test_workgroup_sizes_of_the_configuration_count_everywhere(folder: Path) -> None:
    with (folder / "kernelinfo.toml").open("a") as file:
        file.write('[workgroup-size]\n"empty" = 704\n"*" = 128\n')

    def assumed(*words: str) -> dict[str, tuple[int, str]]:
        out, _, _ = run(*words, "--format", "json", folder=folder)
        return {
            kernel["name"].partition("(")[0]: tuple(kernel["workgroup"].values())[2:]
            for kernel in json.loads(out)["kernels"]
        }

    expected = {"empty": (704, "config"), "vgprbound": (128, "config")}
    for command in (("report", "build/a.s"), ("check", "build/a.s")):
        assert assumed(*command).items() >= expected.items()
    assert assumed("explain", "build/a.s", "empty") == {"empty": (704, "config")}
    option = assumed("report", "build/a.s", "--workgroup-size", "64")
    assert set(option.values()) == {(64, "option")}


def test_a_size_that_the_kernel_requires_stays(tmp_path: Path) -> None:
    shaped = FIXTURES / "assembly" / "shaped-clang22-gfx942.s"
    required = {
        kernel.name for kernel in kernelinfo.load(shaped).kernels if kernel.workgroup.required
    }
    assert required
    (tmp_path / "kernelinfo.toml").write_text('[workgroup-size]\n"*" = 128\n')
    out, _, _ = run("report", str(shaped), "--format", "json", folder=tmp_path)
    for kernel in json.loads(out)["kernels"]:
        by = "required" if kernel["name"] in required else "config"
        assert kernel["workgroup"]["assumption"] == by


# Output


def test_json_is_the_report_and_what_the_gate_says(folder: Path) -> None:
    (folder / "kernelinfo.toml").write_text(
        'paths = ["build"]\n[[suppress]]\nrule = "KI106"\nkernel = "sgprbound"\n'
        'reason = "still faster"\nuntil = "2999-12-31"\n[[budget]]\nkernel = "none"\nvgpr = 64\n'
    )
    out, err, code = check(folder, "--format", "json")
    document = json.loads(out)
    Draft202012Validator(SCHEMA).validate(document)
    assert (err, code) == ("", 1)
    suppressed = [one for kernel in document["kernels"] for one in kernel["suppressed"]]
    assert [(one["rule"], one["reason"], one["until"]) for one in suppressed] == [
        ("KI106", "still faster", "2999-12-31")
    ]
    assert document["summary"]["suppressed"] == 1
    gate = document["gate"]
    assert (gate["answered"], gate["failed"], gate["fail_on"]) == (True, True, "warning")
    assert [notice["finding"]["rule"] for notice in gate["notices"]] == ["KI206"]


def test_json_names_vanished_kernels_among_the_problems(folder: Path) -> None:
    check(folder, "--baseline", "p.json", "--update-baseline")
    (folder / "build" / "b.co").unlink()
    (folder / "kernelinfo.toml").write_text('paths = ["build"]\nbaseline = "p.json"\n')
    out, _, code = check(folder, "--format", "json")
    document = json.loads(out)
    Draft202012Validator(SCHEMA).validate(document)
    assert code == 2
    assert len(document["problems"]) == 2
    assert all("in the baseline, from build/b.co" in p["message"] for p in document["problems"])


@pytest.mark.parametrize("format", ["jsonl", "csv", "html"])
def test_tables_have_the_findings_of_the_gate(folder: Path, format: str) -> None:
    with (folder / "kernelinfo.toml").open("a") as file:
        file.write("[[budget]]\nscratch = 0\n")
    out, _, code = check(folder, "--format", format)
    assert code == 1
    assert out.count("KI206") == (2 if format == "html" else 1)  # the page begins with it


@pytest.mark.parametrize("format", ["markdown", "sarif", "github", "gitlab", "junit"])
def test_every_format_tells_the_same_claims(folder: Path, format: str) -> None:
    out, err, code = check(folder, "--format", format)
    assert (err, code) == ("", 1)
    assert "12 spill reloads inside loop" in out


def test_on_github_it_annotates_and_writes_the_summary(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = folder / "summary.md"
    summary.write_text("# before\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    out, _, code = check(folder)
    assert code == 1
    assert "::warning file=" in out
    assert summary.read_text().startswith("# before\n**kernelinfo failed")
    written = summary.read_text()
    out, _, _ = check(folder, "--format", "text")
    assert "::warning" not in out
    assert summary.read_text() == written


def test_quiet_is_the_outcome_alone(folder: Path) -> None:
    out, _, _ = check(folder, "-q")
    assert len(out.splitlines()) == 1
    assert out.startswith("kernelinfo check failed: 2 warnings, ")


def test_many_findings_of_a_rule_are_folded(folder: Path) -> None:
    check(folder, "--baseline", "p.json", "--update-baseline", "build/b.co", "--subset")
    options = ("--baseline", "p.json", "--fail-on", "error")
    assert (
        "… 3 more KI503 of severity note; --top 0 shows all"
        in check(folder, *options, "--top", "1")[0]
    )
    assert check(folder, *options, "--top", "0")[0].count("KI503") == 4


# Configuration


def test_show_config_says_what_is_in_force_and_where_it_is_from(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.kernelinfo]\nignore = ['KI1']\n")
    out, err, code = check(folder, "--show-config", "--fail-on", "note", "--select", "KI1,KI2")
    assert (err, code) == ("", 0)
    lines = out.splitlines()
    assert lines[0] == "# kernelinfo.toml"
    assert 'paths = ["build/**/*.s", "build/*.co"]  # line 1' in lines
    assert 'fail-on = "note"  # command line' in lines
    assert 'select = ["KI1", "KI2"]  # command line' in lines
    assert "ignore = []  # default" in lines
    assert "min-kernels = 1  # default" in lines
    assert 'toolchain-change = "report"  # default' in lines
    none_needed, _, _ = check(folder, "--show-config", "--min-kernels", "0")
    assert "min-kernels = 0  # command line" in none_needed
    (folder / "kernelinfo.toml").unlink()
    assert 'ignore = ["KI1"]  # line 2' in check(folder, "--show-config")[0]
    (folder / "pyproject.toml").unlink()
    assert check(folder, "--show-config")[0].startswith("# no file")


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


def test_all_that_is_wrong_with_a_file_is_said_at_once(folder: Path) -> None:
    (folder / "kernelinfo.toml").write_text(
        'fail_on = "note"\n[[budget]]\nwave = 3\n[gate]\nvgpr = "8 or so"\n'
        '[[suppress]]\nrule = "KI101"\nkernel = "*"\nuntil = "soon"\n'
    )
    out, err, code = check(folder)
    assert (out, code) == ("", 2)
    assert err.splitlines() == [
        "kernelinfo: kernelinfo.toml:1: fail_on: unknown key; did you mean fail-on?",
        "kernelinfo: kernelinfo.toml:3: budget[0].wave: unknown key; did you mean waves?",
        'kernelinfo: kernelinfo.toml:5: gate.vgpr: \'8 or so\'; write "off", a number, "+8" or '
        '"+5%"',
        "kernelinfo: kernelinfo.toml:6: suppress[0]: reason is missing; write a sentence such as "
        '"spills 5, still faster"',
        "kernelinfo: kernelinfo.toml:9: suppress[0].until: 'soon'; write a day such as "
        '"2027-03-31"',
    ]


def test_the_rules_of_the_gate_are_documented() -> None:
    for rule in ("KI003", "KI005", "KI206", "KI501", "kernel-vanished", "KI507"):
        out, _, code = run("explain", rule)
        assert code == 0
        assert "What to do:" in out


def test_ignore_and_severity_hold_for_the_gate(folder: Path) -> None:
    with (folder / "kernelinfo.toml").open("a") as file:
        file.write('fail-on = "error"\n[[budget]]\nkernel = "none"\nvgpr = 64\n')
    assert "KI206" in check(folder)[0]
    assert "KI206" not in check(folder, "--ignore", "KI206")[0]
    assert check(folder, "--severity", "KI206=error")[2] == 1


# Python


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
    assert done.stderr.splitlines() == [
        "build/a.s: C++ names stay mangled here; install pycxxfilt to read them"
    ]
