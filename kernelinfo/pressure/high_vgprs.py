"""gfx1250: VGPRs 0 to 1023 of operands, by the mode that `s_set_vgpr_msb` sets.

An operand has eight bits for a VGPR. The mode adds two bits for each of four operands. It is 0 at
function entry (LLVM AMDGPULowerVGPREncoding.cpp). LLVM AMDGPUBaseInfo.cpp,
`getVGPRLoweringOperandTables`, assigns the operands. LLVM's comments `v2 /*v258*/` are only needed
where paths with different modes meet.
"""

from __future__ import annotations

import re

from kernelinfo.pressure import rules
from kernelinfo.pressure.flow import read_flow
from kernelinfo.pressure.instructions import effect, operation
from kernelinfo.pressure.listing import Instruction, Listing, number
from kernelinfo.pressure.registers import VGPRS
from kernelinfo.reading.data import integer

UNKNOWN_MODE = "unknown mode of s_set_vgpr_msb"
"""Reason for inexact results: paths with different modes meet."""

_UNKNOWN = -1
_SET = "s_set_vgpr_msb"
_SOURCES, _DESTINATION = (0, 1, 2), 3
"""Fields of the mode, two bits each."""
_COMMENT = re.compile(r"(?<!\s)\s*+/\*[^*]*\*/")
_VGPR = re.compile(r"(?<![\w.$@])v(?:(\d{1,4})(?![\w$@])|\[(\d{1,4})(?::(\d{1,4}))?\])")
_HWREG = re.compile(r"hwreg\((\w+)(?:,(\d{1,2}),(\d{1,2}))?\)")
_MODE_NAMES = ("HW_REG_WAVE_MODE", "HW_REG_MODE", "1")
_FIRST_BIT, _END_BIT = 12, 20
"""Bits of the MODE register that hold the mode, the destination's first."""
_WITHOUT_FIELDS = re.compile(r"v_wmma_ld_scale.*|s_.*|tensor_.*")
_RESULT_FIRST = re.compile(r"t?buffer_|\w*_load_async_to_lds")
"""Instructions whose first operand has the destination's field even if it is read."""
_KNOWN = re.compile(r"(?:v|ds|flat|global|scratch|cluster|t?buffer)_.*")


def with_high_vgprs(listing: Listing) -> Listing:
    """The listing with the registers that its modes select; unchanged if it sets no mode.

    Has the reason `UNKNOWN_MODE` if a mode is not known.
    """
    if not any(one.effect.mnemonic == _SET for one in listing.instructions):
        return listing
    code = list(listing.instructions)
    is_commented = any("/*v" in one.text and one.address is None for one in code)
    for index, mode in _modes(listing).items():
        if mode != _UNKNOWN:
            code[index] = _selected(code[index], mode)
        elif not is_commented and (code[index].effect.reads | code[index].effect.writes) & VGPRS:
            unknown = code[index].effect._replace(inexact=UNKNOWN_MODE)
            code[index] = code[index]._replace(effect=unknown)
    inexact = (one.effect.inexact for one in code)
    reasons = dict.fromkeys((*listing.reasons, *filter(None, inexact)))
    return listing._replace(instructions=tuple(code), reasons=tuple(reasons))


def _modes(listing: Listing) -> dict[int, int]:
    """Index of each reachable instruction → the mode before it, or `_UNKNOWN`."""
    flow, _ = read_flow(listing)
    begins = {0: 0}
    pending = [0] if flow.block_of else []
    found: dict[int, int] = {}
    while pending:
        number = pending.pop()
        mode = begins[number]
        for index in flow.instructions(number):
            found[index] = mode
            mode = _after(listing.instructions[index], mode)
        for way in flow.branches.of(number):
            joined = mode if begins.get(way, mode) == mode else _UNKNOWN
            if begins.get(way) != joined:
                begins[way] = joined
                pending.append(way)
    return found


def _after(one: Instruction, mode: int) -> int:
    """The mode after an instruction."""
    mnemonic, operands = one.effect.mnemonic, one.effect.operands
    if mnemonic == _SET:
        value = number(operands[0])
        return _UNKNOWN if value is None else value & 0xFF
    if not mnemonic.startswith("s_setreg"):
        return mode
    register = _HWREG.fullmatch(operands[0])
    if register and register[1] not in _MODE_NAMES:
        return mode
    end = integer(register[2] or "0") + integer(register[3] or "32") if register else 32
    value = number(operands[-1]) if mnemonic.startswith("s_setreg_imm32") else None
    if value is None:
        return mode if end <= _FIRST_BIT else _UNKNOWN
    bits = value >> _FIRST_BIT & 0xFF
    stated = bits >> 2 | (bits & 3) << 6
    if stated == mode or (register and not integer(register[2] or "0") and end >= _END_BIT):
        return stated
    # Some chips take these bits even if the instruction is for fewer (LLVM, handleSetregMode).
    return _UNKNOWN


def _selected(one: Instruction, mode: int) -> Instruction:
    """The instruction with the effect that it has in a mode."""
    if "v" not in one.text:
        return one
    halves = [_with_upper_bits(half, mode) for half in _COMMENT.sub("", one.text).split("::")]
    if None in halves:
        return one._replace(effect=one.effect._replace(inexact=UNKNOWN_MODE))
    return one._replace(effect=effect(" :: ".join(filter(None, halves))))


def _with_upper_bits(text: str, mode: int) -> str | None:
    """The text with whole register numbers; None if the operands' fields are not known."""
    taken, encoding = operation(text)
    written = rules.access(taken, encoding).written
    if _WITHOUT_FIELDS.fullmatch(taken.mnemonic):
        return text
    if not _KNOWN.fullmatch(taken.mnemonic):
        return None if _VGPR.search(text) and mode else text
    operands = [
        operand if field is None else _raised(operand, mode >> 2 * field & 3)
        for operand, field in zip(taken.operands, _fields(taken, written), strict=True)
    ]
    mnemonic = text.split(None, 1)[0]
    return " ".join((mnemonic, ", ".join(operands), *taken.modifiers))


def _fields(taken: rules.Operation, written: tuple[int, ...]) -> list[int | None]:
    """Field of each operand: the destination's, then the sources' in order; None without one."""
    if "_store_addtid" in taken.mnemonic:  # has no address, the usual first source
        return [1, *[None] * (len(taken.operands) - 1)]
    first = 0 in written or bool(_RESULT_FIRST.match(taken.mnemonic))
    carry = 1 in written and not _VGPR.match(taken.operands[1])
    sources = iter(_SOURCES)
    return [
        _DESTINATION
        if position == 0 and first
        else None
        if position == 1 and carry
        else next(sources, None)
        for position in range(len(taken.operands))
    ]


def _raised(operand: str, upper: int) -> str:
    """The operand with upper bits added to its VGPR numbers."""

    def whole(match: re.Match[str]) -> str:
        first = integer(match[1] or match[2])
        start = (first & 0xFF) + 256 * upper
        last = start + (integer(match[3]) - first if match[3] else 0)
        return f"v{start}" if match[1] else f"v[{start}:{last}]"

    return _VGPR.sub(whole, operand)
