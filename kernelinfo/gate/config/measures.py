"""The numbers that budgets and baselines bound, and their bounds."""

from __future__ import annotations

import operator
import re
from typing import NamedTuple

from kernelinfo.kernel.numbers import BY_FIELD, NUMBERS, Number

_SIGNS = {"<=": ("≤", operator.le), ">=": ("≥", operator.ge), "==": ("=", operator.eq)}
BOUND = r"^\s*(<=|>=|==)\s*(\d+(?:\.\d+)?)\s*$"
ALLOWANCE = r"^\s*\+?(\d+(?:\.\d+)?)\s*(%?)\s*$"


WAVES, SCRATCH = BY_FIELD["waves_per_simd"], BY_FIELD["scratch_bytes_per_lane"]
VGPR_SPILL, SGPR_SPILL = BY_FIELD["vgpr_spills"], BY_FIELD["sgpr_spills"]
VGPR = BY_FIELD["vgprs"]

MEASURES = tuple(
    sorted(
        (number for number in NUMBERS if number.key),
        key=lambda number: (number.is_gain, not number.affects),
    )
)
"""All numbers with a key: spills and scratch first, gains last."""


class Bound(NamedTuple):
    """A budget's demand on a number."""

    sign: str
    """`<=`, `>=` or `==`."""
    limit: float

    def holds(self, value: float) -> bool:
        return bool(_SIGNS[self.sign][1](value, self.limit))

    def __str__(self) -> str:
        return f"{_SIGNS[self.sign][0]} {self.limit:g}"


def parse_bound(measure: Number, value: str | float) -> Bound:
    """`">=2"`, `"<=64"`, `"==0"`; a number alone is the least of a gain and the most of a cost.

    Raises `ValueError` for anything else, negative and infinite numbers among it.
    """
    if not isinstance(value, str):
        return Bound(">=" if measure.is_gain else "<=", _finite(value))
    found = re.match(BOUND, value)
    if found is None:
        raise ValueError("no bound")
    return Bound(found[1], _finite(float(found[2])))


def _finite(value: float) -> float:
    """The number. Raises `ValueError` for one that no count in a file can be."""
    if not 0 <= value < 1 << 64:
        raise ValueError("no number of 64 bits")
    return value


class Allowance(NamedTuple):
    """How much worse than the baseline a number may be."""

    amount: float
    percent: bool = False
    """True if the amount is a share of the baseline's number."""

    def __str__(self) -> str:
        return f"{self.amount:+g}{'%' if self.percent else ''}"

    def bears(self, old: float, worse_by: float) -> bool:
        return worse_by <= (self.amount * old / 100 if self.percent else self.amount)


def parse_allowance(value: str | float) -> Allowance | None:
    """`8`, `"+8"` or `"+5%"`; None for `"off"`. Raises `ValueError` for anything else."""
    if value == "off":
        return None
    found = re.match(ALLOWANCE, str(value))
    if found is None:
        raise ValueError("no allowance")
    return Allowance(_finite(float(found[1])), percent=bool(found[2]))
