"""Operands that an instruction writes and reads, and its class, by rules, not by opcodes.

By default an instruction writes its first operand and reads all others. The rows below are the
exceptions. The rows were checked against LLVM's descriptions of the instructions (MCInstrDesc, and
their flags: SIDefines.h, `SIInstrFlags`) of gfx803 to gfx1251. AMD's ISA documents say which lanes,
halves and bytes a write leaves unchanged, and what waits, barriers and copies are, for which LLVM
has no flags.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Literal, NamedTuple


class Operation(NamedTuple):
    """One instruction split into its parts."""

    mnemonic: str  # without the encoding: no `_e32`, `_e64`, `_sdwa`, `_dpp`
    operands: tuple[str, ...]
    modifiers: tuple[str, ...]  # after the last operand: `offset:16`, `glc`, `row_mask:0xf`


class Access(NamedTuple):
    """0-based positions of the operands that are written. All others are read."""

    written: tuple[int, ...]
    kept: tuple[int, ...] = ()
    """Written operands that are also read or keep a part of their old value."""


_Decision = Access | Callable[[Operation], Access]

_NONE = Access(())
_FIRST = Access((0,))
_FIRST_TWO = Access((0, 1))


def _returns(operation: Operation) -> bool:
    """True if an atomic returns the old value in memory (ISA documents, GLC, SC0 and TH)."""
    return any(
        modifier in ("glc", "sc0") or (modifier.startswith("th:") and "RETURN" in modifier)
        for modifier in operation.modifiers
    )


def _atomic(operation: Operation) -> Access:
    return _FIRST if _returns(operation) else _NONE


def _atomic_in_place(operation: Operation) -> Access:
    """The data operand receives the old value if the atomic returns it."""
    return Access((0,), (0,)) if _returns(operation) else _NONE


def _with_carry(operation: Operation) -> Access:
    """The first operand is written; also the second of four or more, if it is scalar: the carry."""
    scalar = len(operation.operands) > 3 and re.match(
        r"vcc|s\d|s\[|ttmp|null", operation.operands[1]
    )
    return _FIRST_TWO if scalar else _FIRST


def _compare_to_exec(operation: Operation) -> Access:
    return _FIRST if len(operation.operands) > 2 else _NONE


def _load(operation: Operation) -> Access:
    """The first operand is written; with the modifier `lds`, LDS instead of a register."""
    return _NONE if "lds" in operation.modifiers else _FIRST


CALLS, DIRECT_CALLS = ("s_swappc_b64", "s_swap_pc_i64"), ("s_call_b64", "s_call_i64")
"""Calls of a function whose address is in registers, and of one at an offset."""

WRITTEN: tuple[tuple[str, str, _Decision], ...] = (
    (
        "scalar results of instructions that have mostly none",
        r"s_get_barrier_state|s_sendmsg_rtn_.*|s_getreg_.*|s_getpc_b64|s_get_pc_i64|"
        + "|".join((*CALLS, *DIRECT_CALLS)),
        _FIRST,
    ),
    (
        "scalar instructions without a result",
        r"s_cmp.*|s_bitcmp.*|s_branch|s_cbranch.*|s_endpgm.*|s_nop|s_wait.*|s_barrier.*|s_sleep.*"
        r"|s_sendmsg.*|s_set.*|s_add_pc_i64|s_rfe.*|s_trap|s_clause|s_delay_alu|s_version"
        r"|s_.*cache.*|s_prefetch.*|s_ttrace.*|s_alloc_vgpr|s_wakeup.*|s_atc_probe.*"
        r"|s_store.*|s_buffer_store.*|s_scratch_store.*",
        _NONE,
    ),
    ("vector instructions without a result", r"v_nop|v_pipeflush|exp|export", _NONE),
    (
        "stores, prefetches and what goes to or from LDS without registers",
        r"(?:t?buffer|global|flat|scratch|image|cluster)_(?:store|prefetch|load_lds)(?:_.*)?"
        r"|(?:buffer|global)_(?:wb|inv|gl).*|.*_async_.*|tensor_.*|.*_prefetch_.*|.*_load_lds_.*",
        _NONE,
    ),
    ("atomics with an operand for the result", r"(?:global|flat|scratch)_atomic_.*", _atomic),
    (
        "atomics whose data operand takes the result",
        r"(?:buffer|image|s|s_buffer|s_scratch)_atomic_.*",
        _atomic_in_place,
    ),
    ("LDS: a stack of ray tracing", r"ds_bvh_stack.*", Access((0, 1), (1,))),
    (
        "LDS with a result",
        r"ds_read.*|ds_load.*|ds_.*_rtn.*|ds_append|ds_consume|ds_swizzle.*|ds_b?permute.*"
        r"|ds_ordered_count|ds_direct_load|ds_param_load",
        _FIRST,
    ),
    ("LDS without a result", r"ds_.*", _NONE),
    ("two results", r"v_div_scale_.*|v_mad_u64_u32|v_mad_i64_i32|v_mad_co_.*", _FIRST_TWO),
    (
        "sum and carry",
        r"v_(?:add|sub|subrev)_(?:co_)?[ui]32|v_(?:addc|subb|subbrev)_(?:co_)?u32|v_.*_co_ci_u32",
        _with_carry,
    ),
    (
        "exchange",
        r"v_swap_b(?:16|32)|v_permlane(?:16|32)_swap_b32|v_swaprel_b32",
        Access((0, 1), (0, 1)),
    ),
    ("compare to exec", r"v_cmpx_.*", _compare_to_exec),
    ("loads", r"(?:t?buffer|global|flat|scratch|image|cluster)_.*", _load),
)
"""Name of the row, mnemonics, written operands. The first row that matches decides."""

KEPT: tuple[tuple[str, str], ...] = (
    (
        "accumulate",
        r"v_mac_.*|v_fmac_.*|v_pk_fmac_.*|v_dot[248](?:c|acc)_.*|v_smfmac_.*|v_swmmac_.*",
    ),
    ("one lane", r"v_writelane_b32"),
    ("lanes of other rows", r"v_permlane(?:16|x16)_(?:var_)?b32"),
    ("half of a sum", r"v_(?:fma|mad)_mix(?:lo|hi)_.*"),
    ("half of a register", r".*_d16(?:_.*)?"),
    (
        "bytes of a register",
        r"v_cvt_pk_(?:fp8|bf8)_f32|v_cvt_sr_(?!pk_).*"
        r"|v_cvt_scalef32_(?:sr_)?(?:pk_)?(?:fp8|bf8|fp4)_.*|v_cvt_scalef32_f16_.*",
    ),
    ("second step of an interpolation", r"v_interp_p2_f32"),
    (
        "scalar read, modify and write",
        r"s_addk_i32|s_addk_co_i32|s_mulk_i32|s_cmov_.*|s_cmovk_.*|s_bitset[01]_.*|s_fmac_.*"
        r"|s_subvector_loop_end",
    ),
)
"""Name of the row, mnemonics that also read the operands they write."""

_COMPUTING = (
    r"v_mac_.*|v_fmac_.*|v_pk_fmac_.*|v_dot[248](?:c|acc)_.*|v_smfmac_.*|v_swmmac_.*"
    r"|v_interp_p2_f32|s_addk_.*|s_mulk_.*|s_fmac_.*|s_subvector_loop_end|v_swap_.*|v_swaprel_.*"
    r"|v_permlane(?:16|32)_swap_b32|.*_atomic_.*|ds_bvh_stack.*"
)
"""Mnemonics whose result depends on the old value of the operands they write."""

_KEPT = "|".join(pattern for _, pattern in KEPT)
_DPP = re.compile(r"dpp8:|quad_perm:|row_|wave_|bank_mask:")


_IN_MEMORY = re.compile(r"(?:t?buffer|global|flat|scratch|image|cluster)_|ds_")
_DATA_FIRST = re.compile(r"(?:t?buffer|image)_")
_WITHOUT_ADDRESS = re.compile(r"ds_(?:swizzle|b?permute|append|consume|gws|bvh|nop)")


def access(operation: Operation, encoding: str) -> Access:
    """The operands that an instruction writes, and which of them it also reads.

    `encoding` is the suffix of the mnemonic (`_e64`, `_sdwa`, `_dpp`) or empty.
    """
    decision, kept = _access_of_mnemonic(operation.mnemonic)
    accessed = decision if isinstance(decision, Access) else decision(operation)
    if accessed.written and (kept or _keeps(operation, encoding)):
        return Access(accessed.written, accessed.written)
    return accessed


def is_merging(operation: Operation) -> bool:
    """True if an instruction leaves a part of its result register unchanged without reading it."""
    return not re.fullmatch(_COMPUTING, operation.mnemonic, re.DOTALL)


def address(operation: Operation, encoding: str) -> int | None:
    """Position of the operand that is an address in memory; None without one.

    Buffer and image instructions have their data before it (ISA documents, MUBUF, MIMG), FLAT and
    DS ones only a result. `encoding` is as in `access`.
    """
    mnemonic = operation.mnemonic
    if not _IN_MEMORY.match(mnemonic) or _WITHOUT_ADDRESS.match(mnemonic):
        return None
    if _DATA_FIRST.match(mnemonic):
        return 0 if "lds" in operation.modifiers else 1
    return 1 if access(operation, encoding).written else 0


def sum_operand(operation: Operation) -> int:
    """Position of the operand that a matrix instruction or an FMA adds its product to: C.

    Sparse matrix instructions add to their result (LLVM VOP3PInstructions.td, `SMFMAC`, `SWMMAC`).
    """
    return 0 if operation.mnemonic.startswith(("v_smfmac", "v_swmmac")) else 3


@lru_cache(maxsize=1 << 12)
def _access_of_mnemonic(mnemonic: str) -> tuple[_Decision, bool]:
    rows = (decisions for _, row, decisions in WRITTEN if re.fullmatch(row, mnemonic, re.DOTALL))
    return next(rows, _FIRST), bool(re.fullmatch(_KEPT, mnemonic, re.DOTALL))


def _keeps(operation: Operation, encoding: str) -> bool:
    """True if modifiers leave lanes or bits of the result unchanged."""
    if not operation.modifiers:
        return False
    modifiers = dict(modifier.partition(":")[::2] for modifier in operation.modifiers)
    if "tfe" in modifiers:  # the status word is written on failure only
        return True
    if encoding == "_sdwa" or "dst_unused" in modifiers:
        return (
            modifiers.get("dst_unused") == "UNUSED_PRESERVE" and modifiers.get("dst_sel") != "DWORD"
        )
    if any(_DPP.match(modifier) for modifier in operation.modifiers):
        if operation.mnemonic.startswith("v_cmp"):  # inactive lanes become 0
            return False
        return not _writes_every_lane(modifiers)
    return False


def _writes_every_lane(modifiers: dict[str, str]) -> bool:
    """True if a DPP instruction writes every lane of its result.

    `bound_ctrl:0` is an older spelling of the bit that `bound_ctrl:1` sets (LLVM AMDGPUAsmParser,
    `convertDppBoundCtrl`).
    """
    masks = (modifiers.get("row_mask", "0xf"), modifiers.get("bank_mask", "0xf"))
    return "bound_ctrl" in modifiers and masks == ("0xf", "0xf")


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
    instruction_class = _class_of_mnemonic(operation.mnemonic)
    return (
        "copy"
        if instruction_class == "vector" and _is_copy(operation, encoding)
        else instruction_class
    )


def _is_copy(operation: Operation, encoding: str) -> bool:
    mnemonic, operands = operation.mnemonic, operation.operands
    if mnemonic in _MOVES:
        is_plain = encoding in ("", "_e32", "_e64") and not operation.modifiers
    else:
        is_plain = mnemonic == "v_pk_mov_b32" or mnemonic.startswith("v_accvgpr_")
    return is_plain and all(map(_VECTOR_REGISTER.match, operands[1:]))


@lru_cache(maxsize=1 << 12)  # regular expressions take ten times as long
def _class_of_mnemonic(mnemonic: str) -> InstructionClass:
    rows = (row for row in ROWS if re.fullmatch(row.mnemonics, mnemonic))
    return next((row.instruction_class for row in rows), "other")


def bytes_of(mnemonic: str) -> int | None:
    """Bytes that one lane loads or stores; None if the mnemonic does not say.

    For images, formatted buffers and tensors, operands and descriptors decide.
    """
    parts = mnemonic.split("_")
    if "format" in parts or "block" in parts or parts[0] == "image":
        return None
    return next((_BYTES[part] for part in parts if part in _BYTES), None)
