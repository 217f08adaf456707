"""Register sets as integers: a bit for each SGPR, each AGPR and each half of a VGPR.

The two bits of a VGPR are adjacent, so kernels with few registers have short integers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, reduce
from operator import or_
from struct import unpack_from
from typing import Literal, NamedTuple

from kernelinfo.reading.data import integer

RegisterClass = Literal["vgpr", "agpr", "sgpr"]

# Numbers of registers of each class, above those of every target.
_VGPRS, _AGPRS, _SGPRS = 1024, 512, 128
_SGPR = 0
_AGPR = _SGPR + _SGPRS
_LOW = _AGPR + _AGPRS
SGPRS = ((1 << _SGPRS) - 1) << _SGPR
AGPRS = ((1 << _AGPRS) - 1) << _AGPR
VGPRS = ((1 << 2 * _VGPRS) - 1) << _LOW
_LOWS = VGPRS // 3  # every other bit
EVERY = SGPRS | AGPRS | VGPRS
OF_CLASS: dict[RegisterClass, int] = {"vgpr": VGPRS, "agpr": AGPRS, "sgpr": SGPRS}

_NAMED = re.compile(
    r"(?<![\w.$@])(v|acc|a|s)(?:(\d{1,4})(?:\.([lh]))?|\[(\d{1,4})(?::(\d{1,4}))?\])(?![\w.$@])"
)
_INTERNAL = re.compile(r"(v|a|s)gpr(\d{1,4})(?:_(lo|hi)16)?(?![a-z0-9])")


class Counts(NamedTuple):
    """Number of registers of each class."""

    vgprs: int  # VGPRs per lane, also those of which only a half is in the set
    agprs: int  # AGPRs per lane
    sgprs: int  # SGPRs per wave

    def vector(self, files: str) -> int:
        """Vector registers that occupancy depends on.

        VGPRs + AGPRs if they share a `unified` file, otherwise the larger of both.
        """
        return self.vgprs + self.agprs if files == "unified" else max(self.vgprs, self.agprs)


def span(letter: str, first: int, last: int, half: str | None = None) -> int:
    """The set of registers `first` to `last` of class `v`, `a` or `s`; empty if out of range.

    `half` (`l` or `h`) chooses the low or high 16 bits of each VGPR.
    """
    limit, start = {"v": (_VGPRS, _LOW), "a": (_AGPRS, _AGPR), "s": (_SGPRS, _SGPR)}[letter]
    if not first <= last < limit:
        return 0
    bits = 2 if letter == "v" else 1
    registers = ((1 << bits * (last - first + 1)) - 1) << (start + bits * first)
    if letter == "v" and half:
        return registers & (_LOWS if half == "l" else _LOWS << 1)
    return registers


@lru_cache(maxsize=1 << 17)  # a million instructions share their sets, which are 150 bytes each
def named(operands: str) -> int:
    """The set of registers in the text of operands: `v[4:7], -|v1|`, `[v1, v[3:4]]`, `v2.h`."""
    return union(
        span(letter[0], integer(number or first), integer(last or number or first), half or None)
        for letter, number, half, first, last in _NAMED.findall(operands)
    )


def named_by_compiler(text: str) -> list[int]:
    """A set for each `$` name in an LLVM comment: `$vgpr4_vgpr5`, `$vgpr2_hi16`.

    The set is empty if the name is not a VGPR, AGPR or SGPR. Source: LLVM TargetRegisterInfo,
    `printReg`.
    """
    return [
        union(
            span(v, integer(n), integer(n), half[:1] or None)
            for v, n, half in _INTERNAL.findall(name)
        )
        for name in re.findall(r"\$(\w+)", text)
    ]


def union(sets: Iterable[int]) -> int:
    """The union of register sets."""
    return reduce(or_, sets, 0)


def _lows(registers: int) -> int:
    """The low half of each VGPR in the set."""
    return (registers | registers >> 1) & _LOWS


NO_REGISTERS = Counts(0, 0, 0)


def count(registers: int) -> Counts:
    """The number of registers of each class in the set."""
    if not registers:
        return NO_REGISTERS
    return Counts(
        _lows(registers).bit_count(),
        (registers & AGPRS).bit_count(),
        (registers & SGPRS).bit_count(),
    )


def used(registers: int) -> Counts:
    """For each class in the set, the highest register number plus one; 0 for an empty class."""
    return Counts(
        (registers.bit_length() - _LOW + 1) // 2 if registers & VGPRS else 0,
        (registers & AGPRS).bit_length() - _AGPR if registers & AGPRS else 0,
        (registers & SGPRS).bit_length() - _SGPR,
    )


def whole(registers: int) -> int:
    """The set, with both halves of each of its VGPRs."""
    lows = _lows(registers)
    return registers | lows | lows << 1


def each(registers: int) -> Iterator[int]:
    """One set for each register: VGPRs, AGPRs, SGPRs, each class by number. VGPRs are whole."""
    registers = whole(registers)
    for part in (registers & _LOWS, registers & AGPRS, registers & SGPRS):
        while part:
            lowest = part & -part
            yield lowest | lowest << 1 if lowest & _LOWS else lowest
            part ^= lowest


def ranges(registers: int) -> tuple[str, ...]:
    """Names of the registers in compact form, VGPRs first: `v[0:3]`, `v7`, `a1`, `s[4:6]`."""
    if not registers:
        return ()
    parts = (whole(registers) >> _LOW, (registers & AGPRS) >> _AGPR, registers & SGPRS)
    names: list[str] = []
    for letter, part, bits in zip("vas", parts, (2, 1, 1), strict=True):
        while part:
            start = (part & -part).bit_length() - 1
            rest = part >> start
            size = (~rest & (rest + 1)).bit_length() - 1
            first, length = start // bits, size // bits
            last = first + length - 1
            names.append(f"{letter}{first}" if length == 1 else f"{letter}[{first}:{last}]")
            part = rest >> size << (start + size)
    return tuple(names)


_USER = {
    "user_sgpr_private_segment_buffer": 4,
    "user_sgpr_dispatch_ptr": 2,
    "user_sgpr_queue_ptr": 2,
    "user_sgpr_kernarg_segment_ptr": 2,
    "user_sgpr_dispatch_id": 2,
    "user_sgpr_flat_scratch_init": 2,
    "user_sgpr_private_segment_size": 1,
}
"""Directive → SGPRs that it takes if it is 1."""
_SYSTEM = 5  # one each: workgroup ids x, y and z, workgroup information, scratch offset
_PRELOADED, _COUNT = "user_sgpr_kernarg_preload_length", "user_sgpr_count"
_WORKITEM_IDS = ("system_vgpr_workitem_id", "enable_vgpr_workitem_id")
SETTING_UP = (*_USER, _PRELOADED, _COUNT, *_WORKITEM_IDS)
"""Fields of `.amdhsa_kernel` and `.amd_kernel_code_t` that say which registers are set."""


def from_directives(stated: Mapping[str, int | None]) -> int:
    """Registers set at kernel entry, by the fields of `.amdhsa_kernel` or `.amd_kernel_code_t`.

    An omitted field is 0; without a count, the named user SGPRs are counted (LLVM
    AMDGPUAsmParser::ParseDirectiveAMDHSAKernel). All system SGPRs count as enabled. Returns `EVERY`
    if a value is None, which means unknown.
    """
    fields = {name: stated[name] for name in SETTING_UP if name in stated}
    numbers = {name: value for name, value in fields.items() if value is not None}
    if numbers != fields:
        return EVERY
    named = sum(size for name, size in _USER.items() if numbers.get(name))
    user_sgprs = numbers.get(_COUNT, named + numbers.get(_PRELOADED, 0))
    return _set_up(user_sgprs, max(numbers.get(name, 0) for name in _WORKITEM_IDS))


def from_descriptor(raw: bytes) -> int:
    """Registers set at kernel entry, by the 64 bytes of a kernel descriptor.

    llvm/Support/AMDHSAKernelDescriptor.h, COMPUTE_PGM_RSRC2: bits 1 to 6 count the user SGPRs (the
    last is 0 before gfx125), bits 11 and 12 the work-item ids after the first.
    """
    (rsrc2,) = unpack_from("<I", raw, 52)
    return _set_up(rsrc2 >> 1 & 63, rsrc2 >> 11 & 3)


def _set_up(user_sgprs: int, workitem_ids: int) -> int:
    """Registers set at kernel entry: user SGPRs, then system SGPRs; work-item ids in v0 to v2.

    Source: AMDGPUUsage, "Initial Kernel Execution State".
    """
    return span("v", 0, min(workitem_ids, 2)) | span("s", 0, user_sgprs + _SYSTEM - 1)


def entry_registers(entry: int) -> tuple[int, int]:
    """The numbers of VGPRs and SGPRs that are set at kernel entry: the highest plus one; 0 if
    `entry` is unknown (`EVERY`)."""
    vgprs, _, sgprs = used(0 if entry == EVERY else entry)
    return vgprs, sgprs
