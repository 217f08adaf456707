"""Files of real compilers that were once read wrongly, each by a fixture of the same kind."""

from __future__ import annotations

import pytest

import kernelinfo
from kernelinfo.kernel import Kernel
from tests.conftest import FIXTURES


def kernels(name: str) -> dict[str, Kernel]:
    """By symbol; raises where anything of the fixture was not read."""
    return {kernel.symbol: kernel for kernel in kernelinfo.load(FIXTURES / name).kernels}


@pytest.mark.parametrize("compiler", ["clang19", "clang22"])
def test_names_that_yaml_takes_for_another_type(compiler: str) -> None:
    text = kernels(f"assembly/words-{compiler}-gfx90a.s")
    linked = kernels(f"code_object/words-{compiler}-gfx90a.co")
    names = {"nan", "inf", "n", "yes", "0x10", "1e5", "2001-99-99", "1_000"}
    assert text.keys() == linked.keys() == names
    for symbol, kernel in text.items():
        assert kernel.spills == linked[symbol].spills == (0, 0)
        assert kernel.workgroup == linked[symbol].workgroup == (1024, None)
        assert kernel.used == linked[symbol].used
