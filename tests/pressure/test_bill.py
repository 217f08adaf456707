"""Who holds the registers: roles of values, and that their numbers add up to the peak."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kernelinfo

from ..conftest import CORPUS, needs_corpus
from ..test_golden import run
from . import texts
from .test_objects import LIBRARY, needed

MATRIX_LOOP = """\
	v_mov_b32_e32 v40, s4
	v_writelane_b32 v41, s6, 0
	v_mov_b32_e32 v42, s5
	v_lshlrev_b32_e32 v43, 2, v0
	v_accvgpr_write_b32 a0, 0
	v_accvgpr_write_b32 a1, 0
	v_accvgpr_write_b32 a2, 0
	v_accvgpr_write_b32 a3, 0
	v_mov_b32_e32 v44, 0
	global_load_dword v45, v43, s[0:1]
.LBB0_1:
	global_load_dwordx2 v[8:9], v43, s[0:1]
	v_add_u32_e32 v43, 64, v43
	ds_read_b64 v[10:11], v42
	v_fma_f32 v44, v45, v40, v44
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v12, v10
	v_mov_b32_e32 v13, v11
	v_mfma_f32_16x16x16f16 a[0:3], v[12:13], v[12:13], a[0:3]
	s_waitcnt vmcnt(0)
	v_cvt_f16_f32_e32 v8, v8
	ds_write_b64 v42, v[8:9]
	s_cbranch_scc1 .LBB0_1
	v_readlane_b32 s6, v41, 0
	v_accvgpr_read_b32 v20, a0
	v_accvgpr_read_b32 v21, a1
	v_accvgpr_read_b32 v22, a2
	v_accvgpr_read_b32 v23, a3
	v_mov_b32_e32 v24, s6
	global_store_dwordx4 v24, v[20:23], s[0:1]
	global_store_dword v24, v44, s[0:1]
"""
ROLES = {
    "accumulators": {"v44", "a[0:3]"},
    "fragments": {"v[10:11]"},
    "loaded": {"v[8:9]"},
    "addresses": {"v[42:43]"},
    "loop constants": {"v40", "v45"},
    "spill lanes": {"v41"},
}


def test_roles(tmp_path: Path) -> None:
    path = tmp_path / "k.s"
    path.write_text(texts.module(MATRIX_LOOP))
    line = 1 + texts.module(MATRIX_LOOP).partition("\tv_mov_b32_e32 v12")[0].count("\n")
    [kernel] = texts.kernels(path, "k", "--at", str(line))
    assert {one["role"]: set(one["registers"]) for one in kernel["bill"]} == ROLES
    out, _, _ = run("pressure", str(path), "k", "--at", str(line))
    text = out.partition("live at")[2].partition("\n\n")[0]
    heads = (rf"^ \d+ {role.removesuffix('s')}" for role in ROLES)
    assert all(re.search(head, text, re.MULTILINE) for head in heads)


def test_one_line_in_explain_and_in_python(tmp_path: Path) -> None:
    path = tmp_path / "k.s"
    path.write_text(texts.module(MATRIX_LOOP))
    story = kernelinfo.live_registers(path, "k")
    held = ", ".join(f"{line.total} {line.role}" for line in story.bill)
    held = held.replace("1 spill lanes", "1 spill lane")
    assert sum(line.total for line in story.bill) == story.peak.pressure.vector
    out, _, _ = run("explain", str(path), "k")
    assert f" held by  {held}\n" in out
    out, _, _ = run("pressure", str(path), "--format", "html")
    assert f'"held by {held}"' in out


def test_values_after_a_loop_have_the_role_that_the_loop_gave_them(tmp_path: Path) -> None:
    path, text = tmp_path / "k.s", texts.module(MATRIX_LOOP)
    path.write_text(text)
    line = 1 + text.partition("\tv_mov_b32_e32 v24")[0].count("\n")
    [kernel] = texts.kernels(path, "k", "--at", str(line))
    roles = {entry["role"]: entry["registers"] for entry in kernel["bill"]}
    assert roles["accumulators"] == ["v[20:23]", "v44"]


MOVING_SUMS = """\
	v_mov_b32_e32 v2, 0
	v_mov_b32_e32 v3, 0
	v_mov_b32_e32 v4, 0
	v_mov_b32_e32 v5, 0
.LBB0_1:
	ds_read_b128 v[8:11], v0
	v_pk_fma_f32 v[12:13], v[12:13], v[10:11], v[2:3] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[14:15], v[8:9], v[10:11], v[4:5]
	v_mul_f32_e32 v16, v14, v14
	ds_read_b128 v[2:5], v0 offset:16
	global_store_dword v0, v16, s[0:1]
	v_pk_fma_f32 v[6:7], v[2:3], v[4:5], v[12:13]
	v_add_f32_e32 v10, v14, v2
	v_sub_f32_e32 v11, v15, v3
	v_mov_b32_e32 v2, v6
	v_mov_b32_e32 v3, v7
	v_pk_mov_b32 v[4:5], v[10:11], v[10:11] op_sel:[0,1]
	s_cbranch_scc1 .LBB0_1
	global_store_dwordx4 v0, v[2:5], s[0:1]
"""


@pytest.mark.parametrize(
    ("instruction", "sums"),
    [
        ("ds_read_b128 v[8:11]", ["v[2:5]"]),
        ("global_store_dword v0", ["v[12:15]"]),
        ("v_mov_b32_e32 v3, v7", ["v2", "v7", "v[10:11]"]),
        ("global_store_dwordx4", ["v[2:5]"]),
    ],
)
def test_sums_that_move_to_other_registers_are_accumulators(
    instruction: str, sums: list[str], tmp_path: Path
) -> None:
    path, text = tmp_path / "k.s", texts.module(MOVING_SUMS)
    path.write_text(text)
    line = 1 + text.partition(f"\t{instruction}")[0].count("\n")
    [kernel] = texts.kernels(path, "k", "--at", str(line))
    roles = {entry["role"]: entry["registers"] for entry in kernel["bill"]}
    assert roles["accumulators"] == sums


def test_source_text_stands_beside_the_lines_that_wrote_values(tmp_path: Path) -> None:
    (tmp_path / "k.hip").write_text("\n\nfloat sum = 0;\n")
    body = '\t.file 1 "k.hip"\n\t.loc 1 3 1\n\tv_mov_b32_e32 v1, 0\n\t.loc 1 2 1\n'
    body += "\tglobal_store_dword v0, v1, s[0:1]\n"
    (tmp_path / "k.s").write_text(texts.module(body))
    out, _, _ = run("pressure", "k.s", "k", "--source", folder=tmp_path)
    [row] = [line for line in out.splitlines() if " v1 " in line and " other " in line]
    assert row.endswith("  float sum = 0;")


@needs_corpus
@pytest.mark.nightly
@pytest.mark.parametrize("share", range(6))
def test_bills_of_many_kernels_add_up(share: int) -> None:
    total = 0
    for path in sorted(CORPUS.rglob("*.s"))[share::6]:
        for kernel in texts.kernels(path):
            vgprs, agprs, _ = kernel["curve"][kernel["at"]["index"]]
            assert sum(entry["count"] for entry in kernel["bill"]) == vgprs + agprs
            total += 1
    assert total >= 450


@needed
@pytest.mark.nightly
@pytest.mark.needs("librocrand")
@pytest.mark.parametrize("target", ["gfx908", "gfx90a", "gfx1030"])
def test_bills_of_a_library_add_up(target: str) -> None:
    kernels = texts.kernels(Path(LIBRARY), "--target", target)
    assert len(kernels) >= 80
    for kernel in kernels:
        vgprs, agprs, _ = kernel["curve"][kernel["at"]["index"]]
        assert sum(entry["count"] for entry in kernel["bill"]) == vgprs + agprs
