"""The hostile collection, one by one: what its index demands of a sound tool."""

from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from ..fuzz.promise import BUG, SECONDS, is_harmless
from ..test_golden import run

HOSTILE = Path(__file__).parents[3] / "shared" / "hostile"
INDEX = HOSTILE / "INDEX.csv"
pytestmark = pytest.mark.skipif(not INDEX.exists(), reason="the hostile collection is not here")


class Expected(NamedTuple):
    """The required answer of the command line for one file."""

    exit: int
    kernels: int
    says: str
    """Part of standard error; empty where there is nothing to say."""


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text("utf-8").splitlines())) if path.exists() else []


EXPECTED = {
    row["file"]: Expected(int(row["exit"]), int(row["kernels"]), row["says"])
    for row in rows(Path(__file__).with_name("hostile.csv"))
}
DEMANDS = {row["file"]: row["what a sound tool must do"] for row in rows(INDEX)}
NOTES = (
    "found by its header",
    "is not linked yet",
    "reports functions but no kernel",
    "several members have this name",
)
"""Lines on standard error that are no problems."""


def test_every_file_is_judged() -> None:
    assert EXPECTED.keys() == DEMANDS.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_answer(name: str) -> None:
    expected = EXPECTED[name]
    if DEMANDS[name].startswith("clear one-line error"):
        assert expected.exit == 2
        assert expected.says
    start = time.process_time()
    out, err, code = run(name, "--format", "csv", folder=HOSTILE)
    assert time.process_time() - start < SECONDS
    assert (code, len(list(csv.reader(out.splitlines()))) - 1) == (expected.exit, expected.kernels)
    assert expected.says in err
    assert BUG not in err
    problems = [line for line in err.splitlines() if not any(note in line for note in NOTES)]
    assert bool(problems) == (code == 2)
    assert all(line.startswith(name) for line in err.splitlines())
    assert is_harmless(out + err)


@pytest.mark.parametrize("format", ["text", "json", "jsonl"])
def test_names_act_on_no_format(format: str) -> None:
    for name in [name for name in EXPECTED if "/name-" in name]:
        out, err, _ = run(name, "--format", format, folder=HOSTILE)
        assert is_harmless(out + err), name


def test_what_no_gpu_can_launch_fails_a_check() -> None:
    name = "more/aks2/lds-huge.aks2"
    out, _, code = run("check", name, folder=HOSTILE)
    assert code == 1
    assert out.count("error KI001") == out.count("error KI002") == EXPECTED[name].kernels
