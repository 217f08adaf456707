"""A short run of the proofs in `python -m tests.pressure`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

import pytest

from tests.conftest import FIXTURES, require

from . import live_ins, machine_code, proofs, two_routes, upper_vgprs

pytestmark = pytest.mark.nightly
needs_llc = pytest.mark.needs("clang-22", "llvm-22")


@pytest.fixture(scope="module")
def oracle() -> str:
    require("llvm-22-dev")
    return machine_code.program()


@pytest.mark.parametrize(("processor", "seed"), [("gfx90a", 11), ("gfx1201", 12)])
def test_fuzzed_instructions_read_and_write_what_llvm_says(
    oracle: str, tmp_path: Path, processor: str, seed: int
) -> None:
    path = tmp_path / "fuzzed.s"
    path.write_text("\n".join(machine_code.fuzzed(processor, seed, 2, tries=400_000)) + "\n")
    found = list(machine_code.compared(processor, path))
    assert len(found) > 500
    differences = [difference for _, difference in found if difference]
    assert [str(one) for one in differences if not machine_code.reason(one)] == []


@pytest.mark.parametrize(
    ("processor", "name"),
    [("gfx90a", "spills-clang22-gfx90a"), ("gfx1100", "variety-clang19-gfx1100")],
)
def test_fixtures_read_and_write_what_llvm_says(oracle: str, processor: str, name: str) -> None:
    found = list(machine_code.compared(processor, FIXTURES / "assembly" / f"{name}.s"))
    assert len(found) > 300
    assert [str(difference) for _, difference in found if difference] == []


@needs_llc
@pytest.mark.parametrize("target", ["gfx90a", "gfx1201"])
def test_blocks_begin_with_the_registers_that_llvm_lists(target: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        text, dump = live_ins.compiled(Random(f"test {target}"), target, 12, Path(folder))
    tally = live_ins.compare(text, dump)
    assert tally["kernels"] == tally["loops agree"] == 12
    assert tally["blocks"] > 20
    for letter in "VS":
        both = tally[f"both {letter}"]
        assert both >= 0.98 * (both + tally[f"llvm {letter}"])
        assert both >= 0.97 * (both + tally[f"ours {letter}"])


@two_routes.needed
@pytest.mark.parametrize("proof", ["symbols", "routes", "broken"])
def test_code_objects_are_read_as_llvm_disassembles_them(proof: str) -> None:
    (_, _, found), faults = proofs.ALL[proof](False)
    assert faults == []
    assert " kernels" in found


_OF_EACH_FORMAT = """\
v_mov_b32 v1, v2
v_fmac_f32_e64 v1, v2, v3
v_fma_f32 v1, v2, v3, v4
v_fmamk_f32 v1, v2, 0x1234567, v3
v_fmaak_f32 v1, v2, v3, 0x1234567
v_cmp_lt_f32 vcc_lo, v1, v2
v_cmp_lt_f32_e64 s0, v1, v2
v_readlane_b32 s0, v1, 3
v_writelane_b32 v1, s0, 3
v_swap_b32 v1, v2
v_div_scale_f32 v1, vcc_lo, v2, v3, v4
v_add_co_ci_u32 v1, vcc_lo, v2, v3, vcc_lo
v_add_nc_u32_dpp v1, v2, v3 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf
v_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v4, v5
v_dual_fmamk_f32 v1, v2, 0x1234567, v7 :: v_dual_fmaak_f32 v4, v9, v10, 0x1234567
v_wmma_f32_16x16x32_f16 v[0:7], v[8:15], v[16:23], v[24:31]
v_wmma_scale_f32_16x16x128_f8f6f4 v[0:7], v[8:23], v[24:39], v[40:47], v1, v2
ds_load_b32 v1, v2
ds_store_2addr_b32 v1, v2, v3
ds_add_rtn_u32 v1, v2, v3
global_load_b64 v[4:5], v[2:3], off
global_store_b32 v1, v2, s[0:1]
global_store_addtid_b32 v1, s[0:1]
global_atomic_add_u32 v1, v2, v3, s[0:1] th:TH_ATOMIC_RETURN
global_atomic_add_u32 v2, v3, s[0:1]
global_load_async_to_lds_b32 v1, v2, s[0:1]
buffer_load_b32 v1, v2, s[0:3], null offen
buffer_store_b32 v1, v2, s[0:3], null offen
scratch_store_b32 off, v2, s3
"""


@two_routes.needed
def test_upper_registers_are_those_of_llvms_comments(tmp_path: Path) -> None:
    count, faults = upper_vgprs.compared(_OF_EACH_FORMAT.splitlines(), tmp_path)
    assert faults == []
    assert count >= 55
