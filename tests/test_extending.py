"""The recipe of `kernelinfo explain extending` for an output format, done on a copy of the tree."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import FIXTURES

ROOT = FIXTURES.parent
TEXT = FIXTURES / "assembly" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"

SYMBOLS = '''
"""The symbols, one a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kernelinfo.kernel import Item, Result
from kernelinfo.render import View


def render(items: Iterable[Item], view: View) -> Iterator[str]:
    for item in items:
        if isinstance(item, Result):
            yield f"{item.kernel.symbol}\\n"
'''


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with the format `symbols`: its module, and its name in `FORMATS`."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("kernelinfo", "grammars"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    render = folder / "kernelinfo" / "render"
    (render / "symbols.py").write_text(SYMBOLS)
    listing = render / "__init__.py"
    text = listing.read_text()
    before, names = '\nFORMATS = ("text"', '\nFORMATS = ("text", "symbols"'
    assert text.count(before) == 1
    listing.write_text(text.replace(before, names))
    (folder / "build").mkdir()
    shutil.copy(TEXT, folder / "build" / "a.s")
    return folder


OPTIONS = [[], ["-q"], ["--names", "short"], ["--top", "2"], ["-v"], ["-k", "*"]]


@pytest.mark.parametrize("path", ["build/a.s", "build"])
@pytest.mark.parametrize(
    ("command", "more"),
    [
        *(("report", more) for more in [*OPTIONS, ["--jobs", "2"], ["--group"], ["--unique"]]),
        *(("check", more) for more in OPTIONS),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_new_format_is_written(command: str, path: str, more: list[str], tree: Path) -> None:
    arguments = [command, path, "--format", "symbols", *more]
    run = [sys.executable, "-m", "kernelinfo", *arguments]
    done = subprocess.run(run, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == (1 if command == "check" else 0), done.stderr
    symbols = done.stdout.splitlines()
    assert [name[:2] for name in symbols] == ["_Z"] * 4


def test_a_format_that_is_not_in_the_list_is_refused(tree: Path) -> None:
    for arguments in (["report", "build"], ["report", "build", "-q"], ["check", "build"]):
        run = [sys.executable, "-m", "kernelinfo", *arguments, "--format", "names"]
        done = subprocess.run(run, cwd=tree, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "symbols" in done.stderr
