"""Several processes say what one says, in the same order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kernelinfo.cli import jobs
from kernelinfo.errors import KernelinfoError
from kernelinfo.kernel import Item
from kernelinfo.options import Options
from kernelinfo.render import View, renderer

from ..conftest import FIXTURES

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")

PATHS = ["container", "code_object", "broken", "assembly/odd-clang22-gfx90a.s", "../grammars"]


def told(*arguments: str) -> tuple[str, list[str], int]:
    command = [sys.executable, "-m", "kernelinfo", *PATHS, "--format", "jsonl", *arguments]
    done = subprocess.run(command, cwd=FIXTURES, capture_output=True, text=True, check=False)
    return done.stdout, sorted(done.stderr.splitlines()), done.returncode


@pytest.mark.parametrize("processes", ["2", "5"])
def test_the_answer_is_the_same(processes: str) -> None:
    alone = told("--jobs", "1")
    assert alone[2] == 2
    assert any(line.startswith("../grammars: no AMD GPU kernel") for line in alone[1])
    assert told("--jobs", processes) == alone


def test_what_is_read_is_told_by_one() -> None:
    alone = told("--jobs", "1", "--verbose")
    assert any(line.endswith("read as code-object for gfx90a") for line in alone[1])
    assert told("--jobs", "4", "--verbose") == alone


def test_standard_input_is_read_by_one() -> None:
    data = (FIXTURES / "container" / "libtwo.so").read_bytes()
    command = [sys.executable, "-m", "kernelinfo", "-", "--format", "jsonl", "--jobs"]
    alone, several = (
        subprocess.run([*command, jobs], input=data, capture_output=True, check=True).stdout
        for jobs in ("1", "4")
    )
    assert alone
    assert several == alone


def test_many_small_files_are_worth_several_processes(tmp_path: Path) -> None:
    code = (FIXTURES / "code_object" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.out").read_bytes()
    for number in range(600):
        (tmp_path / f"{number}.co").write_bytes(code)
    work = list(jobs.batches([str(tmp_path)]))
    assert sum(len(batch.files) for batch in work) == 600
    assert jobs.processes(work, 0) == min(2, os.cpu_count() or 1)
    assert jobs.processes(work[:3], 0) == 1
    assert jobs.processes(work[:3], 3) == 3


def spread(work: list[jobs.Batch]) -> str:
    """What three processes say of it."""

    def render(items: Iterable[Item]) -> Iterator[str]:
        return renderer("jsonl")(items, View())

    pieces = jobs.spread(work, Options(), render, 3)
    return "".join(piece for piece in pieces if isinstance(piece, str))


def test_files_that_come_while_others_are_read_move_none(tmp_path: Path) -> None:
    """Each process opens files by the same list, whenever it comes to them."""
    code = (FIXTURES / "code_object" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.out").read_bytes()
    for number in range(100, 200):
        (tmp_path / f"{number}.co").write_bytes(code)
    work = list(jobs.batches([str(tmp_path)]))
    (tmp_path / "000.co").write_bytes(code)
    found = [json.loads(line)["input"]["path"] for line in spread(work).splitlines()]
    names = [str(tmp_path / f"{number}.co") for number in range(100, 200)]
    assert found == [name for name in names for _ in range(4)]


def test_filters_count_over_all_processes() -> None:
    out, err, code = told("--jobs", "3", "-k", "nobody")
    assert (out, code) == ("", 2)
    assert any("none of its" in line and line.startswith("code_object") for line in err)
    assert told("--jobs", "1", "-k", "nobody") == (out, err, code)


def spread_while_killed(monkeypatch: pytest.MonkeyPatch, times: int) -> str:
    """What three processes say of which the second is killed so many times as it starts."""
    start, left = jobs._start, [times]

    def killed(*arguments: Any) -> Any:
        process = start(*arguments)
        if arguments[4] == 1 and left[0]:
            left[0] -= 1
            os.kill(process.id, signal.SIGKILL)
        return process

    monkeypatch.setattr(jobs, "_start", killed)
    return spread(list(jobs.batches([str(FIXTURES / path) for path in PATHS])))


def test_what_a_killed_process_leaves_another_takes_up(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = spread_while_killed(monkeypatch, 0)
    assert spread_while_killed(monkeypatch, 1) == whole
    with pytest.raises(KernelinfoError, match="ended early, twice; try again with --jobs 1"):
        spread_while_killed(monkeypatch, 2)


def test_a_process_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refused)
    with pytest.raises(
        KernelinfoError, match=r"no process .* started: .*; try again with --jobs 1"
    ):
        spread(list(jobs.batches([str(FIXTURES / "container")])))
