"""Each command of the lines that are compared before and after a redesign answers in words."""

from __future__ import annotations

import shlex
from pathlib import Path

from .answers import list_first, prepare
from .test_golden import run


def test_no_command_prints_a_python_object(tmp_path: Path) -> None:
    """`run` looks for one in all that it returns."""
    prepare(tmp_path)
    for line in list_first():
        out, _, code = run(*shlex.split(line), folder=tmp_path)
        assert code == 0, line
        assert len(out.splitlines()) > 2, line
