"""The totals of a comparison in a line, as Mesa's shader-db prints them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kernelinfo.compare import Comparison
from kernelinfo.compare.changes import Pair
from kernelinfo.kernel import grouped
from kernelinfo.kernel.numbers import INSTRUCTION_NUMBERS

_SUMMED = (
    ("VGPRs", ("vgprs",)),
    ("SGPRs", ("sgprs",)),
    ("spills", ("vgpr_spills", "sgpr_spills")),
    ("scratch", ("scratch_bytes_per_lane",)),
    ("LDS", ("lds_bytes",)),
    ("code", ("code_bytes",)),
)
"""Name in the line, and the summed fields of `KernelNumbers`."""


def totals(comparison: Comparison) -> str:
    """`Totals from 2 (50 %) moved kernels: VGPRs −16 (−7.1 %, 2 better), …`; empty if none moved.

    Sums of the kernels of which any number moved. Numbers of instructions are there if they moved;
    less of them is not better.
    """
    moved = [pair for pair in comparison.pairs if pair.moves]
    if not moved:
        return ""
    share = 100 * len(moved) / len(comparison.pairs)
    parts = [f"{name} {_change(moved, fields, 'better', 'worse')}" for name, fields in _SUMMED]
    for number in INSTRUCTION_NUMBERS:
        text = _change(moved, (number.field,), "less", "more")
        if text != "0" and number.field != "other":
            parts.append(f"{number.noun} {text}")
    kernels = "kernel" if len(moved) == 1 else "kernels"
    return (
        f"Totals from {grouped(len(moved))} ({_percent(share)}) moved {kernels}: {', '.join(parts)}"
    )


def _change(pairs: Iterable[Pair], fields: Sequence[str], less: str, more: str) -> str:
    """`−16 (−7.1 %, 2 better, 1 worse)`, or `0`: the change of numbers that both builds state.

    `less` and `more` are words for kernels with less and with more in the new build."""
    total = by = 0
    counts = {less: 0, more: 0}
    for pair in pairs:
        sides = pair.old.numbers, pair.new.numbers
        values = [tuple(getattr(side, one) for side in sides) for one in fields]
        known = [(old, new) for old, new in values if old is not None and new is not None]
        change = sum(new - old for old, new in known)
        total, by = total + sum(old for old, _ in known), by + change
        if change:
            counts[less if change < 0 else more] += 1
    split = [f"{grouped(count)} {word}" for word, count in counts.items() if count]
    if by and total:
        split.insert(0, f"{_sign(by)}{_percent(100 * abs(by) / total)}")
    return f"{_sign(by)}{grouped(abs(by))}" + (f" ({', '.join(split)})" if split else "")


def _sign(by: float) -> str:
    return "+" if by > 0 else "−" if by < 0 else ""


def _percent(share: float) -> str:
    """A share with two significant digits: `0.61 %`, `12 %`."""
    return f"{share:.2g} %" if share < 100 else f"{share:.0f} %"
