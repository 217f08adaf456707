"""Expectations of a run: kernels that it must find, and settings that it leaves unchecked. A gate
that guards nothing must not pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelinfo.analysis.inputs import listed_targets
from kernelinfo.compare import Comparison
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.config import Budget, Configuration
from kernelinfo.gate.scope import Scope
from kernelinfo.kernel import Result, counted
from kernelinfo.kernel.pattern import matching
from kernelinfo.kernel.report import Report
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.target_id import runs_on
from kernelinfo.rules.documented import documented


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
        message = f"none of {counted(len(report.results), 'kernel')} is for {targets}"
        yield Problem(location, f"{message}, but for {_built(report.results)}; see target")
        return
    least, key = (configuration.min_kernels, "expect.min-kernels") if scope.whole else (0, "")
    if at_least is not None:
        least, key = at_least, "--min-kernels"
    count = len(found)
    if count < least and (found or not report.problems):
        message = f"{counted(count, 'kernel')} found, at least {least} expected; see {key}"
        yield Problem(location, message)
    for target in unbuilt(found, configuration) if found and scope.whole else ():
        message = f"no kernel is for {target}, those built are for {_built(report.results)}"
        yield Problem(location, f"{message}; build it, or remove it from target")


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


def nothing_pinned(comparison: Comparison, configuration: Configuration) -> Iterator[Problem]:
    """A problem if the baseline pins none of the kernels found."""
    if comparison.new and not comparison.pairs:
        found = counted(len(comparison.new), "kernel")
        message = f"pins none of the {found} found: nothing is compared"
        yield Problem(str(configuration.baseline), f"{message}; pin them with --update-baseline")


def nothing_numbered(kernels: Sequence[str], configuration: Configuration) -> Iterator[Problem]:
    """A problem if the baseline has no comparable number of some kernels; `kernels` are their
    names."""
    if kernels:
        others = f" and {len(kernels) - 1} more" if kernels[1:] else ""
        message = f"has no comparable number of {kernels[0]}{others}"
        yield Problem(str(configuration.baseline), f"{message}; pin anew with --update-baseline")


def nothing_judged(configuration: Configuration, *, counts: bool) -> Iterator[Problem]:
    """A problem if no selected rule, budget or baseline could fail a kernel. `counts` is true if
    the number of kernels is judged, too."""
    if configuration.selection.rules() or (counts and configuration.min_kernels > 1):
        return
    by_budget = configuration.budgets and chooses(configuration, "KI206")
    if not by_budget and not (configuration.baseline and chooses(configuration, "KI501")):
        message = "no rule, budget or baseline is selected: nothing is checked"
        yield Problem(str(configuration.file or "kernelinfo"), f"{message}; see select and ignore")


def chooses(configuration: Configuration, rule: str) -> bool:
    """True if the configuration selects a rule of the gate."""
    return any(configuration.selection.chosen([documented(rule).found("")]))


def left_out(
    found: Sequence[Result],
    configuration: Configuration,
    scope: Scope,
    idle_budgets: Sequence[Budget],
    elsewhere: Sequence[KernelSummary],
    *,
    at_least: int | None,
) -> Iterator[str]:
    """Settings that a run over a part of the build did not check, in words.

    `idle_budgets` have no kernel in this part; `elsewhere` are pinned kernels outside it.
    """
    if at_least is None and configuration.min_kernels > 1:
        yield f"expect.min-kernels = {configuration.min_kernels}"
    if targets := unbuilt(found, configuration):
        yield f"target {', '.join(targets)}, which no kernel of this part is for"
    if choices := _unmatched_choices(found, scope) if scope.may_hold_none else ():
        yield f"{', '.join(choices)}, which no kernel of this part matches"
    if idle_budgets:
        names = ", ".join(budget.kernel for budget in idle_budgets)
        yield f"[[budget]] {names}, which no kernel of this part matches"
    if sizes := unmatched_sizes(found, configuration):
        yield f"[workgroup-size] {', '.join(sizes)}, which no kernel of this part matches"
    if elsewhere:
        yield f"{len(elsewhere)} of the baseline's kernels, which are not in this part"


def _unmatched_choices(found: Sequence[Result], scope: Scope) -> tuple[str, ...]:
    """The options `-k`, `--target` and `--member` that match no kernel found."""
    kernels = (result.kernel for result in found)
    met = {
        pair
        for one in kernels
        for pair in scope.options.met(
            one.name, one.symbol, one.code_object.target_id, one.code_object.member
        )
    }
    return tuple(map(" ".join, scope.options.unmatched(met)))


def ignored(configuration: Configuration) -> Iterator[str]:
    """Settings that are not checked because their rule is not selected, in words."""
    if configuration.budgets and not chooses(configuration, "KI206"):
        yield "[[budget]]; KI206 is not selected"
    if configuration.baseline and not chooses(configuration, "KI501"):
        yield f"what got worse since {configuration.baseline}; KI501 is not selected"


def untargeted(found: Sequence[Result]) -> Iterator[str]:
    """A text on the kernels of build logs without a target: their occupancy is not checked."""
    kernels = [result.kernel for result in found if result.kernel.code_object.target is None]
    if count := sum(kernel.code_object.kind == "build-log" for kernel in kernels):
        yield f"the occupancy of {counted(count, 'kernel')} of build logs; give --arch"


def unmatched_sizes(found: Sequence[Result], configuration: Configuration) -> tuple[str, ...]:
    """Patterns of [workgroup-size] that apply to no kernel: none matches, or earlier patterns take
    them all."""
    patterns = tuple(pattern for pattern, _ in configuration.workgroup_sizes)
    kernels = (result.kernel for result in found if patterns)
    used = {fit for one in kernels for fit in matching(patterns, one.name, one.symbol)[:1]}
    return tuple(pattern for pattern in patterns if pattern not in used)
