"""What the code needs: the registers and spill slots that are alive at once, each value once."""

from __future__ import annotations

from collections import deque

from kernelinfo.kernel.needs import NeedsShare, RegisterNeeds
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.places import Places
from kernelinfo.pressure.registers import AGPRS, VGPRS, Counts, count, named, union
from kernelinfo.pressure.values import bill, live_values


def needs_of(
    function: LiveFunction, places: Places, files: str, *, with_shares: bool = True
) -> RegisterNeeds:
    """What the code of a function needs. `files` is the target's `agprs.file`.

    The shares take as long as all else.
    """
    counts = places.counts
    at_once = [counts[index] for index in function.code]
    peak = max({*at_once}, key=lambda live: live.vector(files), default=Counts(0, 0, 0))
    most = peak.vector(files)
    number = next(n for n, live in enumerate(at_once) if live.vector(files) == most)
    index = function.code[number]
    block, at = function.block_of(index), function.location(index)
    border = _border(places, block, files) if most else 0
    loop = function.loop_around(index)
    blocks = [other for other in function.graph.order if loop and function.loops.holds(loop, other)]
    vgprs, agprs, sgprs = map(max, zip(*{*at_once}, strict=True))
    return RegisterNeeds(
        vector=most,
        vgprs=vgprs,
        agprs=agprs,
        sgprs=sgprs,
        in_memory=most - function.counts[index].vector(files),
        exact=places.is_settled and not function.reasons,
        number=at.number,
        line=at.line,
        address=at.address,
        source=at.source,
        border=border,
        is_loop=blocks == [block],
        shares=_shares(function, places, index) if with_shares and places.has_slots else (),
    )


def _border(places: Places, block: int, files: str) -> int:
    """The most vector registers alive at the begin or the end of a block."""
    points = places.points(block)  # the last instruction first; a list may hold a million of them
    last = next(points)
    first = deque(points, maxlen=1)
    _, begin, _ = first[0] if first else last
    return max(places.count(point).vector(files) for point in (begin, last[2]))


def _shares(function: LiveFunction, places: Places, index: int) -> tuple[NeedsShare, ...]:
    """The vector values at an instruction by role, the largest role first."""
    block = function.block_of(index)
    before, after = next(points for at, *points in places.points(block) if at == index)
    values, _ = live_values(function, index)
    roles = {
        line.role: union(named(" ".join(value.registers)) for value in line.values)
        for line in bill([value for value in values if value.role])
    }
    shares: dict[str | None, tuple[int, int]] = dict.fromkeys([*roles, None], (0, 0))
    for register_class, position in ((VGPRS, 0), (AGPRS, 1)):
        is_after = places.count(after)[position] > places.count(before)[position]
        point = after if is_after else before
        crossing, crossing_places = places.crossing(index, is_after=is_after)
        for role, registers in roles.items():
            here = point[0] & registers & register_class
            both = count(here & crossing)[position]
            total = count(here)[position]
            shares[role] = shares[role][0] + both, shares[role][1] + total - both
        apart = places.apart(point)
        both = places.number(apart & crossing_places)[position]
        total = places.number(apart)[position]
        shares[None] = shares[None][0] + both, shares[None][1] + total - both
    every = (NeedsShare(role, *both) for role, both in shares.items() if any(both))
    return tuple(sorted(every, key=lambda share: -sum(share[1:])))
