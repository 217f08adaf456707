"""The first weeks of a gate in an old repository: each screen says what to do next."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ..messages import says
from .forty_libraries import Repository, screens

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.needs("clang-19", "clang-22", "lld-19", "lld-22"),
]
UPDATE = "--update-baseline"


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[str, int]]:
    """Number of the step -> screen and exit code."""
    repository = Repository(tmp_path_factory.mktemp("forty"))
    return {
        title.partition(".")[0]: (screen, code) for title, _, screen, code in screens(repository)
    }


def test_the_beginning(seen: Mapping[str, tuple[str, int]]) -> None:
    screen, code = seen["1"]
    assert code == 0
    assert "kernelinfo.toml: written for 360 kernels" in screen
    assert f"`kernelinfo check {UPDATE}` accepts what there is today" in screen
    screen, code = seen["2a"]
    assert code == 2
    assert says(screen, f"baseline-missing {UPDATE}")


def test_acceptance(seen: Mapping[str, tuple[str, int]]) -> None:
    screen, code = seen["2b"]
    assert code == 0
    assert "accepted KI101 vgpr-spill of fft_reduce(float*, float const*, int) (gfx90a)" in screen
    assert "360 kernels pinned, 360 new" in screen
    assert "findings accepted (64 KI101, 64 KI302)" in screen
    assert "commit kernelinfo.baseline.json; `kernelinfo check` then fails on what is new" in screen
    screen, code = seen["2c"]
    assert code == 0
    assert "--strict lists and judges them" in screen
    assert "passed" in screen.splitlines()[-1]
    assert "128 accepted" in screen.splitlines()[-1]


def test_a_regression(seen: Mapping[str, tuple[str, int]]) -> None:
    screen, code = seen["3"]
    assert code == 1
    first = screen.splitlines()[0]
    assert first.startswith("build/libspmv04.so: error KI501 spmv_stencil(")
    assert says(first, "waves-lost waves-step regression-mend 3 waves … 4 → 1 … 270 VGPRs … 128")
    assert UPDATE in first
    assert "sort_reduce" not in screen, "accepted"


def test_an_improvement(seen: Mapping[str, tuple[str, int]]) -> None:
    screen, code = seen["4a"]
    assert code == 0
    assert "error" not in screen
    assert says(screen, "number-improved baseline-tighten 457 → 0 VGPRs spilled")
    assert "findings accepted (40 KI101, 40 KI302)" in seen["4b"][0]


def test_another_compiler(seen: Mapping[str, tuple[str, int]]) -> None:
    screen, code = seen["5a"]
    first = screen.splitlines()[0]
    assert "note KI507 toolchain: built with" in first
    assert says(first, f"toolchain-changed toolchain-moved toolchain-mend 360 kernels … {UPDATE}")
    assert code == 1, "spills of gemm_reduce"
    assert "error KI501 gemm_reduce(" in screen
    assert seen["5b"][1] == 0


def test_a_renamed_library(seen: Mapping[str, tuple[str, int]]) -> None:
    screen, code = seen["6a"]
    assert code == 0
    first = screen.splitlines()[0]
    assert says(first, "file-renamed 9 kernels … build/libfft01.so … build/libfourier.so")
    assert "0 new, 9 changed, 0 dropped" in seen["6b"][0]


def test_a_removed_library(seen: Mapping[str, tuple[str, int]]) -> None:
    screen, code = seen["7a"]
    assert code == 2
    first = screen.splitlines()[0]
    assert says(first, f"kernels-vanished error KI502 build/libgemm02.so … 9 … {UPDATE}")
    assert screen.count("error KI502") == 1
    assert "351 kernels pinned, 0 new, 0 changed, 9 dropped" in seen["7b"][0]
    assert seen["7c"][1] == 0
