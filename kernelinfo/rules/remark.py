"""A rule's remark on one kernel, and words for counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kernelinfo.rules.severity import Severity


class Remark(NamedTuple):
    """One sentence about one kernel."""

    message: str
    hint: str = ""  # what to do; empty if there is nothing to do
    severity: Severity | None = None  # None: the rule's own


def grouped(value: float) -> str:
    """A number with its thousands apart: `88 137`, `5.5`."""
    return f"{value:,.1f}".removesuffix(".0").replace(",", " ")


def counted(count: int, noun: str) -> str:
    """The count with its noun in singular or plural: `1 wave`, `88 137 waves`."""
    return f"{grouped(count)} {noun}{'' if count == 1 else 's'}"


def waves_per_simd(value: float) -> str:
    """The waves per SIMD with their unit: `1 wave/SIMD`, `5.5 waves/SIMD`."""
    return f"{value:.4g} wave{'' if value == 1 else 's'}/SIMD"
