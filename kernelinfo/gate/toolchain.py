"""A change of compiler since the baseline (KI507)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

from kernelinfo.compare.changes import Pair
from kernelinfo.config import ToolchainChange
from kernelinfo.errors import Message
from kernelinfo.gate.messages import say
from kernelinfo.kernel import Finding, counted
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.model.limits import RESOURCES
from kernelinfo.reading.target_id import makers
from kernelinfo.rules.documented import documented

_MOST_NAMED = 5
"""Most kernels to name, those that lost most waves first."""
_SPILLED = ("vgpr_spills", "sgpr_spills", "scratch_bytes_per_lane")
_TOOLCHAIN = documented("KI507")
_JUDGED: dict[ToolchainChange, Message] = {
    "report": say("toolchain-report"),
    "strict": say("toolchain-strict"),
    "accept": say("toolchain-accept"),
}


class Toolchain:
    """Compilers of a build and of its baseline. A baseline without compilers matches any."""

    def __init__(self, pinned: Iterable[str], code_objects: Iterable[CodeObject]) -> None:
        self._pinned = tuple(stamp.strip() for stamp in pinned)
        foreign = filter(self.is_foreign, {id(one): one for one in code_objects}.values())
        self.foreign = {stamp for one in foreign for stamp in makers(one.stamps)}
        """Compilers of the build whose code objects have none of the baseline's."""

    def is_foreign(self, code_object: CodeObject) -> bool:
        """True if the code object and the baseline have no compiler in common.

        A code object can name several compilers and does not say which built a kernel.
        """
        made = makers(code_object.stamps)
        return bool(made and self._pinned) and not set(made) & set(self._pinned)

    def changed(self, how: ToolchainChange, pairs: Sequence[Pair]) -> Finding | None:
        """The finding that names both compilers, or None if they are the same. `how` is the
        configured judgement, `pairs` the kernels that the new compiler built."""
        old = {stamp: _brief(stamp) for stamp in self._pinned}
        new = sorted(self.foreign)
        if not new:
            return None
        brief = [_brief(stamp) for stamp in new]
        if set(brief) & set(old.values()):
            brief, old = new, {stamp: stamp for stamp in old}
        built, pinned = (" and ".join(dict.fromkeys(stamps)) for stamps in (brief, old.values()))
        effect = f"{_whole(pairs)}; " if pairs else ""
        judgement = _JUDGED[how]
        message = say(
            "toolchain-changed", built=built, pinned=pinned, effect=effect, judgement=judgement
        )
        return _TOOLCHAIN.found(message, say("toolchain-mend"))


def _whole(pairs: Sequence[Pair]) -> str:
    """The effect of the compiler on all kernels that it built, in words: `191 of 1440 kernels
    moved, waves/SIMD −3.8 %, 12 kernels lost waves (12 by VGPR); worst: …`."""
    known = [(waves, pair) for pair in pairs if (waves := _waves(pair)) is not None]
    before, after = sum(old for (old, _), _ in known), sum(new for (_, new), _ in known)
    losing = sorted((one for one in known if one[0][1] < one[0][0]), key=_share_and_name)
    lost = [pair for _, pair in losing]
    by = Counter(RESOURCES[limiter] for pair in lost for limiter in pair.new.numbers.limiters)
    others = {id(pair) for pair in lost}
    spilling = [pair for pair in pairs if pair.regressed and id(pair) not in others]
    spilling.sort(key=_gained, reverse=True)
    moved = sum(1 for pair in pairs if pair.moves)
    parts = [say("toolchain-moved", moved=moved, kernels=counted(len(pairs), "kernel"))]
    if before and before != after:
        change = f"{100 * after / before - 100:+.1f}".replace("-", "−")
        parts.append(say("toolchain-waves", change=change))
    if lost:
        causes = ", ".join(f"{count} by {name}" for name, count in by.most_common())
        kernels = counted(len(lost), "kernel")
        parts.append(say("toolchain-lost", kernels=kernels, causes=causes))
    if spilling:
        parts.append(say("toolchain-spilling", kernels=counted(len(spilling), "kernel")))
    worst = dict.fromkeys(
        f"{pair.new.name} ({pair.new.target}): {pair.why}" for pair in (*lost, *spilling)
    )
    named = "; ".join(islice(worst, _MOST_NAMED))
    return ", ".join(parts) + (say("toolchain-worst", kernels=named) if named else "")


def _gained(pair: Pair) -> float:
    """Spilled registers and bytes of scratch that the kernel has more."""
    return sum((move.new or 0) - (move.old or 0) for move in pair.moves if move.measure in _SPILLED)


def _share_and_name(one: tuple[tuple[float, float], Pair]) -> tuple[float, str]:
    """Sort key: smallest remaining share of waves first."""
    (old, new), pair = one
    return new / old, pair.new.name


def _waves(pair: Pair) -> tuple[float, float] | None:
    """(old, new) waves/SIMD; None if one is unknown."""
    old, new = pair.old.numbers.waves_per_simd, pair.new.numbers.waves_per_simd
    return None if old is None or new is None else (old, new)


def _brief(stamp: str) -> str:
    return stamp.partition(" (")[0]
