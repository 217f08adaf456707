"""Findings on a build and its baseline: numbers may only get better (KI501 to KI504, KI507)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import ceil
from operator import itemgetter

from kernelinfo.compare import Comparison
from kernelinfo.compare.changes import Pair, in_words
from kernelinfo.compare.summary import KernelNumbers, KernelSummary
from kernelinfo.config import Configuration, Gate, ToolchainChange
from kernelinfo.config.keys import SCRATCH, SGPR_SPILL, VGPR_SPILL, WAVES
from kernelinfo.errors import Message
from kernelinfo.gate.baseline_text import name_unit
from kernelinfo.gate.messages import say
from kernelinfo.gate.outcome import UNBASELINED, VANISHED, KernelCase, Notice
from kernelinfo.gate.renames import mend_rename, phrase_rename
from kernelinfo.kernel import Finding, Result, Severity, counted
from kernelinfo.kernel.record import BY_FIELD, INSTRUCTIONS, Column
from kernelinfo.model.limits import MOST, RESOURCES, Resource, place
from kernelinfo.reading.target_id import makers
from kernelinfo.rules import BY_NUMBER

_REGRESSION, _VANISHED = BY_NUMBER["KI501"], BY_NUMBER[VANISHED]
_UNBASELINED, _STALE = BY_NUMBER[UNBASELINED], BY_NUMBER["KI504"]
_TOOLCHAIN = BY_NUMBER["KI507"]
_COPIES = "KI107"
_ALWAYS = (VGPR_SPILL, SGPR_SPILL, SCRATCH)
"""Numbers that fail also if another compiler built the kernel."""
_MOST_NAMED = 5
"""Most kernels to name, those that lost most waves first."""
_SPILLS = ("vgpr_spills", "sgpr_spills", "scratch_bytes_per_lane")
_JUDGED: dict[ToolchainChange, Message] = {
    "report": say("toolchain-report"),
    "strict": say("toolchain-strict"),
    "accept": say("toolchain-accept"),
}


def compare_numbers(case: KernelCase, configuration: Configuration) -> Iterator[Finding]:
    """Findings of one kernel against the baseline, or against a pinned copy of a new kernel."""
    if case.is_new:
        severity = configuration.gate.new
        yield _UNBASELINED.finding(say("kernel-unpinned"), say("baseline-pin"), severity)
    if case.pair is None or not case.is_moved:
        return
    for finding in _find_moves(case, case.pair, configuration):
        if case.is_new:
            file = case.pair.old.code_object
            message = say("pinned-elsewhere", reason=finding.message, file=file)
            finding = finding._replace(message=message)
        yield finding


def _find_moves(case: KernelCase, pair: Pair, configuration: Configuration) -> Iterator[Finding]:
    """A finding if some numbers are not pinned, and one for each pinned number that got worse or
    better.

    There is no finding for a number that got worse within the allowance of [gate], and none for
    better numbers of a kernel that also got worse or spills more. With `strict-baseline` all
    improvements fail, too. After a change of the compiler, "report" fails only more spills or
    scratch and vanished matrix instructions, and "accept" fails nothing.
    """
    gate, strict = configuration.gate, configuration.strict_baseline
    before, now = pair.old.numbers, pair.new.numbers
    pinned, stated = list_gated(pair.old, gate), list_gated(pair.new, gate)
    missing = [measure for measure in stated if measure not in pinned]
    if missing and missing != stated:
        names = ", ".join(measure.key for measure in missing)
        message = say("numbers-unpinned", names=names)
        yield find_stale(message, say("baseline-pin"), strict=strict)
    if before.matrix and now.matrix == 0:
        severity: Severity | None = "note" if case.change == "accept" else None
        message = say("matrix-vanished", count=before.matrix)
        yield _REGRESSION.finding(message, say("matrix-mend"), severity)
    tightens = case.change is None and can_tighten(pair)
    mend = say("baseline-tighten") if tightens else say("baseline-pin")
    is_worse = bool(before.matrix and now.matrix == 0) or _is_spilling_more(before, now)
    better: list[Finding] = []
    for measure, allowance in gate.allowances:
        old, new = getattr(before, measure.field), getattr(now, measure.field)
        if old is None or new is None or old == new:
            continue
        worse_by = old - new if measure.is_gain else new - old
        message = _phrase_move(measure, pair, case.result, old, new)
        if worse_by < 0:
            better.append(find_stale(message, mend, strict=strict))
        elif not allowance.holds(worse_by, old):
            is_milder = case.change == "report" and measure not in _ALWAYS
            severity = "note" if is_milder or case.change == "accept" else None
            is_worse = True
            yield _REGRESSION.finding(message, say("regression-mend"), severity)
    if strict or not is_worse:
        yield from better


def _is_spilling_more(before: KernelNumbers, now: KernelNumbers) -> bool:
    pairs = ((getattr(before, field), getattr(now, field)) for field in _SPILLS)
    return any(old is not None and new is not None and new > old for old, new in pairs)


def is_copying_more(pair: Pair) -> bool:
    """True if a loop with matrix instructions copies more registers than it did."""
    old, new = pair.old.numbers.matrix_loop_copies, pair.new.numbers.matrix_loop_copies
    return old is not None and new is not None and new > old


def raise_copies(finding: Finding, pair: Pair) -> Finding:
    """The finding. A finding of KI107 becomes a warning that says how many copies are pinned."""
    if finding.rule != _COPIES:
        return finding
    copies = pair.old.numbers.matrix_loop_copies
    message = say("copies-raised", reason=finding.message, copies=copies)
    return finding._replace(severity="warning", message=message)


def list_gated(kernel: KernelSummary, gate: Gate) -> list[Column]:
    """The numbers that a kernel states and that have an allowance."""
    measures = (measure for measure, _ in gate.allowances)
    return [column for column in measures if getattr(kernel.numbers, column.field) is not None]


def is_unnumbered(pair: Pair, gate: Gate) -> bool:
    """True if the new kernel states numbers with an allowance, none of which is pinned."""
    stated = list_gated(pair.new, gate)
    before = pair.old.numbers
    return bool(stated) and all(getattr(before, column.field) is None for column in stated)


def find_stale(message: Message, mend: Message, *, strict: bool) -> Finding:
    """The finding that a pinned number, or a pinned finding, is out of date."""
    return _STALE.finding(message, mend, "error" if strict else "note")


def can_tighten(pair: Pair) -> bool:
    """True if both kernels have the same wave size and workgroup size. Only then are their numbers
    comparable one by one."""
    old, new = pair.old.numbers, pair.new.numbers
    return (old.wave_size, old.workgroup_size) == (new.wave_size, new.workgroup_size)


def tighten(pair: Pair, gate: Gate) -> KernelSummary:
    """The pinned kernel with every number that got better replaced by the new one; unchanged if
    none of these numbers has an allowance."""
    old, new = pair.old.numbers, pair.new.numbers
    better = {
        column.field: getattr(new, column.field)
        for column in BY_FIELD.values()
        if column.better and _is_better(column, old, new)
    }
    if not any(measure.field in better for measure, _ in gate.allowances):
        return pair.old
    if WAVES.field in better:
        better |= {"limiters": new.limiters, "exact": new.exact}
    return pair.old._replace(numbers=old._replace(**better))


def _is_better(column: Column, old: KernelNumbers, new: KernelNumbers) -> bool:
    """True if the number got better. Waves that are now only an upper bound do not count as
    better."""
    before, now = getattr(old, column.field), getattr(new, column.field)
    if before is None or now is None or (column.is_gain and old.exact and not new.exact):
        return False
    return bool(now > before if column.is_gain else now < before)


def judge_gone(
    missed: Sequence[KernelSummary],
    pairs: Iterable[Pair],
    likely: Sequence[Pair],
    configuration: Configuration,
    given_up: Iterable[KernelSummary] = (),
) -> Iterator[Notice]:
    """Notices for pinned kernels that are missing from the build (`missed`).

    The order: likely renames; kernels in `given_up`, which the user declared gone; then the rest.
    Where no pinned kernel of a target or file is left, one notice covers all kernels of that target
    or file; otherwise each kernel gets a notice. `pairs` are those of pinned kernels that the build
    still has.
    """
    baseline = str(configuration.baseline)
    for pair in likely:
        finding = _VANISHED.finding(phrase_rename(pair), mend_rename(pair))
        yield Notice(finding, pair.old.name, pair.old.target, baseline)
    stated = {id(kernel) for kernel in given_up}
    for kernel in (kernel for kernel in missed if id(kernel) in stated):
        message = say("kernel-given-up", file=kernel.code_object)
        finding = _VANISHED.finding(message, say("kernel-given-up-mend"))
        yield Notice(finding, kernel.name, kernel.target, baseline)
    stated |= {id(pair.old) for pair in likely}
    rest = [kernel for kernel in missed if id(kernel) not in stated]
    groups: dict[str, list[KernelSummary]] = {}
    built = {(pair.old.code_object, pair.old.target) for pair in pairs} if rest else set()
    left = {target for _, target in built} | {_name_file(*place) for place in built}
    for kernel in rest:
        file = _name_file(kernel.code_object, kernel.target)
        place = next((place for place in (kernel.target, file) if place not in left), "")
        groups.setdefault(place, []).append(kernel)
    for place, kernels in groups.items():
        if place and len(kernels) > 1:
            message = say("kernels-vanished", count=len(kernels))
            finding = _VANISHED.finding(message, say("kernel-vanished-mend"))
            yield Notice(finding, place, None, baseline)
            continue
        for kernel in kernels:
            message = say("kernel-vanished", file=kernel.code_object)
            finding = _VANISHED.finding(message, say("kernel-vanished-mend"))
            yield Notice(finding, kernel.name, kernel.target, baseline)


def _name_file(code_object: str, target: str) -> str:
    """The file as a baseline names it: `build/k-{target}.s` for all targets."""
    return name_unit(code_object, target).partition(" › ")[0]


def _phrase_move(measure: Column, pair: Pair, result: Result, old: float, new: float) -> Message:
    """The change of a number in words: `4 → 6 VGPRs spilled since the baseline`.

    Lost waves come with their cause, a renamed kernel with its old name.
    """
    name = say("name-pinned", name=pair.old.name) if pair.old.name != pair.new.name else ""
    before, now = f"{old:g}", f"{new:g}"
    if measure == WAVES and new < old:
        lost = f"{old - new:g} {'wave' if old - new == 1 else 'waves'}"
        causes = " and ".join(_list_causes(pair, result, old)) or pair.why_waves
        return say("waves-lost", waves=lost, old=before, new=now, causes=causes, name=name)
    change: str = say("number-change", old=before, new=now, noun=measure.noun)
    if measure == WAVES:
        change = pair.why_waves
    if new > old if measure.is_gain else new < old:
        return say("number-improved", change=change, name=name)
    if measure in INSTRUCTIONS:
        kept = [move for move in pair.loops if move.old and move.new and move.new.counts.matrix]
        loops = "; ".join(in_words(kept))
        name += say("loops-moved", loops=loops) if loops else ""
    return say("number-moved", change=change, name=name)


def _list_causes(pair: Pair, result: Result, old: float) -> Iterator[str]:
    """Limiters that cost waves: `296 VGPRs (≤ 256 for 2 waves/SIMD)`.

    `old` is the pinned waves/SIMD.
    """
    traits, occupancy = result.kernel.traits, result.occupancy
    is_same_launch = pair.old.numbers.workgroup_size == pair.new.numbers.workgroup_size
    if not (traits.target and traits.demand and occupancy and is_same_launch):
        return
    placed = place(traits.target, traits.demand, occupancy.launch)
    amounts = {limit.resource: limit.used for limit in occupancy.limits}
    padded = {"vgpr": placed.demand.vgprs, "sgpr": placed.demand.sgprs}
    for resource in occupancy.limiters:
        if resource in MOST:
            step = MOST[resource](placed, ceil(old * placed.domain.simds))
            amount = amounts[resource]
            if amount <= step:  # the descriptor's padding is above the step, the code is not
                amount = padded.get(resource) or amount
            phrase = _phrase_amount(resource, amount)
            yield say("waves-step", amount=phrase, most=step, old=f"{old:g}")


def _phrase_amount(resource: Resource, amount: int) -> str:
    """An amount with its resource: `296 VGPRs`, `40960 B of LDS`."""
    noun = RESOURCES[resource]
    return f"{amount} B of {noun}" if resource in ("lds", "scratch") else f"{amount} {noun}s"


Foreign = Mapping[int, tuple[str, ...]]
"""`id` of a code object without any of the baseline's compilers -> its compilers."""


def find_foreign(results: Iterable[Result], pinned: Iterable[str]) -> Foreign:
    """`id` of a code object → the compilers that it names, for each code object whose compilers are
    all missing from the baseline's (`pinned`).

    Code objects that name no compiler are left out; empty if the baseline names none. A code object
    can name several compilers and does not say which built a kernel.
    """
    old = {stamp.strip() for stamp in pinned}
    code_objects = {id(result.kernel.code_object): result.kernel.code_object for result in results}
    made = ((key, makers(origin.stamps)) for key, origin in code_objects.items() if old)
    return {key: stamps for key, stamps in made if stamps and old.isdisjoint(stamps)}


def judge_toolchain(
    foreign: Foreign,
    comparison: Comparison | None,
    results: Iterable[Result],
    kernels: Iterable[KernelSummary],
    configuration: Configuration,
) -> Iterator[Notice]:
    """A notice that names the compilers of the build and of the baseline, if any code object is
    `foreign`. `kernels` are the results as a baseline would pin them."""
    if comparison is None or not foreign:
        return
    pairs = zip(results, comparison.pairs_of(kernels), strict=True)
    rebuilt = [pair for r, pair in pairs if pair and id(r.kernel.code_object) in foreign]
    old = {stamp: _shorten(stamp) for stamp in map(str.strip, comparison.old_compilers)}
    new = sorted({stamp for stamps in foreign.values() for stamp in stamps})
    brief = [_shorten(stamp) for stamp in new]
    if set(brief) & set(old.values()):
        brief, old = new, {stamp: stamp for stamp in old}
    built, before = (" and ".join(dict.fromkeys(stamps)) for stamps in (brief, old.values()))
    effect, worst = _sum_up(rebuilt) if rebuilt else ("", "")
    judgement = _JUDGED[configuration.gate.toolchain_change]
    message = say(
        "toolchain-changed",
        built=built,
        pinned=before,
        effect=effect,
        judgement=judgement,
        worst=worst,
    )
    finding = _TOOLCHAIN.finding(message, say("toolchain-mend"))
    yield Notice(finding, "toolchain", None, str(configuration.baseline))


def _sum_up(pairs: Sequence[Pair]) -> tuple[str, str]:
    """The effect of the compiler on all kernels that it built, in words: `191 of 1440 kernels
    moved, waves/SIMD −3.8 %, 12 kernels lost waves (12 by VGPR); `, and the worst kernels."""
    waves = [(*both, pair) for pair in pairs if (both := _list_waves(pair))]
    before, after = sum(old for old, *_ in waves), sum(new for _, new, _ in waves)
    losing = [(new / old, pair.new.name, pair) for old, new, pair in waves if new < old]
    lost = [pair for *_, pair in sorted(losing, key=itemgetter(0, 1))]
    by = Counter(RESOURCES[limiter] for pair in lost for limiter in pair.new.numbers.limiters)
    listed = {id(pair) for pair in lost}
    spilling = [pair for pair in pairs if pair.regressed and id(pair) not in listed]
    spilling.sort(key=_sum_spills, reverse=True)
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
    named = (say("toolchain-worst", kernel=kernel) for kernel in islice(worst, _MOST_NAMED))
    return ", ".join(parts) + "; ", "".join(named)


def _sum_spills(pair: Pair) -> float:
    """Sort key: the spilled registers plus the bytes of scratch that the kernel has gained."""
    return sum((move.new or 0) - (move.old or 0) for move in pair.moves if move.measure in _SPILLS)


def _list_waves(pair: Pair) -> tuple[float, float] | None:
    """(old, new) waves/SIMD; None if one is unknown."""
    old, new = pair.old.numbers.waves_per_simd, pair.new.numbers.waves_per_simd
    return None if old is None or new is None else (old, new)


def _shorten(stamp: str) -> str:
    return stamp.partition(" (")[0]
