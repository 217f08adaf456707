"""The outcome of a check: the part of a build that it covers, what it must find, and its answer.

A gate that guards nothing must not pass."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kernelinfo.analysis.inputs import listed_targets, place
from kernelinfo.analysis.options import Options
from kernelinfo.compare import Comparison
from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.config import Budget, Configuration, Suppression, ToolchainChange
from kernelinfo.config.keys import SEVERITIES
from kernelinfo.errors import Message
from kernelinfo.gate.messages import say
from kernelinfo.kernel import Finding, Result, Severity, counted
from kernelinfo.kernel.code_object import SPIRV, CodeObject, carrier, covering
from kernelinfo.kernel.names import matching
from kernelinfo.kernel.report import Report
from kernelinfo.opening import FilePath
from kernelinfo.reading.blob import Problem, SpirV
from kernelinfo.reading.paths import fits
from kernelinfo.reading.target_id import runs_on
from kernelinfo.rules import BY_NUMBER

VANISHED = "KI502"
"""The rule for pinned kernels that are gone. They leave a check without an answer (exit code 2)."""
UNBASELINED = "KI503"
"""The rule for kernels that the baseline does not have."""
_MOST_PATHS = 2
"""Most paths to name; more are counted."""


class Scope(NamedTuple):
    """The part of a build that a run covers, or all of it."""

    paths: tuple[str, ...] = ()
    """Files, folders and globs; empty for all of the build."""
    options: Options = Options()
    """Choice of kernels by name and target."""
    may_hold_none: bool = False
    """True if the paths are a few of the build's files, perhaps without kernels (--subset)."""

    @property
    def whole(self) -> bool:
        """True if the run covers the whole build."""
        return not (self.paths or self.options.choices)

    @property
    def description(self) -> str:
        """The part in words: `3 paths, -k vgpr*`. Empty for the whole build."""
        many = self.may_hold_none or len(self.paths) > _MOST_PATHS
        number = f"{len(self.paths)} path{'s' if self.paths[1:] else ''}"
        paths = (number,) if self.paths and many else self.paths
        return ", ".join((*paths, *self.options.choices))

    def holds(self, kernel: KernelSummary, folder: FilePath) -> bool:
        """True if the run covers a pinned kernel; `folder` is the baseline's. Always False with
        --where: a baseline cannot tell for which kernels the condition holds, so none counts as
        gone."""
        if self.options.where is not None:
            return False
        if not self.options.asks_for(kernel.name, kernel.symbol, kernel.target):
            return False
        if not self.options.asks_for_member(kernel.code_object):
            return False
        location = os.path.abspath(os.path.join(folder, kernel.code_object.partition(" › ")[0]))
        given = [os.path.abspath(path) for path in self.paths]
        return not given or any(
            location == path
            or location.startswith(os.path.join(path, ""))
            or fits(location.replace(os.sep, "/"), path.replace(os.sep, "/"))
            for path in given
        )


class Suppressed(NamedTuple):
    """A finding that a suppression excuses."""

    finding: Finding
    reason: str  # the configuration's reason
    until: str | None
    """Last day of the suppression as an ISO date; None if it does not expire."""


class Judged(NamedTuple):
    """One kernel with the findings that count, and those that are suppressed or accepted."""

    result: Result
    """The kernel with the findings that count, by rules, budgets and baseline."""
    suppressed: tuple[Suppressed, ...] = ()  # findings that the configuration excuses
    accepted: tuple[Finding, ...] = ()
    """Findings that the baseline accepts."""


class KernelCase(NamedTuple):
    """One kernel of the build, with everything that it is checked against."""

    result: Result
    budgets: Sequence[Budget]
    """Budgets that match the kernel; the first applies."""
    pair: Pair | None
    """The pinned kernel and this one. A new kernel is paired with a pinned copy of it: a kernel of
    the same library, target and symbol. None if nothing is pinned for it."""
    is_new: bool
    """True if there is a baseline, and it does not have the kernel."""
    is_moved: bool
    """True if the kernels of the pair differ."""
    change: ToolchainChange | None
    """How to judge the kernel if its code names none of the baseline's compilers; else None."""

    @property
    def budget(self) -> Budget | None:
        """The budget that applies; None without one."""
        return self.budgets[0] if self.budgets else None


class Notice(NamedTuple):
    """A finding that belongs to no kernel of the build, but to a missing kernel, a suppression, a
    budget or the toolchain."""

    finding: Finding  # what was found
    subject: str
    """Name of the gone kernel, target or file, of the suppression or the budget;
    or `toolchain`."""
    target: str | None = None  # target id; None if it is about no target
    path: str | None = None
    """The configuration or baseline that the finding is about."""
    line: int | None = None  # 1-based; None if it is not known


class Outcome(NamedTuple):
    """The answer of `kernelinfo check`."""

    report: Report
    """The judged kernels with the findings that count; inputs that could not be read or judged, and
    unmet expectations."""
    notices: tuple[Notice, ...]  # findings about no kernel that is there
    fail_on: Severity  # the mildest severity that fails
    excused: tuple[tuple[int, Judged], ...] = ()
    """(index in the report's results, kernel) of each kernel with suppressed or accepted
    findings."""
    passed_over: int = 0
    """Number of kernels whose targets are not configured."""
    comparison: Comparison | None = None
    """Comparison with the baseline; None without a baseline."""
    baseline: FilePath | None = None
    part: str = ""
    """The judged part of the build in words: `3 paths, -k vgpr*`. Empty for all of it."""
    remarks: tuple[str, ...] = ()
    """Lines `not checked: …` for uncovered parts and `note: …` for settings without effect."""
    likely_renames: tuple[Pair, ...] = ()
    """Pinned kernels that are gone, each with the new kernel that is likely the same one."""
    idle_budgets: tuple[Notice, ...] = ()
    """One for each budget that applies to no kernel of the report."""
    idle_suppressions: tuple[Suppression, ...] = ()
    """Suppressions in force that match no finding of the report."""

    def kernels(self) -> Iterator[Judged]:
        """Each kernel with its findings, in the order of the report."""
        excused = dict(self.excused)
        for number, result in enumerate(self.report.results):
            yield excused.get(number) or Judged(result)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Problems of the report."""
        return self.report.problems

    @property
    def judged(self) -> tuple[Judged, ...]:
        """All kernels with their findings, computed anew at each call."""
        return tuple(self.kernels())

    @property
    def renamed(self) -> tuple[Pair, ...]:
        """Pairs of kernels that were renamed since the baseline: a changed namespace, or
        --rename."""
        pairs = self.comparison.pairs if self.comparison else ()
        return tuple(pair for pair in pairs if pair.match == "namespace")

    @property
    def new_targets(self) -> Mapping[str, int]:
        """For each target that the baseline does not have, the number of its kernels."""
        if self.comparison is None or not self.comparison.pairs:
            return {}
        paired = (
            kernel.target for pair in self.comparison.pairs for kernel in (pair.old, pair.new)
        )
        pinned = {*paired, *(kernel.target for kernel in self.comparison.gone)}
        targets = (kernel.target for kernel in self.comparison.new)
        return Counter(target for target in targets if target not in pinned)

    @property
    def accepted(self) -> tuple[Finding, ...]:
        """Findings that the baseline accepts."""
        return tuple(finding for _, judged in self.excused for finding in judged.accepted)

    @property
    def failing(self) -> tuple[Judged, ...]:
        """Kernels with a finding at or above `fail_on`."""
        return tuple(
            judged for judged in self.kernels() if any(map(self.fails, judged.result.findings))
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings that count, on kernels and in notices."""
        of_kernels = (finding for result in self.report.results for finding in result.findings)
        return (*of_kernels, *(notice.finding for notice in self.notices))

    @property
    def answered(self) -> bool:
        """True if all inputs were read and judged, and no pinned kernel is missing; otherwise the
        exit code is 2."""
        return not self.problems and not any(n.finding.rule == VANISHED for n in self.notices)

    @property
    def failed(self) -> bool:
        """True if any finding is at or above `fail_on`; the exit code is then 1, unless it is 2."""
        return any(self.fails(finding) for finding in self.findings)

    def fails(self, finding: Finding) -> bool:
        """True if the finding is at or above `fail_on`."""
        return SEVERITIES.index(finding.severity) >= SEVERITIES.index(self.fail_on)


_MOST_FILES = 5
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
    """One problem per unmet expectation on the number and the targets of kernels.

    `at_least`, if given, is the minimum number of kernels in any run; otherwise the configuration's
    minimum applies, to the whole build only.
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

    In a run over the whole build, single-target files count together. A run that chooses kernels is
    not checked, since it does not see all code.
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
    """A problem if the baseline pins none of the kernels found. No problem if pinned kernels are
    missing (`missed`): those are reported themselves."""
    if comparison is None or missed or not (scope.whole or not comparison.gone):
        return
    if comparison.new and not comparison.pairs:
        message = say("baseline-pins-none", kernels=counted(len(comparison.new), "kernel"))
        yield Problem(str(configuration.baseline), message)


def check_numbered(kernels: Sequence[str], configuration: Configuration) -> Iterator[Problem]:
    """A problem if the baseline has no comparable number for some kernels, whose names are
    `kernels`."""
    if kernels:
        more = say("kernels-and-more", count=len(kernels) - 1) if kernels[1:] else ""
        message = say("baseline-without-numbers", kernel=kernels[0], more=more)
        yield Problem(str(configuration.baseline), message)


def check_claims(configuration: Configuration, *, counts: bool) -> Iterator[Problem]:
    """A problem if no selected rule, budget or baseline could fail a kernel. `counts` is true if
    the number of kernels is checked, too."""
    if configuration.selection.rules() or (counts and configuration.min_kernels > 1):
        return
    by_budget = configuration.budgets and is_selected("KI206", configuration)
    if not by_budget and not (configuration.baseline and is_selected("KI501", configuration)):
        yield Problem(str(configuration.file or "kernelinfo"), say("gate-without-claims"))


def is_selected(rule: str, configuration: Configuration) -> bool:
    """True if the configuration selects a rule of the gate."""
    return any(configuration.selection.chosen([BY_NUMBER[rule].finding("")]))


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

    `idle_budgets` and `idle_suppressions` are those without a kernel or finding in this part, in
    words; `elsewhere` is the number of pinned kernels outside it.
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
    """A message that the occupancy of kernels in build logs without a target is not checked."""
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
    for (old, new), count in moved.most_common(_MOST_FILES):
        yield say("file-renamed", kernels=counted(count, "kernel"), old=old, new=new)
    if (unnamed := len(moved) - _MOST_FILES) > 0:
        yield say("files-renamed-more", files=counted(unnamed, "more file"))
