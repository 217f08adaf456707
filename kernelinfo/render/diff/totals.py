"""The totals of a comparison in a line, as Mesa's shader-db prints them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

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
_COUNTED = tuple(
    (number.noun, (number.field,)) for number in INSTRUCTION_NUMBERS if number.field != "other"
)


class _Sum(NamedTuple):
    """One number of the pairs that state it in both builds."""

    old: float
    new: float
    less: int
    """Number of kernels with less in the new build."""
    more: int


def totals(comparison: Comparison) -> str:
    """`Totals from 2 (50 %) moved kernels: VGPRs −16 (−7.1 %, 2 better), …`; empty if none moved.

    Sums of the kernels of which any number moved. Numbers of instructions are there if they moved;
    less of them is not better.
    """
    moved = [pair for pair in comparison.pairs if pair.moves]
    if not moved:
        return ""
    share = 100 * len(moved) / len(comparison.pairs)
    parts = [
        *(f"{name} {_change(_sum(moved, fields), 'better')}" for name, fields in _SUMMED),
        *_instructions(moved),
    ]
    kernels = "kernel" if len(moved) == 1 else "kernels"
    return (
        f"Totals from {grouped(len(moved))} ({_percent(share)}) moved {kernels}: {', '.join(parts)}"
    )


def _instructions(moved: Sequence[Pair]) -> Iterator[str]:
    for name, fields in _COUNTED:
        found = _sum(moved, fields)
        if found.less or found.more:
            yield f"{name} {_change(found, 'less')}"


def _sum(pairs: Iterable[Pair], fields: Sequence[str]) -> _Sum:
    before = after = less = more = 0.0
    for pair in pairs:
        sides = pair.old.numbers, pair.new.numbers
        values = [tuple(getattr(side, one) for side in sides) for one in fields]
        known = [(old, new) for old, new in values if old is not None and new is not None]
        old, new = sum(old for old, _ in known), sum(new for _, new in known)
        before, after = before + old, after + new
        less, more = less + (new < old), more + (new > old)
    return _Sum(before, after, int(less), int(more))


def _change(found: _Sum, fewer: str) -> str:
    """`−16 (−7.1 %, 2 better, 1 worse)`, or `0`. `fewer` names the kernels with less."""
    greater = {"better": "worse", "less": "more"}[fewer]
    counts = ((found.less, fewer), (found.more, greater))
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
