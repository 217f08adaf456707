"""Register pressure from Python, and its cost in time."""

from __future__ import annotations

from pathlib import Path

import pytest

import kernelinfo
from kernelinfo.pressure.instructions import effect

from ..calls import count_calls
from ..conftest import FIXTURES
from ..test_golden import OCCUPANCY

SAMPLE = FIXTURES / "assembly" / f"{OCCUPANCY}.s"


@pytest.mark.parametrize("name", ["vgprbound", "_Z9vgprboundiPd", "vgprbound(int, double*)", "vg*"])
def test_one_kernel_by_its_name(name: str) -> None:
    peak = kernelinfo.live_registers(SAMPLE, name).peak
    assert peak
    assert (peak.pressure.vgprs, peak.at.line, peak.loop) == (122, 511, ".LBB1_2")


@pytest.mark.parametrize(
    ("name", "message"), [("*bound", "3 kernels named"), ("nothing", "no kernel is named")]
)
def test_not_exactly_one_kernel(name: str, message: str) -> None:
    with pytest.raises(kernelinfo.ReadError, match=message):
        kernelinfo.live_registers(SAMPLE, name)


CALLS = """\
	.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
	.type	callee,@function
callee:
	v_add_f32_e32 v3, v0, v1
	v_mul_f32_e32 v4, v0, v2
	v_add_f32_e32 v0, v3, v4
	s_setpc_b64 s[30:31]
.Lfunc_end0:
	.type	variable,@object
variable:
	.long 1
	.type	kernel,@function
kernel:
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, callee@rel32@lo+4
	s_add_u32 s6, s6, variable@rel32@lo+4
	s_add_u32 s8, s8, elsewhere@gotpcrel32@lo+4
	s_swappc_b64 s[30:31], s[4:5]
	s_endpgm
.Lfunc_end1:
	.amdhsa_kernel kernel
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 32
		.amdhsa_accum_offset 8
	.end_amdhsa_kernel
"""


def test_a_function_that_is_called_states_its_own_peak(tmp_path: Path) -> None:
    """The other symbols in its addresses are not functions of the text."""
    path = tmp_path / "k.s"
    path.write_text(CALLS, "utf-8")
    story = kernelinfo.live_registers(path, "kernel")
    assert story.reasons == ("calls", "callee has 3 vector registers live at its peak")


def longer(path: Path, times: int) -> Path:
    """The sample with the loop of `vgprbound` unrolled `times` times."""
    lines = SAMPLE.read_text("utf-8").split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith(".LBB1_2")) + 2
    end = next(i for i, line in enumerate(lines) if i > begin and "s_cbranch" in line)
    path.write_text("\n".join([*lines[:begin], *lines[begin:end] * times, *lines[end:]]))
    return path


def work(path: Path) -> int:
    """Calls with empty caches."""
    effect.cache_clear()
    return count_calls(lambda: kernelinfo.live_registers(path, "vgprbound"))


def test_work_grows_with_the_code(tmp_path: Path) -> None:
    short, long = (longer(tmp_path / f"{times}.s", times) for times in (3, 12))
    assert kernelinfo.live_registers(long, "vgprbound").instructions > 6_000
    assert work(long) <= 4.4 * work(short)
