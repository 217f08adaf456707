"""What an instruction adds to the wait counters of its target, and what a wait waits for.

Source of the rows: LLVM SIInsertWaitcnts.cpp, `updateEventWaitcntAfter`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from kernelinfo.hardware.counters import OperationKind, WaitCounter
from kernelinfo.hardware.targets import REGISTER_BYTES
from kernelinfo.pressure.instructions import InstructionEffect
from kernelinfo.pressure.listing import Instruction, number
from kernelinfo.pressure.registers import count
from kernelinfo.pressure.rules import bytes_of

_PENDING: tuple[tuple[str, tuple[OperationKind, ...]], ...] = (
    (
        r"s_(?:buffer_|scratch_)?(?:load|store|atomic|prefetch)_.*|s_mem(?:real)?time"
        r"|s_.*(?:dcache|gl1_inv).*|s_get_waveid_in_workgroup|s_atc_probe.*",
        ("scalar",),
    ),
    (r"s_sendmsg.*|s_get_barrier_state", ("message",)),
    (r"(?!.*_).*|[sv]_.*|ds_nop|.*prefetch.*", ()),
    (r"exp|export", ("export",)),
    (r"(?:lds|ds)_(?:param|direct)_load", ("lds direct",)),
    (r"ds_gws_.*|ds_ordered_count", ("gds",)),
    (r"ds_.*", ("lds",)),
    (r"\w+_async_.*", ("async",)),
    (r"tensor_(?:load|store)_.*", ("tensor",)),
    (r"global_inv.*", ("cache invalidate",)),
    (r"global_wb.*", ("cache writeback",)),
    (r"buffer_(?:wbinv|inv|gl\d_inv).*", ()),
    (r"buffer_wbl2", ("store",)),
    (r"image_bvh.*", ("bvh",)),
    (r"image_(?:sample|gather4|msaa_load|get_lod).*", ("sample",)),
    (r"(?:global|scratch|t?buffer|image|cluster)_load.*", ("load",)),
    (r"(?:global|scratch|t?buffer|image|cluster)_store.*", ("store",)),
    (r"flat_load.*", ("flat load",)),
    (r"flat_store.*", ("flat store",)),
)
"""Mnemonics, and what they count as; the first row that matches a mnemonic decides. Atomics are in
no row: they are loads if they return a value, else stores."""
_ATOMIC = re.compile(r"(?:global|flat|scratch|t?buffer|image|cluster)_")
_OLD_WAIT = re.compile(r"\b(\w+cnt)(?:_sat)?\((\d{1,4})\)")
_PAIR = re.compile(r"s_wait_(load|store)cnt_dscnt")
_WAIT = re.compile(r"s_wait(?:cnt)?_([a-z]+cnt)")
_FIELD = re.compile(r"wait_exp:(\d)")
_TWICE = re.compile(r"ds_(?:read|write|load|store)(?:xchg)?2")


def kinds_of(mnemonic: str, writes: bool, is_gds: bool) -> tuple[OperationKind, ...]:
    """The kinds of pending operation that an instruction counts as; empty for most instructions.
    `writes` is true if it writes a register, `is_gds` if it has the modifier `gds`."""
    for row, kinds in _PENDING:
        if re.fullmatch(row, mnemonic):
            return ("gds",) if is_gds and kinds == ("lds",) else kinds
    if not _ATOMIC.match(mnemonic):
        return ()
    if mnemonic.startswith("flat_"):
        return ("flat load",) if writes else ("flat store",)
    return ("load",) if writes else ("store",)


ANY_ORDER = -1
Queue = tuple[int, int]
"""Operations of one counter that complete in order: index of the counter in the target's list, and
of the group in its `in_order`; `ANY_ORDER` for those that complete in any order."""


def queues_of(counters: Sequence[WaitCounter]) -> dict[OperationKind, tuple[Queue, ...]]:
    """The queues that hold each kind of operation until it completes."""
    queues: dict[OperationKind, tuple[Queue, ...]] = {}
    for position, counter in enumerate(counters):
        groups = [*enumerate(counter.in_order), (ANY_ORDER, counter.any_order)]
        for group, kinds in groups:
            for kind in kinds:
                queues[kind] = (*queues.get(kind, ()), (position, group))
    return queues


Memory = Literal["global", "LDS", "scalar", "scratch", "FLAT"]
"""What an operation in flight loads from. FLAT addresses may be any of them."""
_MEMORIES: dict[str, Memory] = {
    **{"ds": "LDS", "lds": "LDS", "s": "scalar"},
    **{"scratch": "scratch", "flat": "FLAT"},
}


def memory_of(instruction: Instruction) -> Memory:
    """The memory that a load reads."""
    if instruction.spill:
        return "scratch"
    return _MEMORIES.get(instruction.effect.mnemonic.partition("_")[0], "global")


def is_load(effect: InstructionEffect) -> bool:
    """True for an operation with a result in registers or LDS, for which code has to wait."""
    return bool(effect.writes) or "_load_" in effect.mnemonic


def loaded_bytes(effect: InstructionEffect) -> int:
    """Bytes that a load in flight brings, for each lane; those of a scalar load for the wave."""
    size = bytes_of(effect.mnemonic)
    if size is None:
        return REGISTER_BYTES * sum(count(effect.writes))
    return 2 * size if _TWICE.match(effect.mnemonic) else size


def waits_of(
    instruction: Instruction, counters: Sequence[WaitCounter]
) -> list[tuple[int, int]] | None:
    """The index of each counter that an instruction waits for, and how many of that counter's
    operations may stay in flight; None if the text does not state the number."""
    mnemonic, text = instruction.effect.mnemonic, instruction.text
    named = {counter.name: position for position, counter in enumerate(counters)}
    if not mnemonic.startswith("s_wait"):
        field = _FIELD.search(text) if "wait_exp:" in text else None
        return [(named["expcnt"], int(field[1]))] if field and "expcnt" in named else []
    if mnemonic == "s_wait_idle":
        return [(position, 0) for position in range(len(counters))]
    if mnemonic == "s_waitcnt" and "(" in text:
        stated = _OLD_WAIT.findall(text)
        if len(stated) != text.count("("):
            return None
        return [(named[name], int(limit)) for name, limit in stated if name in named]
    is_old, pair, single = (
        mnemonic == "s_waitcnt",
        _PAIR.fullmatch(mnemonic),
        _WAIT.fullmatch(mnemonic),
    )
    if not (is_old or pair or single):
        return []  # events, hazards
    value = number(re.split(r"[\s,]+", text.strip())[-1])
    if value is None:
        return None
    if pair:  # LLVM AMDGPUBaseInfo.cpp encodeLoadcntDscnt, encodeStorecntDscnt
        stated = [(f"{pair[1]}cnt", value >> 8 & 63), ("dscnt", value & 63)]
    elif single:
        stated = [(single[1], value)]
    else:
        return [
            (position, sum((value >> bit & 1) << place for place, bit in enumerate(counter.bits)))
            for position, counter in enumerate(counters)
            if counter.bits
        ]
    return [(named[name], limit) for name, limit in stated if name in named]
