"""Every row of the rules, by instructions as AMD's ISA documents describe them."""

from __future__ import annotations

import re

import pytest

from kernelinfo.pressure import rules
from kernelinfo.pressure.instructions import effect
from kernelinfo.pressure.registers import named, ranges

from .reading import function_of

ROWS: dict[str, list[tuple[str, str, str]]] = {
    "base rule": [
        ("v_add_f32_e32 v0, v1, v2", "v0", "v1 v2"),
        ("v_fma_f64 v[4:5], s[60:61], -v[2:3], |v[6:7]|", "v[4:5]", "v[2:3] v[6:7] s[60:61]"),
        ("v_mfma_f32_32x32x1_2b32_f32 a[0:31], v0, v1, a[0:31]", "a[0:31]", "v[0:1] a[0:31]"),
        ("v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", "v[0:7]", "v[0:23]"),
        ("v_accvgpr_read_b32 v3, a7", "v3", "a7"),
        ("v_accvgpr_write_b32 a7, v3", "a7", "v3"),
        ("v_readlane_b32 s4, v40, 3", "s4", "v40"),
        ("v_readfirstlane_b32 s4, v1", "s4", "v1"),
        ("s_load_dwordx2 s[0:1], s[4:5], 0x0", "s[0:1]", "s[4:5]"),
        ("s_and_saveexec_b64 s[2:3], vcc", "s[2:3]", ""),
        ("v_madak_f32 v0, v1, v2, 0x41200000", "v0", "v[1:2]"),
    ],
    "operands": [
        ("v_mov_b32_e32 v1, sext(v2)", "v1", "v2"),
        ("v_add_f32_e64 v1, neg(4), abs(v2)", "v1", "v2"),
        ("v_mov_b32_e32 v7, v160 /*v416*/", "v7", "v416"),
        ("v_mov_b64_e32 v[0:1] /*v[256:257]*/, v[2:3]", "v[256:257]", "v[2:3]"),
        ("v_add_f16_e64 v1.h, v2.l, v3.l", "v1", "v[2:3]"),
        ("s_mov_b32 s0, sym@rel32@lo+4", "s0", ""),
        ("v_mov_b32_e32 v0, ttmp3", "v0", ""),
        (
            "image_sample v[0:3], [v16, v2, v80, v[205:206]], s[0:7], s[8:11] dmask:0xf",
            "v[0:3]",
            "v2 v16 v80 v[205:206] s[0:11]",
        ),
        (
            "v_dual_mov_b32 v1, v2 :: v_dual_add_f32 v2, v1, v3",
            "v[1:2]",
            "v[1:3]",
        ),
    ],
    "scalar results of instructions that have mostly none": [
        ("s_getreg_b32 s3, hwreg(HW_REG_MODE, 0, 4)", "s3", ""),
        ("s_getpc_b64 s[4:5]", "s[4:5]", ""),
        ("s_swappc_b64 s[30:31], s[16:17]", "s[30:31]", "s[16:17]"),
        ("s_sendmsg_rtn_b32 s1, sendmsg(MSG_RTN_GET_DOORBELL)", "s1", ""),
    ],
    "scalar instructions without a result": [
        ("s_cmp_lt_i32 s0, s1", "", "s[0:1]"),
        ("s_bitcmp1_b32 s0, 3", "", "s0"),
        ("s_cbranch_scc1 .LBB0_2", "", ""),
        ("s_waitcnt vmcnt(0) lgkmcnt(0)", "", ""),
        ("s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s5", "", "s5"),
        ("s_setpc_b64 s[30:31]", "", "s[30:31]"),
        ("s_store_dword s2, s[4:5], 0x0", "", "s2 s[4:5]"),
        ("s_prefetch_data s[0:1], 0x0, s4, 0", "", "s[0:1] s4"),
    ],
    "vector instructions without a result": [
        ("v_nop", "", ""),
        ("exp mrt0 v0, v1, v2, v3 done vm", "", "v[0:3]"),
        ("export pos0 v0, v1, off, off", "", "v[0:1]"),
    ],
    "stores, prefetches and what goes to or from LDS without registers": [
        ("global_store_dwordx2 v0, v[2:3], s[0:1]", "", "v0 v[2:3] s[0:1]"),
        ("buffer_store_dword v1, off, s[0:3], 0 offset:4", "", "v1 s[0:3]"),
        ("image_store v[0:3], v[4:5], s[0:7] dmask:0xf", "", "v[0:5] s[0:7]"),
        ("global_load_lds_dword v[2:3], off", "", "v[2:3]"),
        ("global_load_async_to_lds_b32 v0, v[2:3], off", "", "v0 v[2:3]"),
        ("tensor_load_to_lds s[0:3], s[4:11]", "", "s[0:11]"),
        ("global_prefetch_b8 v[0:1], off", "", "v[0:1]"),
    ],
    "atomics with an operand for the result": [
        ("global_atomic_add v0, v1, s[0:1]", "", "v[0:1] s[0:1]"),
        ("global_atomic_add v2, v0, v1, s[0:1] glc", "v2", "v[0:1] s[0:1]"),
        ("flat_atomic_add v2, v[0:1], v3 sc0", "v2", "v[0:1] v3"),
        ("global_atomic_add_u32 v2, v0, v1, s[0:1] th:TH_ATOMIC_RETURN", "v2", "v[0:1] s[0:1]"),
        ("global_atomic_add_u32 v0, v1, s[0:1] th:TH_ATOMIC_NT", "", "v[0:1] s[0:1]"),
    ],
    "atomics whose data operand takes the result": [
        ("buffer_atomic_add v0, v1, s[0:3], 0 offen", "", "v[0:1] s[0:3]"),
        ("buffer_atomic_add v0, v1, s[0:3], 0 offen glc", "v0", "v[0:1] s[0:3]"),
        (
            "image_atomic_cmpswap v[4:5], v0, s[0:7] dmask:0x3 glc",
            "v[4:5]",
            "v0 v[4:5] s[0:7]",
        ),
        ("s_atomic_add s5, s[2:3], 0x0 glc", "s5", "s[2:3] s5"),
    ],
    "LDS: a stack of ray tracing": [
        ("ds_bvh_stack_rtn_b32 v1, v0, v2, v[3:6]", "v[0:1]", "v0 v[2:6]"),
    ],
    "LDS with a result": [
        ("ds_read_b64 v[0:1], v2 offset:8", "v[0:1]", "v2"),
        ("ds_add_rtn_u32 v0, v1, v2", "v0", "v[1:2]"),
        ("ds_storexchg_rtn_b32 v0, v1, v2", "v0", "v[1:2]"),
        ("ds_bpermute_b32 v0, v1, v2", "v0", "v[1:2]"),
        ("ds_append v3 offset:4", "v3", ""),
        ("ds_param_load v2, attr3.x", "v2", ""),
    ],
    "LDS without a result": [
        ("ds_write_b32 v0, v1", "", "v[0:1]"),
        ("ds_store_b64 v0, v[2:3]", "", "v0 v[2:3]"),
        ("ds_add_u32 v0, v1", "", "v[0:1]"),
        ("ds_gws_init v0 gds", "", "v0"),
        ("ds_nop", "", ""),
    ],
    "two results": [
        ("v_div_scale_f32 v0, vcc, v1, v2, v3", "v0", "v[1:3]"),
        ("v_div_scale_f32 v0, s2, v1, v2, v3", "v0 s2", "v[1:3]"),
        ("v_mad_u64_u32 v[0:1], s[2:3], v4, v5, v[6:7]", "v[0:1] s[2:3]", "v[4:7]"),
        ("v_mad_co_u64_u32 v[0:1], null, v4, v5, v[6:7]", "v[0:1]", "v[4:7]"),
    ],
    "sum and carry": [
        ("v_add_co_u32 v0, s4, v1, v2", "v0 s4", "v[1:2]"),
        ("v_addc_co_u32_e64 v0, s[4:5], v1, v2, s[6:7]", "v0 s[4:5]", "v[1:2] s[6:7]"),
        ("v_add_co_ci_u32_e64 v0, null, v1, v2, s6", "v0", "v[1:2] s6"),
        ("v_add_u32_e64 v0, s[4:5], v1, v2", "v0 s[4:5]", "v[1:2]"),
        ("v_add_u32_e32 v0, v1, v2", "v0", "v[1:2]"),
        ("v_add_u32_e32 v0, s1, v2", "v0", "v2 s1"),
    ],
    "exchange": [
        ("v_swap_b32 v0, v1", "v[0:1]", "v[0:1]"),
        ("v_permlane32_swap_b32 v0, v1", "v[0:1]", "v[0:1]"),
    ],
    "compare to exec": [
        ("v_cmpx_gt_f32_e32 v0, v1", "", "v[0:1]"),
        ("v_cmpx_gt_f32_e64 s[0:1], v0, v1", "s[0:1]", "v[0:1]"),
        ("v_cmp_gt_f32_e64 s[0:1], v0, v1", "s[0:1]", "v[0:1]"),
        ("v_cmp_gt_f32_e64_dpp s1, v0, v1 row_shr:1 row_mask:0xf", "s1", "v[0:1]"),
    ],
    "loads": [
        ("global_load_dwordx4 v[0:3], v4, s[0:1] offset:16", "v[0:3]", "v4 s[0:1]"),
        ("buffer_load_dword v0, v1, s[0:3], 0 offen", "v0", "v1 s[0:3]"),
        ("buffer_load_dword v1, s[0:3], 0 offen lds", "", "v1 s[0:3]"),
        ("buffer_load_dword v[0:1], v2, s[0:3], 0 offen tfe", "v[0:1]", "v[0:2] s[0:3]"),
    ],
    "accumulate": [
        ("v_mac_f32_e32 v0, v1, v2", "v0", "v[0:2]"),
        ("v_fmac_f64_e32 v[0:1], v[2:3], v[4:5]", "v[0:1]", "v[0:5]"),
        ("v_pk_fmac_f16 v0, v1, v2", "v0", "v[0:2]"),
        ("v_dot2c_f32_f16 v0, v1, v2", "v0", "v[0:2]"),
        ("v_smfmac_f32_16x16x32_f16 a[0:3], v[2:3], v[4:7], v1", "a[0:3]", "v[1:7] a[0:3]"),
    ],
    "one lane": [("v_writelane_b32 v40, s4, 0", "v40", "v40 s4")],
    "lanes of other rows": [("v_permlanex16_b32 v0, v1, s2, s3", "v0", "v[0:1] s[2:3]")],
    "half of a sum": [("v_fma_mixhi_f16 v0, v1, v2, v3", "v0", "v[0:3]")],
    "half of a register": [
        ("ds_read_u16_d16 v0, v1", "v0", "v[0:1]"),
        ("global_load_short_d16_hi v0, v1, s[0:1]", "v0", "v[0:1] s[0:1]"),
        ("ds_load_u8_d16 v0, v1", "v0", "v[0:1]"),
        ("buffer_load_format_d16_x v0, v1, s[0:3], 0 offen", "v0", "v[0:1] s[0:3]"),
        ("global_store_short_d16_hi v0, v1, s[0:1]", "", "v[0:1] s[0:1]"),
    ],
    "bytes of a register": [
        ("v_cvt_pk_fp8_f32 v0, v1, v2", "v0", "v[0:2]"),
        ("v_cvt_sr_bf8_f32 v0, v1, v2", "v0", "v[0:2]"),
        ("v_cvt_scalef32_pk_fp4_f32 v0, v1, v2, v3", "v0", "v[0:3]"),
        ("v_cvt_scalef32_f16_fp8 v0, v1, v2", "v0", "v[0:2]"),
        ("v_cvt_scalef32_pk_f16_fp8 v0, v1, v2", "v0", "v[1:2]"),
        ("v_cvt_sr_pk_bf16_f32 v0, v1, v2, v3", "v0", "v[1:3]"),
    ],
    "second step of an interpolation": [("v_interp_p2_f32 v0, v1, attr3.x", "v0", "v[0:1]")],
    "scalar read, modify and write": [
        ("s_mulk_i32 s7, 0x9", "s7", "s7"),
        ("s_addk_i32 s7, 0x9", "s7", "s7"),
        ("s_cmov_b64 s[0:1], s[2:3]", "s[0:1]", "s[0:3]"),
        ("s_bitset1_b32 s0, s1", "s0", "s[0:1]"),
    ],
    "SDWA": [
        ("v_add_u32_sdwa v0, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE", "v0", "v[0:2]"),
        ("v_add_u32_sdwa v0, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PAD", "v0", "v[1:2]"),
        ("v_add_u32_sdwa v0, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PRESERVE", "v0", "v[1:2]"),
    ],
    "DPP": [
        ("v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf", "v0", "v[0:1]"),
        ("v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1", "v0", "v1"),
        ("v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xa bank_mask:0xf bound_ctrl:0", "v0", "v[0:1]"),
        ("v_mov_b32_dpp v0, v1 dpp8:[7,6,5,4,3,2,1,0]", "v0", "v[0:1]"),
    ],
}

CASES = [pytest.param(*case, id=case[0]) for cases in ROWS.values() for case in cases]
ALONE = [
    case
    for case in CASES
    if not re.search(r"^s_setpc|^s_cbranch|\.[lh]\b", str(case.values[0]))  # ends a block, or half
]


@pytest.mark.parametrize(("text", "writes", "reads"), CASES)
def test_what_an_instruction_writes_and_reads(text: str, writes: str, reads: str) -> None:
    found = effect(text)
    assert set(ranges(found.writes)) == set(ranges(named(writes))), "written"
    assert set(ranges(found.reads)) == set(ranges(named(reads))), "read"


@pytest.mark.parametrize(("text", "writes", "reads"), ALONE)
def test_what_lives_before_an_instruction_alone(text: str, writes: str, reads: str) -> None:
    """Later instructions read all its registers. Registers that it writes whole are not live before
    it."""
    every = named(f"{writes} {reads}")
    uses = "".join(f"\texp mrt0 {name}\n" for name in ranges(every))
    function = function_of(f"f:\n\t{text}\n{uses}\ts_endpgm\n")
    assert function.needed[0] == named(reads) | every & ~named(writes)


def test_every_row_has_its_cases() -> None:
    rows = [name for name, *_ in (*rules.WRITTEN, *rules.KEPT)]
    assert set(rows) <= set(ROWS)


def test_the_halves_of_a_register_are_written_one_by_one() -> None:
    half, whole = effect("v_mov_b16_e32 v1.l, v2.l"), effect("v_mov_b32_e32 v1, v2")
    other = effect("v_mov_b16_e32 v1.h, v2.l")
    assert half.writes | other.writes == whole.writes
    assert half.writes & other.writes == 0
