"""Where no demangler is installed, a pattern that only a C++ name could match is no silent miss."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelinfo.kernel.names import demangle, matches, matching

from ..conftest import FIXTURES
from ..test_golden import run

SPILLS = FIXTURES / "assembly" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"
"""Its kernels are `_Z9vgprboundiPd` and three more."""


@pytest.fixture(autouse=True)
def _no_demangler(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("kernelinfo.kernel.names._demangler", lambda: None)
    for cached in (demangle, matching):
        cached.cache_clear()
    yield
    for cached in (demangle, matching):
        cached.cache_clear()


def checked(folder: Path, text: str, *words: str) -> tuple[str, str, int]:
    (folder / "kernelinfo.toml").write_text(f'paths = ["{SPILLS}"]\nfail-on = "error"\n{text}')
    return run("check", *words, folder=folder)


BUDGET = '[[budget]]\nkernel = "{}"\nwaves = 9\n'
SUPPRESSION = '[[suppress]]\nrule = "KI106"\nkernel = "{}"\nreason = "old"\n'
SIZE = '[workgroup-size]\n"{}" = 256\n'


@pytest.mark.parametrize("setting", [BUDGET, SUPPRESSION, SIZE])
@pytest.mark.parametrize("pattern", ["sgprbound", "sgprbound<*>", "sgpr*", "sgprbound(*)"])
def test_a_setting_ends_the_check(tmp_path: Path, setting: str, pattern: str) -> None:
    _, err, code = checked(tmp_path, setting.format(pattern))
    assert code == 2
    line = err.splitlines()[-1]
    assert line.startswith(f"kernelinfo: {pattern}: may be the C++ name of _Z9sgprboundiPd, which")
    assert "cannot be demangled here" in line


def test_a_mangled_name_is_a_name(tmp_path: Path) -> None:
    out, _, code = checked(tmp_path, BUDGET.format("_Z9vgprboundiPd"))
    assert (code, "KI206" in out) == (1, True)
    assert checked(tmp_path, SIZE.format("_Z9vgpr*"))[2] == 0


@pytest.mark.parametrize("option", ["-k", "--exclude"])
def test_options_that_choose_kernels(option: str) -> None:
    for command in ("report", "check", "diff"):
        paths = [str(SPILLS)] * (2 if command == "diff" else 1)
        _, err, code = run(command, *paths, option, "vgprbound<*>")
        assert (code, "cannot be demangled here" in err) == (2, True)


def test_a_kernel_that_is_named() -> None:
    for command in ("explain", "pressure"):
        _, err, code = run(command, str(SPILLS), "vgprbound")
        assert (code, "cannot be demangled here" in err) == (2, True)
        assert run(command, str(SPILLS), "_Z9vgprboundiPd")[2] == 0


@pytest.mark.parametrize(
    ("pattern", "symbol"),
    [
        *(("gemm", one) for one in ("gemm", "_Z10gemm_splitv", "_Z5sgemmv", "_Z5saxpyv")),
        *(("gemm<*>", one) for one in ("gemm_float", "_Z7my_gemmIfEvv", "_Z5saxpyIfEvv")),
        *((one, "_Z5saxpyPf") for one in ("gemm*", "*gemm", "a::saxpy", "re:gemm<", "void gemm(*")),
    ],
)
def test_what_cannot_be_the_name_is_none(pattern: str, symbol: str) -> None:
    assert matches(pattern, symbol, symbol) == (pattern == symbol)


@pytest.mark.parametrize(
    ("pattern", "symbol"),
    [
        ("gemm<float>", "_Z4gemmIfEvv"),
        ("void gemm<unsigned int>*", "_Z4gemmIjEvv"),
        ("blas::gemm<*>", "_ZN4blas4gemmIfEEvv"),
        ("gemm", "_ZN4blas4gemmIfEEvv"),
        ("(anonymous namespace)::gemm", "_ZN12_GLOBAL__N_14gemmEv"),
        ("g?mm<*", "_Z4gemmIfEvv"),
        ("*mm", "_Z4gemmv"),
        ("ge[m]m<*>", "_Z4gemmIfEvv"),
        ("re:^gemm<", "_Z4gemmIfEvv"),
        ("re:gemm<float|axpy<", "_Z4axpyIfEvv"),
        ("re:(gemm|axpy)<", "_Z4axpyIfEvv"),
        ("re:gemm<flo", "_Z4gemmIfEvv"),
        ("re:gemm<128u", "_Z4gemmILj128EEvv"),
        ("*128u*", "_Z4gemmILj128EEvv"),
        ("re:gemm<true>", "_Z4gemmILb1EEvv"),
        ("opera*", "_ZN4gemmclEv"),
    ],
)
def test_what_may_be_the_name_is_refused(pattern: str, symbol: str) -> None:
    with pytest.raises(Exception, match="cannot be demangled here"):
        matches(pattern, symbol, symbol)
