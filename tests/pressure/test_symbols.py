"""Functions of a code object that share an address, are empty, or lack a final `s_endpgm`."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..test_golden import run
from .compiled import compiled
from .disassembler import needed
from .test_invariants import peaks

pytestmark = [pytest.mark.nightly, needed]

_SOURCE = """
#define __global__ __attribute__((global))
extern "C" {
__global__ void never(int *p) { __builtin_unreachable(); }
__global__ void forever(int *p) { for (;;) __builtin_amdgcn_s_sleep(1); }
__global__ void trap(int *p) { if (*p) __builtin_trap(); p[1] = 2; }
__global__ void first(int *p) { p[1] = p[0] * 3; }
__global__ void second(int *p) { p[1] = p[0] * 3; }
}
"""


@pytest.mark.parametrize("options", [("-O3",), ("-O0",)])
def test_text_and_object_have_the_same_instructions(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    text, linked = compiled(22, tmp_path, _SOURCE, *options)
    assert peaks(linked) == peaks(text)
    assert {"forever", "trap", "first", "second"} <= peaks(text).keys()


def test_a_kernel_without_instructions_has_none_of_the_next_one(tmp_path: Path) -> None:
    for path in compiled(22, tmp_path, _SOURCE):
        out, err, code = run("pressure", str(path), "never")
        assert err.endswith(": kernel never has no instructions\n")
        assert (out, code) == ("", 0)


def test_kernels_that_the_linker_has_folded_are_both_measured(tmp_path: Path) -> None:
    options = compiled(22, tmp_path, _SOURCE, "-ffunction-sections", link=("--icf=all",))
    of_text, of_object = map(peaks, options)
    assert of_object["first"] == of_object["second"] == of_text["second"]
