"""What budgets and the comparison with a baseline count, and how much of it they allow."""

from __future__ import annotations

import re
from typing import Literal

from kernelinfo.light_typing import NamedTuple

Sign = Literal["<=", ">=", "=="]

BOUND = r"^\s*(<=|>=|==)\s*(\d+(?:\.\d+)?)\s*$"
ALLOWANCE = r"^\s*\+?(\d+(?:\.\d+)?)\s*(%?)\s*$"


class Measure(NamedTuple):
    """One number of a kernel."""

    key: str
    """In the configuration."""
    field: str
    """Of `KernelSummary`."""
    noun: str
    """In messages, after the number."""
    about: str
    gain: bool = False
    """More of it is better; of all others, less."""


WAVES = Measure("waves", "waves_per_simd", "waves/SIMD", "Resident waves per SIMD.", gain=True)
VGPR_SPILL = Measure("vgpr-spill", "vgpr_spills", "VGPRs spilled", "VGPRs spilled.")
SGPR_SPILL = Measure("sgpr-spill", "sgpr_spills", "SGPRs spilled", "SGPRs spilled.")
SCRATCH = Measure(
    "scratch", "scratch_bytes_per_lane", "B of scratch per lane", "Bytes of scratch per lane."
)
VGPR = Measure(
    "vgpr",
    "vgprs",
    "VGPRs used",
    "VGPRs used per lane; AGPRs included where they share one file.",
)

MEASURES = (
    VGPR_SPILL,
    SGPR_SPILL,
    SCRATCH,
    VGPR,
    Measure("agpr", "agprs", "AGPRs used", "AGPRs used per lane."),
    Measure("sgpr", "sgprs", "SGPRs used", "SGPRs used per wave."),
    Measure("lds", "lds_bytes", "B of LDS per workgroup", "Bytes of LDS per workgroup."),
    Measure("code-size", "code_bytes", "B of code", "Bytes of code, callees excluded."),
    WAVES,
    Measure("occupancy", "percent", "% occupancy", "Resident waves, % of the slots.", gain=True),
)
"""In the order in which reports list them."""


class Bound(NamedTuple):
    """What a budget demands of a number."""

    sign: Sign
    limit: float

    def holds(self, value: float) -> bool:
        match self.sign:
            case "<=":
                return value <= self.limit
            case ">=":
                return value >= self.limit
            case "==":
                return value == self.limit

    def __str__(self) -> str:
        return f"{ {'<=': '≤', '>=': '≥', '==': '='}[self.sign] } {self.limit:g}"


def parse_bound(measure: Measure, value: str | float) -> Bound:
    """`">=2"`, `"<=64"`, `"==0"`; a number alone is the least of a gain and the most of a cost.

    Raises `ValueError` for anything else.
    """
    if not isinstance(value, str):
        if value < 0:
            raise ValueError("below 0")
        return Bound(">=" if measure.gain else "<=", value)
    found = re.match(BOUND, value)
    if found is None:
        raise ValueError("no bound")
    signs: dict[str, Sign] = {"<=": "<=", ">=": ">=", "==": "=="}
    return Bound(signs[found[1]], float(found[2]))


class Allowance(NamedTuple):
    """How much worse than the baseline a number may be."""

    amount: float
    percent: bool = False
    """Of what the baseline has."""

    def bears(self, old: float, worse_by: float) -> bool:
        return worse_by <= (self.amount * old / 100 if self.percent else self.amount)


def parse_allowance(value: str | float) -> Allowance | None:
    """`8`, `"+8"` or `"+5%"`; None for `"off"`. Raises `ValueError` for anything else."""
    if value == "off":
        return None
    found = re.match(ALLOWANCE, str(value))
    if found is None:
        raise ValueError("no allowance")
    return Allowance(float(found[1]), percent=bool(found[2]))
