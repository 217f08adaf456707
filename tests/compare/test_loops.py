"""Loops of two builds of one kernel, paired: what `diff --instructions` says of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random

import pytest

from ..compiling import assembly
from ..conftest import FIXTURES
from ..test_golden import run
from .random_loops import source

Loop = tuple[int | None, str, list["Loop"]]
"""Source line, instructions, and the loops inside it."""

INSTRUCTIONS = {
    "v": "v_add_f32 v1, v0, v0",
    "m": "v_mfma_f32_4x4x1f32 a[0:3], v0, v0, a[0:3]",
    "l": "global_load_dword v2, v0, s[0:1]",
    "s": "global_store_dword v0, v0, s[0:1]",
}


def lines(loops: list[Loop], name: str = ".L") -> list[str]:
    code = []
    for number, (line, instructions, inside) in enumerate(loops):
        label = f"{name}{number}"
        code += [f"{label}:", *([f".loc 1 {line} 1"] if line else [".loc 0 0 0"])]
        code += [INSTRUCTIONS[letter] for letter in instructions]
        code += [*lines(inside, f"{label}_"), f"s_cbranch_scc1 {label}"]
    return code


def moved(folder: Path, old: list[Loop], new: list[Loop]) -> list[tuple[str, ...]]:
    """Instructions of each loop that moved, before and after; empty for none."""
    for name, loops in (("old.s", old), ("new.s", new)):
        code = ['.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"', '.file 1 "gemm.hip"', "k:"]
        code += [*lines(loops), "s_endpgm", ".amdhsa_kernel k", ".amdhsa_next_free_vgpr 24"]
        code += [".amdhsa_next_free_sgpr 8", ".amdhsa_accum_offset 16", ".end_amdhsa_kernel"]
        (folder / name).write_text("\n".join([*code, ""]))
    out, _, _ = run("diff", "old.s", "new.s", "--instructions", "--format", "json", folder=folder)
    kernels = json.loads(out)["kernels"]
    counted = (
        [side and side["counts"] for side in (move["old"], move["new"])]
        for kernel in kernels
        for move in kernel["loops"]
    )
    names = {"vector": "v", "matrix": "m", "loads": "l", "stores": "s"}
    return sorted(
        tuple(
            "".join(side[n] * letter for n, letter in names.items()) if side else ""
            for side in both
        )
        for both in counted
    )


def test_loops_of_one_line_are_pairs_whatever_moved_in_them(tmp_path: Path) -> None:
    old: list[Loop] = [(3, "vvv", []), (7, "mmv", []), (12, "ll", [])]
    new: list[Loop] = [(3, "vl", []), (7, "vvvvvv", []), (12, "ss", [])]
    assert moved(tmp_path, old, new) == [("ll", "ss"), ("vmm", "vvvvvv"), ("vvv", "vl")]
    assert moved(tmp_path, old, old) == []


def test_the_remainder_of_an_unrolled_loop_stays_behind_it(tmp_path: Path) -> None:
    old: list[Loop] = [(3, "vvvvvvvvll", []), (3, "vvl", [])]
    new: list[Loop] = [(3, "vvvvvvvvvvvvllll", []), (3, "vvvl", [])]
    pairs = [("vvl", "vvvl"), ("vvvvvvvvll", "vvvvvvvvvvvvllll")]
    assert moved(tmp_path, old, new) == pairs
    assert moved(tmp_path, old[1:], new) == pairs[:1]


def test_depth_decides_before_the_line_alone(tmp_path: Path) -> None:
    old: list[Loop] = [(3, "vv", [(3, "l", [])])]
    new: list[Loop] = [(3, "vvv", [(3, "ll", [])])]
    assert moved(tmp_path, old, new) == [("l", "ll"), ("vvl", "vvvll")]
    assert moved(tmp_path, [(3, "l", [])], new[0][2]) == [("l", "ll")]


def test_a_header_that_moved_to_a_line_of_the_loop_around_it_is_no_pair(tmp_path: Path) -> None:
    """clang 19 at -O2 and -O3: the header of the outer loop gets the line of the inner one."""
    old: list[Loop] = [(None, "vvvvvvvvlll", [(7, "vvl", [])])]
    new: list[Loop] = [(7, "vvvvvvvvllll", [(9, "vvvl", [])])]
    assert moved(tmp_path, old, new) == [("vvl", "vvvl"), ("v" * 10 + "llll", "v" * 11 + "l" * 5)]


def test_a_loop_is_no_pair_of_the_loop_around_the_same_one(tmp_path: Path) -> None:
    """clang 19 unrolls the outer loop, clang 22 does not."""
    old: list[Loop] = [(8, "vvvvvvvvvvvll", [])]
    new: list[Loop] = [(5, "vvl", [(7, "vvvvvvvvvvvvll", [])])]
    assert moved(tmp_path, old, new) == [("v" * 11 + "ll", "v" * 12 + "ll")]


@pytest.mark.needs("llvm-22")
@pytest.mark.parametrize("suffix", ["s", "co"])
def test_loops_of_objects_have_lines_as_those_of_texts(suffix: str) -> None:
    lines = FIXTURES / "lines"
    paths = [str(lines / f"copies{form}-clang22-gfx942.{suffix}") for form in ("", "-vgpr-form")]
    out, err, _ = run("diff", *paths, "--instructions")
    assert err == ""
    assert "; loop copies.hip:19: copies 128 → 0, instructions 189 → 60, matrix 4," in out


def test_without_lines_loops_need_half_of_their_instructions_in_common(tmp_path: Path) -> None:
    old: list[Loop] = [(None, "mmmm", []), (None, "llll", [])]
    assert moved(tmp_path, old, [(None, "lllll", [])]) == [("llll", "lllll"), ("mmmm", "")]
    assert moved(tmp_path, old, [(None, "ssssss", [])]) == [("mmmm", "")]


def test_matrix_loops_of_one_depth_are_pairs_whatever_their_line(tmp_path: Path) -> None:
    old: list[Loop] = [(12, "mmmmvvvvvvvvvvvv", []), (20, "v", [])]
    new: list[Loop] = [(11, "m", []), (20, "v", [])]
    assert moved(tmp_path, old, new) == [("vvvvvvvvvvvvmmmm", "m")]


def lines_of_loops(path: str) -> dict[tuple[str, str], set[int]]:
    """Kernel and label of each loop → source lines of its instructions, by `.loc` directives."""
    located, line = [0], 0
    for text in Path(path).read_text("utf-8").splitlines():
        if match := re.match(r"\s+\.loc\s+\d+ (\d+)", text):
            line = int(match[1])
        located.append(line if re.match(r"\t[a-z]", text) else 0)
    out, _, _ = run("pressure", path, "--format", "json")
    return {
        (kernel["symbol"], loop["label"]): {
            number
            for span in loop["ranges"]
            for number in located[span["first"]["line"] : span["last"]["line"] + 1]
            if number
        }
        for kernel in json.loads(out)["kernels"]
        for loop in kernel["loops"]
    }


def in_common(left: set[int], right: set[int]) -> float:
    return len(left & right) / (len(left | right) or 1)


@pytest.mark.nightly
@pytest.mark.needs("clang-19", "clang-22")
@pytest.mark.parametrize("seed", range(2))
def test_loops_that_are_pairs_have_source_lines_in_common(seed: int, tmp_path: Path) -> None:
    """Those of two compilers, at two levels: no other loop of the kernel has many more lines in
    common, of nearly all pairs that moved."""
    kernels = source(Random(seed), 100)
    old = assembly(kernels, tmp_path / "old.s", "gfx90a", "-g1", version=19)
    new = assembly(kernels, tmp_path / "new.s", "gfx90a", "-g1", "-O2")
    before, after = lines_of_loops(old), lines_of_loops(new)
    out, _, _ = run("diff", old, new, "--instructions", "--format", "json")
    pairs, wrong = 0, []
    for kernel in json.loads(out)["kernels"]:
        symbol = kernel["new"]["symbol"]
        others = [lines for (name, _), lines in after.items() if name == symbol]
        for move in kernel["loops"]:
            if move["old"] and move["new"]:
                pairs += 1
                lines = before[symbol, move["old"]["label"]]
                common = in_common(lines, after[symbol, move["new"]["label"]])
                if max(in_common(lines, other) for other in others) > common + 0.25:
                    wrong.append((symbol, move["old"]["label"], move["new"]["label"]))
    assert pairs > 30
    assert len(wrong) <= pairs / 40, wrong
