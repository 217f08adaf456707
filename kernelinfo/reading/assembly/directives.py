"""Numbers in the text forms of kernel descriptors: `.amdhsa_kernel` and `.amd_kernel_code_t`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import NamedTuple

from kernelinfo.hardware.targets import Target, align, extra_sgprs
from kernelinfo.reading.assembly.comments import code_of
from kernelinfo.reading.assembly.expressions import number
from kernelinfo.reading.data import Text, decode
from kernelinfo.reading.metadata import NAMED_BARRIERS, UINT32

Readings = dict[str, tuple[str, Callable[[int], int | None]]]
"""Field of a block → name in `Numbers`, and a function from the field's value to the number or
None."""
PlacedNumbers = dict[str, tuple[int, int]]
"""Name in `Numbers` → number, and its line counted from the block's first."""

_FIELDS: Readings = {
    "group_segment_fixed_size": ("lds_bytes", int),
    "private_segment_fixed_size": ("scratch_bytes_per_lane", int),
    "accum_offset": ("accum_offset", int),
    "workgroup_processor_mode": ("wgp_mode", bool),
    "tg_split": ("tg_split", bool),
    "uses_dynamic_stack": ("dynamic_stack", bool),
    "wavefront_size32": ("wave_size", lambda wave32: 32 if wave32 else 64),
}
"""`.amdhsa_*` directives (AMDGPUUsage, "AMDHSA Kernel Assembler Directives")."""

_CODE_T_FIELDS: Readings = {
    "workitem_vgpr_count": ("vgprs", int),
    "wavefront_sgpr_count": ("sgprs", int),
    "workgroup_group_segment_byte_size": ("lds_bytes", int),
    "workitem_private_segment_byte_size": ("scratch_bytes_per_lane", int),
    "is_dynamic_callstack": ("dynamic_stack", bool),
    "wavefront_size": ("wave_size", {5: 32, 6: 64}.get),
}
"""Fields of `.amd_kernel_code_t` (AMDGPUUsage, "amd_kernel_code_t"), code object v2 and mesa3d."""

_ZERO_BY_DEFAULT = ("group_segment_fixed_size", "private_segment_fixed_size")
"""AMDGPUUsage, "AMDHSA Kernel Assembler Directives", column default."""

# A block has some 50 lines. A block without an end must not swallow the rest of the file.
_USUAL_BYTES = 1 << 12
_MOST_BYTES = 1 << 16
_SHORT = 512
_PATTERNS = {
    "amdhsa_kernel": rb"\.amdhsa_(\w+)[ \t]+([^\r\n]*)",
    "amdgpu_info": rb"\.amdgpu_(\w+)[ \t]+([^\r\n]*)",
    "amd_kernel_code_t": rb"(?m)^[ \t]*(\w+)[ \t]*=[ \t]*([^\r\n]*)",
}


class Directive(NamedTuple):
    """One field of a block, its value as written."""

    field: str
    value: str
    line: int
    """Counted from the line on which the block begins, which is 0."""


class DirectiveBlock:
    """Statements of a block; blocks of equal text share one instance."""

    __slots__ = ("by_field", "is_plain", "statements")

    def __init__(self, statements: list[Directive]) -> None:
        self.statements = statements
        self.by_field = {statement.field: statement for statement in statements}
        """Statement by field; the last one counts."""
        numbers = [number(statement.value) for statement in statements]
        fits = all(value is not None and 0 <= value <= UINT32 for value in numbers)
        self.is_plain = fits and len(self.by_field) == len(statements)
        """True if no field is repeated and every value is a number: no symbols are needed."""


class PlacedBlock(NamedTuple):
    """A block and the line on which it begins."""

    block: DirectiveBlock
    line: int
    """1-based. Symbols in the block are evaluated as of this line."""


Fields = Mapping[str, Directive]
"""Statement by field."""
Evaluate = Callable[[Directive], int | None]
"""Value of a statement; None, after a warning, if it has none."""


def read_block(text: Text, offset: int, kind: str) -> tuple[DirectiveBlock, bool]:
    """Block of the directive `kind` at `offset`, and True if it has an end.

    A block without an end is cut off. In a whole `.amdhsa_kernel`, a field that is left out gets
    the assembler's default, at the block's first line.
    """
    start, end = b"." + kind.encode(), b".end_" + kind.encode()
    for size in (_USUAL_BYTES, _MOST_BYTES):
        part = text[offset : offset + size]
        stop = part.find(end)
        ended = stop >= 0
        again = part.find(start, len(start), stop if ended else size)
        if again >= 0:
            stop, ended = again, False
        if stop >= 0:
            break
    # The block's first line holds the kernel's name only.
    body = part[part.find(b"\n") : stop if stop >= 0 else size]
    # Many blocks of a file are equal, and most of its lines are. Only short ones are cached, so
    # that a hostile text cannot fill the memory.
    read = _block if len(body) < _USUAL_BYTES else _block.__wrapped__
    return read(body, kind, ended), ended


@lru_cache(maxsize=1 << 12)
def _block(body: bytes, kind: str, ended: bool) -> DirectiveBlock:
    known, anew = _stated, _stated.__wrapped__
    statements = [
        Directive(name, value, number)
        for number, written in enumerate(body.split(b"\n"))
        for name, value in (known if len(written) < _SHORT else anew)(written, kind)
    ]
    if ended and kind == "amdhsa_kernel":
        stated = {statement.field for statement in statements}
        left_out = (field for field in _ZERO_BY_DEFAULT if field not in stated)
        statements += [Directive(field, "0", 0) for field in left_out]
    return DirectiveBlock(statements)


@lru_cache(maxsize=1 << 14)
def _stated(line: bytes, kind: str) -> tuple[tuple[str, str], ...]:
    """Fields and values in one line of a block of that kind."""
    return tuple(
        (match[1].decode(), decode(match[2]))
        for match in re.finditer(_PATTERNS[kind], line)
        if match.start() < len(code_of(line))
    )


def vgpr_granule(target: Target | None, wave_size: int | None) -> int:
    """Granule of VGPRs in a descriptor, in VGPRs per lane; 0 if unknown.

    A `wave_size` of None stands for the target's default.
    """
    if target is None:
        return 0
    lanes = wave_size or target.waves.default_size
    return next((file.encoding_granule for file in target.vgprs if file.wave_size == lanes), 0)


def encoded(granule: int, count: int) -> int | None:
    """Registers that a descriptor reserves for `count`: at least one granule.

    None if the granule is 0, which means unknown. Source: LLVM IsaInfo::getEncodedNumVGPRBlocks and
    getNumSGPRBlocks.
    """
    return align(max(count, 1), granule) if granule else None


def read_numbers(readings: Readings, stated: Fields, value: Evaluate) -> PlacedNumbers:
    """Numbers in `stated`, by `readings`; of two fields for one number the last counts."""
    found: PlacedNumbers = {}
    for field, statement in stated.items():
        if field in readings and (count := value(statement)) is not None:
            name, known = readings[field][0], readings[field][1](count)
            if known is not None:
                found[name] = known, statement.line
    return found


def wave_size_in(found: PlacedNumbers) -> int | None:
    """Lanes in a wave; None if the block does not state them."""
    return found["wave_size"][0] if "wave_size" in found else None


def of_directives(
    stated: Fields, value: Evaluate, target: Target | None, xnack: bool
) -> PlacedNumbers:
    """Numbers in `.amdhsa_*` directives; reserved registers only for a known target.

    `xnack`, the default of `.amdhsa_reserve_xnack_mask`, is True if code for the module's target id
    may run with XNACK on.
    """
    found = read_numbers(_FIELDS, stated, value)
    vgprs = vgpr_granule(target, wave_size_in(found))
    others: Readings = {"next_free_vgpr": ("reserved_vgprs", partial(encoded, vgprs))}
    barriers = stated.get("named_barrier_count")
    # LLVM 24 packs the size of the code into this value, then masks it out again. The text does not
    # give that size; `; NamedBarCnt:` states the same number plainly.
    if barriers and "instprefsize" not in barriers.value:
        others["named_barrier_count"] = "named_barriers", lambda count: count * NAMED_BARRIERS
    if target and target.sgprs.encoding_granule and "next_free_sgpr" in stated:
        extra = _extra_sgprs(target, stated, value, xnack=xnack)
        if extra is not None:
            others["next_free_sgpr"] = "reserved_sgprs", partial(_reserved_sgprs, target, extra)
    return found | read_numbers(others, stated, value)


def _extra_sgprs(target: Target, stated: Fields, value: Evaluate, *, xnack: bool) -> int | None:
    """SGPRs for VCC, flat scratch and XNACK; None if a directive has no value."""
    # The defaults are the assembler's (LLVM AMDGPUAsmParser::ParseDirectiveAMDHSAKernel).
    # With architected flat scratch there is no directive, and its SGPRs are taken. Only a
    # disassembler writes one there: 0, with all SGPRs counted in next_free_sgpr.
    reserves = {"reserve_vcc": True, "reserve_flat_scratch": True, "reserve_xnack_mask": xnack}
    for field in reserves:
        if statement := stated.get(field):
            flag = value(statement)
            if flag is None:
                return None
            reserves[field] = bool(flag)
    vcc, flat_scratch, xnack = reserves.values()
    return extra_sgprs(target, vcc=vcc, flat_scratch=flat_scratch, xnack=xnack)


def _reserved_sgprs(target: Target, extra: int, numbered: int) -> int | None:
    sgprs = target.sgprs
    return sgprs.fixed_allocation or encoded(sgprs.encoding_granule, numbered + extra)


def of_code_t(stated: Fields, value: Evaluate, target: Target | None) -> PlacedNumbers:
    """Numbers in the fields of `.amd_kernel_code_t`; reserved registers only for a known target."""
    found = read_numbers(_CODE_T_FIELDS, stated, value)
    others: Readings = {}
    if target and len(target.domains) > 1:
        others["enable_wgp_mode"] = "wgp_mode", bool
    if vgprs := vgpr_granule(target, wave_size_in(found)):
        others["granulated_workitem_vgpr_count"] = "reserved_vgprs", lambda n: (n + 1) * vgprs
    if target and (sgprs := target.sgprs.encoding_granule):
        others["granulated_wavefront_sgpr_count"] = "reserved_sgprs", lambda n: (n + 1) * sgprs
    return found | read_numbers(others, stated, value)
