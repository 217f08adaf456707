"""Paths from the root can be read from a folder that was deleted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import FIXTURES

OBJECT = FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co"


COMMANDS = [[], ["report", "--arch", "gfx90a"], ["check"], ["diff", str(OBJECT)], ["pressure"]]


@pytest.mark.parametrize("arguments", COMMANDS)
def test_the_current_folder_is_gone(arguments: list[str], tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = [sys.executable, "-P", "-m", "kernelinfo", *arguments, str(OBJECT)]
    script = 'cd "$0" && rmdir "$0" && exec "$@"'
    run = subprocess.run(
        ["sh", "-c", script, str(gone), *command], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "kernel" in run.stdout
