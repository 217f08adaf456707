"""Findings on a kernel and its baseline (KI501 to KI504). The numbers may only get better."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.config import Gate, ToolchainChange
from kernelinfo.config.measures import SCRATCH, SGPR_SPILL, VGPR_SPILL, WAVES
from kernelinfo.errors import Message
from kernelinfo.gate.messages import say
from kernelinfo.kernel import Finding, Result, Severity
from kernelinfo.kernel.record import Column
from kernelinfo.model.limits import MOST, RESOURCES, Resource, placement
from kernelinfo.rules.documented import documented

_REGRESSION, _VANISHED = documented("KI501"), documented("KI502")
_UNBASELINED, _STALE = documented("KI503"), documented("KI504")
_ALWAYS = (VGPR_SPILL, SGPR_SPILL, SCRATCH)
"""Numbers that fail also if another compiler built the kernel."""


def moved(
    pair: Pair, result: Result, gate: Gate, change: ToolchainChange | None, *, strict: bool
) -> Iterator[Finding]:
    """One finding per pinned number that got worse or better; `result` is the new kernel.

    Worse numbers within the allowance of `gate` give none. With `strict` better numbers fail, too.
    After a `change` of the compiler, "report" fails only more spills or scratch and vanished matrix
    instructions, and "accept" fails nothing.
    """
    before, now = pair.old.numbers, pair.new.numbers
    if before.matrix and now.matrix == 0:
        severity: Severity | None = "note" if change == "accept" else None
        message = say("matrix-vanished", count=before.matrix)
        yield _REGRESSION.found(message, say("matrix-mend"), severity)
    for measure, allowance in gate.allowances:
        old, new = getattr(before, measure.field), getattr(now, measure.field)
        if old is None or new is None or old == new:
            continue
        worse_by = old - new if measure.is_gain else new - old
        message = _message(measure, pair, result, old, new)
        if worse_by < 0:
            yield stale(message, strict=strict)
        elif not allowance.bears(old, worse_by):
            is_milder = change == "report" and measure not in _ALWAYS
            borne = is_milder or change == "accept"
            severity = "note" if borne else None
            yield _REGRESSION.found(message, say("regression-mend"), severity)


def stale(message: Message, *, strict: bool) -> Finding:
    """The finding for a pinned number that is out of date or missing."""
    return _STALE.found(message, say("baseline-pin"), "error" if strict else "note")


def unbaselined() -> Finding:
    """The finding for a kernel that is not in the baseline."""
    return _UNBASELINED.found(say("kernel-unpinned"), say("baseline-pin"))


def vanished(kernel: KernelSummary) -> Finding:
    """The finding for a pinned kernel that is not in the build."""
    message = say("kernel-vanished", file=kernel.code_object)
    return _VANISHED.found(message, say("kernel-vanished-mend"))


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
