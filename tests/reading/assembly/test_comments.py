"""Comments become blanks: the text stays as long, with as many lines."""

from __future__ import annotations

from random import Random

import pytest

from kernelinfo.reading.assembly import comments
from kernelinfo.reading.assembly.comments import assembly_text, code_of, without_comments
from kernelinfo.reading.data import Data

CODE = {
    "v_mov v1, /* one */ v2": "v_mov v1, v2",
    "v_mov v1, /* one\n two */ v2\ns_nop": "v_mov v1, v2 s_nop",
    "a: /* one\n */ b /* two\n */ c\nd": "a: b c d",
    "/* one\n two */ s_nop": "s_nop",
    "/* /* */ s_nop // */ /*\ns_nop ; /*\nend": "s_nop s_nop end",
    '.ascii "/*" /* " */, "*/"': '.ascii "/*" , "*/"',
    "  # s_nop /*\nend": "end",
    "k: # /*\n lost */ lost\nend": "k: end",
    "#8 0.25 s_nop": "#8 0.25 s_nop",
    "# __CLANG_OFFLOAD_BUNDLE____START__ hip": "# __CLANG_OFFLOAD_BUNDLE____START__ hip",
    "v_mov v1 /* no end\nend": "v_mov v1 end",
    "v_mov v1 /*v257*/": "v_mov v1",
    "s_set_vgpr_msb 1\nv_mov v1 /*v257*/, /* x */ v2": "s_set_vgpr_msb 1 v_mov v1 /*v257*/, v2",
}


@pytest.mark.parametrize("text", CODE)
def test_what_stays_is_code(text: str) -> None:
    """As llvm-mc 22 reads each of them, except the marks of other tools."""
    left = without_comments(text.encode()).decode()
    assert (len(left), left.count("\n")) == (len(text), text.count("\n"))
    words = " ".join(code_of(line) for line in left.split("\n"))
    assert " ".join(words.split()) == CODE[text]


def test_a_long_text_is_read_in_parts_as_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(1)
    lines = ("v_mov v1 ; /*", "/* a\n b\n*/", "s_nop /* x */ 0", "# /* c", '.ascii "/*"')
    text = "".join(random.choice(lines) + "\n" for _ in range(500)).encode()
    whole = assembly_text(Data.of(text))
    monkeypatch.setattr("kernelinfo.reading.data._HELD_BYTES", 100)
    monkeypatch.setattr(comments, "_WINDOW", 64)
    in_parts = assembly_text(Data.of(text))
    assert not isinstance(in_parts, bytes)
    assert in_parts[:] == whole[:] != text
    for start in range(0, len(text), 97):
        assert in_parts[start : start + 300] == whole[start : start + 300]
