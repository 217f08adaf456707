"""Read the text forms of kernel descriptors: `.amdhsa_kernel` and `.amd_kernel_code_t`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from kernelinfo.light_typing import NamedTuple
from kernelinfo.occupancy.placement import extra_sgprs
from kernelinfo.occupancy.targets import Target, Vgprs
from kernelinfo.reading.assembly.expressions import number
from kernelinfo.reading.assembly.scan import Text, decode
from kernelinfo.reading.facts import Fact, FactName
from kernelinfo.reading.resource_symbols import NAMED_BARRIERS

FIELDS: Mapping[str, FactName] = {
    "group_segment_fixed_size": "lds_bytes",
    "private_segment_fixed_size": "scratch_bytes_per_lane",
    "accum_offset": "accum_offset",
    "workgroup_processor_mode": "wgp_mode",
    "tg_split": "tg_split",
    "uses_dynamic_stack": "dynamic_stack",
}
"""`.amdhsa_*` directives whose value is the fact's (AMDGPUUsage, "AMDHSA Kernel Assembler
Directives"); others are computed below."""

CODE_T_FIELDS: Mapping[str, FactName] = {
    "workitem_vgpr_count": "vgprs",
    "wavefront_sgpr_count": "sgprs",
    "workgroup_group_segment_byte_size": "lds_bytes",
    "workitem_private_segment_byte_size": "scratch_bytes_per_lane",
    "is_dynamic_callstack": "dynamic_stack",
}
"""Fields of `.amd_kernel_code_t` (AMDGPUUsage, "amd_kernel_code_t"), code object v2 and mesa3d."""

UINT32 = 0xFFFFFFFF
"""The largest number that a kernel can state."""

_ZERO_BY_DEFAULT = ("group_segment_fixed_size", "private_segment_fixed_size")
"""AMDGPUUsage, "AMDHSA Kernel Assembler Directives", column default."""

_FLAGS = {"wgp_mode", "tg_split", "dynamic_stack"}

# A block has some 50 lines; one without an end must not reach through the file.
_USUAL_BYTES = 1 << 12
_MOST_BYTES = 1 << 16
_SHORT = 512
_FIELD = {
    b"amdhsa_kernel": rb"\.amdhsa_(\w+)[ \t]+([^\r\n]*)",
    b"amdgpu_info": rb"\.amdgpu_(\w+)[ \t]+([^\r\n]*)",
    b"amd_kernel_code_t": rb"(?m)^[ \t]*(\w+)[ \t]*=[ \t]*([^\r\n]*)",
}
_COMMENT = re.compile(rb";|//|/\*")


class Statement(NamedTuple):
    """One field that a block states, its value as written."""

    field: str
    value: str
    line: int
    """From the one on which its block begins."""


class Block:
    """What a block states; blocks of the same text share one instance."""

    __slots__ = ("is_plain", "statements")

    def __init__(self, statements: list[Statement]) -> None:
        self.statements = statements
        numbers = [number(statement.value) for statement in statements]
        fits = all(value is not None and 0 <= value <= UINT32 for value in numbers)
        fields = {statement.field for statement in statements}
        self.is_plain = fits and len(fields) == len(statements)
        """Each field stands once and every value is a number: the block needs no symbols."""


class Stated(NamedTuple):
    """A block and where it begins."""

    block: Block
    line: int
    """1-based; symbols in its values have the values that they have there."""


_Value = Callable[[Statement], int | None]


def read_kernel(text: Text, offset: int) -> tuple[Block, bool]:
    """The directives after the line of `.amdhsa_kernel`, which begins at `offset`, and whether they
    have an end: where they have none, the text is cut.

    Those left out of a whole block have the assembler's default, stated at the block's own line.
    """
    return _read(text, offset, b"amdhsa_kernel")


def read_code_t(text: Text, offset: int) -> tuple[Block, bool]:
    """The same of `.amd_kernel_code_t`."""
    return _read(text, offset, b"amd_kernel_code_t")


def read_linking_info(text: Text, offset: int) -> tuple[Block, bool]:
    """The same of `.amdgpu_info`."""
    return _read(text, offset, b"amdgpu_info")


def _read(text: Text, offset: int, kind: bytes) -> tuple[Block, bool]:
    start, end = b"." + kind, b".end_" + kind
    for size in (_USUAL_BYTES, _MOST_BYTES):
        part = text[offset : offset + size]
        stop = part.find(end)
        ended = stop >= 0
        again = part.find(start, len(start), stop if ended else size)
        if again >= 0:
            stop, ended = again, False
        if stop >= 0:
            break
    # The block's first line, which names the kernel, states no more.
    body = part[part.find(b"\n") : stop if stop >= 0 else size]
    # Many blocks of a file are equal, and most lines of all. Only short ones are remembered, so
    # that a hostile text cannot fill the memory.
    read = _block if len(body) < _USUAL_BYTES else _block.__wrapped__
    return read(body, kind, ended), ended


@lru_cache(maxsize=1 << 12)
def _block(body: bytes, kind: bytes, ended: bool) -> Block:
    known, anew = _stated, _stated.__wrapped__
    statements = [
        Statement(name, value, number)
        for number, written in enumerate(body.split(b"\n"))
        for name, value in (known if len(written) < _SHORT else anew)(written, kind)
    ]
    if ended and kind == b"amdhsa_kernel":
        stated = {statement.field for statement in statements}
        left_out = (field for field in _ZERO_BY_DEFAULT if field not in stated)
        statements += [Statement(field, "0", 0) for field in left_out]
    return Block(statements)


@lru_cache(maxsize=1 << 14)
def _stated(line: bytes, kind: bytes) -> tuple[tuple[str, str], ...]:
    """Field and value of what one line of such a block states."""
    return tuple(
        (match[1].decode(), decode(match[2]))
        for match in re.finditer(_FIELD[kind], line)
        if not _COMMENT.search(line, 0, match.start())
    )


def vgpr_file(target: Target | None, wave_size: object) -> Vgprs | None:
    """The register file that waves of `wave_size` see, or of the target's default where None."""
    if target is None:
        return None
    wave_size = wave_size or target.waves.default_size
    return next((file for file in target.vgprs if file.wave_size == wave_size), None)


def encoded(count: int, granule: int) -> int:
    """Registers that a descriptor holds for `count`: one granule at least (LLVM IsaInfo::
    getEncodedNumVGPRBlocks and getNumSGPRBlocks)."""
    return max(-(-count // granule), 1) * granule


def kernel_facts(
    statements: Sequence[Statement], value: _Value, target: Target | None, xnack: bool
) -> list[Fact]:
    """What `.amdhsa_*` directives state; `value` evaluates one, or gives None and says why itself.

    Registers reserved need the target, and whether code for the module's target id may run with
    XNACK on: the default of `.amdhsa_reserve_xnack_mask`.
    """
    found = _plain(FIELDS, statements, value)
    stated = {statement.field: statement for statement in statements}
    wave_size = None
    if statement := stated.get("wavefront_size32"):
        wave32 = value(statement)
        if wave32 is not None:
            wave_size = 32 if wave32 else 64
            found.append(Fact("wave_size", wave_size, "directive", statement.line))
    if statement := stated.get("next_free_vgpr"):
        count = value(statement)
        file = vgpr_file(target, wave_size)
        if count is not None and file:
            reserved = encoded(count, file.encoding_granule)
            found.append(Fact("reserved_vgprs", reserved, "directive", statement.line))

    statement = stated.get("named_barrier_count")
    # LLVM 24 packs the size of the code into this value, which the text does not give, and masks
    # it out again. `; NamedBarCnt:` states the same number plainly.
    if statement and "instprefsize" not in statement.value:
        count = value(statement)
        if count is not None:
            barriers = count * NAMED_BARRIERS
            found.append(Fact("named_barriers", barriers, "directive", statement.line))
    if target and target.sgprs.encoding_granule and (statement := stated.get("next_free_sgpr")):
        reserved_sgprs = _reserved_sgprs(target, stated, value, xnack=xnack)
        if reserved_sgprs is not None:
            found.append(Fact("reserved_sgprs", reserved_sgprs, "directive", statement.line))
    return found


def _reserved_sgprs(
    target: Target, stated: Mapping[str, Statement], value: _Value, *, xnack: bool
) -> int | None:
    # The defaults are the assembler's (LLVM AMDGPUAsmParser::ParseDirectiveAMDHSAKernel).
    # Flat scratch has none to state on targets where it is architected, and is taken; only a
    # disassembler states it there, as 0, and counts all in next_free_sgpr.
    reserves = {"reserve_vcc": True, "reserve_flat_scratch": True, "reserve_xnack_mask": xnack}
    for field in reserves:
        if statement := stated.get(field):
            flag = value(statement)
            if flag is None:
                return None
            reserves[field] = bool(flag)
    numbered = value(stated["next_free_sgpr"])
    if numbered is None:
        return None
    vcc, flat_scratch, xnack = reserves.values()
    extra = extra_sgprs(target, vcc=vcc, flat_scratch=flat_scratch, xnack=xnack)
    sgprs = target.sgprs
    return sgprs.fixed_allocation or encoded(numbered + extra, sgprs.encoding_granule)


def code_t_facts(
    statements: Sequence[Statement], value: _Value, target: Target | None
) -> list[Fact]:
    """What the fields of `.amd_kernel_code_t` state; arguments as for `kernel_facts`."""
    found = _plain(CODE_T_FIELDS, statements, value)
    stated = {statement.field: statement for statement in statements}
    wave_size = None
    if (statement := stated.get("wavefront_size")) and (log2 := value(statement)) in (5, 6):
        wave_size = 1 << log2
        found.append(Fact("wave_size", wave_size, "directive", statement.line))
    if target and len(target.domains) > 1:
        found += _plain({"enable_wgp_mode": "wgp_mode"}, statements, value)
    granules: list[tuple[str, FactName, int]] = []
    if file := vgpr_file(target, wave_size):
        granules.append(("granulated_workitem_vgpr_count", "reserved_vgprs", file.encoding_granule))
    if target and (granule := target.sgprs.encoding_granule):
        granules.append(("granulated_wavefront_sgpr_count", "reserved_sgprs", granule))
    for field, name, granule in granules:
        if (statement := stated.get(field)) and (count := value(statement)) is not None:
            found.append(Fact(name, (count + 1) * granule, "directive", statement.line))
    return found


def _plain(
    fields: Mapping[str, FactName], statements: Sequence[Statement], value: _Value
) -> list[Fact]:
    found: list[Fact] = []
    for statement in statements:
        name = fields.get(statement.field)
        count = value(statement) if name else None
        if name and count is not None:
            known = bool(count) if name in _FLAGS else count
            found.append(Fact(name, known, "directive", statement.line))
    return found
