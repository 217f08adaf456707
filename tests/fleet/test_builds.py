"""A build is what its roots hold now, and one scan at a time writes it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import kernelinfo as api

from ..conftest import require
from ..messages import codes, do_lines_match, refused, says, tells
from ..test_golden import run
from .scans import OBJECTS, comparable, kernelinfo, many_objects, process, reported, rows, scan

require("duckdb")

ONE, OTHER = OBJECTS / "variety-clang22-gfx942.co", OBJECTS / "handwritten.co"


def workspace(folder: Path, *objects: Path) -> Path:
    folder.mkdir(parents=True)
    for path in objects:
        shutil.copy(path, folder)
    return folder


def listed(fleet: Path, build: str = "b") -> list[str]:
    """Paths of the files that the build has."""
    return sorted(row["Path"] for row in rows(fleet, build, "inputs"))


def trend(fleet: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    out, err, ended = run("trend", str(fleet), "--format", "json", *arguments)
    assert (err, ended) == ("", code)
    found: dict[str, Any] = json.loads(out)
    return found


def test_the_same_build_from_another_workspace_counts_once(tmp_path: Path) -> None:
    fleet = tmp_path / "fleet"
    for name in ("first", "second"):
        folder = workspace(tmp_path / name, ONE, OTHER)
        for file in folder.iterdir():
            os.utime(file, (len(name), len(name)))
        scan(folder, to=fleet)
    assert comparable(rows(fleet)) == reported(folder)
    assert listed(fleet) == [OTHER.name, ONE.name]


def test_the_same_files_from_another_workspace_are_done(tmp_path: Path) -> None:
    first = workspace(tmp_path / "first", ONE, OTHER)
    shutil.copytree(first, tmp_path / "second")  # keeps the times of modification
    scan(first, to=tmp_path / "fleet")
    assert "0 files read, 2 done before" in scan(tmp_path / "second", to=tmp_path / "fleet")
    assert listed(tmp_path / "fleet") == [OTHER.name, ONE.name]


def test_files_that_are_deleted_leave_the_build(tmp_path: Path) -> None:
    folder, fleet = workspace(tmp_path / "build", ONE, OTHER), tmp_path / "fleet"
    scan(folder, to=fleet)
    (folder / ONE.name).unlink()
    assert "1 file gone" in scan(folder, to=fleet)
    assert comparable(rows(fleet)) == reported(folder)
    assert listed(fleet) == [OTHER.name]


def test_a_file_that_comes_back_is_read_again(tmp_path: Path) -> None:
    folder, fleet = workspace(tmp_path / "build", ONE, OTHER), tmp_path / "fleet"
    scan(folder, to=fleet)
    (folder / ONE.name).rename(tmp_path / "aside")
    scan(folder, to=fleet)
    (tmp_path / "aside").rename(folder / ONE.name)
    assert "1 file read, 1 done before" in scan(folder, to=fleet)
    assert comparable(rows(fleet)) == reported(folder)


def test_files_of_several_roots_with_one_path_are_all_there(tmp_path: Path) -> None:
    fleet = tmp_path / "fleet"
    roots = [workspace(tmp_path / name / "lib", path) for name, path in (("x", ONE), ("y", OTHER))]
    (roots[0] / ONE.name).rename(roots[0] / "same.co")
    (roots[1] / OTHER.name).rename(roots[1] / "same.co")
    scan(*roots, to=fleet)
    assert listed(fleet) == ["x/lib/same.co", "y/lib/same.co"]
    assert comparable(rows(fleet)) == reported(*roots)


def test_shards_of_a_build_are_joined(tmp_path: Path) -> None:
    fleet = tmp_path / "fleet"
    for build in ("1", "2"):
        for name, path in (("gfx942", ONE), ("gfx90a", OTHER)):
            folder = tmp_path / name
            folder = folder if folder.exists() else workspace(folder, path)
            scan(folder, "--shard", name, to=fleet, build=build)
            scan(folder, "--shard", name, to=fleet, build=build)  # leaves the other one alone
    assert comparable(rows(fleet, "1")) == reported(ONE, OTHER)
    found = trend(fleet)
    assert [build["kernels"] for build in found["builds"]] == [len(rows(fleet, "1"))] * 2
    assert found["kernels"] == []


def test_a_build_whose_scan_was_killed_is_left_out_and_named(tmp_path: Path) -> None:
    folder, fleet = many_objects(tmp_path / "objects", 600), tmp_path / "fleet"
    scan(OBJECTS, to=fleet, build="1")
    scan(OBJECTS, to=fleet, build="2")
    with process("-m", "kernelinfo", "scan", folder, "--to", fleet, "--build", "3") as running:
        while not (fleet / "inputs" / "Build=3" / "manifest.parquet").exists():
            time.sleep(0.02)
        os.killpg(running.pid, signal.SIGKILL)
    out, err, code = run("trend", str(fleet), "--fail-on", "regression")
    assert (out.splitlines()[0], code) == ("2 builds, 1 → 2 · none affected", 2)
    assert do_lines_match(err, f"trend-unfinished {fleet}: 3")
    scan(folder, to=fleet, build="3")
    assert comparable(rows(fleet, "3")) == reported(folder)


def test_labels_are_shown_and_stay(tmp_path: Path) -> None:
    scan(ONE, "--label", "commit=1a2b,date=2026-11-22", to=tmp_path, build="1")
    scan(ONE, to=tmp_path, build="1")
    scan(ONE, "--label", "commit=3c", "--label", "by=ci", to=tmp_path, build="2")
    assert [build["labels"] for build in trend(tmp_path)["builds"]] == [
        {"commit": "1a2b", "date": "2026-11-22"},
        {"commit": "3c", "by": "ci"},
    ]
    assert "commit=1a2b, date=2026-11-22" in run("trend", str(tmp_path))[0]
    _, err, code = kernelinfo("scan", ONE, "--to", tmp_path, "--build", "3", "--label", "x")
    assert (code, do_lines_match(err, "label-malformed --label x")) == (2, True), err


def test_a_removed_build_is_gone(tmp_path: Path) -> None:
    for build in ("1", "2", "3"):
        scan(ONE, to=tmp_path, build=build)
    out, err, code = kernelinfo("scan", "--to", tmp_path, "--remove", "2")
    assert (out, err, code) == (f"removed build 2 from {tmp_path}\n", "", 0)
    assert [build["name"] for build in trend(tmp_path)["builds"]] == ["1", "3"]
    assert not list(tmp_path.rglob("Build=2"))
    _, err, code = kernelinfo("scan", "--to", tmp_path, "--remove", "2")
    assert (code, tells(err, "build-unknown --remove 2")) == (2, True)


def test_an_accepted_problem_does_not_fail_and_a_new_one_does(tmp_path: Path) -> None:
    fleet, known = tmp_path / "fleet", tmp_path / "known.json"
    folder = workspace(tmp_path / "tool-1.0", ONE)
    (folder / "libcut-1.0.co").write_bytes(ONE.read_bytes()[:100])
    scanning = ("scan", folder, "--to", fleet, "--build")
    accept = ("--accept-problems", known)
    assert kernelinfo(*scanning, "1")[2] == 2
    assert kernelinfo("trend", fleet, "--fail-on", "regression")[2] == 2
    out, _, code = kernelinfo(*scanning, "1", *accept, "--update")
    assert (f"{known}: accepts 1 problem\n" in out, code) == (True, 0)
    # The next version of it is unreadable in the same way.
    (folder / "libcut-1.0.co").rename(folder / "libcut-1.1.co")
    _, err, code = kernelinfo(*scanning, "2", *accept)
    assert (err, code) == (f"{fleet}: 1 accepted problem not listed\n", 0)
    assert kernelinfo("trend", fleet, "--fail-on", "regression")[2] == 0
    assert [build["accepted_problems"] for build in trend(fleet)["builds"]] == [1, 1]
    (folder / "other.co").write_bytes(ONE.read_bytes()[:100])
    _, err, code = kernelinfo(*scanning, "3", *accept)
    assert (code, "other.co: " in err, "libcut" in err) == (2, True, False)
    _, err, code = kernelinfo("trend", fleet, "--fail-on", "regression")
    gap = f"trend-problems trend-gap {fleet}: 1 problem … 3 … other.co"
    assert (do_lines_match(err, gap), code) == (True, 2), err


def test_a_shard_keeps_the_accepted_problems_of_the_others(tmp_path: Path) -> None:
    fleet, known = tmp_path / "fleet", tmp_path / "known.json"
    jobs = []
    for shard in ("gfx90a", "gfx942"):
        folder = workspace(tmp_path / shard, ONE)
        (folder / f"cut-for-{shard}.co").write_bytes(ONE.read_bytes()[:100])
        scanning = ("scan", folder, "--to", fleet, "--build", "1", "--shard", shard)
        jobs.append((*scanning, "--accept-problems", known))
    out, _, code = kernelinfo(*jobs[0], "--update")
    assert (f"{known}: accepts 1 problem\n" in out, code) == (True, 0)
    out, _, code = kernelinfo(*jobs[1], "--update")
    assert (f"{known}: accepts 1 problem and keeps 1 accepted problem\n" in out, code) == (True, 0)
    for job in jobs:
        assert kernelinfo(*job)[1:] == (f"{fleet}: 1 accepted problem not listed\n", 0)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"schema": 1}', '{"schema": "x", "problems": 1}']
)
def test_a_damaged_list_of_accepted_problems_is_one_line(text: str, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    known.write_text(text)
    arguments = ("scan", ONE, "--to", tmp_path / "fleet", "--build", "1")
    out, err, code = kernelinfo(*arguments, "--accept-problems", known)
    assert (out, code) == ("", 2)
    assert do_lines_match(err, f"accepted-other-file {known}")


def test_the_first_night_passes(tmp_path: Path) -> None:
    scan(ONE, to=tmp_path, build="1")
    for on in ("regression", "change"):
        out, err, code = run("trend", str(tmp_path), "--fail-on", on)
        assert (out.splitlines()[0], code) == (
            "1 build, 1: the first, nothing to compare it with yet",
            0,
        )
        assert do_lines_match(err, f"trend-first {tmp_path}: 1")
    out, err, code = run("trend", str(tmp_path), "--fail-on", "change", "-k", "nothing")
    assert (out, code, tells(err, "builds-without-choice -k nothing")) == ("", 2, True)


def test_scripts_scan_and_ask_as_the_command_line_does(tmp_path: Path) -> None:
    given, asked = tmp_path / "script", tmp_path / "command"
    for build in ("1", "2"):
        done = api.scan(str(ONE), to=str(given), build=build, labels={"commit": build})
        scan(ONE, "--label", f"commit={build}", to=asked, build=build)
        assert (done.kernels, done.record.problems) == (len(rows(given, build)), [])
        assert comparable(rows(given, build)) == comparable(rows(asked, build))
    found = api.trend(str(given), by="library")
    assert [build.labels for build in found.builds] == [{"commit": "1"}, {"commit": "2"}]
    assert [group.key for group in found.groups] == [ONE.name]
    locked(given, holder())
    with refused("build-locked b"):
        api.scan(str(ONE), to=str(given), build="b")
    with refused("dataset-empty"):
        api.trend(str(tmp_path))


def lock_of(fleet: Path) -> Path:
    return fleet / "inputs" / "Build=b" / "lock"


def holder(**changes: object) -> str:
    """Content of a lock that holds for an hour."""
    whole = {"host": "far", "machine": "far", "process": 1, "begun": "", "since": "then"}
    return json.dumps(whole | {"until": time.time() + 3600} | changes)


def locked(fleet: Path, content: str) -> None:
    lock_of(fleet).parent.mkdir(parents=True, exist_ok=True)
    lock_of(fleet).write_text(content)


def test_a_second_scan_is_refused_by_name(tmp_path: Path) -> None:
    locked(tmp_path, holder())
    out, err, code = kernelinfo("scan", ONE, "--to", tmp_path, "--build", "b")
    assert (out, code) == ("", 2)
    assert do_lines_match(err, "build-locked scan-holding b … far … 1 … then … --wait")
    assert lock_of(tmp_path).exists()
    scan(ONE, to=tmp_path, build="other")  # another build is free


def test_a_waiting_scan_goes_on_when_the_lock_is_gone(tmp_path: Path) -> None:
    locked(tmp_path, holder())
    command = ("scan", ONE, "--to", tmp_path, "--build", "b", "--wait")
    with process("-m", "kernelinfo", *command) as running:
        time.sleep(3)
        assert running.poll() is None
        lock_of(tmp_path).unlink()
        out, _ = running.communicate(timeout=60)
    assert running.returncode == 0
    assert says(out.splitlines()[0], f"build-waiting scan-holding {tmp_path}: … far … 1 … then")
    assert comparable(rows(tmp_path)) == reported(ONE)


def test_two_scans_at_once_lose_nothing(tmp_path: Path) -> None:
    """Both of different roots: the build is one of them as a whole, and the other is refused."""
    roots = [many_objects(tmp_path / name, count) for name, count in (("x", 60), ("y", 90))]
    expected = {len(found := reported(root)): found for root in roots}
    for attempt in range(8):
        fleet = tmp_path / f"fleet{attempt}"
        wait = ("--wait",) if attempt % 2 else ()
        command = [sys.executable, "-m", "kernelinfo", "scan"]
        scans = [
            subprocess.Popen(
                [*command, str(root), "--to", str(fleet), "--build", "b", *wait],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            for root in roots
        ]
        errors = [one.communicate(timeout=120)[1] for one in scans]
        exit_codes = [one.returncode for one in scans]
        # A scan that begins after the other has ended is neither was_refused nor waits.
        was_refused = ["build-locked" in codes(error) for error in errors]
        assert [exit_code == 2 for exit_code in exit_codes] == was_refused, errors
        assert "Traceback" not in "".join(errors)
        assert any(not one for one in was_refused)
        assert not (wait and any(was_refused))
        found = comparable(rows(fleet))
        assert found == expected[len(found)]
        assert len(listed(fleet)) == (60 if found == reported(roots[0]) else 90)
        shutil.rmtree(fleet)
