"""Findings on a build and its baseline: numbers may only get better (KI501 to KI504, KI507)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import ceil

from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.config import Configuration, Gate, ToolchainChange
from kernelinfo.config.keys import SCRATCH, SGPR_SPILL, VGPR_SPILL, WAVES
from kernelinfo.errors import Message
from kernelinfo.gate.messages import say
from kernelinfo.gate.outcome import KernelCase, Notice
from kernelinfo.kernel import Finding, Result, Severity, counted
from kernelinfo.kernel.record import Column
from kernelinfo.model.limits import MOST, RESOURCES, Resource, placement
from kernelinfo.reading.target_id import makers
from kernelinfo.rules.documented import documented

_REGRESSION, _VANISHED = documented("KI501"), documented("KI502")
_UNBASELINED, _STALE = documented("KI503"), documented("KI504")
_TOOLCHAIN = documented("KI507")
_ALWAYS = (VGPR_SPILL, SGPR_SPILL, SCRATCH)
"""Numbers that fail also if another compiler built the kernel."""
_MOST_NAMED = 5
"""Most kernels to name, those that lost most waves first."""
_SPILLED = ("vgpr_spills", "sgpr_spills", "scratch_bytes_per_lane")
_JUDGED: dict[ToolchainChange, Message] = {
    "report": say("toolchain-report"),
    "strict": say("toolchain-strict"),
    "accept": say("toolchain-accept"),
}


def findings(case: KernelCase, configuration: Configuration) -> Iterator[Finding]:
    """Findings of one kernel against the baseline, or against a pinned copy of a new kernel."""
    if case.is_new:
        yield _UNBASELINED.found(say("kernel-unpinned"), say("baseline-pin"))
    if case.pair is None or not case.is_moved:
        return
    for finding in _moved(case, case.pair, configuration.gate, configuration.strict_baseline):
        if case.is_new:
            file = case.pair.old.code_object
            message = say("pinned-elsewhere", reason=finding.message, file=file)
            finding = finding._replace(message=message)
        yield finding


def _moved(case: KernelCase, pair: Pair, gate: Gate, strict: bool) -> Iterator[Finding]:
    """A finding if numbers are not pinned, and one per pinned number that got worse or better.

    Worse numbers within the allowance of `gate` give none. With `strict` better numbers fail, too.
    After a change of the compiler, "report" fails only more spills or scratch and vanished matrix
    instructions, and "accept" fails nothing.
    """
    before, now = pair.old.numbers, pair.new.numbers
    pinned, stated = gated(pair.old, gate), gated(pair.new, gate)
    missing = [measure for measure in stated if measure not in pinned]
    if missing and missing != stated:
        names = ", ".join(measure.key for measure in missing)
        yield stale(say("numbers-unpinned", names=names), strict=strict)
    if before.matrix and now.matrix == 0:
        severity: Severity | None = "note" if case.change == "accept" else None
        message = say("matrix-vanished", count=before.matrix)
        yield _REGRESSION.found(message, say("matrix-mend"), severity)
    for measure, allowance in gate.allowances:
        old, new = getattr(before, measure.field), getattr(now, measure.field)
        if old is None or new is None or old == new:
            continue
        worse_by = old - new if measure.is_gain else new - old
        message = _message(measure, pair, case.result, old, new)
        if worse_by < 0:
            yield stale(message, strict=strict)
        elif not allowance.bears(old, worse_by):
            is_milder = case.change == "report" and measure not in _ALWAYS
            severity = "note" if is_milder or case.change == "accept" else None
            yield _REGRESSION.found(message, say("regression-mend"), severity)


def gated(kernel: KernelSummary, gate: Gate) -> list[Column]:
    """The numbers with an allowance that a kernel states."""
    measures = (measure for measure, _ in gate.allowances)
    return [column for column in measures if getattr(kernel.numbers, column.field) is not None]


def is_unnumbered(pair: Pair, gate: Gate) -> bool:
    """True if the new kernel states numbers with an allowance, none of which is pinned."""
    stated = gated(pair.new, gate)
    before = pair.old.numbers
    return bool(stated) and all(getattr(before, column.field) is None for column in stated)


def stale(message: Message, *, strict: bool) -> Finding:
    """The finding for a pinned number that is out of date or missing."""
    return _STALE.found(message, say("baseline-pin"), "error" if strict else "note")


def vanished(kernel: KernelSummary, configuration: Configuration) -> Notice:
    """The notice for a pinned kernel that is not in the build."""
    message = say("kernel-vanished", file=kernel.code_object)
    finding = _VANISHED.found(message, say("kernel-vanished-mend"))
    return Notice(finding, kernel.name, kernel.target, str(configuration.baseline))


def _message(measure: Column, pair: Pair, result: Result, old: float, new: float) -> Message:
    """The change of a number in words: `4 → 6 VGPRs spilled since the baseline`.

    Lost waves come with their cause, a renamed kernel with its old name.
    """
    name = say("name-pinned", name=pair.old.name) if pair.old.name != pair.new.name else ""
    before, now = f"{old:g}", f"{new:g}"
    if measure == WAVES and new < old:
        lost = f"{old - new:g} {'wave' if old - new == 1 else 'waves'}"
        causes = " and ".join(_causes(pair, result, old)) or pair.why_waves
        return say("waves-lost", waves=lost, old=before, new=now, causes=causes, name=name)
    change: str = say("number-change", old=before, new=now, noun=measure.noun)
    if measure == WAVES:
        change = pair.why_waves
    return say("number-moved", change=change, name=name)


def _causes(pair: Pair, result: Result, old: float) -> Iterator[str]:
    """Limiters that cost waves: `296 VGPRs, the step is ≤ 256`. `old` is the pinned waves/SIMD."""
    traits, occupancy = result.kernel.traits, result.occupancy
    is_same_launch = pair.old.numbers.workgroup_size == pair.new.numbers.workgroup_size
    if not (traits.target and traits.demand and occupancy and is_same_launch):
        return
    at = placement(traits.target, traits.demand, occupancy.launch)
    amounts = {limit.resource: limit.used for limit in occupancy.limits}
    padded = {"vgpr": at.demand.vgprs, "sgpr": at.demand.sgprs}
    for resource in occupancy.limiters:
        if resource in MOST:
            most = MOST[resource](at, ceil(old * at.domain.simds))
            amount = amounts[resource]
            if amount <= most:  # the descriptor's padding is above the step, the code is not
                amount = padded.get(resource) or amount
            yield say("waves-step", amount=_amount(resource, amount), most=most)


def _amount(resource: Resource, amount: int) -> str:
    """An amount with its resource: `296 VGPRs`, `40960 B of LDS`."""
    noun = RESOURCES[resource]
    return f"{amount} B of {noun}" if resource in ("lds", "scratch") else f"{amount} {noun}s"


Foreign = Mapping[int, tuple[str, ...]]
"""`id` of a code object without any of the baseline's compilers -> its compilers."""


def foreign(results: Iterable[Result], pinned: Iterable[str]) -> Foreign:
    """The code objects without any of the `pinned` compilers, the baseline's; none without these.

    A code object can name several compilers and does not say which built a kernel.
    """
    known = {stamp.strip() for stamp in pinned}
    code_objects = {id(one): one for one in (result.kernel.code_object for result in results)}
    made = ((key, makers(one.stamps)) for key, one in code_objects.items() if known)
    return {key: stamps for key, stamps in made if stamps and known.isdisjoint(stamps)}


def toolchain_changed(
    foreign: Foreign, pinned: Iterable[str], pairs: Sequence[Pair], configuration: Configuration
) -> Iterator[Notice]:
    """A notice that names the compilers of the build and of the baseline, if code objects are
    `foreign`. `pairs` are the kernels in these."""
    if not foreign:
        return
    old = {stamp: _brief(stamp) for stamp in map(str.strip, pinned)}
    new = sorted({stamp for stamps in foreign.values() for stamp in stamps})
    brief = [_brief(stamp) for stamp in new]
    if set(brief) & set(old.values()):
        brief, old = new, {stamp: stamp for stamp in old}
    built, before = (" and ".join(dict.fromkeys(stamps)) for stamps in (brief, old.values()))
    effect = f"{_whole(pairs)}; " if pairs else ""
    judgement = _JUDGED[configuration.gate.toolchain_change]
    message = say(
        "toolchain-changed", built=built, pinned=before, effect=effect, judgement=judgement
    )
    finding = _TOOLCHAIN.found(message, say("toolchain-mend"))
    yield Notice(finding, "toolchain", None, str(configuration.baseline))


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
