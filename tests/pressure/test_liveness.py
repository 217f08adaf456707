"""Live registers of small functions, counted by hand by the rules of flow and exec."""

from __future__ import annotations

from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.listing import Instruction, known_effect, listing_of
from kernelinfo.pressure.registers import EVERY, from_descriptor, from_directives, named, ranges

from .reading import function_of


def before(text: str, entry: str = "v0 s[0:15]") -> list[str]:
    """Vector registers needed before each instruction."""
    function = function_of(text, entry=named(entry))
    return [_vectors(function.live_at(at)[0]) for at in range(len(function.instructions))]


def _vectors(registers: int) -> str:
    return " ".join(name for name in ranges(registers) if name[0] == "v")


SKIPPED = """f:
    v_mov_b32_e32 v5, 1
    v_cmp_gt_i32_e32 vcc, 8, v0
    s_and_saveexec_b64 s[0:1], vcc
    v_mov_b32_e32 v6, v0
    v_add_u32_e32 v5, v6, v6
    s_or_b64 exec, exec, s[0:1]
    v_add_u32_e32 v7, v5, v5
    s_endpgm
"""


def test_lanes_that_are_off_keep_their_registers() -> None:
    """Lanes that skip the two masked instructions read the value of the first line."""
    assert before(SKIPPED) == ["v0", "v0 v5", "v0 v5", "v0", "v6", "v5", "v5", ""]


def test_an_else_branch_wakes_its_lanes_and_sends_the_others_to_sleep() -> None:
    text = """f:
    v_mov_b32_e32 v1, v0
    s_and_saveexec_b64 s[0:1], vcc
    s_xor_b64 s[0:1], exec, s[0:1]
    v_mov_b32_e32 v2, v1
    s_andn2_saveexec_b64 s[0:1], s[0:1]
    v_mov_b32_e32 v2, 7
    s_or_b64 exec, exec, s[0:1]
    v_add_u32_e32 v3, v2, v2
    s_endpgm
"""
    function = function_of(text, entry=named("v0 s[0:15]"))
    edges = {
        (function.flow.firsts[block + 1] - 1, function.flow.firsts[way])
        for block in range(function.size)
        for way in {*function.flow.ways.of(block)} - {*function.flow.branches.of(block)}
    }
    assert edges == {(1, 4), (4, 6)}


def test_a_branch_on_exec_is_the_path_itself() -> None:
    text = SKIPPED.replace("vcc\n    v_mov", "vcc\n    s_cbranch_execz .L1\n    v_mov")
    text = text.replace("    s_or_b64", ".L1:\n    s_or_b64")
    function = function_of(text)
    assert function.flow.ways == function.flow.branches
    assert _vectors(function.live_at(2)[0]) == "v0 v5"


def test_an_undefined_value_begins_with_the_comment_for_it() -> None:
    text = """f:
    s_cbranch_scc1 .LBB0_2
    v_mov_b32_e32 v3, v0
    s_branch .LBB0_3
.LBB0_2:
                                        ; implicit-def: $vgpr3
.LBB0_3:
    v_add_u32_e32 v4, v3, v3
    s_endpgm
"""
    assert before(text, "v0 v3")[0] == "v0"
    assert before(text.replace("implicit-def", "other"), "v0 v3")[0] == "v0 v3"
    assert before(text.replace("implicit-def", "other"), "v0")[0] == "v0", "never written"


def test_a_kill_comment_writes_what_it_defines_and_reads_what_it_kills() -> None:
    """clang -O0 widens a register to a pair so; the other half is undefined."""
    text = """f:
    s_nop 0
                                        ; kill: def $vgpr2 killed $vgpr2 def $vgpr2_vgpr3
    v_add_u32_e32 v4, v2, v3
                                        ; kill: killed $vgpr5
    s_endpgm
"""
    assert before(text, "v2 v3 v5")[0] == "v2 v5"


def test_a_loop_keeps_what_its_next_turn_reads() -> None:
    text = """f:
    v_mov_b32_e32 v1, 0
.LBB0_1:
    v_add_u32_e32 v1, v1, v0
    s_cbranch_scc0 .LBB0_1
    global_store_dword v1, v1, s[0:1]
    s_endpgm
"""
    assert before(text) == ["v0", "v[0:1]", "v[0:1]", "v1", ""]
    function = function_of(text)
    assert [(function.labels[loop.header], loop.depth) for loop in function.loops] == [
        ((".LBB0_1",), 1)
    ]


def test_a_long_branch_is_followed() -> None:
    text = """f:
    v_mov_b32_e32 v1, 1
    s_getpc_b64 s[0:1]
.Lpost_getpc0:
    s_add_u32 s0, s0, (.LBB0_6-.Lpost_getpc0)&4294967295
    s_addc_u32 s1, s1, (.LBB0_6-.Lpost_getpc0)>>32
    s_setpc_b64 s[0:1]
    v_mov_b32_e32 v1, 2
.LBB0_6:
    global_store_dword v1, v1, s[2:3]
    s_endpgm
"""
    function = function_of(text)
    assert function.reasons == ()
    assert function.live_at(5) == (0, 0), "no path leads there"
    assert _vectors(function.live_at(4)[0]) == "v1"


def reasons(instruction: str) -> tuple[str, ...]:
    return function_of(f"f:\n    {instruction}\n    s_endpgm\n").reasons


def test_what_cannot_be_known_is_named() -> None:
    assert reasons("v_mov_b32 v1, 0") == ()
    assert reasons("s_setpc_b64 s[4:5]") == ("indirect branch",)
    assert reasons("s_setpc_b64 s[30:31]") == ()
    assert reasons("s_cbranch_scc1 .Lnowhere") == ("branch to an unknown label",)
    assert reasons("s_swappc_b64 s[30:31], s[16:17]") == ("calls",)
    assert reasons("v_movrels_b32_e32 v0, v1") == ("indexed registers",)
    assert reasons("s_set_gpr_idx_on s0, gpr_idx(SRC0)") == ("indexed registers",)
    assert reasons("v_mov_b32 v[COUNT], 0") == ("registers named by unknown symbols",)


def test_a_few_unknown_instructions_are_named_and_the_others_counted() -> None:
    """As a newer llvm-objdump prints them."""
    texts = [*(f"odd{n} v1" for n in range(1000)), "s_endpgm"]
    code = [
        Instruction(one, known_effect(one), None, 4 * n, None, None) for n, one in enumerate(texts)
    ]
    assert LiveFunction(listing_of(code, {}), EVERY).reasons == (
        *(f"unknown instruction odd{n}" for n in range(5)),
        "995 other unknown instructions",
    )


def test_a_macro_is_no_code_of_the_function_around_it() -> None:
    text = "f:\n.macro m\n    v_mov_b32 v200, 0\n.endm\n    v_mov_b32 v1, 0\n    s_endpgm\n"
    assert len(function_of(text).instructions) == 2


def test_padding_behind_the_end_is_no_code() -> None:
    text = "f:\n    v_mov_b32 v1, 0\n    s_endpgm\n    s_nop 0\n    s_code_end\n"
    assert [step.effect.mnemonic for step in function_of(text).instructions] == [
        "v_mov_b32",
        "s_endpgm",
    ]


def test_what_a_descriptor_sets_up() -> None:
    stated = {"user_sgpr_kernarg_segment_ptr": 1, "system_vgpr_workitem_id": 2}
    assert from_directives({"user_sgpr_count": 8, **stated}) == named("v[0:2] s[0:12]")
    assert from_directives({"user_sgpr_dispatch_ptr": 1, **stated}) == named("v[0:2] s[0:8]")
    older = {"user_sgpr_count": 6, "enable_vgpr_workitem_id": 0}
    assert from_directives(older) == named("v0 s[0:10]")
    assert from_directives({"next_free_vgpr": 8}) == named("v0 s[0:4]")
    assert from_directives({"user_sgpr_count": None}) == EVERY
    raw = bytes(52) + (8 << 1 | 1 << 11).to_bytes(4, "little") + bytes(8)
    assert from_descriptor(raw) == named("v[0:1] s[0:12]")
    most_of_gfx1250 = bytes(52) + (32 << 1).to_bytes(4, "little") + bytes(8)
    assert from_descriptor(most_of_gfx1250) == named("v0 s[0:36]")


def test_the_peak_is_the_larger_of_before_and_behind() -> None:
    text = "f:\n    v_add_f64 v[2:3], v[0:1], v[0:1]\n    exp mrt0 v2, v3\n    s_endpgm\n"
    function: LiveFunction = function_of(text, entry=named("v[0:1]"))
    assert [counts.vgprs for counts in function.counts] == [2, 2, 0]
