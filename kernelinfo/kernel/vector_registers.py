"""VGPRs and AGPRs of one kernel, apart and as its target counts them together."""

from __future__ import annotations

from collections.abc import Callable

from kernelinfo.light_typing import Any, NamedTuple
from kernelinfo.occupancy.targets import Target
from kernelinfo.reading.facts import FactName

Value = Callable[[FactName], Any]  # the value that counts of a fact, None where no source states it


class VectorRegisters(NamedTuple):
    """Registers per lane that the code uses; None where the input does not say."""

    total: int | None  # as the target counts them: the sum in a unified file, else the larger count
    arch: int | None
    agprs: int | None


def vector_registers(value: Value, target: Target | None) -> VectorRegisters:
    """What the code uses; where no source states that, what the descriptor reserves, apart."""
    total, arch, agprs = value("vgprs"), value("arch_vgprs"), value("agprs")
    if target is None:
        return VectorRegisters(total, arch, agprs)
    if target.agprs.file == "unified":
        return _unified(value, target)
    if target.agprs.file == "none":
        return VectorRegisters(total, value("reserved_vgprs") if total is None else total, 0)
    if arch is None and total is not None and agprs is not None and (not agprs or total > agprs):
        arch = total
    return VectorRegisters(total, arch, agprs)


def _unified(value: Value, target: Target) -> VectorRegisters:
    total, arch, agprs = value("vgprs"), value("arch_vgprs"), value("agprs")
    reserved, offset = value("reserved_vgprs"), value("accum_offset")
    if total is None:
        return VectorRegisters(None, *_reserved(reserved, offset, target))
    if agprs and offset is not None and total <= offset:
        # AGPRs begin at the offset: this count, as hand-written metadata has it, leaves them out.
        return VectorRegisters(offset + agprs, total, agprs)
    if offset is not None and not agprs and total > offset:
        agprs = total - offset
    elif offset is not None and reserved is not None and reserved <= offset:
        agprs = agprs or 0
    if arch is None and agprs is not None:
        arch = total - agprs
    return VectorRegisters(total, arch, agprs)


def _reserved(
    reserved: int | None, offset: int | None, target: Target
) -> tuple[int | None, int | None]:
    """VGPRs and AGPRs that a descriptor reserves and code can name."""
    if reserved is None or offset is None:
        return None, None
    agprs = min(max(reserved - offset, 0), target.agprs.addressable)
    return min(reserved, offset), agprs
