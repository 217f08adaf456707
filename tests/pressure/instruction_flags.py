"""Classes of instructions, by LLVM's flags and by kernelinfo."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kernelinfo.pressure.instructions import operation
from kernelinfo.pressure.registers import count, named
from kernelinfo.pressure.rules import InstructionClass, bytes_of, class_of

from . import machine_code

PROCESSORS = (
    *("gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"),
    *("gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1200", "gfx1201", "gfx1250", "gfx1251"),
)
_SECONDS = 600
_BITS = {
    **{"SALU": 0, "VALU": 1, "SOPP": 6, "VINTRP": 13, "MUBUF": 17, "MTBUF": 18, "SMRD": 19},
    **{"MIMG": 20, "VIMAGE": 21, "VSAMPLE": 22, "EXP": 23, "FLAT": 24, "DS": 25, "LDSDIR": 28},
    **{"VINTERP": 29, "IsMAI": 54, "FlatScratch": 56, "IsAtomicNoRet": 57, "IsAtomicRet": 58},
    **{"IsWMMA": 59, "IsSWMMAC": 63},
}
"""Flag → bit of TSFlags (LLVM 22, SIDefines.h, SIInstrFlags)."""
_VECTOR_MEMORY = {"FLAT", "MUBUF", "MTBUF", "MIMG", "VIMAGE", "VSAMPLE"}


class Described(NamedTuple):
    """One instruction as LLVM describes it."""

    opcode: str
    flags: frozenset[str]
    """Names of set TSFlags, and of flags of MCInstrDesc: L load, S store, B branch, C call, R
    return."""
    text: str


def fuzzed(processor: str, seed: int, each: int, tries: int) -> Iterator[Described]:
    """Disassembled random encodings, up to `each` of every mnemonic."""
    return _described("flags", processor, str(seed), str(each), str(tries))


def opcodes() -> Iterator[Described]:
    """Every opcode of every processor; the text is the mnemonic."""
    return _described("opcodes", "gfx90a")


def _described(*arguments: str) -> Iterator[Described]:
    command = [machine_code.program(), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_SECONDS)
    for line in done.stdout.splitlines():
        opcode, number, description, text = line.split("\t")
        bits = int(number)
        flags = {name for name, bit in _BITS.items() if bits >> bit & 1}
        yield Described(opcode, frozenset(flags | set(description)), text)


def by_flags(one: Described) -> InstructionClass | None:
    """The class that the flags give; None if they give none."""
    flags = one.flags
    if flags & {"IsMAI", "IsWMMA", "IsSWMMAC"}:
        return "matrix"
    if "SMRD" in flags:
        return "scalar_load"
    if flags & {"DS", "LDSDIR"}:
        return "lds"
    if "FlatScratch" in flags:
        return "scratch"
    if flags & _VECTOR_MEMORY:
        if flags & {"IsAtomicNoRet", "IsAtomicRet"}:
            return "atomic"
        return "load" if "L" in flags else "store" if "S" in flags else "other"
    if flags & {"VALU", "VINTRP", "VINTERP"}:
        return "vector"
    if flags & {"B", "C", "R"}:
        return "branch"
    if flags & {"SOPP", "EXP"}:
        return "other"
    return "scalar" if "SALU" in flags else None


EXPLAINED: tuple[tuple[str, InstructionClass | None, InstructionClass, str], ...] = (
    ("S_WAIT.*", "other", "wait", "no flag for waits: SOPP"),
    ("S_WAITCNT_.*CNT_.*", "scalar", "wait", "no flag for waits: SOPK"),
    ("S_BARRIER.*", "other", "barrier", "no flag for barriers: SOPP"),
    ("S_(GET_|WAKEUP_)?BARRIER_.*", "scalar", "barrier", "no flag for barriers: SOP1"),
    ("S_ENDPGM.*|S_CODE_END.*", "branch", "other", "the end of a wave is described as a return"),
    ("S_CBRANCH_(.*FORK|JOIN)_.*|S_RFE_.*", "scalar", "branch", "no flag for a write of the PC"),
    ("S_SENDMSG_RTN_.*", "scalar", "other", "messages with a result are SOP1"),
    ("S_(SLEEP_VAR|ALLOC_VGPR|VERSION)_.*", "scalar", "other", "SOP1 or SOPK without arithmetic"),
    ("S_(GL1|.*CACHE)_.*", "scalar_load", "other", "SMRD that reads no data: caches"),
    ("S_(BUFFER_)?PREFETCH_.*", "scalar_load", "other", "SMRD that reads no data: caches"),
    ("S_ATC_PROBE.*", "scalar_load", "other", "SMRD that reads no data: caches"),
    ("S_MEM(REAL)?TIME_.*|S_GET_WAVEID_.*", "scalar_load", "other", "SMRD of time and wave id"),
    ("V_ACCVGPR_.*", "matrix", "copy", "moves to and from AGPRs have IsMAI"),
    ("V_ACCVGPR_WRITE.*", "matrix", "vector", "constants to AGPRs have IsMAI"),
    ("V_(ACCVGPR_|DUAL_|PK_)?MOV_.*", "vector", "copy", "no flag for copies"),
    ("V_NOP_.*", "vector", "other", "no flag for no operation"),
    ("(FLAT|GLOBAL)_PREFETCH_.*", "load", "other", "prefetches are described as loads"),
    (".*_STORE_(LDS|ASYNC)_.*", "load", "store", "stores from LDS are described as loads, too"),
    ("IMAGE_GET_(LOD|RESINFO)_.*", "other", "load", "image queries neither load nor store"),
    ("TENSOR_STOP_.*", "store", "other", "the end of tensor stores is described as a store"),
    ("TENSOR_LOAD_.*", "vector", "load", "tensor copies to LDS have VALU"),
    ("TENSOR_STORE_.*", "vector", "store", "tensor copies from LDS have VALU"),
    ("V_ILLEGAL.*", None, "other", "no instruction"),
)
"""LLVM's opcodes, the class by its flags, ours, and the reason."""


def class_by_text(text: str) -> InstructionClass:
    """The class that kernelinfo gives an instruction. Halves of a dual one have their own."""
    return class_of(*operation(text.split("::")[0]))


def reason(one: Described, ours: InstructionClass) -> str | None:
    """Reason why the class differs from that of LLVM's flags; None without one."""
    theirs = by_flags(one)
    for opcode, by_llvm, by_us, why in EXPLAINED:
        if (by_llvm, by_us) == (theirs, ours) and re.fullmatch(opcode, f"{one.opcode}_"):
            return why
    return None


def unexplained(found: Iterable[Described], reasons: dict[str, int]) -> Iterator[str]:
    """Instructions whose classes differ without a reason. Counts reasons in `reasons`."""
    for one in found:
        ours = class_by_text(one.text)
        if ours == by_flags(one):
            continue
        why = reason(one, ours)
        if why is None:
            yield f"{one.opcode}: {one.text}: {ours}, by the flags {by_flags(one)}"
        else:
            reasons[why] = reasons.get(why, 0) + 1


def wrong_bytes(found: Iterable[Described]) -> Iterator[str]:
    """Loads and stores of registers whose number of data registers differs from `bytes_of`."""
    for one in found:
        taken, encoding = operation(one.text)
        own = class_of(taken, encoding)
        size = bytes_of(taken.mnemonic) if own in ("load", "store") else None
        if size is None or "lds" in taken.modifiers or "_lds" in taken.mnemonic:
            continue
        is_second = own == "store" and taken.mnemonic.startswith(("global", "flat"))
        data = taken.operands[is_second and "addtid" not in taken.mnemonic]
        registers = sum(count(named(data))[:2]) - ("tfe" in taken.modifiers)
        if registers != -(-size // 4):
            yield f"{one.text}: {size} bytes"
