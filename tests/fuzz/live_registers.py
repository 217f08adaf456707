"""Live registers of fuzzed assembly: `pressure` and `explain`, where no program disassembles."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from ..outputs import outputs
from ..pressure import texts
from ..test_golden import run
from .promise import BUG

FORMATS = [*outputs("pressure")]
_START = b"\tv_mov_b32_e32 v1, v0\n"


def pressure(data: bytes) -> None:
    """The bytes are the body of a kernel; each input is written in one of the formats."""
    _ask(_whole(data), "pressure", FORMATS[len(data) % len(FORMATS)])


def source_lines(data: bytes) -> None:
    """The bytes are lines of `.file` and `.loc` among the instructions of a kernel."""
    _ask(_whole(_START + data + b"\n" + _START), "pressure", "json")


def explain(data: bytes) -> None:
    """The bytes are a whole text; the lines of `explain` are written."""
    _ask(data, "explain", "text")


def _whole(body: bytes) -> bytes:
    head, foot = texts.module("BODY").encode().split(b"BODY")
    return head + body + b"\n" + foot


def _ask(data: bytes, command: str, format: str) -> None:
    """The answer in a format; raises where the promise is broken."""
    with TemporaryDirectory() as folder, patch.dict(os.environ, PATH=""):
        Path(folder, "k.s").write_bytes(data)
        words = ("explain", "k.s", "*") if command == "explain" else (command, "k.s")
        out, err, code = run(*words, "--format", format, folder=Path(folder))
    assert code in (0, 2)
    assert BUG not in err, err
    if format == "json" and out:
        json.loads(out)


BODIES = [
    _START + b"\ts_cbranch_scc1 .LBB0_1\n.LBB0_1:\n\tv_add_u32_e32 v2, v1, v[0:1]\n",
    b".LBB0_1:\n"
    + _START
    + b"\ts_cbranch_scc1 .LBB0_1\n\ts_branch .LBB0_1\n\ts_setpc_b64 s[4:5]\n",
    b"\ts_and_saveexec_b64 s[0:1], vcc\n" + _START + b"\ts_or_b64 exec, exec, s[0:1]\n",
    b"\t;DEBUG_VALUE: f:x <- $vgpr1\n" + _START + b"\t; kill: def $vgpr2 killed $vgpr3\n",
    b"\ts_clause 0x3 ; 4-byte Folded Reload\n\tbuffer_load_dword v1, off, s[0:3], 0 offset:4\n",
    b'\t.file 1 "d" "k.hip"\n\t.loc 1 7 3\n' + _START + b"\t; implicit-def: $vgpr2_hi16\n",
    b"\tv_dual_add_f32 v0, v1, v2 :: v_dual_mov_b32 v3, v4\n\tv_mov_b32 v[N+1], a0 /* */ // x\n",
    b"\ts_getpc_b64 s[4:5]\n.Lpost_getpc0:\n"
    b"\ts_add_u32 s4, s4, (.LBB0_1-.Lpost_getpc0)&4294967295\n"
    b"\ts_setpc_b64 s[4:5]\n.LBB0_1:\n\ts_swappc_b64 s[30:31], s[4:5]\n",
    b"\timage_load v[0:3], [v1, v[2:3]], s[0:7] dmask:0xf\n\texp mrt0 v0, v1, off, off done\n",
    b"\ts_set_vgpr_msb 0x41\n\tv_mov_b32 v0 /*v256*/, v1\n\ts_setreg_imm32_b32 hwreg(1), 5\n",
    b"\t.long 0x7e000280, 5\n\t.set N, 3\n\t.if N\n\t.endif\n\t.rept 3\n\t.endr\n\ts_nop 0\n",
    b"\tv_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[0:31]\n\tds_read_b32 v1, v2\n",
    b"\tv_movrels_b32 v0, v1\n\ts_set_gpr_idx_on s0, gpr_idx(SRC0)\n",
]
WHOLE = [_whole(body) for body in BODIES]


FILES = [
    b'\t.file 0 "/b" "k.hip" md5 0x1\n\t.file 1 "../x" "t.h"\n\t.loc 0 7 3\n\t.loc 1 9 0\n',
    b'\t.file 0 "" ""\n\t.loc 0 7 3\n',
    b'\t.file 1 "/x" ""\n\t.loc 1 7 3 prologue_end is_stmt 0\n',
    b'\t.file 1 "\\"\\\\" "\\x"\n\t.loc 1 7 3\n\t.loc 1 0 0\n',
    b'\t.file 2 "' + b"a/" * 3000 + b'k.hip"\n\t.loc 2 7 3\n',
    b'\t.file 999999999 "k.hip"\n\t.loc 999999999 999999999 999999999\n\t.loc 08 09 0x1\n',
    b'\t.file "k.hip"\n\t.file 1 "k.hip" source "int x;"\n\t.loc 1 1\n\t.loc 1 1 1 view .LVU2\n',
]
