"""The class of an instruction, and the bytes that a load or store moves.

The rows were checked against the flags of LLVM's instruction descriptions (SIDefines.h,
`SIInstrFlags`; MCInstrDesc) of gfx803 to gfx1251: VALU, SALU, DS, FLAT, MUBUF, SMRD, IsMAI, IsWMMA
and the like. LLVM has no flag for waits, barriers and copies. AMD's ISA documents say what these
instructions do.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from kernelinfo.pressure.rules import Operation

InstructionClass = Literal[
    "vector",
    "matrix",
    "scalar",
    "lds",
    "load",
    "store",
    "atomic",
    "scalar_load",
    "scratch",
    "branch",
    "wait",
    "barrier",
    "copy",
    "other",
]


class ClassRow(NamedTuple):
    """Mnemonics of one class. The first row that matches a mnemonic decides."""

    instruction_class: InstructionClass
    mnemonics: str
    """Regular expression for whole mnemonics without encoding."""
    source: str
    """Flags of LLVM, or the section of AMD's ISA documents."""


ROWS = (
    ClassRow("barrier", r"s_(?:get_)?barrier.*|s_wakeup_barrier", "ISA, SOPP: S_BARRIER; SOP1"),
    ClassRow("wait", r"s_wait.*", "ISA, SOPP: S_WAITCNT, S_WAIT_*; SOPK: S_WAITCNT_*CNT"),
    ClassRow(
        "branch",
        r"s_(?:c?branch|call|swap_?pc|set_?pc|add_pc|rfe|subvector_loop)(?:_.*)?",
        "isBranch, isCall, isReturn without s_endpgm; writes of the PC",
    ),
    ClassRow(
        "other",
        r"s_.*(?:cache|gl1_inv)(?s:.*)|s_(?:mem(?:real)?time|get_waveid_in_workgroup|(?:buffer_)?prefetch_.*)"
        r"|s_atc_probe.*",
        "SMRD that reads no data: caches, time, wave id",
    ),
    ClassRow("scalar_load", r"s_(?:buffer_|scratch_)?(?:load|store|atomic)_.*", "SMRD"),
    ClassRow(
        "other",
        r"s_(?:nop|endpgm.*|code_end|clause|delay_alu|inst_prefetch|set_inst_prefetch_distance"
        r"|setprio.*|sleep.*|monitor_sleep|sethalt|setkill|trap|sendmsg.*|wakeup|ttracedata.*"
        r"|[id][ne]cperflevel|round_mode|denorm_mode|set_gpr_idx_(?:off|mode)|set_vgpr_msb"
        r"|icache_inv.*|version|alloc_vgpr)",
        "SOPP, without branches, waits and barriers; s_sendmsg_rtn, s_sleep_var, s_alloc_vgpr,"
        " s_version",
    ),
    ClassRow("scalar", r"s_.*", "SALU"),
    ClassRow("other", r"v_nop|v_illegal|exp|export", "ISA, VOP1: V_NOP; EXP"),
    ClassRow("matrix", r"v_(?:mfma|smfmac|wmma|swmmac)_(?!ld_).*", "IsMAI, IsWMMA, IsSWMMAC"),
    ClassRow("vector", r"v_.*", "VALU, VINTRP, VINTERP"),
    ClassRow("lds", r"ds_.*|lds_(?:direct|param)_load", "DS, LDSDIR"),
    ClassRow("scratch", r"scratch_.*", "FlatScratch"),
    ClassRow(
        "other",
        r"(?:buffer|global)_(?:wb|inv|gl[01]_inv).*|(?:flat|global)_prefetch_.*|tensor_stop",
        "MUBUF and FLAT that write back, invalidate or fill caches",
    ),
    ClassRow(
        "atomic",
        r"(?:buffer|global|flat|image)_atomic_.*",
        "IsAtomicRet, IsAtomicNoRet",
    ),
    ClassRow(
        "store",
        r"(?:t?buffer|global|flat|image)_store(?:_.*)?|tensor_s(?:tore_.*|ave)",
        "FLAT, MUBUF, MTBUF, MIMG, VIMAGE: mayStore",
    ),
    ClassRow(
        "load",
        r"(?:t?buffer|global|flat|image|cluster|tensor)_.*",
        "FLAT, MUBUF, MTBUF, MIMG, VIMAGE, VSAMPLE: mayLoad",
    ),
)

_MOVES = {"v_mov_b16", "v_mov_b32", "v_mov_b64"}
_VECTOR_REGISTER = re.compile(r"[va](?:\d|\[)")

_BYTES = {
    **dict.fromkeys(("byte", "ubyte", "sbyte", "u8", "i8", "b8"), 1),
    **dict.fromkeys(("short", "ushort", "sshort", "u16", "i16", "b16"), 2),
    **{"dword": 4, "dwordx2": 8, "dwordx3": 12, "dwordx4": 16},
    **{"b32": 4, "b64": 8, "b96": 12, "b128": 16},
}
"""Part of a load's or store's mnemonic → bytes that one lane moves (ISA documents, FLAT, MUBUF)."""


def class_of(operation: Operation, encoding: str) -> InstructionClass:
    """The class of an instruction.

    A copy moves whole vector registers: between VGPRs and AGPRs, or from VGPR to VGPR. `encoding`
    is the suffix of the mnemonic (`_e64`, `_sdwa`, `_dpp`) or empty.
    """
    found = _of_mnemonic(operation.mnemonic)
    return "copy" if found == "vector" and _is_copy(operation, encoding) else found


def _is_copy(operation: Operation, encoding: str) -> bool:
    mnemonic, operands = operation.mnemonic, operation.operands
    if mnemonic in _MOVES:
        is_plain = encoding in ("", "_e32", "_e64") and not operation.modifiers
    else:
        is_plain = mnemonic == "v_pk_mov_b32" or mnemonic.startswith("v_accvgpr_")
    return is_plain and all(map(_VECTOR_REGISTER.match, operands[1:]))


@lru_cache(maxsize=1 << 12)  # regular expressions take ten times as long
def _of_mnemonic(mnemonic: str) -> InstructionClass:
    rows = (row for row in ROWS if re.fullmatch(row.mnemonics, mnemonic))
    return next((row.instruction_class for row in rows), "other")


def bytes_of(mnemonic: str) -> int | None:
    """Bytes that one lane loads or stores; None if the mnemonic does not say.

    The operands of images, and the descriptors of formatted buffers and of tensors, decide there.
    """
    parts = mnemonic.split("_")
    if "format" in parts or "block" in parts or parts[0] == "image":
        return None
    return next((_BYTES[part] for part in parts if part in _BYTES), None)
