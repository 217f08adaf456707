"""KI501 to KI504: a kernel beside its baseline, which may only get better."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.compare import Pair
from kernelinfo.config import Gate
from kernelinfo.config.measures import SGPR_SPILL, VGPR_SPILL, WAVES, Measure
from kernelinfo.footprint import Footprint
from kernelinfo.kernel import Finding
from kernelinfo.rules.documented import documented

_REGRESSION, _VANISHED = documented("KI501"), documented("KI502")
_UNBASELINED, _STALE = documented("KI503"), documented("KI504")
_SPILLS = (VGPR_SPILL, SGPR_SPILL)

_BEHIND = {
    "vgpr": ("VGPRs", (("reserved_vgprs", "reserved"), ("vgprs", "used"))),
    "sgpr": ("SGPRs", (("reserved_sgprs", "reserved"), ("sgprs", "used"))),
    "lds": ("LDS", (("lds_bytes", "B"),)),
    "slots": ("slots", (("workgroup_size", "workitems a workgroup"),)),
    "barriers": ("barriers", (("workgroup_size", "workitems a workgroup"),)),
    "scratch": ("scratch", (("scratch_bytes_per_lane", "B per lane"),)),
}
"""What a limiter is called, and the numbers that move it."""


def moved(pair: Pair, gate: Gate, *, strict: bool, only_spills: bool) -> Iterator[Finding]:
    """What is worse, and what is better, of all that the gate looks at.

    `strict` fails on what is better, too; with `only_spills` all else that is worse is a note.
    """
    for measure, allowance in gate.allowances:
        old, new = getattr(pair.old, measure.field), getattr(pair.new, measure.field)
        if old is None or new is None or old == new:
            continue
        worse_by = old - new if measure.gain else new - old
        message = f"{old:g} → {new:g} {measure.noun} since the baseline{_why(measure, pair)}"
        if worse_by < 0:
            yield _STALE.found(
                message, "pin it with --update-baseline", "error" if strict else "note"
            )
        elif not allowance.bears(old, worse_by):
            borne = only_spills and measure not in _SPILLS
            yield _REGRESSION.found(message, severity="note" if borne else None)


def unsaid(pair: Pair, gate: Gate) -> tuple[str, ...]:
    """What the gate looks at, the baseline has and the input no longer says."""
    return tuple(
        measure.key
        for measure, _ in gate.allowances
        if getattr(pair.old, measure.field) is not None and getattr(pair.new, measure.field) is None
    )


def unbaselined() -> Finding:
    """What is said of a kernel that the baseline does not have."""
    return _UNBASELINED.found("not in the baseline", "pin it with --update-baseline")


def vanished(kernel: Footprint) -> Finding:
    """What is said of a kernel that only the baseline has."""
    return _VANISHED.found(
        f"in the baseline, from {kernel.code_object}, and not in the build",
        "build it, or drop it with --update-baseline",
    )


def _why(measure: Measure, pair: Pair) -> str:
    """What limits the waves now, and how that moved; the name it had."""
    parts = []
    if measure == WAVES:
        parts = [_limiter(limiter, pair) for limiter in pair.new.limiters]
    limited = f", limited by {' and '.join(parts)}" if parts else ""
    return limited + (f" (as {pair.old.name})" if pair.old.name != pair.new.name else "")


def _limiter(limiter: str, pair: Pair) -> str:
    name, fields = _BEHIND[limiter]
    numbers = [
        f"{old} → {new} {word}"
        for field, word in fields
        if (old := getattr(pair.old, field)) != (new := getattr(pair.new, field))
        and None not in (old, new)
    ]
    return f"{name}: {', '.join(numbers)}" if numbers else name
