"""Expectations of a run: kernels that it must find, settings that it leaves unchecked, files that
are gone. A gate that guards nothing must not pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kernelinfo.analysis.inputs import listed_targets, place
from kernelinfo.compare import Comparison
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.config import Configuration
from kernelinfo.errors import Message
from kernelinfo.gate.messages import say
from kernelinfo.gate.outcome import Scope
from kernelinfo.kernel import Result, counted
from kernelinfo.kernel.code_object import SPIRV, CodeObject, carrier, covering
from kernelinfo.kernel.pattern import matching
from kernelinfo.kernel.report import Report
from kernelinfo.reading.blob import Problem, SpirV
from kernelinfo.reading.target_id import runs_on
from kernelinfo.rules.documented import documented

_MOST_NAMED = 5
"""Most files to name."""


def select_results(report: Report, configuration: Configuration) -> tuple[Result, ...]:
    """Kernels of the configured targets; all kernels if no target is configured."""
    if not configuration.targets:
        return report.results
    asks_for = configuration.asks_for
    return tuple(r for r in report.results if asks_for(r.kernel.code_object.target_id or ""))


def check_counts(
    report: Report,
    results: Sequence[Result],
    configuration: Configuration,
    scope: Scope,
    at_least: int | None = None,
) -> Iterator[Problem]:
    """One problem per expectation on the number and the targets of kernels that is not met.

    `at_least`, if given, is the least number of kernels in any run; otherwise the configuration's
    number holds for the whole build.
    """
    location = str(configuration.file or "kernelinfo")
    if report.results and not results and not scope.may_hold_none:
        targets = " or ".join(configuration.targets)
        kernels, built = counted(len(report.results), "kernel"), _list_built(report.results)
        message = say("target-of-none", kernels=kernels, targets=targets, built=built)
        yield Problem(location, message)
        return
    least, key = (configuration.min_kernels, "expect.min-kernels") if scope.whole else (0, "")
    if at_least is not None:
        least, key = at_least, "--min-kernels"
    count = len(results)
    if count < least and (results or not report.problems):
        kernels = counted(count, "kernel")
        yield Problem(location, say("kernels-too-few", kernels=kernels, least=least, key=key))
    for target in list_unbuilt(results, configuration) if results and scope.whole else ():
        message = say("target-unbuilt", target=target, built=_list_built(report.results))
        yield Problem(location, message)


def check_coverage(report: Report, configuration: Configuration, scope: Scope) -> Iterator[Problem]:
    """A problem for each library that has no code for some of `targets`.

    Files of one target each count together, in a run over the whole build. A run that chooses
    kernels does not see all code.
    """
    if scope.options.choices:
        return
    carried: dict[str, set[str]] = {}
    paths: dict[str, set[str]] = {}
    code_objects = dict.fromkeys(result.kernel.code_object for result in report.results)
    codes: list[tuple[CodeObject | SpirV, str | None]] = [(c, c.target_id) for c in code_objects]
    codes += [(entry, SPIRV) for entry in report.spirv]
    for code, target in codes:
        name = carrier(code)
        if target and (name or scope.whole):
            carried.setdefault(name or "", set()).add(target)
            paths.setdefault(name or "", set()).add(code.path)
    for name, built in carried.items():
        lacking = [one for one in configuration.required_targets if not covering(built, one)]
        if lacking:
            listed = listed_targets(built)
            message = say("targets-uncovered", targets=listed_targets(lacking), built=listed)
            yield Problem(name or place(paths[name]), message)


def list_unbuilt(results: Sequence[Result], configuration: Configuration) -> tuple[str, ...]:
    """Configured targets on which no kernel runs."""
    built = {result.kernel.code_object.target_id or "" for result in results}
    return tuple(
        target
        for target in configuration.targets
        if not any(runs_on(target_id, target) for target_id in built)
    )


def _list_built(results: Sequence[Result]) -> str:
    """The targets of kernels in words."""
    return listed_targets(
        target for r in results if (target := r.kernel.code_object.target_id) is not None
    )


def check_pinned(
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


def check_numbered(kernels: Sequence[str], configuration: Configuration) -> Iterator[Problem]:
    """A problem if the baseline has no comparable number of some kernels; `kernels` are their
    names."""
    if kernels:
        more = say("kernels-and-more", count=len(kernels) - 1) if kernels[1:] else ""
        message = say("baseline-without-numbers", kernel=kernels[0], more=more)
        yield Problem(str(configuration.baseline), message)


def check_claims(configuration: Configuration, *, counts: bool) -> Iterator[Problem]:
    """A problem if no selected rule, budget or baseline could fail a kernel. `counts` is true if
    the number of kernels is judged, too."""
    if configuration.selection.rules() or (counts and configuration.min_kernels > 1):
        return
    by_budget = configuration.budgets and is_selected("KI206", configuration)
    if not by_budget and not (configuration.baseline and is_selected("KI501", configuration)):
        yield Problem(str(configuration.file or "kernelinfo"), say("gate-without-claims"))


def is_selected(rule: str, configuration: Configuration) -> bool:
    """True if the configuration selects a rule of the gate."""
    return any(configuration.selection.chosen([documented(rule).found("")]))


def list_left_out(
    results: Sequence[Result],
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
    if targets := list_unbuilt(results, configuration):
        yield say("left-out-targets", targets=", ".join(targets))
    if choices := _list_unmatched_choices(results, scope) if scope.may_hold_none else ():
        yield say("left-out-choices", choices=", ".join(choices))
    if idle_budgets:
        yield say("left-out-budgets", budgets=", ".join(idle_budgets))
    if sizes := list_unmatched_sizes(results, configuration):
        yield say("left-out-sizes", sizes=", ".join(sizes))
    if elsewhere:
        yield say("left-out-pinned", count=elsewhere)
    if idle_suppressions:
        yield say("left-out-suppressions", names=", ".join(idle_suppressions))


def _list_unmatched_choices(results: Sequence[Result], scope: Scope) -> tuple[str, ...]:
    """The options `-k`, `--target` and `--member` that match no kernel found."""
    kernels = ((result.kernel, result.kernel.code_object) for result in results)
    met = (scope.options.met(k.name, k.symbol, c.target_id, c.member) for k, c in kernels)
    return tuple(map(" ".join, scope.options.unmatched(set().union(*met))))


def list_unselected(configuration: Configuration) -> Iterator[Message]:
    """Settings that are not checked because their rule is not selected, in words."""
    if configuration.budgets and not is_selected("KI206", configuration):
        yield say("budgets-unselected")
    if configuration.baseline and not is_selected("KI501", configuration):
        yield say("baseline-unselected", baseline=configuration.baseline)


def note_untargeted(results: Sequence[Result]) -> Iterator[Message]:
    """A text on the kernels of build logs without a target: their occupancy is not checked."""
    kernels = [result.kernel for result in results if result.kernel.code_object.target is None]
    if count := sum(kernel.code_object.kind == "build-log" for kernel in kernels):
        yield say("left-out-occupancy", kernels=counted(count, "kernel"))


def list_unmatched_sizes(
    results: Sequence[Result], configuration: Configuration
) -> tuple[str, ...]:
    """Patterns of [workgroup-size] that apply to no kernel: none matches, or earlier patterns take
    them all."""
    patterns = tuple(pattern for pattern, _ in configuration.workgroup_sizes)
    kernels = (result.kernel for result in results if patterns)
    used = {fit for k in kernels for fit in matching(patterns, k.name, k.symbol)[:1]}
    return tuple(pattern for pattern in patterns if pattern not in used)


def list_notes(comparison: Comparison) -> Iterator[Message | str]:
    """Notes of a comparison with a baseline, and files whose kernels are in another file now."""
    yield from comparison.notes
    changed = (pair for pair in comparison.pairs if pair.old is not pair.new)
    files = ((pair.old.file, pair.new.file) for pair in changed)
    moved = Counter((old, new) for old, new in files if old != new)
    for (old, new), count in moved.most_common(_MOST_NAMED):
        yield say("file-renamed", kernels=counted(count, "kernel"), old=old, new=new)
    if (unnamed := len(moved) - _MOST_NAMED) > 0:
        yield say("files-renamed-more", files=counted(unnamed, "more file"))
