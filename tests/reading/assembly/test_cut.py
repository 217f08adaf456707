"""A compiler's text that is cut before the end of its metadata fails the gate at every cut."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kernelinfo import Options
from kernelinfo.analysis import analyse
from kernelinfo.reading.blob import Problem

from ...conftest import FIXTURES
from ...test_golden import run

COMMENTED = (FIXTURES / "assembly" / "occupancy-clang22-gfx90a.s").read_text()
BARE = re.sub(r"(?m)[ \t]*;.*\n?$", "", COMMENTED)
"""As `-fno-verbose-asm` writes it."""


def passes(text: str, folder: Path) -> bool:
    (folder / "k.s").write_text(text)
    items = analyse([str(folder / "k.s")], Options(is_gate=True))
    return not any(isinstance(item, Problem) for item in items)


@pytest.mark.parametrize("text", [COMMENTED, BARE], ids=["with comments", "without comments"])
def test_a_cut_text_fails_the_gate(text: str, tmp_path: Path) -> None:
    assert passes(text, tmp_path)
    lines = text[: text.index("\n...\n")].splitlines(keepends=True)
    ends = re.compile(r"\.Lfunc_end|\t\.end_amdhsa|\t\.size")
    behind = [at for at, line in enumerate(lines) if ends.match(line)]
    for at in sorted({*range(1, len(lines), 23), *behind, *(one + 1 for one in behind)}):
        assert not passes("".join(lines[:at]), tmp_path), at


BY_HAND = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
k: s_endpgm
.size k, .-k
.amdhsa_kernel k
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 8
  .amdhsa_accum_offset 4
.end_amdhsa_kernel
"""


def test_a_text_by_hand_needs_no_metadata(tmp_path: Path) -> None:
    assert passes(BY_HAND, tmp_path)
    assert not passes(BY_HAND + ".Lfunc_end0:\n", tmp_path)


def test_what_a_cut_block_leaves_out_is_unknown(tmp_path: Path) -> None:
    """The assembler's default of 0 is that of a whole block."""
    begin = COMMENTED.index(".amdhsa_group_segment_fixed_size")
    (tmp_path / "k.s").write_text(COMMENTED[: COMMENTED.index("\n", begin) + 1])
    out, err, code = run("k.s", "--format", "jsonl", folder=tmp_path)
    assert (json.loads(out)["LDS_Block_Size"], json.loads(out)["Scratch_Size"]) == (0, None)
    assert (err, code) == ("k.s:13: kernel '_Z5emptyiPd': .amdhsa_kernel has no end\n", 2)
