"""Demangling: C++ names, names that are none, and names made to take all memory."""

from __future__ import annotations

from pathlib import Path

import kernelinfo

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def doubling(times: int) -> str:
    """f(A<int, int>, A<A<int, int>, A<int, int> >, …): each parameter twice the one before."""
    return "_Z1f1AIiiE" + "".join(f"S_IS{digit}_S{digit}_E" for digit in _DIGITS[:times])


def names(folder: Path, *symbols: str) -> list[str]:
    """Names of kernels with these symbols."""
    text = "".join(f".amdhsa_kernel {one}\n.end_amdhsa_kernel\n" for one in symbols)
    (folder / "k.s").write_text(f'.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\n{text}')
    return [kernel.name for kernel in kernelinfo.load(folder / "k.s").kernels]


def test_names(tmp_path: Path) -> None:
    expected = {
        "_Z3fooIiEvT_": "void foo<int>(int)",
        "_Z4makev.intern.3adb6e9e": "make() (.intern.3adb6e9e)",
        "main": "main",
        "_Z": "_Z",
        "_Z" + "N" * 2000: "_Z" + "N" * 2000,
        doubling(2): "f(A<int, int>, A<A<int, int>, A<int, int>>, "
        "A<A<A<int, int>, A<int, int>>, A<A<int, int>, A<int, int>>>)",
        "_Z1f1AIiiE" + "S0_" * 60: "f(A<int, int>" + ", A<int, int>" * 60 + ")",
    }
    assert names(tmp_path, *expected) == [*expected.values()]


def test_names_that_explode_stay_as_they_are(tmp_path: Path) -> None:
    symbols = [doubling(times) for times in range(18, 24)]
    assert names(tmp_path, *symbols) == symbols
