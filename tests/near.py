"""The test files that reach what was changed since the last commit: `pytest --near`."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent


def list_near_files() -> set[Path]:
    """Test files that were changed, that import a changed module, themselves or by a helper of the
    tests, or, where none does, those of the changed module's room."""
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    near = set[Path]()
    for path in list_changed_files():
        module = _module(path)
        importers = {test for test in tests if test == path or module in reached_modules(test)}
        rooms = path.relative_to(ROOT).parts[1:2]
        near |= importers or {test for test in tests if test.parent.name in rooms}
    return near


def list_changed_files() -> list[Path]:
    """Python files that differ from the last commit, and those that git does not know yet."""
    questions = (
        ("diff", "--name-only", "HEAD"),
        ("ls-files", "--others", "--exclude-standard"),
    )
    answers = [
        subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for words in questions
    ]
    return [ROOT / name for text in answers for name in text.splitlines() if name.endswith(".py")]


@cache
def reached_modules(path: Path) -> frozenset[str]:
    """Modules that a file of the tests imports, itself and by other files of the tests."""
    modules = set(_imports(path))
    for name in [name for name in modules if name.startswith("tests.")]:
        helper = ROOT.joinpath(*name.split(".")).with_suffix(".py")
        if helper.exists() and helper != path:
            modules |= reached_modules(helper)
    return frozenset(modules)


def _imports(path: Path) -> Iterator[str]:
    """Names of imported modules; of `from a import b` both `a` and `a.b`."""
    package = _module(path).split(".")
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package[: len(package) - node.level] if node.level else []
            module = ".".join([*parts, *filter(None, [node.module])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
