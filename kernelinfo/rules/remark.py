"""What a rule yields: a fact about one kernel in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kernelinfo.rules.severity import Severity


class Remark(NamedTuple):
    message: str
    hint: str = ""  # what to do, where there is something to do
    severity: Severity | None = None  # where it differs from the rule's own


def counted(count: int, noun: str) -> str:
    """`1 wave`, `3 waves`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def waves_per_simd(value: float) -> str:
    """`1 wave/SIMD`, `5.5 waves/SIMD`."""
    return f"{value:.4g} wave{'' if value == 1 else 's'}/SIMD"
