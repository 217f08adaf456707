"""KI501 to KI504: a kernel against its baseline, which may only get better."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.compare import Pair
from kernelinfo.compare.changes import why_waves
from kernelinfo.compare.footprint import Footprint
from kernelinfo.gate.config import Gate
from kernelinfo.gate.config.measures import SGPR_SPILL, VGPR_SPILL, WAVES, Measure
from kernelinfo.kernel import Finding
from kernelinfo.rules.documented import documented

_REGRESSION, _VANISHED = documented("KI501"), documented("KI502")
_UNBASELINED, _STALE = documented("KI503"), documented("KI504")
_SPILLS = (VGPR_SPILL, SGPR_SPILL)


def moved(pair: Pair, gate: Gate, *, strict: bool, only_spills: bool) -> Iterator[Finding]:
    """What is worse, and what is better, of all that the gate looks at.

    `strict` fails on what is better, too; with `only_spills` all else that is worse is a note.
    """
    for measure, allowance in gate.allowances:
        old, new = getattr(pair.old, measure.field), getattr(pair.new, measure.field)
        if old is None or new is None or old == new:
            continue
        worse_by = old - new if measure.gain else new - old
        message = _message(measure, pair, old, new)
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
    """The finding for a kernel that the baseline does not have."""
    return _UNBASELINED.found("not in the baseline", "pin it with --update-baseline")


def vanished(kernel: Footprint) -> Finding:
    """The finding for a kernel that only the baseline has."""
    return _VANISHED.found(
        f"in the baseline, from {kernel.code_object}, and not in the build",
        "build it, or drop it with --update-baseline",
    )


def _message(measure: Measure, pair: Pair, old: float, new: float) -> str:
    """`4 → 6 VGPRs spilled since the baseline`; for waves with the limit, and the former name."""
    change = f"{old:g} → {new:g} {measure.noun}"
    if measure == WAVES:
        change = why_waves(pair.old, pair.new)
    had = f" (as {pair.old.name})" if pair.old.name != pair.new.name else ""
    return f"{change} since the baseline{had}"
