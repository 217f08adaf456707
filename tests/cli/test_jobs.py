"""Several processes say what one says, in the same order."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ..conftest import FIXTURES

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")

PATHS = ["container", "code_object", "broken", "assembly/odd-clang22-gfx90a.s", "../grammars"]


def told(*arguments: str) -> tuple[str, list[str], int]:
    command = [sys.executable, "-m", "kernelinfo", *PATHS, "--format", "jsonl", *arguments]
    done = subprocess.run(command, cwd=FIXTURES, capture_output=True, text=True, check=False)
    return done.stdout, sorted(done.stderr.splitlines()), done.returncode


@pytest.mark.parametrize("jobs", ["2", "5"])
def test_the_answer_is_the_same(jobs: str) -> None:
    alone = told("--jobs", "1")
    assert alone[2] == 2
    assert any(line.startswith("../grammars: no AMD GPU kernel") for line in alone[1])
    assert told("--jobs", jobs) == alone


def test_filters_count_over_all_processes() -> None:
    out, err, code = told("--jobs", "3", "-k", "nobody")
    assert (out, code) == ("", 2)
    assert any("none of its" in line and line.startswith("code_object") for line in err)
    assert told("--jobs", "1", "-k", "nobody") == (out, err, code)
