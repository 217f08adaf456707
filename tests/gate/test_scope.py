"""Kernels of a baseline that a run covers: by paths, folders, globs, names and targets."""

from __future__ import annotations

from pathlib import Path

from kernelinfo import Options
from kernelinfo.gate import Scope, pinnable

from .builds import Numbers, result


def holds(scope: Scope, path: str = "build/a.s") -> bool:
    (kernel,) = pinnable([result(Numbers("k", path=path))], Path()).kernels
    return scope.holds(kernel, Path())


def test_paths() -> None:
    for given, path, covered in (
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
    ):
        assert holds(Scope(paths=given), path) == covered, (given, path)


def test_names_and_targets() -> None:
    for options, covered in (
        (Options(kernels=("k*",)), True),
        (Options(kernels=("other",)), False),
        (Options(kernels=("other", "k*")), True),
        (Options(exclude=("k*",)), False),
        (Options(exclude=("other",)), True),
        (Options(kernels=("k*",), exclude=("k*",)), False),
        (Options(targets=("gfx90a",)), True),
        (Options(targets=("gfx942",)), False),
        (Options(kernels=("k*",), targets=("gfx942",)), False),
    ):
        assert holds(Scope(options=options)) == covered, options


def test_what_a_run_covers_in_words() -> None:
    for paths, text in (
        (("a", "b"), "a, b, -k x"),
        (("a", "b", "c"), "3 paths, -k x"),
        ((), "-k x"),
    ):
        scope = Scope(paths=tuple(paths), options=Options(kernels=("x",)))
        assert (scope.description, scope.whole) == (text, False)
    assert Scope().whole
