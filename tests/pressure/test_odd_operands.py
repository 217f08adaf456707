"""Instructions and directives that no compiler writes give a reason, not a traceback."""

from __future__ import annotations

import io
import json
import struct
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from kernelinfo.pressure.registers import named

from ..conftest import FIXTURES
from ..test_golden import run
from . import disassembler, texts
from .reading import function_of

ADD = "\tv_add_u32_e32 v0, v1, v2\n"
DIGITS = "9" * 5000

SILENT = {
    "a clause without a number": "\ts_clause ; 4-byte Folded Reload\n",
    "a clause of a name": "\ts_clause foo ; 4-byte Folded Reload\n",
    "a clause of many digits": f"\ts_clause {DIGITS} ; 4-byte Folded Reload\n",
    "a clause with a leading zero": "\ts_clause 010 ; 4-byte Folded Reload\n",
    "a clause of other digits": "\ts_clause \u0663 ; 4-byte Folded Reload\n",
    "a line of many digits": f"\t.loc 1 {DIGITS} 1\n",
    "a file of many digits": f"\t.loc {DIGITS} 1 1\n",
    "a line of other digits": "\t.loc \u0661 \u0662 \u0663\n",
    "exec saved nowhere": "\ts_mov_b64\n\ts_mov_b64 s0\n\ts_xor_b64 exec, exec, s[0:1]\n",
    "exec taken from nowhere": "\ts_and_saveexec_b64\n\ts_or_b64\n\ts_or_b64 exec\n",
}
UNKNOWN = {
    "\ts_branch 010\n": "branch to an unknown label",
    f"\ts_branch {DIGITS}\n": "branch to an unknown label",
    "\ts_branch 0x\n": "branch to an unknown label",
    "\ts_branch\n": "branch to an unknown label",
    "\tv_dual_add_f32 v0, v1, v2 ::\n": "half an instruction",
    "\tv_dual_add_f32 :: :: ::\n": "half an instruction",
    "\tv_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v[COUNT], v3\n": (
        "registers named by unknown symbols"
    ),
    "\tv_mov_b32 v[\n\tv_mov_b32 v[v[1], v2\n": "registers named by unknown symbols",
}
WITHOUT_OPERANDS = (
    *("v_add_u32", "s_mov_b32", "s_cbranch_scc0", "s_setpc_b64", "s_swappc_b64", "ds_read_b32"),
    *("v_cmpx_gt_f32", "s_and_saveexec_b64", "exp", "v_mfma_f32_32x32x1f32", "image_load"),
    *("s_waitcnt", "buffer_load_dword", "s_call_b64", "s_add_pc_i64", "v_movrels_b32", "s_branch"),
    *("s_subvector_loop_begin", "v_dual_add_f32", "v_swap_b32", "global_load_dword", "s_clause"),
    *("s_load_dwordx16", "v_cmp_eq_u32", "s_andn2_b64", "s_xor_b64", "s_or_saveexec_b64"),
)


@pytest.mark.parametrize("name", SILENT)
def test_oddities_that_change_no_register(name: str) -> None:
    function = function_of(f"k:\n{SILENT[name]}{ADD}\ts_endpgm\n")
    assert function.reasons == ()
    assert max(counts.vgprs for counts in function.counts) == 2


@pytest.mark.parametrize("line", UNKNOWN)
def test_what_cannot_be_known_makes_a_bound(line: str) -> None:
    function = function_of(f"k:\n{line}{ADD}\ts_endpgm\n")
    assert function.reasons == (UNKNOWN[line],)


@pytest.mark.parametrize("mnemonic", WITHOUT_OPERANDS)
@pytest.mark.parametrize("command", ["pressure", "explain"])
def test_mnemonics_without_operands(mnemonic: str, command: str, tmp_path: Path) -> None:
    path = tmp_path / "k.s"
    path.write_text(texts.module(f"{ADD}\t{mnemonic}\n{ADD}"))
    out, err, code = run(command, str(path), "k")
    assert (err, code) == ("", 0)
    assert "k" in out


def test_a_comment_without_an_end_takes_the_rest_of_its_line() -> None:
    function = function_of("k:\n\tv_mov_b32 v3, v1 /* v9\n\ts_endpgm\n")
    effect = function.instructions[0].effect
    assert (effect.writes, effect.reads) == (named("v3"), named("v1"))


def test_blanks_in_brackets_separate_no_operands() -> None:
    function = function_of("k:\n\timage_load v0, [v1 , v[ 2 : 3 ]], s[0:7] dmask:0x1\n\ts_endpgm\n")
    assert function.reasons == ()
    effect = function.instructions[0].effect
    assert (effect.writes, effect.reads) == (named("v0"), named("v[1:3] s[0:7]"))


@disassembler.needed
@pytest.mark.parametrize("address", [0, 1, 1 << 20, (1 << 64) - 8])
def test_a_descriptor_outside_the_file(address: int, tmp_path: Path) -> None:
    """Or inside other data: any register may be set at kernel entry."""
    whole = (FIXTURES / "code_object/tiny-v6-clang22-gfx90a.co").read_bytes()
    data = bytearray(whole)
    for table in ELFFile(io.BytesIO(whole)).iter_sections():
        if isinstance(table, SymbolTableSection):
            for index, symbol in enumerate(table.iter_symbols()):
                if symbol.name.endswith(".kd"):
                    at = table["sh_offset"] + index * table["sh_entsize"]
                    struct.pack_into("<Q", data, at + 8, address)
    path = tmp_path / "k.co"
    path.write_bytes(data)
    out, err, code = run("pressure", str(path), "--format", "json")
    peaks = [kernel["peak"]["vector"] for kernel in json.loads(out)["kernels"]]
    assert peaks
    assert all(peaks)
    assert code in (0, 2)
    assert "Traceback" not in err
