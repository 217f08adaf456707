"""Kernels of a baseline that a run covers: by paths, folders, globs, names and targets."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelinfo.analysis.options import Options
from kernelinfo.compare.summary import build
from kernelinfo.gate.scope import Scope

from .builds import Numbers, result


def holds(scope: Scope, path: str = "build/a.s") -> bool:
    (kernel,) = build([result(Numbers("k", path=path))], lambda code: code.path).kernels
    return scope.holds(kernel, Path())


@pytest.mark.parametrize(
    ("given", "path", "covered"),
    [
        ((), "build/a.s", True),
        (("build/a.s",), "build/a.s", True),
        (("build/a.s",), "build/b.s", False),
        (("build",), "build/sub/a.s", True),
        (("build",), "builder/a.s", False),
        (("build/*.s",), "build/a.s", True),
        (("build/*.s",), "build/a.o", False),
        (("build/*.s",), "other/a.s", False),
        (("build/**/*.s",), "build/x/y/a.s", True),
        (("other", "build/*.s"), "build/a.s", True),
    ],
)
def test_paths(given: tuple[str, ...], path: str, covered: bool) -> None:
    assert holds(Scope(paths=given), path) == covered


@pytest.mark.parametrize(
    ("scope", "covered"),
    [
        (Scope(options=Options(kernels=("k*",))), True),
        (Scope(options=Options(kernels=("other",))), False),
        (Scope(options=Options(kernels=("other", "k*"))), True),
        (Scope(options=Options(exclude=("k*",))), False),
        (Scope(options=Options(exclude=("other",))), True),
        (Scope(options=Options(kernels=("k*",), exclude=("k*",))), False),
        (Scope(options=Options(targets=("gfx90a",))), True),
        (Scope(options=Options(targets=("gfx942",))), False),
        (Scope(options=Options(kernels=("k*",), targets=("gfx942",))), False),
    ],
)
def test_names_and_targets(scope: Scope, covered: bool) -> None:
    assert holds(scope) == covered


@pytest.mark.parametrize(
    ("paths", "text"),
    [(("a", "b"), "a, b, -k x"), (("a", "b", "c"), "3 paths, -k x"), ((), "-k x")],
)
def test_what_a_run_covers_in_words(paths: tuple[str, ...], text: str) -> None:
    scope = Scope(paths=paths, options=Options(kernels=("x",)))
    assert (scope.description, scope.whole) == (text, False)
    assert Scope().whole
