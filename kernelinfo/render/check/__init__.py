"""The outcome of a check: its claims with their locations, and the text of a terminal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import chain, groupby, repeat
from pathlib import PurePath
from typing import NamedTuple, TypeVar

from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.config.keys import MEASURES
from kernelinfo.gate import Update
from kernelinfo.gate.baseline_text import name_unit
from kernelinfo.gate.outcome import UNBASELINED, Notice, Outcome, Suppressed
from kernelinfo.kernel import Finding, Kernel, Result, counted, record
from kernelinfo.opening import FilePath
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.paths import path_in_repository
from kernelinfo.reading.target_id import target_id
from kernelinfo.render import View, paint, table
from kernelinfo.render.names import name_of, printable, told_apart
from kernelinfo.rules import find

TOOLCHAIN = "KI507"
"""Rule of a change of the compiler. The change may explain other findings."""


class FindingLocation(NamedTuple):
    """The place of a finding."""

    path: str  # relative to the repository's root if inside of it; separator `/`
    line: int | None  # 1-based; None if only the file is known

    @property
    def text(self) -> str:
        """`kernels.s:12`, or the path alone."""
        return self.path if self.line is None else f"{self.path}:{self.line}"


class Claim(NamedTuple):
    """A finding and what it is about."""

    finding: Finding
    about: Result | Notice
    name: str  # of the kernel or other subject
    subject: str  # the name in the user's style; printable
    target: str | None  # of a kernel, with features; else None
    suppressed: Suppressed | None = None
    accepted: bool = False  # by the baseline
    fails: bool = False  # it counts and is severe enough
    number: int = 1  # counts claims of the same rule, target and name
    alike: int = 0  # number of further claims that this line stands for
    apart: str = ""  # ` · libfoo.so`, if others of this name and target have the same location

    @property
    def counts(self) -> bool:
        """True unless the finding is suppressed or accepted."""
        return self.suppressed is None and not self.accepted

    @property
    def result(self) -> Result | None:
        """The kernel of the finding; None if the finding is not about a kernel that was read."""
        return self.about if isinstance(self.about, Result) else None

    @property
    def location(self) -> FindingLocation | None:
        """The source line, else the assembly line, else the file; None if all are unknown."""
        about = self.about
        if isinstance(about, Notice):
            return None if about.path is None else location_in(about.path, about.line)
        if source := about.kernel.source:
            return FindingLocation(PurePath(source.file).as_posix(), source.line)
        return location_in(about.kernel.code_object.path, about.kernel.line)

    @property
    def identity(self) -> tuple[str, ...]:
        """(rule, target, name): these stay the same when the kernel moves to another line or
        file."""
        return self.finding.rule, self.target or "", self.name

    @property
    def text(self) -> str:
        """Message and hint in one printable line."""
        return printable(table.in_words(self.finding))

    @property
    def sentence(self) -> str:
        """Subject, message and hint in one printable line."""
        further = f" and {counted(self.alike, 'more kernel')}" if self.alike else ""
        return f"{self.subject}{self.on_target}{self.apart}{further}: {self.text}"

    @property
    def on_target(self) -> str:
        """The target after a subject: ` (gfx90a)`, printable; empty without one."""
        return f" ({printable(self.target)})" if self.target else ""

    @property
    def where(self) -> str:
        """The location as printable text: `kernels.s:12`; empty if the file is unknown."""
        return printable(self.location.text) if self.location else ""

    @property
    def excuse(self) -> str:
        """The reason and end of the suppression, or the reason of the acceptance, printable; empty
        if the finding counts."""
        if self.accepted:
            return "accepted by the baseline"
        if self.suppressed is None:
            return ""
        until = f" (until {self.suppressed.until})" if self.suppressed.until else ""
        return printable(self.suppressed.reason + until)


def compiler_first(claim: Claim) -> tuple[bool, int, str]:
    """Sort key: changes of the compiler first, then the worst finding."""
    return (claim.finding.rule != TOOLCHAIN, *table.worst_first(claim.finding))


def claims(outcome: Outcome, view: View) -> Iterator[Claim]:
    """All findings in reading order; a kernel's suppressed and accepted findings come after its
    others."""
    seen: Counter[tuple[str, ...]] = Counter()
    for claim in _unnumbered(outcome, view):
        seen[claim.identity] += 1
        fails = claim.counts and outcome.fails(claim.finding)
        yield claim._replace(fails=fails, number=seen[claim.identity])


def fold(claims: Iterable[Claim], outcome: Outcome, view: View) -> list[Claim]:
    """The first claim of each group, with the number of the group's other kernels; every claim with
    `--top 0`.

    A group consists of kernels of one source line whose messages differ only in numbers, or of the
    new kernels of one new target or file.
    """
    groups: dict[object, list[Claim]] = {}
    new_targets = outcome.new_targets
    seen: Counter[object] = Counter()
    for claim in claims:
        key = _group(claim, new_targets) if view.top else id(claim)
        seen[key, id(claim.about)] += 1  # several findings of a kernel are as many lines
        groups.setdefault((key, seen[key, id(claim.about)]), []).append(claim)
    return [first._replace(alike=len(rest)) for first, *rest in groups.values()]


def _group(claim: Claim, new_targets: Container[str]) -> object:
    """The key of the claims that are folded into one line."""
    kernel, finding = claim.result and claim.result.kernel, claim.finding
    about = (finding.rule, finding.severity, claim.fails)
    if kernel and finding.rule == UNBASELINED:
        target, file = claim.target or "", kernel.code_object.path
        return *about, target if target in new_targets else name_unit(file, target)
    if kernel and kernel.source:
        return *about, kernel.source, re.sub(r"\d+", "#", finding.message)
    return id(claim)


def _unnumbered(outcome: Outcome, view: View) -> Iterator[Claim]:
    excused, results = dict(outcome.excused), outcome.report.results
    claimed = [(r, excused.get(n)) for n, r in enumerate(results) if r.findings or n in excused]
    apart = _tell_apart([result.kernel for result, _ in claimed], view)
    for (result, judged), mark in zip(claimed, apart, strict=True):
        kernel = result.kernel
        about = (result, kernel.name, name_of(kernel, view.names), _target(kernel))
        yield from (Claim(finding, *about, apart=mark) for finding in result.findings)
        for suppressed in judged.suppressed if judged else ():
            yield Claim(suppressed.finding, *about, suppressed, apart=mark)
        for finding in judged.accepted if judged else ():
            yield Claim(finding, *about, accepted=True, apart=mark)
    for notice in outcome.notices:
        name = notice.subject
        yield Claim(notice.finding, notice, name, printable(name), notice.target)


def _tell_apart(kernels: Sequence[Kernel], view: View) -> list[str]:
    """For each kernel that shares location, name and target with another: its library, member or
    options; an empty text for the others."""
    places = (kernel.source or (kernel.code_object.path, kernel.line) for kernel in kernels)
    called = [
        f"{place} {name_of(kernel, view.names)} {_target(kernel)}"
        for place, kernel in zip(places, kernels, strict=True)
    ]
    texts = told_apart([[kernel] for kernel in kernels], called, targets=False)
    return [text.removeprefix(shared) for text, shared in zip(texts, called, strict=True)]


def _target(kernel: Kernel) -> str:
    return target_id(kernel.code_object.target, kernel.code_object.features)


def headline(outcome: Outcome) -> str:
    """The verdict and its counts: `failed: 2 errors, 1 warning · 40 kernels`."""
    answer = "failed" if outcome.failed else "passed"
    if not outcome.answered:
        answer = "cannot answer" if not outcome.failed else "failed, and cannot answer for all"
    severities = [*table.finding_counts(outcome.findings).values()]
    if outcome.problems:
        severities.insert(0, counted(len(outcome.problems), "problem"))
    excused = sum(len(judged.suppressed) for _, judged in outcome.excused)
    parts = [", ".join(severities) or "nothing found", counted(len(outcome.report), "kernel")]
    if unread := sum(map(_is_unread, outcome.report.results)):
        code = f"code of {counted(unread, 'kernel')} in objects not read"
        parts.append(f"{code} (instructions = true reads it)")
    if excused:
        parts.append(f"{excused} suppressed")
    if accepted := len(outcome.accepted):
        parts.append(f"{accepted} accepted")
    for target, count in outcome.new_targets.items():
        parts.append(f"{printable(target)} is new: {counted(count, 'kernel')} unpinned")
    if outcome.passed_over:
        parts.append(f"{counted(outcome.passed_over, 'kernel')} of other targets passed over")
    if outcome.part:
        parts.append(f"only of {printable(outcome.part)}")
    return f"{answer}: {' · '.join(parts)}"


def _is_unread(result: Result) -> bool:
    """True for a kernel of a code object whose instructions were not requested."""
    kernel = result.kernel
    is_object = kernel.code_object.kind == "code-object"
    return is_object and kernel.instructions is None and kernel.touched is None


def location_in(path: str, line: int | None = None) -> FindingLocation:
    """The location that editors and services show for a path: relative to the repository if the
    path is in one."""
    return FindingLocation(PurePath(path_in_repository(path) or path).as_posix(), line)


def problem_text(problem: Problem) -> str:
    """A problem without its path, in one printable line."""
    member = f"{printable(problem.member)}: " if problem.member else ""
    return member + printable(problem.message)


# The outcome as text: failures first, each with its location; no passing kernels.

_T = TypeVar("_T")
_WORST = "; worst: "
"""Text before each kernel in the message on a changed compiler."""
_OF_THE_GATE = ("KI206", "KI5")  # only notes of these rules are shown


def render_text(outcome: Outcome, view: View) -> Iterator[str]:
    """Lines of findings (changed compilers first, then the worst), suppressed findings, accepted
    findings and renames, then the verdict; only the verdict if `view` is quiet."""
    for line in () if view.quiet else _lines(outcome, view):
        yield from paint.painted(paint.fitted(line, view, 2), view)
    style = "green" if outcome.answered and not outcome.failed else "bold red"
    hides_notes = not view.quiet and any(
        not (_is_told(finding) or outcome.fails(finding)) for finding in outcome.findings
    )
    way = "--fail-on note shows all notes" if hides_notes else "--fail-on"
    headline_text = f"kernelinfo check {headline(outcome)} · fails on {outcome.fail_on} ({way})"
    yield from paint.painted(paint.fitted([(headline_text, style)], view, 2), view)


def verdict(outcome: Outcome, view: View) -> Iterator[str]:
    """Lines for standard error: the findings that fail and changes of the compiler, then the
    outcome."""
    counted = [claim for claim in claims(outcome, view) if claim.counts]
    failing = [claim for claim in counted if claim.fails or claim.finding.rule == TOOLCHAIN]
    failing = sorted(fold(failing, outcome, view), key=compiler_first)
    for line in _first(failing, _claim, "more that fail", view):
        yield "".join(text for text, _ in line)
    yield f"kernelinfo check {headline(outcome)} · fails on {outcome.fail_on} (--fail-on)"


def _lines(outcome: Outcome, view: View) -> Iterator[list[paint.Span]]:
    all_claims = list(claims(outcome, view))
    counted = sorted(fold(filter(_is_shown, all_claims), outcome, view), key=compiler_first)
    for _, of_rule in groupby(counted, compiler_first):
        same = list(of_rule)
        rest = f"more {same[0].finding.rule} of severity {same[0].finding.severity}"
        yield from _first(same, _claim, rest, view)
    excused = [claim for claim in all_claims if claim.suppressed]
    yield from _first(excused, _excused, "more suppressed", view)
    if accepted := Counter(finding.rule for finding in outcome.accepted):
        counted_rules = ", ".join(f"{count} {rule}" for rule, count in sorted(accepted.items()))
        text = f"accepted by {printable(str(outcome.baseline))}: {counted_rules}"
        yield [(f"{text}; --strict lists and judges them", "dim")]
    yield from _first(outcome.renamed, _renamed, "more renamed", view)


def _is_shown(claim: Claim) -> bool:
    """True for a claim that fails, and for one that counts and is either more than a note or of a
    rule of the gate."""
    return claim.fails or (claim.counts and _is_told(claim.finding))


def _is_told(finding: Finding) -> bool:
    return finding.severity != "note" or finding.rule.startswith(_OF_THE_GATE)


def _claim(claim: Claim) -> Iterator[list[paint.Span]]:
    """The lines of a claim. A claim about a changed compiler is followed by the kernels that
    lost most."""
    finding = claim.finding
    worst: list[str] = []
    if finding.rule == TOOLCHAIN:
        first, *worst = finding.message.split(_WORST)
        claim = claim._replace(finding=finding._replace(message=first))
    what = [
        (f"{finding.severity} ", table.SEVERITY_STYLES[finding.severity]),
        (f"{finding.rule} ", ""),
    ]
    yield [*_where(claim), *what, (claim.sentence, "")]
    yield from ([(f"  {_WORST.lstrip('; ')}{printable(kernel)}", "")] for kernel in worst)


def _excused(claim: Claim) -> Iterator[list[paint.Span]]:
    text = f"suppressed {claim.finding.rule} {claim.sentence} · {claim.excuse}"
    yield [*_where(claim), (text, "dim")]


def _where(claim: Claim) -> list[paint.Span]:
    """The location in the style of compilers, so that editors can follow it."""
    return [(f"{claim.where}: ", "bold")] if claim.location else []


def _renamed(pair: Pair) -> Iterator[list[paint.Span]]:
    names = f"{printable(pair.old.name)} → {printable(pair.new.name)}"
    yield [(f"renamed {names} ({printable(pair.new.target)})", "dim")]


def _first(
    items: Sequence[_T], lines: Callable[[_T], Iterator[list[paint.Span]]], what: str, view: View
) -> Iterator[list[paint.Span]]:
    """Lines of the first items, and the number of others."""
    shown = items[: view.top or None]
    yield from chain.from_iterable(map(lines, shown))
    if hidden := len(items) - len(shown):
        yield [(f"… {hidden} {what}; --top 0 shows all", "dim")]


# Changes of a baseline update as text.

_LISTED = tuple(measure for measure in MEASURES if measure not in record.INSTRUCTIONS[1:])
"""Numbers that are listed for a new kernel; of the instruction counts, only the total."""


def render_update(update: Update, baseline: FilePath, view: View) -> Iterator[str]:
    """Lines of new, changed (old → new) and dropped kernels, and of newly accepted and ended
    findings, then their counts."""
    if not view.quiet:
        changed = [pair.new for pair in update.changed]
        renames = {id(pair.old): pair for pair in update.likely_renames}
        dropped = (_successor(renames.get(id(kernel))) for kernel in update.dropped)
        yield from _listed("new", update.new, map(_numbers, update.new), view)
        yield from _listed("changed", changed, map(_changes, update.changed), view)
        yield from _listed("dropped", update.dropped, dropped, view)
        yield from _of_rules("accepted", update.accepted, view)
        yield from _of_rules(
            "ended" if update.accepts else "no longer accepted", update.ended, view
        )
    lists = {"new": update.new, "changed": update.changed, "dropped": update.dropped}
    summary = ", ".join(f"{len(kernels)} {word}" for word, kernels in lists.items())
    pinned = counted(len(update.pinned.kernels), "kernel")
    yield f"{printable(str(baseline))}: {pinned} pinned, {summary}{_acceptance(update)}\n"
    for budget in update.idle_budgets:
        name = printable(budget.kernel)
        yield f"[[budget]] {name} matches no kernel any more; correct the pattern, or remove it\n"
    if update.is_first:
        name = printable(str(baseline))
        yield f"commit {name}; `kernelinfo check` then fails on what is new or worse\n"


def _acceptance(update: Update) -> str:
    """The accepted findings by rule: `; 14 findings accepted (12 KI101, 2 KI106), 3 of them new`;
    empty without any."""
    rules = Counter(rule for kernel in update.pinned.kernels for rule, _ in kernel.accepted)
    if not rules:
        return ""
    by_rule = ", ".join(f"{count} {rule}" for rule, count in sorted(rules.items()))
    newly = f", {len(update.accepted)} of them new" if update.accepted else ""
    return f"; {counted(rules.total(), 'finding')} accepted ({by_rule}){newly}"


def _of_rules(
    word: str, findings: Iterable[tuple[KernelSummary, str]], view: View
) -> Iterator[str]:
    """Lines of kernels and rules, rule by rule."""
    by_rule: dict[str, list[KernelSummary]] = {}
    for kernel, number in findings:
        by_rule.setdefault(number, []).append(kernel)
    for number, kernels in sorted(by_rule.items()):
        rule = find(number)
        name = f"{number} {rule.name}" if rule else number
        yield from _listed(word, kernels, repeat(""), view, name)


def _successor(rename: Pair | None) -> str:
    """`softmax_v2(float*) is likely the same: no number differs`; empty without a rename."""
    if rename is None:
        return ""
    return f"{printable(rename.new.name)} is likely the same: {rename.why or 'no number differs'}"


def _listed(
    word: str, kernels: Sequence[KernelSummary], texts: Iterable[str], view: View, what: str = ""
) -> Iterator[str]:
    """One line per kernel with its text, as many as `view` allows, and the number of the others.
    With `what` a line reads `WORD WHAT of NAME`. Texts of the other kernels are not computed."""
    part = f"{what} of " if what else ""
    for kernel, text in zip(kernels[: view.top or None], texts, strict=False):
        change = f": {text}" if text else ""
        yield f"{word} {part}{printable(kernel.name)} ({kernel.target}){change}\n"
    if view.top and (hidden := len(kernels) - view.top) > 0:
        yield f"… {hidden} more {f'{word} {what}'.strip()}; --top 0 shows all\n"


def _numbers(kernel: KernelSummary) -> str:
    values = ((getattr(kernel.numbers, measure.field), measure.noun) for measure in _LISTED)
    return ", ".join(f"{value:g} {noun}" for value, noun in values if value)


def _changes(pair: Pair) -> str:
    before, after = pair.old.numbers, pair.new.numbers
    changes = [
        f"{_amount(old)} → {_amount(new)} {measure.noun}"
        for measure in MEASURES
        if (old := getattr(before, measure.field)) != (new := getattr(after, measure.field))
    ]
    if pair.old.name != pair.new.name:
        changes.append(f"was {printable(pair.old.name)}")
    if pair.old.code_object != pair.new.code_object:
        changes.append(f"was in {printable(pair.old.code_object)}")
    return ", ".join(changes)


def _amount(value: float | None) -> str:
    return "?" if value is None else f"{value:g}"
