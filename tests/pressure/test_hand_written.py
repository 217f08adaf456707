"""Texts as people write them, compared with the objects that llvm-mc makes of them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from ..test_golden import run
from . import disassembler, texts, two_routes
from .hand_written import INCLUDED, hand_written
from .test_objects import reasons, row

WAY_OUT = "give the object assembled from this text"
TEXTS = 240
_KINDS = {
    "that only an assembler reads": {"macro", "setting", "include", "repeat", "condition"},
    "undecoded words": {"gap", "fill"},
    "a branch out of data words": {"far word"},
    "branch to an unknown label": {"far word"},
    "registers named by unknown symbols": {"setting", "repeat", "condition", "include"},
}
"""Part of a reason → parts of a text that give it."""


def kernel(body: str, *, before: str = "", fields: str = "", target: str = "gfx90a") -> str:
    """A text of a kernel `k` without metadata."""
    accumulators = "\t.amdhsa_accum_offset 32\n" if target == "gfx90a" else ""
    function = texts.function("k", body).replace(".Lfunc_end_k", ".Lend")  # not clang's
    return (
        f'\t.amdgcn_target "amdgcn-amd-amdhsa--{target}"\n{before}{function}'
        "\t.section .rodata\n\t.amdhsa_kernel k\n\t.amdhsa_next_free_vgpr 32\n"
        f"\t.amdhsa_next_free_sgpr 32\n{accumulators}{fields}\t.end_amdhsa_kernel\n"
    )


def assembled(text: Path, target: str) -> Path:
    """The linked object of a text."""
    made, linked = text.with_suffix(".o"), text.with_suffix(".co")
    features = ["-mattr=+real-true16"] if target[:5] in ("gfx11", "gfx12") else []
    command = ["llvm-mc-22", "-triple", "amdgcn-amd-amdhsa", f"-mcpu={target}", *features]
    includes = ["-I", str(text.parent), "-filetype=obj"]
    subprocess.run([*command, *includes, str(text), "-o", str(made)], check=True)
    subprocess.run(["ld.lld-22", "-shared", str(made), "-o", str(linked)], check=True)
    return linked


@pytest.fixture
def text(tmp_path: Path) -> Path:
    return tmp_path / "k.s"


MACRO = ".macro .clear at\n\tv_mov_b32 v\\at, 0\n.endm\n.macro v_twice at\n\tv_nop\n.endmacro\n"
NOT_READ = {
    "a macro with a dot": (MACRO, "\t.clear 4\n\t.clear 5\n", "2 lines", ".clear"),
    "a macro named as an instruction": (MACRO, "\tv_twice 4\n", "1 line", "v_twice"),
    "a file before the code": ('\t.include "m.inc"\n', "", "1 line", ".include"),
    "a file and what it defines": (
        "",
        '\t.include "m.inc"\n\t.sum 4\n',
        "2 lines",
        ".include, .sum",
    ),
    "unknown words": ("", "\tLOAD_TILE v1\n\t.sum 4\n", "2 lines", "LOAD_TILE, .sum"),
    "a repetition": ("", "\t.rep 2\n\tv_nop\n\t.endr\n", "1 line", ".rep"),
    "a condition": ("", "\t.ifdef FAST\n\tv_nop\n\t.endif\n", "1 line", ".ifdef"),
}


@pytest.mark.parametrize("name", NOT_READ)
def test_what_only_an_assembler_reads_is_told_with_the_way_out(name: str, text: Path) -> None:
    before, code, lines, words = NOT_READ[name]
    text.write_text(kernel(f"\tv_mov_b32 v1, 1\n{code}", before=before))
    why = f"{lines} that only an assembler reads ({words}): {WAY_OUT}"
    assert reasons(text) == [why]
    out, err, code_of_exit = run("report", str(text), "--instructions", "--format", "jsonl")
    assert (json.loads(out)["Instructions"], code_of_exit) == (None, 0)
    assert f"instructions are not counted: {why}" in err
    assert "· ≥ " in run("pressure", str(text))[0]


def test_a_condition_around_the_kernel_is_told(text: Path) -> None:
    whole = kernel("\tv_nop\n")
    start, end = whole.index("\t.globl"), whole.index("\t.section")
    text.write_text(f"{whole[:start]}.if FAST\n{whole[start:end]}.endif\n{whole[end:]}")
    assert reasons(text) == [f"1 line that only an assembler reads (.if): {WAY_OUT}"]


def test_macros_that_are_not_called_change_nothing(text: Path) -> None:
    nested = ".macro a\n.macro b\n\tv_nop\n.endm\n\tv_mov_b32 v30, v31\nk:\n.endmacro\n"
    text.write_text(kernel(f"{nested}\tv_mov_b32 v1, 1\n", before=MACRO))
    assert reasons(text) == []
    assert row(text)["Instructions"] == "2"


def test_a_symbol_that_a_condition_sets_is_unknown(text: Path) -> None:
    text.write_text(kernel("\tv_mov_b32 v[at], 1\n", before=".if FAST\nat = 3\n.endif\nof = 3\n"))
    assert reasons(text) == ["registers named by unknown symbols"]
    text.write_text(text.read_text().replace("v[at]", "v[of]"))
    assert reasons(text) == []


def test_comments_are_no_code_for_any_reader(text: Path) -> None:
    ghost = "\t.amdhsa_kernel ghost\n\t.amdhsa_next_free_vgpr 512\n\t.end_amdhsa_kernel\n"
    body = (
        "\tv_mov_b32 v1, /* in\n two */ v2 // /* not open\n/*\n\tds_read_b32 v9, v8\n*/\n# ds_nop\n"
    )
    fields = (
        "/* with the old tile:\n\t.amdhsa_next_free_vgpr 300\n*/\n# .amdhsa_next_free_vgpr 200\n"
    )
    text.write_text(f"/*\n{ghost}*/\n{kernel(body, fields=fields)}/*\n{ghost}*/\n")
    out, _, code = run("report", str(text), "--instructions", "--format", "jsonl")
    (found,) = map(json.loads, out.splitlines())
    assert (found["VGPR_Count"], found["Instructions"], found["LDS_Instructions"]) == (32, 2, 0)
    assert code == 0
    assert reasons(text) == []


@disassembler.needed
def test_branches_in_words_are_followed(text: Path) -> None:
    words = "0x7e020300 0x7e040300 0xbf820001 0x7e040301 0x68060501"
    text.write_text(kernel("".join(f"\t.long {word}\n" for word in words.split())))
    assert reasons(text) == []
    assert (row(text)["Instructions"], row(text)["Vector_Peak"]) == ("6", "2")
    text.write_text(kernel("\t.long 0xbf840001\n\tv_mov_b32 v1, 1\n\tv_nop\n"))
    assert reasons(text) == [f"a branch out of data words: {WAY_OUT}", "branch to an unknown label"]


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 1", "indexed registers"),
        ("s_setreg_b32 hwreg(HW_REG_MODE), s4", "indexed registers"),
        ("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 0", ""),
        ("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 15", ""),
        ("s_setreg_b32 hwreg(HW_REG_TRAPSTS), s4", ""),
        ("s_rfe_b64 s[30:31]", "indirect branch"),
        ("s_branch k", ""),
    ],
)
def test_what_changes_the_registers_or_the_way_is_told(code: str, why: str, text: Path) -> None:
    text.write_text(kernel(f"\t{code}\n"))
    assert reasons(text) == ([why] if why else [])


@pytest.mark.parametrize("last", ["v_mov_b32 v1, 1", "s_cbranch_scc1 k"])
def test_code_that_runs_off_its_end_is_told(last: str, text: Path) -> None:
    text.write_text(kernel("\tv_nop\n").replace("s_endpgm", last))
    assert reasons(text) == ["its code runs off its end"]


@pytest.mark.parametrize(
    ("fields", "entry"),
    [
        ("", ["v0", "s[0:4]"]),
        ("\t.amdhsa_user_sgpr_count 0x2 // not 4\n", ["v0", "s[0:6]"]),
        ("\t.amdhsa_user_sgpr_kernarg_segment_ptr one\n", ["v0", "s[0:6]"]),
        ("\t.amdhsa_system_vgpr_workitem_id one + 1\n", ["v[0:2]", "s[0:4]"]),
    ],
)
def test_what_the_descriptor_leaves_out_is_the_assemblers_default(
    fields: str, entry: list[str], text: Path
) -> None:
    stores = "".join(f"\tglobal_store_dword v[{n}:{n + 1}], v{n}, off\n" for n in (0, 1, 2))
    reads = "".join(f"\ts_add_u32 s30, s30, s{n}\n" for n in range(12))
    text.write_text(
        kernel(stores + reads, before="one = 1\n", fields=fields.replace("one = 1\n", ""))
    )
    out, _, _ = run("pressure", str(text), "--format", "json")
    assert json.loads(out)["kernels"][0]["entry"] == entry


@two_routes.needed
@pytest.mark.nightly
@pytest.mark.parametrize("part", range(8))
def test_random_texts_say_what_their_objects_say(part: int, text: Path) -> None:
    """Or they are not exact, by a reason that is true. No kernel is more or less."""
    faults, exact, kernels = [], 0, 0
    for seed in range(part, TEXTS, 8):
        target, made = hand_written(seed)
        text.with_name(INCLUDED).write_text(made.included)
        text.write_text(made.text)
        linked = assembled(text, target)
        of_text, of_object = two_routes.read(text), two_routes.read(linked)
        assert of_text.keys() == of_object.keys()
        rows = [_rows(path) for path in (text, linked)]
        assert rows[0].keys() == rows[1].keys()
        for symbol, one in of_text.items():
            other = of_object[symbol]
            kernels += 1
            exact += not one.reasons
            if not one.reasons and (other.reasons or one.numbers != other.numbers):
                faults.append(f"{seed} {symbol}: {one.numbers}, {other.numbers} {other.reasons}")
            for why in {*one.reasons} - {*other.reasons}:
                kinds = [kinds for part, kinds in _KINDS.items() if part in why]
                if not any(found & made.kinds for found in kinds):
                    faults.append(f"{seed} {symbol}: untrue: {why}; has {sorted(made.kinds)}")
            counted, wanted = rows[0][symbol], rows[1][symbol]
            if counted not in (None, wanted):
                faults.append(f"{seed} {symbol}: {counted} counted, {wanted} in the object")
    assert faults == []
    assert kernels / 4 < exact < kernels


def _rows(path: Path) -> dict[str, object]:
    """Symbol → VGPRs and instructions of each kernel; None if they are not counted."""
    out, _, code = run("report", str(path), "--instructions", "--format", "jsonl")
    assert code == 0
    found = {one["Symbol"]: one for one in map(json.loads, out.splitlines())}
    return {
        symbol: None if one["Instructions"] is None else (one["VGPR_Count"], one["Instructions"])
        for symbol, one in found.items()
    }
