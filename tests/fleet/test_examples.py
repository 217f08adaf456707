"""The examples of the help run as they are written; those of other machines are read as words."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from ..cli.test_help import examples
from ..conftest import require
from ..test_golden import run
from .nights import add, kernels
from .scans import OBJECTS

require("duckdb")


def own(command: str) -> list[str]:
    """The examples that need no other machine."""
    return [line for line in examples(command) if "://" not in line]


@pytest.mark.parametrize("line", own("scan") + own("trend"))
def test_examples_run(line: str, tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    shutil.copy(OBJECTS / "handwritten.co", tmp_path / "build")
    gemm = kernels()[0] | {"Symbol": "gemm", "Kernel_Name": "gemm"}
    for build in ("7.1", "7.2", "2026-11-17", "2026-11-18"):
        add(tmp_path / "fleet", build, [*kernels(), gemm])
    out, err, code = run(*shlex.split(line)[1:], folder=tmp_path)
    assert (err, code) == ("", 0)
    assert out
