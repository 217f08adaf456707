"""What instructions do to registers, and their classes: each row of the product's tables.

As AMD's ISA documents describe them. `test_oracles` compares far more of them with LLVM.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from kernelinfo import manual

from . import texts

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


CASES = [case for group in ROWS.values() for case in group]


def registers(names: str | list[str]) -> set[str]:
    """`v[0:1] s4` as v0, v1 and s4."""
    return {*_each(names.split() if isinstance(names, str) else names)}


def _each(names: list[str]) -> Iterator[str]:
    for name in names:
        if span := re.fullmatch(r"([vsa])\[(\d+):(\d+)\]", name):
            yield from (f"{span[1]}{n}" for n in range(int(span[2]), int(span[3]) + 1))
        else:
            yield name


_SET = {"v": "v_mov_b32 {}, 0", "s": "s_mov_b32 {}, 0", "a": "v_accvgpr_write_b32 {}, 0"}


def test_registers_live_before_an_instruction(tmp_path: Path) -> None:
    """Later ones read all its registers: those that it writes whole are not live before it."""
    bodies = []
    for text, writes, reads in CASES:
        every = sorted(registers(f"{writes} {reads}"))
        sets = "".join(f"\t{_SET[name[0]].format(name)}\n" for name in every)
        uses = "".join(f"\texp mrt0 {name}\n" for name in every)
        bodies.append(f"{sets}\ts_cbranch_scc1 .LT\n.LT:\n\t{text}\n{uses}")
    wrong = {}
    for (text, _, reads), kernel in zip(CASES, texts.measured(tmp_path, *bodies), strict=True):
        live = kernel["blocks"][1]["live_in"]
        if registers(live) != registers(reads):
            wrong[text] = live
    assert not wrong


EXAMPLES: dict[str, str] = {
    "vector": "v_add_f32_e32 v0, v1, v2; v_cndmask_b32_e64 v0, v1, v2, s[0:1]; "
    "v_mov_b32_e32 v0, 1; v_mov_b32_e32 v0, s1; v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf "
    "bank_mask:0xf; v_readfirstlane_b32 s0, v1; v_accvgpr_write_b32 a0, 0; v_writelane_b32 v0, "
    "s0, 1; v_swap_b32 v0, v1; v_interp_p1_f32 v0, v1, attr0.x; "
    "v_dual_mov_b32 v0, v1 :: v_dual_add_f32 v2, v3, v4; v_mov_b32 v0, v1 quad_perm:[0,0,0,0]; "
    "v_pk_mov_b32 v[0:1], v[2:3], s[0:1]; v_wmma_ld_scale_paired_b32 v0, v1",
    "matrix": "v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[0:15]; "
    "v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[6:9], v10; "
    "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]; "
    "v_swmmac_f32_16x16x32_f16 v[0:7], v[8:11], v[12:19], v20; "
    "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3], v20, v21",
    "scalar": "s_add_u32 s0, s1, s2; s_and_saveexec_b64 s[0:1], vcc; s_getpc_b64 s[0:1]; "
    "s_cmp_eq_u32 s0, 1; s_setreg_imm32_b32 hwreg(HW_REG_MODE), 1; s_getreg_b32 s0, hwreg(1)",
    "lds": "ds_read_b32 v0, v1; ds_load_b128 v[0:3], v4; ds_add_rtn_u32 v0, v1, v2; "
    "ds_bpermute_b32 v0, v1, v2; lds_direct_load v0; ds_param_load v0, attr0.x",
    "loads": "global_load_dwordx4 v[0:3], v4, s[0:1]; flat_load_ubyte v0, v[1:2]; "
    "buffer_load_dword v0, v1, s[0:3], 0 offen; buffer_load_dword off, s[0:3], 0 lds; "
    "image_sample v[0:3], v[4:5], s[0:7], s[8:11] dmask:0xf; global_load_lds_dword v[0:1], off; "
    "tensor_load_to_lds s[0:3], s[4:11]; image_bvh_intersect_ray v[0:3], v[4:14], s[0:3]",
    "stores": "global_store_b128 v0, v[1:4], s[0:1]; buffer_store_byte v0, off, s[0:3], 0; "
    "image_store v[0:3], v[4:5], s[0:7] dmask:0xf; tbuffer_store_format_x v0, off, s[0:3], 0; "
    "global_store_async_from_lds_b32 v[0:1], v2, off",
    "atomics": "global_atomic_add v0, v1, v2, s[0:1] glc; buffer_atomic_or v0, off, s[0:3], 0; "
    "flat_atomic_cmpswap_x2 v[0:1], v[2:5]; image_atomic_add v0, v1, s[0:7] dmask:0x1",
    "scalar_loads": "s_load_dwordx8 s[0:7], s[8:9], 0x0; s_buffer_load_b32 s0, s[4:7], 0x0; "
    "s_store_dword s0, s[2:3], 0x0; s_atomic_add s0, s[2:3], 0x0",
    "scratch": "scratch_load_dword v0, off, s0; scratch_store_b32 off, v0, s1",
    "branches": "s_branch .L; s_cbranch_scc1 .L; s_swappc_b64 s[30:31], s[2:3]; "
    "s_setpc_b64 s[30:31]; s_call_b64 s[0:1], .L; s_add_pc_i64 s[0:1]",
    "waits": "s_waitcnt vmcnt(0); s_waitcnt_vscnt null, 0x0; s_wait_loadcnt 0x0; "
    "s_wait_alu depctr_va_vdst(0); s_waitcnt_depctr 0xfffe; s_wait_event 0x1",
    "barriers": "s_barrier; s_barrier_signal -1; s_barrier_wait -1; s_get_barrier_state s0, -1",
    "copies": "v_mov_b32_e32 v0, v1; v_mov_b32_e64 v0, v1; v_mov_b64_e32 v[0:1], v[2:3]; "
    "v_mov_b16_e32 v0.l, v1.h; v_accvgpr_read_b32 v0, a1; v_accvgpr_write_b32 a0, v1; "
    "v_accvgpr_mov_b32 a0, a1; v_pk_mov_b32 v[0:1], v[2:3], v[4:5] op_sel:[0,1]; "
    "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v2, v3",
    "other": "s_nop 0; v_nop; s_endpgm; exp mrt0 v0, v1, v2, v3 done; s_sendmsg sendmsg(1); "
    "s_delay_alu instid0(VALU_DEP_1); s_setprio 1; buffer_wbl2; buffer_gl0_inv; global_inv; "
    "s_dcache_inv; s_memtime s[0:1]; s_sleep 1; s_clause 0x3; global_prefetch_b8 v0, s[0:1]; "
    "s_sendmsg_rtn_b32 s0, sendmsg(1); s_set_vgpr_msb 1; s_icache_inv",
}


WIDTHS = {
    "global_load_dwordx4 v[0:3], v4, s[0:1]": 16,
    "global_load_b96 v[0:2], v4, s[0:1]": 12,
    "flat_load_ubyte_d16_hi v0, v[2:3]": 1,
    "buffer_load_d16_i8 v0, off, s[0:3], 0": 1,
    "global_load_d16_hi_b16 v0, v4, s[0:1]": 2,
    "global_load_lds_dwordx3 v[2:3], off": 12,
    "global_load_tr_b128 v[0:3], v4, s[0:1]": 16,
    "buffer_load_format_d16_xyzw v[0:1], off, s[0:3], 0": None,
    "image_load v[0:3], v[4:5], s[0:7]": None,
    "global_load_block v[0:31], v40, s[0:1]": None,
    "tensor_load_to_lds s[0:3], s[4:11]": None,
}
"""Bytes of a lane by instruction."""


def test_examples_of_each_class(tmp_path: Path) -> None:
    bodies = ["".join(f"\t{one}\n" for one in EXAMPLES[name].split("; ")) for name in EXAMPLES]
    bodies += [f"\t{one}\n\tglobal_load_dword v9, v8, s[0:1]\n" for one in WIDTHS]
    kernels = texts.measured(tmp_path, *bodies)
    wrong = {}
    for name, kernel in zip(EXAMPLES, kernels, strict=False):
        count = EXAMPLES[name].count("; ") + 1
        if kernel["code"][name] != count + (name == "other"):
            wrong[name] = kernel["code"]
    for name, kernel in zip(WIDTHS, kernels[len(EXAMPLES) :], strict=True):
        width = WIDTHS[name]
        if kernel["code"]["load_bytes"] != (width and width + 4):
            wrong[name] = kernel["code"]
    assert not wrong


def test_the_manual_has_a_row_for_each_class(tmp_path: Path) -> None:
    page = manual.page("instructions").partition("## Classes")[2]
    rows = re.findall(r"^\| (\w+) \| (.*?) \|", page, re.MULTILINE)[1:]
    named = [
        (name, f"\t{mnemonic}{'x' if mnemonic[-1] == '_' else ''}\n")
        for name, mnemonics in rows
        for mnemonic in re.findall(r"`(\w+)\*?`", mnemonics)
        if name not in ("copy", "scratch")
    ]
    odd = {"branch": "branches", "copy": "copies", "lds": "lds"}
    plurals = {name: odd.get(name, name if name in EXAMPLES else f"{name}s") for name, _ in rows}
    assert {*plurals.values()} == {*EXAMPLES}
    kernels = texts.measured(tmp_path, *(code for _, code in named))
    for (name, code), kernel in zip(named, kernels, strict=True):
        assert kernel["code"][plurals[name]] == 1 + (name == "other"), code


def test_halves_of_a_register_are_written_one_by_one(tmp_path: Path) -> None:
    set_up = "\tv_mov_b32 v1, v0\n\ts_nop 0\n"
    low = "\tv_mov_b16 v1.l, v0.l\n\tv_mov_b32 v2, v1\n"
    both = "\tv_mov_b16 v1.h, v0.l\n" + low
    bodies = (set_up + low, set_up + both)
    kernels = texts.measured(tmp_path, *bodies, target="gfx1100")
    assert [kernel["curve"][1] for kernel in kernels] == [[2, 0, 0], [1, 0, 0]]
