"""The totals of a comparison in a line, as Mesa's shader-db prints them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kernelinfo.compare import Comparison
from kernelinfo.compare.changes import Pair
from kernelinfo.kernel import grouped
from kernelinfo.kernel.record import INSTRUCTIONS

_SUMMED = {
    "vgprs": "VGPRs",
    "sgprs": "SGPRs",
    "spills": "spills",
    "scratch_bytes_per_lane": "scratch",
    "lds_bytes": "LDS",
    "code_bytes": "code",
}
"""Key of `moved_sums` → name in the line."""


class MovedSum(NamedTuple):
    """One number of the pairs that state it in both builds, summed."""

    old: int  # sum in the old build
    new: int  # sum in the new build
    less: int
    """Number of kernels with less in the new build."""
    more: int  # number of kernels with more in the new build


def totals(comparison: Comparison) -> str:
    """`Totals from 2 (50 %) moved kernels: VGPRs −16 (−7.1 %, 2 better), …`; empty if none moved.

    Fewer instructions are `less`, not better.
    """
    moved = [pair for pair in comparison.pairs if pair.moves]
    if not moved:
        return ""
    share = 100 * len(moved) / len(comparison.pairs)
    sums = moved_sums(moved)
    parts = [f"{name} {_change(sums[key], 'better', 'worse')}" for key, name in _SUMMED.items()]
    parts += [
        f"{number.noun} {_change(sums[number.field], 'less', 'more')}"
        for number in INSTRUCTIONS
        if number.field in sums
    ]
    kernels = "kernel" if len(moved) == 1 else "kernels"
    return (
        f"Totals from {grouped(len(moved))} ({_percent(share)}) moved {kernels}: {', '.join(parts)}"
    )


def moved_sums(moved: Sequence[Pair]) -> dict[str, MovedSum]:
    """Field of `KernelNumbers`, or `spills` → its sum over the kernels of which any number moved.

    Numbers of instructions are there if they moved.
    """
    sums = {
        key: _sum(moved, ("vgpr_spills", "sgpr_spills") if key == "spills" else (key,))
        for key in _SUMMED
    }
    fields = [number.field for number in INSTRUCTIONS if number.field != "other"]
    counted = {field: _sum(moved, (field,)) for field in fields}
    return sums | {field: one for field, one in counted.items() if one.less or one.more}


def _sum(pairs: Iterable[Pair], fields: Sequence[str]) -> MovedSum:
    before = after = less = more = 0
    for pair in pairs:
        sides = pair.old.numbers, pair.new.numbers
        values = [tuple(getattr(side, one) for side in sides) for one in fields]
        known = [(old, new) for old, new in values if old is not None and new is not None]
        old, new = sum(old for old, _ in known), sum(new for _, new in known)
        before, after = before + old, after + new
        less, more = less + (new < old), more + (new > old)
    return MovedSum(before, after, less, more)


def _change(found: MovedSum, less: str, more: str) -> str:
    """`−16 (−7.1 %, 2 better, 1 worse)`, or `0`. `less` and `more` are words for kernels with less
    and with more in the new build."""
    counts = ((found.less, less), (found.more, more))
    split = [f"{grouped(count)} {word}" for count, word in counts if count]
    by = found.new - found.old
    if by and found.old:
        split.insert(0, f"{_sign(by)}{_percent(100 * abs(by) / found.old)}")
    return f"{_sign(by)}{grouped(abs(by))}" + (f" ({', '.join(split)})" if split else "")


def _sign(by: float) -> str:
    return "+" if by > 0 else "−" if by < 0 else ""


def _percent(share: float) -> str:
    """A share with two significant digits: `0.61 %`, `12 %`."""
    return f"{share:.2g} %" if share < 100 else f"{share:.0f} %"
