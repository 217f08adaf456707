"""Each fault of a code object has its own line."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from kernelinfo import LaunchError, Options, ReadError, Result, Selection, analyse, load
from tests.conftest import CORPUS, FIXTURES, needs_corpus
from tests.messages import refused


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
    wanted = f"launch-empty {size}"
    kernel = load(path).kernels[0]
    with refused(wanted, LaunchError):
        kernel.occupancy(workgroup_size=256, dynamic_lds=size)
    with refused(wanted, ReadError):
        load(path, Options(dynamic_lds_bytes=size))
    assert kernel.occupancy(workgroup_size=256, dynamic_lds=0).launchable


def test_without_positions_a_kernel_states_the_same_numbers() -> None:
    path = str(FIXTURES / "code_object" / "variety-clang22-gfx90a.co")
    whole, bare = (load(path, Options(positions=wanted)) for wanted in (True, False))
    assert bare.rows() == whole.rows()
    fact = whole[0].traits.facts[0]
    assert whole[0].offset(fact) is not None
    assert bare[0].offset(fact) is None
