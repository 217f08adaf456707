"""A saved report is the build that it was made of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kernelinfo import KernelSummary, ReadError, diff
from tests.conftest import FIXTURES
from tests.test_golden import INPUTS, run


def pairs_or_problem(old: Path, new: Path) -> tuple[int, str]:
    try:
        return len(diff(old, new).pairs), ""
    except ReadError as error:
        return 0, str(error).removeprefix(f"{FIXTURES}/")


WHOLE = [name for name in INPUTS if not name.startswith("broken/")]


def saved(path: str, folder: Path, *options: str, format: str = "json") -> Path:
    file = folder / f"saved.{format}"
    file.write_text(run(path, "--format", format, *options, folder=FIXTURES)[0], "utf-8")
    return file


def with_source(kernels: Sequence[KernelSummary]) -> list[tuple[KernelSummary, object]]:
    """The summaries with their source lines, which equality leaves out."""
    return [(one, one.source) for one in kernels]


def test_a_saved_report_is_the_same_build(tmp_path: Path) -> None:
    """Of each fixture, whose problems are those of the report, too."""
    for name in WHOLE:
        file = saved(name, tmp_path)
        kernels, problem = pairs_or_problem(FIXTURES / name, file)
        assert pairs_or_problem(file, file) == (kernels, problem), name
        if problem:
            continue
        same = diff(file, FIXTURES / name)
        old, new = zip(*((pair.old, pair.new) for pair in same.pairs), strict=True)
        assert with_source(old) == with_source(new), name
        assert len(same.pairs) == kernels
        assert (same.gone, same.new) == ((), ())
        assert same.old_compilers == same.new_compilers


def test_saved_rows_are_the_same_build(tmp_path: Path) -> None:
    for name in WHOLE[::4]:
        for format in ("jsonl", "csv"):
            path = saved(name, tmp_path, "--names", "short", format=format)
            found = diff(path, FIXTURES / name)
            old, new = [pair.old for pair in found.pairs], [pair.new for pair in found.pairs]
            assert with_source(old) == with_source(new), name
            assert {pair.effect for pair in found.pairs} == {"same"}
            assert (found.gone, found.new) == ((), ())
            assert found.old_compilers == found.new_compilers


def test_a_saved_folder_lines_up_with_the_folder(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    varied = [name for name in WHOLE if name.startswith("assembly/variety-clang22")]
    for number, name in enumerate(varied):
        place = tmp_path / "build" / str(number % 2)
        place.mkdir(exist_ok=True)
        (place / Path(name).name).symlink_to(FIXTURES / name)
    path = saved(str(tmp_path / "build"), tmp_path)
    for build in (tmp_path / "build", tmp_path / "build" / "*" / "*.s"):
        found = diff(path, build)
        assert all(pair.old == pair.new for pair in found.pairs)
        assert (found.gone, found.new) == ((), ())
        assert found.pairs
