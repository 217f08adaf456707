"""Each fault of a code object has its own line."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

import kernelinfo.analysis.kernels
from kernelinfo import Options, Problem, Result, Selection
from kernelinfo.analysis import Analysis, analyse, load
from kernelinfo.analysis.inputs import PathCounts
from kernelinfo.errors import LaunchError, ReadError
from kernelinfo.reading.blob import Blob, Missing
from kernelinfo.reading.budget import FileBudget
from kernelinfo.reading.data import Data
from kernelinfo.reading.facts import Features, KernelFacts, Module
from tests.conftest import CORPUS, FIXTURES, needs_corpus


def test_an_unknown_target_under_another_id_is_two_problems(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = Module("code-object", "gfx9999", Features(), None, (), (KernelFacts("k", ()),))
    monkeypatch.setattr(kernelinfo.analysis.kernels, "modules", lambda *_: iter([module]))
    blob = Blob(
        "library.so",
        Data.of(b""),
        FileBudget(0),
        member="hipv4-amdgcn-amd-amdhsa--gfx90a",
    )
    items = list(Analysis(Options()).analyse_blob(blob, PathCounts("library.so")))
    messages = [item.message for item in items if isinstance(item, Problem)]
    assert len(messages) == 2
    assert "unknown target 'gfx9999'" in messages[0]
    assert "its id says gfx90a, the code says gfx9999" in messages[1]


def test_of_a_directory_one_file_at_a_time_is_held(tmp_path: Path) -> None:
    padding = bytes(4 << 20)
    for number in range(16):
        whole = (FIXTURES / "container" / "occupancy").read_bytes() + padding
        (tmp_path / f"{number}.out").write_bytes(whole)
    tracemalloc.start()
    try:
        kernels = sum(1 for _ in analyse([str(tmp_path)], Options()))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kernels == 64
    assert peak < 3 * len(whole)


def test_host_files_without_archives_are_counted_over_all_processes() -> None:
    counts, more = PathCounts("lib"), PathCounts("lib")
    for each, name in ((counts, "liba.so"), (more, "libb.so"), (more, "libc.so")):
        each.missing.append(Missing(name, None, "x.kpack", "here"))
    counts.add(more)
    [problem] = counts.summaries()
    assert isinstance(problem, Problem)
    assert problem.path == "liba.so"
    assert problem.message.endswith("(and for 2 more)")


@pytest.mark.parametrize(
    "folder", [FIXTURES / "assembly", pytest.param(CORPUS / "core", marks=needs_corpus)]
)
def test_rules_find_the_same_where_instructions_are_read_for_them_alone(folder: Path) -> None:
    paths = [str(path) for path in sorted(folder.glob("*.s"))]
    options = Options(selection=Selection(select=("KI",)))
    counted, asked = (
        [item for item in analyse(paths, one) if isinstance(item, Result)]
        for one in (options, options._replace(instructions=False))
    )
    assert [result.findings for result in asked] == [result.findings for result in counted]
    without, fewer = (
        sum(result.kernel.code is None for result in results) for results in (asked, counted)
    )
    assert fewer < without < len(asked)


@pytest.mark.parametrize("size", [-1, -4096])
def test_lds_below_0_at_launch_is_refused(size: int) -> None:
    path = FIXTURES / "code_object" / "tiny-lines-clang22-gfx90a.co"
    wanted = f"{size} bytes of dynamic LDS: give at least 1 workitem and 0 bytes"
    kernel = load(path).kernels[0]
    with pytest.raises(LaunchError, match=wanted):
        kernel.occupancy(workgroup_size=256, dynamic_lds=size)
    with pytest.raises(ReadError, match=wanted):
        load(path, Options(dynamic_lds_bytes=size))
    assert kernel.occupancy(workgroup_size=256, dynamic_lds=0).launchable


def test_without_positions_a_kernel_states_the_same_numbers() -> None:
    path = str(FIXTURES / "code_object" / "variety-clang22-gfx90a.co")
    whole, bare = (load(path, Options(positions=wanted)) for wanted in (True, False))
    assert bare.rows() == whole.rows()
    fact = whole[0].traits.facts[0]
    assert whole[0].offset(fact) is not None
    assert bare[0].offset(fact) is None
