"""Demangling: C++ names, names that are none, and names made to take all memory."""

from __future__ import annotations

import os

import pytest

from kernelinfo.kernel import demangler
from kernelinfo.kernel.names import demangle


def doubling(times: int) -> str:
    """f(A<int, int>, A<A<int, int>, A<int, int> >, …): each parameter twice the one before."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return "_Z1f1AIiiE" + "".join(
        f"S_IS{digits[n]}_S{digits[n]}_E" for n in range(min(times, len(digits)))
    )


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_Z3fooIiEvT_", "void foo<int>(int)"),
        ("main", "main"),
        ("_Z", "_Z"),
        ("_Z\udc80", "_Z\udc80"),
        ("_Z" + "N" * 2000, "_Z" + "N" * 2000),
    ],
)
def test_names(symbol: str, name: str) -> None:
    assert demangle(symbol) == name


def test_names_that_repeat_themselves_are_names() -> None:
    assert demangle(doubling(3)).startswith("f(A<int, int>, A<A<int, int>, A<int, int>>, ")
    many = "_Z1f1AIiiE" + "S0_" * 60
    assert demangle(many) == "f(A<int, int>" + ", A<int, int>" * 60 + ")"


def test_names_that_explode_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demangler, "_lost", [])
    for times in range(18, 36):
        assert demangle(doubling(times)) == doubling(times)
    assert len(demangler._lost) == 3  # then none is tried any more


def test_a_fork_has_its_own_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demangler, "_lost", [])
    demangle("_Z1f1AIiiE" + "S0_" * 61)
    if not os.fork():
        demangle("_Z1f1AIiiE" + "S0_" * 62)
        os._exit(0)
    assert os.wait()[1] == 0
    assert demangle("_Z1f1AIiiE" + "S0_" * 63).count("A<int, int>") == 64
