"""`kernelinfo diff` as a user meets it: sides, streams, exit codes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kernelinfo

from ..conftest import FIXTURES
from ..test_golden import run

OLD, NEW = (f"assembly/variety-clang{version}-gfx90a.s" for version in (15, 22))
PLENTY = "assembly/variety-clang22-gfx942.s"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([OLD, NEW], 0),
        ([OLD, NEW, "--fail-on", "regression"], 1),
        ([OLD, NEW, "--fail-on", "change"], 1),
        ([NEW, OLD, "--fail-on", "regression"], 0),
        ([OLD, OLD, "--fail-on", "change"], 0),
        ([OLD, NEW, "-k", "plain_c", "--fail-on", "change"], 0),
        ([OLD, NEW, "-k", "local_array*", "--fail-on", "regression"], 0),
        ([OLD, NEW, "-k", "sgpr_heavy*", "--fail-on", "change"], 1),
        ([OLD, NEW, "--fail-on", "everything"], 2),
        ([OLD], 2),
        ([OLD, "broken/empty.s"], 2),
        (["no/such/file", NEW], 2),
        ([OLD, NEW, "-k", "nobody"], 2),
        ([OLD, NEW, "--format", "yaml"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_exit_codes(arguments: list[str], code: int) -> None:
    assert run("diff", *arguments)[2] == code


def test_a_kernel_gone_is_a_regression_and_a_new_one_a_change(tmp_path: Path) -> None:
    lines = run(OLD, "--format", "jsonl")[0].splitlines(keepends=True)
    (tmp_path / "all.jsonl").write_text("".join(lines))
    (tmp_path / "less.jsonl").write_text("".join(lines[:-1]))
    sides = ("less.jsonl", "all.jsonl")
    assert run("diff", *sides, "--fail-on", "regression", folder=tmp_path)[2] == 0
    assert run("diff", *sides, "--fail-on", "change", folder=tmp_path)[2] == 1
    assert run("diff", *reversed(sides), "--fail-on", "regression", folder=tmp_path)[2] == 1


def test_nothing_to_compare_with_is_one_line_and_no_answer() -> None:
    for sides in ((OLD, "broken/plain-text.txt"), ("broken/plain-text.txt", OLD)):
        out, err, code = run("diff", *sides)
        assert (out, code) == ("", 2)
        assert len(err.splitlines()) == 1
        assert err.startswith("broken/plain-text.txt: ")


def test_what_could_be_read_is_compared() -> None:
    out, err, code = run("diff", "container/tiny.hipfb", "broken/truncated.s", "--across-targets")
    assert code == 2
    assert err.startswith("broken/truncated.s")
    assert "not all was read, kernels may be missing" in out
    document = json.loads(
        run("diff", "container/tiny.hipfb", "broken/truncated.s", "--format", "json")[0]
    )
    assert [one["path"] for one in document["problems"]] == ["broken/truncated.s"]


def test_two_folders_line_up(tmp_path: Path) -> None:
    for build, version in (("build-a", 15), ("build-b", 22)):
        for unit in ("one", "two"):
            place = tmp_path / build / unit
            place.mkdir(parents=True)
            shutil.copy(FIXTURES / f"assembly/variety-clang{version}-gfx90a.s", place / "x.s")
    found = json.loads(run("diff", "build-a", "build-b", "--format", "json", folder=tmp_path)[0])
    assert found["summary"]["kernels"] == 52
    places = {(one["old"]["code_object"], one["new"]["code_object"]) for one in found["kernels"]}
    assert places == {("one/x.s", "one/x.s"), ("two/x.s", "two/x.s")}
    (tmp_path / "a.json").write_text(run("build-a", "--format", "json", folder=tmp_path)[0])
    again = json.loads(run("diff", "a.json", "build-b", "--format", "json", folder=tmp_path)[0])
    assert again == found


def test_across_targets_only_when_asked() -> None:
    apart = json.loads(run("diff", NEW, PLENTY, "--format", "json")[0])["summary"]
    assert (apart["kernels"], apart["counts"]) == (0, {"gone": 26, "new": 26})
    out, _, code = run("diff", NEW, PLENTY, "--across-targets")
    assert code == 0
    assert "gfx90a → gfx942" in out
    assert "gone" not in out


def test_options_hold_for_both_sides() -> None:
    out, _, _ = run("diff", OLD, NEW, "--block", "64", "--format", "json")
    sizes = {
        one[side]["workgroup_size"] for one in json.loads(out)["kernels"] for side in ("old", "new")
    }
    assert sizes == {64}


def test_it_is_written_where_it_shall_be(tmp_path: Path) -> None:
    out, _, code = run("diff", OLD, NEW, "--format", "markdown", "-o", str(tmp_path / "diff.md"))
    assert (out, code) == ("", 0)
    assert "affected: 1 worse" in (tmp_path / "diff.md").read_text()


def test_python_takes_paths_and_reports() -> None:
    old, new = FIXTURES / OLD, FIXTURES / NEW
    of_paths = kernelinfo.diff(old, new)
    assert of_paths == kernelinfo.diff(kernelinfo.load(old), kernelinfo.load(new))
    assert [pair.new.name for pair in of_paths.pairs if pair.regressed] == ["sgpr_heavy(int*)"]
    with pytest.raises(kernelinfo.ReadError):
        kernelinfo.diff(FIXTURES / OLD, FIXTURES / "broken" / "truncated.s")


def test_a_saved_report_may_come_from_standard_input() -> None:
    for format in ("json", "jsonl"):
        report = [sys.executable, "-m", "kernelinfo", NEW, "--format", format]
        saved = subprocess.run(report, cwd=FIXTURES, capture_output=True, check=True).stdout
        diff = [sys.executable, "-m", "kernelinfo", "diff", OLD, "-", "--fail-on", "change"]
        ran = subprocess.run(diff, cwd=FIXTURES, input=saved, capture_output=True, check=False)
        assert ran.returncode == 1
        same = run("diff", OLD, NEW)[0].splitlines()
        assert ran.stdout.decode().splitlines()[1:] == same[1:]
