"""Numbers that budgets and baselines bound, and the bounds."""

from __future__ import annotations

import operator
import re
from typing import NamedTuple

from kernelinfo.kernel.record import BY_FIELD, INSTRUCTIONS, NUMBERS, Column

_SIGNS = {"<=": ("≤", operator.le), ">=": ("≥", operator.ge), "==": ("=", operator.eq)}
BOUND = r"^\s*(<=|>=|==)\s*(\d+(?:\.\d+)?)\s*$"
ALLOWANCE = r"^\s*\+?(\d+(?:\.\d+)?)\s*(%\s*)?$"


WAVES, SCRATCH = BY_FIELD["waves_per_simd"], BY_FIELD["scratch_bytes_per_lane"]
VGPR_SPILL, SGPR_SPILL = BY_FIELD["vgpr_spills"], BY_FIELD["sgpr_spills"]
VGPR = BY_FIELD["vgprs"]

MEASURES = tuple(
    sorted(
        (number for number in (*NUMBERS, *INSTRUCTIONS) if number.key),
        key=lambda number: (number.is_gain, not number.affects),
    )
)
"""Numbers with a key: spills and scratch first, gains last."""


class Bound(NamedTuple):
    """A bound of a budget on one number."""

    sign: str
    """`<=`, `>=` or `==`."""
    limit: float

    def holds(self, value: float) -> bool:
        return bool(_SIGNS[self.sign][1](value, self.limit))

    def __str__(self) -> str:
        return f"{_SIGNS[self.sign][0]} {self.limit:g}"


def parse_bound(measure: Column, value: str | float) -> Bound:
    """The bound of `">=2"`, `"<=64"` or `"==0"`. A bare number is the least of a gain and the most
    of a cost.

    Raises `ValueError` for another text and for negative or infinite numbers.
    """
    if not isinstance(value, str):
        return Bound(">=" if measure.is_gain else "<=", _finite(value))
    found = re.match(BOUND, value)
    if found is None:
        raise ValueError("no bound")
    return Bound(found[1], _finite(float(found[2])))


def _finite(value: float) -> float:
    """The number unchanged. Raises `ValueError` unless it fits 64 bits without sign."""
    if not 0 <= value < 1 << 64:
        raise ValueError("no number of 64 bits")
    return value


class Allowance(NamedTuple):
    """How much worse than the baseline a number may get."""

    amount: float
    percent: bool = False
    """True if the amount is a percentage of the pinned number."""

    def __str__(self) -> str:
        return f"{self.amount:+g}{'%' if self.percent else ''}"

    def bears(self, old: float, worse_by: float) -> bool:
        return worse_by <= (self.amount * old / 100 if self.percent else self.amount)


def parse_allowance(value: str | float) -> Allowance | None:
    """The allowance of `8`, `"+8"` or `"+5%"`; None for `"off"`. Raises `ValueError` for another
    value."""
    if value == "off":
        return None
    found = re.match(ALLOWANCE, str(value))
    if found is None:
        raise ValueError("no allowance")
    return Allowance(_finite(float(found[1])), percent=bool(found[2]))
