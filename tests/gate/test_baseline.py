"""The file of the baseline: what survives, what is refused, and that it is never torn."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelinfo.analysis.options import Options
from kernelinfo.compare import compare
from kernelinfo.compare.summary import Build
from kernelinfo.config import Configuration
from kernelinfo.errors import BaselineError
from kernelinfo.gate import check
from kernelinfo.gate.baseline import pinnable, read_baseline, write_baseline
from kernelinfo.gate.pinning import pin, update
from kernelinfo.gate.scope import Scope
from kernelinfo.kernel.report import Report
from kernelinfo.reading.blob import Problem

from .builds import BUILDS, Numbers, report


def written(build: Build) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "b.json")
        write_baseline(path, build)
        assert [entry.name for entry in Path(folder).iterdir()] == ["b.json"]
        return path.read_bytes()


def pinned(*builds: Numbers, folder: Path = Path()) -> Build:
    return pinnable(report(builds).results, folder)


@given(BUILDS, st.randoms(use_true_random=False))
def test_the_order_of_inputs_leaves_no_trace(build: list[Numbers], random: st.DataObject) -> None:
    shuffled = list(build)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert written(pinned(*build)) == written(pinned(*shuffled))


@given(BUILDS)
def test_what_is_written_is_read(build: list[Numbers]) -> None:
    before = pinned(*build)
    with tempfile.TemporaryDirectory() as folder:
        write_baseline(path := Path(folder, "b.json"), before)
        after = read_baseline(path)
        write_baseline(again := Path(folder, "c.json"), after)
        assert path.read_bytes() == again.read_bytes()
    assert sorted(map(repr, after.kernels)) == sorted(map(repr, before.kernels))
    assert after.compilers == before.compilers


def test_one_kernel_a_line_sorted_and_without_sources() -> None:
    text = written(pinned(Numbers("b"), Numbers("a"), Numbers("c"))).decode()
    lines = [json.loads(line.rstrip(",")) for line in text.splitlines() if '"name"' in line]
    assert [line["name"] for line in lines] == ["a(int)", "b(int)", "c(int)"]
    assert "source" not in lines[0]
    assert json.loads(text)["schema"] == "kernelinfo-baseline/1"


def test_machines_that_build_elsewhere_pin_the_same(tmp_path: Path) -> None:
    one = pinned(Numbers(path=str(tmp_path / "one" / "build" / "a.s")), folder=tmp_path / "one")
    two = pinned(Numbers(path=str(tmp_path / "two" / "build" / "a.s")), folder=tmp_path / "two")
    assert one == two
    assert one.kernels[0].code_object == "build/a.s"
    outside = pinned(Numbers(path="/var/tmp/build-4711/a.s"), folder=tmp_path)
    assert outside.kernels[0].code_object == "a.s"


GOOD = written(pinned(Numbers("a"), Numbers("b"))).decode()
NO_NUMBER = "is damaged at a(int): "
FIRST = next(line for line in GOOD.splitlines() if '"a(int)"' in line)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is damaged, "),
        (GOOD[:300], "is damaged, "),
        ("[" * 100_000, "is damaged, "),
        ("{}", "is not a baseline"),
        ("[]", "is not a baseline"),
        ('{"schema": "kernelinfo/1"}', "is not a baseline"),
        (GOOD.replace("baseline/1", "baseline/2"), "was written by a newer kernelinfo"),
        (GOOD.replace("baseline/1", "baseline/x"), "is not a baseline"),
        (GOOD.replace('"vgprs": 100', '"vgprs": "100"'), "is damaged at a(int): vgprs"),
        (GOOD.replace('"vgprs": 100', '"vgprs": true'), "is damaged at a(int): vgprs"),
        (GOOD.replace('"vgprs": 100', f'"vgprs": {"9" * 4000}'), NO_NUMBER),
        (GOOD.replace('"vgprs": 100', '"vgprs": -1'), NO_NUMBER),
        (re.sub(r'"percent": [0-9.]+', '"percent": 1e999', GOOD), NO_NUMBER),
        (re.sub(r'"percent": [0-9.]+', '"percent": NaN', GOOD), NO_NUMBER),
        (GOOD.replace('"vgprs": 100, ', ""), "is damaged at a(int): vgprs"),
        (GOOD.replace('["vgpr"]', '["warp"]'), "is damaged at a(int): limiters"),
        (GOOD.replace(FIRST, " 3,"), "is damaged at "),
        (GOOD.replace('"kernels"', '"kernel"'), "is damaged at 'kernels'"),
        (
            GOOD.replace(FIRST, f"<<<<<<< ours\n{FIRST}\n=======\n{FIRST}\n>>>>>>> theirs"),
            "has conflict markers of a merge; settle them",
        ),
    ],
)
def test_what_is_no_baseline_is_refused_and_left_alone(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "b.json"
    path.write_text(text)
    with pytest.raises(BaselineError) as raised:
        read_baseline(path)
    assert str(raised.value).startswith(f"{path}: {message}")
    assert "--update-baseline" in str(raised.value) or "another file" in str(raised.value)
    with pytest.raises(BaselineError):
        pin(report([Numbers()]), path, Configuration())
    assert path.read_text() == text


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_bytes(b"\x7fELF\xff\xfe")
    with pytest.raises(BaselineError, match="is not a baseline"):
        read_baseline(path)


def test_nothing_is_pinned_of_what_was_not_read_whole(tmp_path: Path) -> None:
    path, whole = tmp_path / "b.json", report([Numbers()])
    for not_whole in (Report((), ()), Report(whole.results, (Problem("x", "is cut off"),))):
        with pytest.raises(BaselineError, match="left unchanged: not all inputs could be read"):
            pin(not_whole, path, Configuration())
    with pytest.raises(BaselineError, match="1 kernel found, at least 2 expected"):
        pin(whole, path, Configuration(min_kernels=2))


def test_an_update_of_some_kernels_keeps_the_others() -> None:
    old = pinned(Numbers("a"), Numbers("b"), Numbers("c", path="build/c.s"))
    only_a = update(
        old, pinned(Numbers("a", waves=2)), Scope(options=Options(kernels=("a",))), Path()
    )
    assert (len(only_a.changed), only_a.new, only_a.dropped) == (1, (), ())
    assert [k.name for k in only_a.pinned.kernels] == ["a(int)", "b(int)", "c(int)"]
    only_c = update(old, pinned(), Scope(paths=("build/c.s",)), Path())
    assert [k.name for k in only_c.dropped] == ["c(int)"]
    everything = update(old, pinned(Numbers("a")), Scope(), Path())
    assert [k.name for k in everything.dropped] == ["b(int)", "c(int)"]
    assert not compare(everything.pinned, pinned(Numbers("a"))).gone


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_baseline(link, pinned(Numbers()))
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert len(read_baseline(real).kernels) == 1


def test_where_nothing_can_be_written_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="give another file"):
        write_baseline(tmp_path / "missing" / "b.json", pinned(Numbers()))


_KILLED = """
import os, signal, sys
from pathlib import Path
from kernelinfo.gate import baseline
from tests.gate.test_baseline import Numbers, pinned

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def lines(build):
    yield '{"schema"'
    die()

if sys.argv[2] == "writing":
    baseline._lines = lines
else:
    os.replace = die
baseline.write_baseline(Path(sys.argv[1]), pinned(Numbers("new")))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no way to be killed outright")
@pytest.mark.parametrize("moment", ["writing", "replacing"])
def test_killed_in_the_middle_the_old_one_is_whole(tmp_path: Path, moment: str) -> None:
    path = tmp_path / "b.json"
    write_baseline(path, pinned(Numbers("old")))
    before = path.read_bytes()
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", _KILLED, str(path), moment]
    ended = subprocess.run(
        command, cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, check=False
    )
    assert ended.returncode == -signal.SIGKILL
    assert path.read_bytes() == before


def test_kernels_are_found_again_from_the_baselines_own_folder(tmp_path: Path) -> None:
    """Two kernels share a name and one file is gone: its kernel has vanished."""
    path = tmp_path / "b.json"
    old = [Numbers("k", waves=w, path=str(tmp_path / f"{w}.s")) for w in (8, 4)]
    write_baseline(path, pinned(*old, folder=tmp_path))
    for kept, gone in ((old[0], "4.s"), (old[1], "8.s")):
        outcome = check(report([kept]), Configuration(baseline=path))
        (vanished,) = (n.finding for n in outcome.notices if n.finding.rule == "KI502")
        assert gone in vanished.message
        assert not [f for one in outcome.judged for f in one.result.findings]
