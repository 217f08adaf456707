"""Several processes say what one says, in the same order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from kernelinfo.analysis import analyse, parallel
from kernelinfo.analysis.options import Options
from kernelinfo.errors import KernelinfoError
from kernelinfo.kernel import Item
from kernelinfo.render import View, renderer

from ..conftest import FIXTURES

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")

PATHS = ["container", "code_object", "broken", "assembly/odd-clang22-gfx90a.s", "../grammars"]
WHOLE_PATHS = [str(FIXTURES / path) for path in PATHS]


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
        subprocess.run([*command, parallel], input=data, capture_output=True, check=True).stdout
        for parallel in ("1", "4")
    )
    assert alone
    assert several == alone
    assert parallel.processes(list(parallel.batches(["-"])), 4) == 1


def test_many_small_files_are_worth_several_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (FIXTURES / "code_object" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.out").read_bytes()
    for number in range(600):
        (tmp_path / f"{number}.co").write_bytes(code)
    many = list(parallel.batches([str(tmp_path)]))
    assert sum(len(batch.files) for batch in many) == 600
    monkeypatch.setattr(parallel, "_cores", lambda: 64)
    assert parallel.processes(many, 0) == 2
    assert parallel.processes(many[:3], 0) == 1
    assert parallel.processes(many[:3], 3) == 3
    monkeypatch.setattr(parallel, "_cores", lambda: 1)
    assert parallel.processes(many, 0) == 1


def render(items: Iterable[Item]) -> Iterator[str]:
    return renderer("jsonl")(items, View())


def spread(batches: list[parallel.Batch]) -> str:
    """What three processes say of them."""
    pieces = parallel.spread(batches, Options(), render, 3)
    return "".join(piece for piece in pieces if isinstance(piece, str))


def test_files_that_come_while_others_are_read_move_none(tmp_path: Path) -> None:
    """Each process opens files by the same list, whenever it comes to them."""
    code = (FIXTURES / "code_object" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.out").read_bytes()
    for number in range(100, 200):
        (tmp_path / f"{number}.co").write_bytes(code)
    found = list(parallel.batches([str(tmp_path)]))
    (tmp_path / "000.co").write_bytes(code)
    paths = [json.loads(line)["Path"] for line in spread(found).splitlines()]
    names = [str(tmp_path / f"{number}.co") for number in range(100, 200)]
    assert paths == [name for name in names for _ in range(4)]


def test_filters_count_over_all_processes() -> None:
    out, err, code = told("--jobs", "3", "-k", "nobody")
    assert (out, code) == ("", 2)
    assert any("none of its" in line and line.startswith("code_object") for line in err)
    assert told("--jobs", "1", "-k", "nobody") == (out, err, code)


def work() -> list[parallel.Batch]:
    return list(parallel.batches(WHOLE_PATHS))


@pytest.fixture(params=["whole files", "three kernels of a code object at once"])
def granularity(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param != "whole files":
        monkeypatch.setattr(parallel, "_SHARED_BYTES", 0)
        monkeypatch.setattr(parallel, "_MOST_FILES", 1)
        monkeypatch.setattr(parallel, "_MOST_ITEMS", 3)


@pytest.mark.usefixtures("granularity")
def test_several_processes_say_what_one_says() -> None:
    assert spread(work()) == "".join(render(analyse(WHOLE_PATHS, Options())))


@pytest.mark.usefixtures("granularity")
@pytest.mark.parametrize("taken", [0, 1, 5, 20])
def test_what_a_killed_process_leaves_another_takes_up(
    monkeypatch: pytest.MonkeyPatch, taken: int
) -> None:
    """It is killed when so many shares are taken, maybe with more of them in its pipe."""
    whole = spread(work())
    start, take = parallel._start, parallel._next
    ids: dict[object, int] = {}
    turns = count()

    def started(*arguments: Any) -> Any:
        process = start(*arguments)
        ids[process.pipe] = process.id
        return process

    def killed(pipe: Any) -> Any:
        if next(turns) == taken:
            os.kill(ids[pipe], signal.SIGKILL)
        return take(pipe)

    monkeypatch.setattr(parallel, "_start", started)
    monkeypatch.setattr(parallel, "_next", killed)
    assert spread(work()) == whole


def test_a_process_that_is_killed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    start = parallel._start

    def killed(*arguments: Any) -> Any:
        process = start(*arguments)
        os.kill(process.id, signal.SIGKILL)
        return process

    monkeypatch.setattr(parallel, "_start", killed)
    with pytest.raises(KernelinfoError, match="ended early, twice; try again with --jobs 1"):
        spread(work())


def test_a_process_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refused)
    with pytest.raises(
        KernelinfoError, match=r"no process .* started: .*; try again with --jobs 1"
    ):
        spread(work())
