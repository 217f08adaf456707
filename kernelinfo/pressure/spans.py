"""From where to where along the text each register is live."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from kernelinfo.light_typing import NamedTuple
from kernelinfo.pressure.function import Function
from kernelinfo.pressure.registers import each, ranges, whole


class Span(NamedTuple):
    """Registers that are live at all of some points, and neither before nor behind them."""

    first: int
    last: int
    registers: tuple[str, ...]


def spans(function: Function, steps: Iterable[int]) -> tuple[Span, ...]:
    """The spans along these steps, which are numbered from 0, in the order of the text."""
    found: dict[tuple[int, int], int] = defaultdict(int)
    begun: dict[int, int] = {}
    live = point = 0
    for point, step in enumerate(steps):
        around = function.live[step]
        now = whole(around.before | around.after) if around else 0
        for register in each(live & ~now):
            found[begun.pop(register), point - 1] |= register
        begun.update(dict.fromkeys(each(now & ~live), point))
        live = now
    for register in each(live):
        found[begun.pop(register), point] |= register
    return tuple(Span(*ends, ranges(registers)) for ends, registers in sorted(found.items()))
