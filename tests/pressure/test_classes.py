"""Classes of instructions: each row of the table, sums, bytes, and LLVM's flags."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from kernelinfo import manual
from kernelinfo.analysis.options import Options
from kernelinfo.kernel.instruction_counts import NONE, total
from kernelinfo.pressure.classes import ROWS, InstructionClass, bytes_of
from kernelinfo.pressure.instructions import effect, operation
from kernelinfo.pressure.measure import Measured, measure
from tests.conftest import CORPUS, FIXTURES, needs_corpus

from . import instruction_flags

EXAMPLES: dict[InstructionClass, str] = {
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
    "load": "global_load_dwordx4 v[0:3], v4, s[0:1]; flat_load_ubyte v0, v[1:2]; "
    "buffer_load_dword v0, v1, s[0:3], 0 offen; buffer_load_dword off, s[0:3], 0 lds; "
    "image_sample v[0:3], v[4:5], s[0:7], s[8:11] dmask:0xf; global_load_lds_dword v[0:1], off; "
    "tensor_load_to_lds s[0:3], s[4:11]; image_bvh_intersect_ray v[0:3], v[4:14], s[0:3]",
    "store": "global_store_b128 v0, v[1:4], s[0:1]; buffer_store_byte v0, off, s[0:3], 0; "
    "image_store v[0:3], v[4:5], s[0:7] dmask:0xf; tbuffer_store_format_x v0, off, s[0:3], 0; "
    "global_store_async_from_lds_b32 v[0:1], v2, off",
    "atomic": "global_atomic_add v0, v1, v2, s[0:1] glc; buffer_atomic_or v0, off, s[0:3], 0; "
    "flat_atomic_cmpswap_x2 v[0:1], v[2:5]; image_atomic_add v0, v1, s[0:7] dmask:0x1",
    "scalar_load": "s_load_dwordx8 s[0:7], s[8:9], 0x0; s_buffer_load_b32 s0, s[4:7], 0x0; "
    "s_store_dword s0, s[2:3], 0x0; s_atomic_add s0, s[2:3], 0x0",
    "scratch": "scratch_load_dword v0, off, s0; scratch_store_b32 off, v0, s1",
    "branch": "s_branch .L; s_cbranch_scc1 .L; s_swappc_b64 s[30:31], s[2:3]; "
    "s_setpc_b64 s[30:31]; s_call_b64 s[0:1], .L; s_add_pc_i64 s[0:1]",
    "wait": "s_waitcnt vmcnt(0); s_waitcnt_vscnt null, 0x0; s_wait_loadcnt 0x0; "
    "s_wait_alu depctr_va_vdst(0); s_waitcnt_depctr 0xfffe; s_wait_event 0x1",
    "barrier": "s_barrier; s_barrier_signal -1; s_barrier_wait -1; s_get_barrier_state s0, -1",
    "copy": "v_mov_b32_e32 v0, v1; v_mov_b32_e64 v0, v1; v_mov_b64_e32 v[0:1], v[2:3]; "
    "v_mov_b16_e32 v0.l, v1.h; v_accvgpr_read_b32 v0, a1; v_accvgpr_write_b32 a0, v1; "
    "v_accvgpr_mov_b32 a0, a1; v_pk_mov_b32 v[0:1], v[2:3], v[4:5] op_sel:[0,1]; "
    "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v2, v3",
    "other": "s_nop 0; v_nop; s_endpgm; exp mrt0 v0, v1, v2, v3 done; s_sendmsg sendmsg(1); "
    "s_delay_alu instid0(VALU_DEP_1); s_setprio 1; buffer_wbl2; buffer_gl0_inv; global_inv; "
    "s_dcache_inv; s_memtime s[0:1]; s_sleep 1; s_clause 0x3; global_prefetch_b8 v0, s[0:1]; "
    "s_sendmsg_rtn_b32 s0, sendmsg(1); s_set_vgpr_msb 1; s_icache_inv",
}


@pytest.mark.parametrize("expected", get_args(InstructionClass))
def test_examples_of_each_class(expected: InstructionClass) -> None:
    for text in EXAMPLES[expected].split("; "):
        assert effect(text).instruction_class == expected, text


def test_each_row_has_an_example() -> None:
    texts = [one for group in EXAMPLES.values() for one in group.split("; ")]
    names = [operation(text)[0].mnemonic for text in texts]
    for row in ROWS:
        assert any(re.fullmatch(row.mnemonics, name) for name in names), row


@pytest.mark.parametrize(
    ("mnemonic", "size"),
    [
        ("global_load_dwordx4", 16),
        ("global_load_b96", 12),
        ("flat_load_ubyte_d16_hi", 1),
        ("buffer_load_d16_i8", 1),
        ("buffer_store_short_d16_hi", 2),
        ("global_load_d16_hi_b16", 2),
        ("global_load_lds_dwordx3", 12),
        ("global_load_tr_b128", 16),
        ("buffer_load_format_d16_xyzw", None),
        ("tbuffer_store_format_x", None),
        ("image_load", None),
        ("global_load_block", None),
        ("tensor_load_to_lds", None),
    ],
)
def test_bytes_of_a_lane_follow_from_the_mnemonic(mnemonic: str, size: int | None) -> None:
    assert bytes_of(mnemonic) == size


def test_a_sum_with_unknown_bytes_is_unknown() -> None:
    known = NONE._replace(instructions=1, loads=1, load_bytes=4)
    unknown = NONE._replace(instructions=1, loads=1, load_bytes=None)
    assert total((known, known)) == NONE._replace(instructions=2, loads=2, load_bytes=8)
    assert total((known, unknown)).load_bytes is None


def added_up(path: Path) -> int:
    """Number of kernels, after each has the sum of its classes, and loops no more."""
    kernels = 0
    for item in measure(str(path), Options()):
        if isinstance(item, Measured):
            story = item.story
            codes = [loop.code for loop in story.loops] + [line.code for line in story.lines]
            for code in (story.code, *codes):
                assert sum(code.counts[1:15]) == code.counts.instructions
            lines = total(line.code.counts for line in story.lines)
            assert not story.lines or lines == story.code.counts
            assert all(loop.code.counts <= story.code.counts for loop in story.loops)
            kernels += 1
    return kernels


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("assembly/*.s")), ids=lambda path: path.name)
def test_classes_add_up_in_fixtures(path: Path) -> None:
    added_up(path)


@needs_corpus
@pytest.mark.nightly
def test_classes_add_up_in_the_corpus() -> None:
    assert sum(map(added_up, sorted(CORPUS.rglob("*.s")))) > 1000


@pytest.mark.needs("llvm-22-dev")
@pytest.mark.nightly
def test_classes_are_those_of_llvms_flags() -> None:
    """A sample; `python -m tests.pressure --full` tries three times as many words."""
    reasons: dict[str, int] = {}
    assert list(instruction_flags.unexplained(instruction_flags.opcodes(), reasons)) == []
    mnemonics = set()
    for processor in instruction_flags.PROCESSORS:
        # Writes of AGPRs from SGPRs are rare among random words.
        tries = 6_000_000 if processor == "gfx908" else 1_000_000
        found = list(instruction_flags.fuzzed(processor, 1, 2, tries))
        assert list(instruction_flags.unexplained(found, reasons)) == []
        assert list(instruction_flags.wrong_bytes(found)) == []
        mnemonics |= {(processor, one.text.split()[0]) for one in found}
    assert len(mnemonics) >= 15_000
    assert reasons.keys() == {why for *_, why in instruction_flags.EXPLAINED}


def test_the_manual_has_a_row_for_each_class() -> None:
    page = manual.page("instructions")
    named = re.findall(r"^\| (\w+) \| (.*?) \|", page.partition("## Classes")[2], re.MULTILINE)
    rows = dict(named[1:] if named[0][0] == "class" else named)
    assert tuple(rows) == get_args(InstructionClass)
    for found, mnemonics in rows.items():
        for name in re.findall(r"`(\w+)\*?`", mnemonics):
            if found not in ("copy", "scratch"):
                assert (
                    effect(name.rstrip("_") + "_x" * name.endswith("_")).instruction_class == found
                )
