"""Expectations of a run: kernels that it must find, settings that it leaves unchecked, files that
are gone. A gate that guards nothing must not pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from kernelinfo.analysis.inputs import listed_targets
from kernelinfo.compare import Comparison
from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.config import Configuration
from kernelinfo.errors import Message
from kernelinfo.gate.messages import say
from kernelinfo.gate.scope import Scope
from kernelinfo.kernel import Result, counted
from kernelinfo.kernel.pattern import matching
from kernelinfo.kernel.report import Report
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.target_id import runs_on
from kernelinfo.rules.documented import documented

_MOST_NAMED = 5
"""Most files to name."""


def judgeable(report: Report, configuration: Configuration) -> tuple[Result, ...]:
    """Kernels of the configured targets; all kernels if no target is configured."""
    if not configuration.targets:
        return report.results
    asks_for = configuration.asks_for
    return tuple(one for one in report.results if asks_for(one.kernel.code_object.target_id or ""))


def too_few(
    report: Report,
    found: Sequence[Result],
    configuration: Configuration,
    scope: Scope,
    at_least: int | None = None,
) -> Iterator[Problem]:
    """One problem per expectation on the number and the targets of kernels that is not met.

    `at_least`, if given, is the least number of kernels in any run; otherwise the configuration's
    number holds for the whole build.
    """
    location = str(configuration.file or "kernelinfo")
    if report.results and not found and not scope.may_hold_none:
        targets = " or ".join(configuration.targets)
        kernels, built = counted(len(report.results), "kernel"), _built(report.results)
        message = say("target-of-none", kernels=kernels, targets=targets, built=built)
        yield Problem(location, message)
        return
    least, key = (configuration.min_kernels, "expect.min-kernels") if scope.whole else (0, "")
    if at_least is not None:
        least, key = at_least, "--min-kernels"
    count = len(found)
    if count < least and (found or not report.problems):
        kernels = counted(count, "kernel")
        yield Problem(location, say("kernels-too-few", kernels=kernels, least=least, key=key))
    for target in unbuilt(found, configuration) if found and scope.whole else ():
        message = say("target-unbuilt", target=target, built=_built(report.results))
        yield Problem(location, message)


def unbuilt(found: Sequence[Result], configuration: Configuration) -> tuple[str, ...]:
    """Configured targets on which no kernel runs."""
    built = {result.kernel.code_object.target_id or "" for result in found}
    return tuple(
        target for target in configuration.targets if not any(runs_on(one, target) for one in built)
    )


def _built(found: Sequence[Result]) -> str:
    """The targets of kernels in words."""
    return listed_targets(
        target for one in found if (target := one.kernel.code_object.target_id) is not None
    )


def nothing_pinned(
    comparison: Comparison | None,
    missed: Sequence[KernelSummary],
    configuration: Configuration,
    scope: Scope,
) -> Iterator[Problem]:
    """A problem if the baseline pins none of the kernels found. `missed` are pinned kernels that
    are gone, which are told instead."""
    if comparison is None or missed or not (scope.whole or not comparison.gone):
        return
    if comparison.new and not comparison.pairs:
        message = say("baseline-pins-none", kernels=counted(len(comparison.new), "kernel"))
        yield Problem(str(configuration.baseline), message)


def nothing_numbered(kernels: Sequence[str], configuration: Configuration) -> Iterator[Problem]:
    """A problem if the baseline has no comparable number of some kernels; `kernels` are their
    names."""
    if kernels:
        more = say("kernels-and-more", count=len(kernels) - 1) if kernels[1:] else ""
        message = say("baseline-without-numbers", kernel=kernels[0], more=more)
        yield Problem(str(configuration.baseline), message)


def nothing_judged(configuration: Configuration, *, counts: bool) -> Iterator[Problem]:
    """A problem if no selected rule, budget or baseline could fail a kernel. `counts` is true if
    the number of kernels is judged, too."""
    if configuration.selection.rules() or (counts and configuration.min_kernels > 1):
        return
    by_budget = configuration.budgets and chooses(configuration, "KI206")
    if not by_budget and not (configuration.baseline and chooses(configuration, "KI501")):
        yield Problem(str(configuration.file or "kernelinfo"), say("gate-without-claims"))


def chooses(configuration: Configuration, rule: str) -> bool:
    """True if the configuration selects a rule of the gate."""
    return any(configuration.selection.chosen([documented(rule).found("")]))


def left_out(
    found: Sequence[Result],
    configuration: Configuration,
    scope: Scope,
    at_least: int | None,
    idle_budgets: Sequence[str],
    elsewhere: int,
    idle_suppressions: Sequence[str],
) -> Iterator[Message]:
    """Settings that a run over a part of the build did not check, in words.

    Budgets and suppressions are those without a kernel or finding in this part, in words;
    `elsewhere` counts pinned kernels outside it.
    """
    if at_least is None and configuration.min_kernels > 1:
        yield say("left-out-min-kernels", count=configuration.min_kernels)
    if targets := unbuilt(found, configuration):
        yield say("left-out-targets", targets=", ".join(targets))
    if choices := _unmatched_choices(found, scope) if scope.may_hold_none else ():
        yield say("left-out-choices", choices=", ".join(choices))
    if idle_budgets:
        yield say("left-out-budgets", budgets=", ".join(idle_budgets))
    if sizes := unmatched_sizes(found, configuration):
        yield say("left-out-sizes", sizes=", ".join(sizes))
    if elsewhere:
        yield say("left-out-pinned", count=elsewhere)
    if idle_suppressions:
        yield say("left-out-suppressions", names=", ".join(idle_suppressions))


def _unmatched_choices(found: Sequence[Result], scope: Scope) -> tuple[str, ...]:
    """The options `-k`, `--target` and `--member` that match no kernel found."""
    kernels = ((result.kernel, result.kernel.code_object) for result in found)
    met = (scope.options.met(k.name, k.symbol, c.target_id, c.member) for k, c in kernels)
    return tuple(map(" ".join, scope.options.unmatched(set().union(*met))))


def ignored(configuration: Configuration) -> Iterator[Message]:
    """Settings that are not checked because their rule is not selected, in words."""
    if configuration.budgets and not chooses(configuration, "KI206"):
        yield say("budgets-unselected")
    if configuration.baseline and not chooses(configuration, "KI501"):
        yield say("baseline-unselected", baseline=configuration.baseline)


def untargeted(found: Sequence[Result]) -> Iterator[Message]:
    """A text on the kernels of build logs without a target: their occupancy is not checked."""
    kernels = [result.kernel for result in found if result.kernel.code_object.target is None]
    if count := sum(kernel.code_object.kind == "build-log" for kernel in kernels):
        yield say("left-out-occupancy", kernels=counted(count, "kernel"))


def unmatched_sizes(found: Sequence[Result], configuration: Configuration) -> tuple[str, ...]:
    """Patterns of [workgroup-size] that apply to no kernel: none matches, or earlier patterns take
    them all."""
    patterns = tuple(pattern for pattern, _ in configuration.workgroup_sizes)
    kernels = (result.kernel for result in found if patterns)
    used = {fit for one in kernels for fit in matching(patterns, one.name, one.symbol)[:1]}
    return tuple(pattern for pattern in patterns if pattern not in used)


def notes(comparison: Comparison, missed: Iterable[KernelSummary]) -> Iterator[Message | str]:
    """Notes of a comparison with a baseline: on its files, and on those that are gone or have
    another name. `missed` are the pinned kernels that are gone."""
    yield from comparison.notes
    yield from _renamed(comparison.pairs)
    yield from _gone(missed, comparison.pairs)


def _renamed(pairs: Iterable[Pair]) -> Iterator[Message]:
    """Files whose kernels are in another file now, in words."""
    changed = (pair for pair in pairs if pair.old is not pair.new)
    files = ((_file(pair.old), _file(pair.new)) for pair in changed)
    moved = Counter((old, new) for old, new in files if old != new)
    for (old, new), count in moved.most_common(_MOST_NAMED):
        yield say("file-renamed", kernels=counted(count, "kernel"), old=old, new=new)
    if (others := len(moved) - _MOST_NAMED) > 0:
        yield say("files-renamed-more", files=counted(others, "more file"))


def _gone(missed: Iterable[KernelSummary], pairs: Iterable[Pair]) -> Iterator[Message]:
    """Files of which no pinned kernel is left, in words."""
    count = Counter(map(_file, missed))
    left = {_file(pair.old) for pair in pairs} if count else set()
    files = [(file, many) for file, many in count.most_common() if file not in left]
    for file, many in files[:_MOST_NAMED]:
        all_of = say("kernels-vanished", count=many) if many > 1 else say("kernel-vanished-only")
        yield say("file-vanished", file=file, kernels=all_of)
    if others := files[_MOST_NAMED:]:
        yield say("files-vanished-more", files=counted(len(others), "more file"))


def _file(kernel: KernelSummary) -> str:
    return kernel.code_object.partition(" › ")[0]
