"""A command imports no more than it uses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import FIXTURES

TEXT = str(FIXTURES / "assembly" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s")
OBJECT = str(FIXTURES / "code_object" / "variety-clang22-gfx942.co")


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        ((OBJECT,), {"typer", "lark", "rich"}),
        ((TEXT,), {"typer", "lark", "elftools", "msgpack", "dataclasses", "json", "pathlib"}),
        (("--version",), {"typer", "kernelinfo.analysis", "kernelinfo.model"}),
        (("diff", TEXT, TEXT), {"elftools", "lark", "msgpack", "rich"}),
        (("limits", "gfx942"), {"elftools", "lark", "msgpack", "rich"}),
    ],
    ids=["object", "text", "version", "diff", "limits"],
)
def test_a_command_imports_no_more_than_it_uses(
    arguments: tuple[str, ...], absent: set[str], tmp_path: Path
) -> None:
    if TEXT in arguments and not list((FIXTURES.parent / "grammars").glob("*.tables")):
        pytest.skip("only an install compiles the grammars, and none was made of this tree")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "kernelinfo"\n[tool.other]\n')
    code = (
        "import sys\nfrom kernelinfo.cli import app\ntry:\n    app()\n"
        "finally:\n    print(*sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    imported = set(done.stderr.split())
    assert "kernelinfo.cli" in imported
    assert not absent & imported
