"""Operations of instructions on memory: spill slots, and the wait counters that hold an operation
until it completes.

A slot is 4 bytes of a lane's stack to which the compiler spilled a register. LLVM's comments
`Folded Spill` and `Folded Reload` (AsmPrinter.cpp, emitComments) prove that it is one. Without
comments, the proof is that the whole stack is accessed at constant addresses: by `scratch_`
instructions, or by `buffer_` instructions with the resource that the kernel makes of s[0:3] at its
entry. A lane that `v_writelane_b32` fills and `v_readlane_b32` reads holds an SGPR. The source of
what an instruction adds to the wait counters is LLVM SIInsertWaitcnts.cpp,
`updateEventWaitcntAfter`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from kernelinfo.hardware.counters import OperationKind, WaitCounter
from kernelinfo.hardware.targets import REGISTER_BYTES
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.instructions import InstructionEffect
from kernelinfo.pressure.listing import Instruction, number
from kernelinfo.pressure.registers import count, each, named, union
from kernelinfo.pressure.rules import bytes_of

UNPROVEN = "its spill slots cannot be told from the rest of its stack"
MOVING = "the address of a spill slot is not constant"

_SLOT = re.compile(
    r"(scratch|buffer)_(load|store)_\w+\s+(?:off\s*,\s*)?"
    r"([va](?:\d+|\[\d+:\d+\])(?:\.[lh])?)\s*,\s*(?:off\s*,\s*)?"
    r"(?:s\[\d+:\d+\]\s*,\s*)?(off|0|s\d+)(?:\s+offset:(-?\w+))?(?:\s.*)?"
)
"""An access of the stack at a constant distance from a base."""
_STACK = re.compile(r"s\[\d+:\d+\]")
"""The resource by which `buffer_` instructions access the stack; a function keeps it."""
_COPY = re.compile(r"s_mov_b(?:32|64)\s+(\S+)\s*,\s*(\S+)")
_WAVE_OFFSET = re.compile(r"s_add(?:c)?_u32\s+(s\d+)\s*,\s*\1\s*,\s*(?:s\d+|0)")
"""What a kernel adds to the base of its stack (LLVM SIFrameLowering,
emitEntryFunctionScratchRsrcRegSetup)."""
_LANE = re.compile(r"v_(read|write)lane_b32(?:_e64)?\s+(\w+)\s*,\s*(\w+)\s*,\s*(\d+)\s*")
_CONSTANT = re.compile(r"s_movk?_[bi]32\s+(s\d+)\s*,\s*(\w+)")
_FRAMES = ("s32", "s33")  # stack and frame pointer (AMDGPUUsage, "Function ABI")
SLOT_BYTES = 4
_BACK = 8  # most instructions between the constant of a base and its use; LLVM writes 1
_APERTURE = re.compile(r"src_private_base|SH_MEM_BASES|src_flat_scratch_base", re.IGNORECASE)
"""What makes a pointer of an address on the stack."""


class SlotAccess(NamedTuple):
    """An instruction that moves registers to or from places: spill slots, or a lane."""

    is_store: bool
    pairs: tuple[tuple[int, int], ...]
    """Place and register, a set of one each; no register if liveness does not follow it."""

    @property
    def places(self) -> int:
        """The set of places."""
        return union(place for place, _ in self.pairs)


def slots_of(function: LiveFunction, spilled: int | None) -> dict[int, SlotAccess] | str:
    """The moves to and from spill slots by instruction, or why they cannot be determined.

    `spilled` is LLVM's count of VGPRs stored to scratch (eliminateFrameIndex); None if unknown.
    """
    code = function.instructions
    marked = [index for index in function.code if code[index].spill]
    if not marked and spilled == 0:
        return {}
    bits: dict[tuple[str, int], int] = {}
    moves = dict[int, SlotAccess]()
    for index in marked:
        move = _slot(code, index, bits)
        if move is None:
            return MOVING
        moves[index] = move
    stacks = {stack[0] for index in marked if (stack := _STACK.search(code[index].text))}
    stacks = stacks if marked else _stacks(function)
    unmarked = {index: _slot(code, index, bits) for index in _unmarked(function, stacks)}
    is_pointed_at = unmarked and any(_APERTURE.search(each.text) for each in code)
    if stacks and not marked:  # before gfx9 no register says where the stack is
        is_pointed_at = is_pointed_at or any("flat_" in each.effect.mnemonic for each in code)
    is_all_constant = None not in unmarked.values() and not is_pointed_at
    if not marked and (not is_all_constant or not unmarked):
        return {} if spilled is None and not unmarked else UNPROVEN
    slots = -1 if is_all_constant else _places(moves.values())
    left = [(index, move) for index, move in unmarked.items() if move]
    while joining := {i: move for i, move in left if i not in moves and move.places & slots}:
        moves |= joining
        slots |= _places(joining.values())
    stores = [move for move in moves.values() if move.is_store]
    is_all_marked = marked and is_all_constant
    if not is_all_marked and sum(len(move.pairs) for move in stores) < (spilled or 0):
        return UNPROVEN  # other slots than these hold spilled VGPRs, too
    # A marked slot that nothing fills is undefined, as half of a pair may be.
    return UNPROVEN if not marked and _places(moves.values()) & ~_places(stores) else moves


def _unmarked(function: LiveFunction, stacks: Collection[str]) -> Iterator[int]:
    """Stack accesses without LLVM's comment. LLVM 15 to 19 omit the comment inside a clause."""
    code = function.instructions
    for index in function.code:
        kind = "" if code[index].spill else code[index].effect.mnemonic[:7]
        stack = _STACK.search(code[index].text) if kind == "buffer_" else None
        if kind == "scratch" or (stack and stack[0] in stacks):
            yield index


def _stacks(function: LiveFunction) -> set[str]:
    """The buffer resources through which a kernel's `buffer_` instructions access the stack: copies
    of s[0:3], to which the first block adds the wave's offset, and which nothing else writes.

    Source: AMDGPUUsage, "Kernel Prolog", "Private Segment Buffer".
    """
    code = function.instructions
    first = function.flow.instructions(0)
    private = [*each(named("s[0:3]"))]
    held = dict(zip(private, private, strict=True))
    """Register → the register of s[0:3] whose value it holds."""
    for index in first:
        text, writes = code[index].text, code[index].effect.writes
        copied, added = _COPY.fullmatch(text), _WAVE_OFFSET.fullmatch(text)
        if added and named(added[1]) in held:
            continue
        sources = [held.get(source, 0) for source in each(named(copied[2]))] if copied else []
        held = {target: source for target, source in held.items() if not target & writes}
        if copied and all(sources):
            held |= zip(each(named(copied[1])), sources, strict=False)
    later = union(code[index].effect.writes for index in function.code if index not in first)
    return {
        stack[0]
        for index in function.code
        if code[index].effect.mnemonic.startswith("buffer_")
        and (stack := _STACK.search(code[index].text))
        and [held.get(register) for register in each(named(stack[0]))] == private
        and not named(stack[0]) & later
    }


def _places(moves: Iterable[SlotAccess]) -> int:
    return union(move.places for move in moves)


def _slot(
    code: Sequence[Instruction], index: int, bits: dict[tuple[str, int], int]
) -> SlotAccess | None:
    """The slots that an instruction accesses; None if they are not known. `bits` maps base and
    distance, in slots of `SLOT_BYTES`, to the number of a slot; new slots are added to it."""
    instruction = code[index]
    move, size = _SLOT.fullmatch(instruction.text), bytes_of(instruction.effect.mnemonic)
    if move is None or not size:
        return None
    base, distance = move[4], number(move[5] or "0")
    if base.startswith("s") and base not in _FRAMES:
        constant = _constant(code[max(index - _BACK, 0) : index], base)
        if constant is None or distance is None:
            return None
        # A buffer's base counts for all lanes of the wave.
        is_scratch = move[1] == "scratch"
        base, distance = ("off", distance + constant) if is_scratch else (str(constant), distance)
    registers = [*each(named(move[3]))]
    if distance is None or len(registers) != -(-size // SLOT_BYTES):
        return None
    first = distance // SLOT_BYTES
    keys = [("" if base in ("off", "0") else base, first + k) for k in range(len(registers))]
    places = [1 << bits.setdefault(key, len(bits)) for key in keys]
    return SlotAccess(move[2] == "store", tuple(zip(places, registers, strict=True)))


def _constant(code: Sequence[Instruction], register: str) -> int | None:
    """The constant to which an SGPR was last set; None if it was set to something else, or too long
    before."""
    written = named(register)
    for instruction in reversed(code):
        if instruction.effect.writes & written:
            constant = _CONSTANT.fullmatch(instruction.text)
            return number(constant[2]) if constant else None
    return None


def lanes_of(function: LiveFunction, first: int) -> Iterator[tuple[int, SlotAccess]]:
    """The moves to and from lanes by instruction, for lanes that are both filled and read. Their
    places have bits from `first` on."""
    bits: dict[tuple[str, str], int] = {}
    written, read = dict[int, tuple[str, str, str]](), dict[int, tuple[str, str, str]]()
    for index in function.code:
        instruction = function.instructions[index]
        match = None
        if instruction.effect.mnemonic in ("v_readlane_b32", "v_writelane_b32"):
            match = _LANE.fullmatch(instruction.text)
        if match and match[1] == "write":
            written[index] = match[2], match[4], match[3]
        elif match:
            read[index] = match[3], match[4], match[2]
    both = {lane[:2] for lane in written.values()} & {lane[:2] for lane in read.values()}
    for is_store, moves in ((True, written), (False, read)):
        for index, (vgpr, lane, sgpr) in moves.items():
            if (vgpr, lane) in both:
                place = 1 << first + bits.setdefault((vgpr, lane), len(bits))
                yield index, SlotAccess(is_store, ((place, named(sgpr)),))


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
    `writes` is True if the instruction writes a register, `is_gds` if it has the modifier `gds`."""
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
    """Bytes that a load in flight fetches for each lane; for a scalar load, bytes for the wave."""
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
