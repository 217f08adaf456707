"""The rules, in the order in which findings are shown. Modules group them by subject, mostly by the
hundreds of their numbers.

A limit is arithmetic about hardware. A rule is an opinion about a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from kernelinfo.errors import OptionError
from kernelinfo.kernel import Finding, Kernel, Result, Rule
from kernelinfo.kernel.traits import Traits
from kernelinfo.model import Occupancy
from kernelinfo.rules import compilation, failures, spills, waves
from kernelinfo.rules.messages import say

if TYPE_CHECKING:
    from kernelinfo.kernel import Severity


def kernel_rule(
    number: str,
    severity: Severity,
    check: Callable[..., Iterator[Finding]],
    reads: Literal["traits", "code", "kernel", "touched", "loops"] = "traits",
    **fields: Any,
) -> Rule:
    """The rule of a function, with the function's name and documentation."""
    name = check.__name__.replace("_", "-")
    return Rule(number, name, severity, check.__doc__ or "", check, reads, **fields)


RULES: tuple[Rule, ...] = (
    kernel_rule("KI001", "error", failures.unlaunchable_workgroup),
    kernel_rule("KI002", "error", failures.lds_over_limit),
    kernel_rule("KI004", "warning", failures.sources_disagree, reads="kernel"),
    kernel_rule("KI006", "error", failures.unallocated_registers, reads="touched"),
    kernel_rule("KI007", "note", failures.unwritten_registers, reads="touched"),
    kernel_rule(
        "KI101", "warning", spills.vgpr_spill, "code", any_target=True, needs="vgpr_spills"
    ),
    kernel_rule(
        "KI102",
        "note",
        spills.scratch_without_spill,
        "code",
        any_target=True,
        needs="scratch_bytes_per_lane",
    ),
    kernel_rule("KI103", "note", spills.sgpr_spill, any_target=True, needs="sgpr_spills"),
    kernel_rule(
        "KI104", "warning", spills.dynamic_stack, "code", any_target=True, needs="dynamic_stack"
    ),
    kernel_rule(
        "KI105", "note", spills.indirect_call, "code", any_target=True, needs="indirect_call"
    ),
    kernel_rule("KI106", "warning", spills.spill_in_loop, reads="code", needs_code=True),
    kernel_rule("KI107", "note", spills.copies_in_matrix_loop, reads="loops"),
    kernel_rule("KI201", "note", waves.near_next_step, on=False),
    kernel_rule("KI202", "note", waves.lds_near_step, on=False),
    kernel_rule("KI203", "warning", waves.lds_rounding_costs_workgroup),
    kernel_rule("KI204", "note", waves.workgroup_leaves_slots),
    kernel_rule("KI205", "warning", waves.partial_wave),
    kernel_rule("KI207", "note", waves.compiler_disagrees, reads="kernel", on=False),
    kernel_rule("KI208", "note", waves.padded_registers),
    kernel_rule("KI209", "note", failures.untouched_registers, reads="touched"),
    kernel_rule(
        "KI301", "note", compilation.agpr_without_mfma, "code", needs="agprs", needs_code=True
    ),
    kernel_rule("KI302", "warning", compilation.at_cap_and_spilling, "kernel", needs="vgpr_spills"),
    kernel_rule("KI303", "note", compilation.missing_launch_bound, "kernel", needs="vgpr_spills"),
    kernel_rule("KI304", "note", compilation.waves_hint_too_high, "kernel", needs="vgpr_spills"),
    kernel_rule("KI305", "note", compilation.mixed_target_features, reads="kernel"),
    kernel_rule("KI306", "note", compilation.asked_waves_not_reached, needs="asked_waves"),
    kernel_rule("KI401", "note", compilation.code_exceeds_icache, reads="kernel", on=False),
)


_ELSEWHERE: tuple[Rule, ...] = (
    Rule(
        "KI003",
        "partial-read",
        "error",
        """A member, symbol or descriptor could not be read.

        What it finds: input that is cut off, damaged or of an unknown form. It is reported as a
        problem, and the exit code is 2.
        Why it matters: the unread part may hold the kernel that matters.
        What to do: rebuild the file; if the file is whole, report a bug with it.
        """,
    ),
    Rule(
        "KI005",
        "unknown-target",
        "error",
        """The table of hardware facts does not list this gfx processor.

        What it finds: code for a target that `kernelinfo arch` does not list. It is reported as a
        problem, and the exit code is 2.
        Why it matters: kernelinfo cannot compute an occupancy without the target's constants.
        What to do: update kernelinfo, or ask with `--as` for a similar target.
        """,
    ),
    Rule(
        "KI206",
        "occupancy-budget",
        "error",
        """A kernel breaks a budget of the project.

        What it finds: a number outside the first [[budget]] of the configuration that matches the
        kernel and its target. A budget that no kernel matches is a note.
        Why it matters: the project decided on this bound.
        What to do: find the change that broke it, or change the budget.
        """,
    ),
    Rule(
        "KI501",
        "regression",
        "error",
        """A kernel is worse than the baseline by more than [gate] allows.

        What it finds: waves lost, spills or scratch gained; registers, LDS and code only if [gate]
        says so. If another compiler built the kernel, `toolchain-change` decides: with "report"
        only spills and scratch fail, with "strict" everything, with "accept" nothing.
        Why it matters: one VGPR across a step costs a wave, and a review does not show it.
        What to do: ask `explain` for the next step, or pin the new state with
        `check --update-baseline`; the review then shows one line.
        """,
    ),
    Rule(
        "KI502",
        "kernel-vanished",
        "error",
        """A kernel of the baseline is not in the build. The exit code is 2.

        What it finds: a pinned kernel whose name is missing on its target, or all kernels of a
        library or target that is gone. A single kernel with the same template arguments and
        parameters in another namespace counts as renamed; a new kernel that is likely the same one
        is named. `ignore` and suppressions do not excuse it.
        Why it matters: the gate no longer guards this kernel.
        What to do: build it, compare it with its successor by `--rename OLD=NEW`, or drop it with
        `check --update-baseline`.
        """,
    ),
    Rule(
        "KI503",
        "kernel-unbaselined",
        "note",
        """A kernel is not in the baseline.

        What it finds: a kernel that is new, or has another name, template argument or parameter. It
        is a note unless `new` of [gate] says otherwise.
        Why it matters: only budgets and rules guard it until it is pinned.
        What to do: pin it with `check --update-baseline`.
        """,
    ),
    Rule(
        "KI504",
        "baseline-stale",
        "note",
        """A kernel is better than its baseline; an error with `--strict-baseline`.

        What it finds: waves gained, or fewer spills or less scratch, among the numbers of [gate]; a
        finding that the baseline accepts and that has ended.
        Why it matters: until it is pinned, the gain may be lost again unnoticed.
        What to do: pin it with `check --tighten`, which pins improvements alone; after
        another launch or compiler with `check --update-baseline`.
        """,
    ),
    Rule(
        "KI505",
        "suppression-expired",
        "error",
        """A suppression has expired and excuses nothing any more.

        What it finds: a [[suppress]] whose `until` is before today.
        Why it matters: its author wanted to look at it again.
        What to do: fix the finding, or set a later day.
        """,
    ),
    Rule(
        "KI506",
        "suppression-unused",
        "note",
        """A suppression excuses nothing.

        What it finds: a [[suppress]] that matches no finding.
        Why it matters: it would hide a later finding that it matches.
        What to do: remove it; after a rename, correct its kernel.
        """,
    ),
    Rule(
        "KI507",
        "toolchain-changed",
        "note",
        """Another compiler built the kernels of the baseline.

        What it finds: a compiler stamp that the baseline does not have. KI501 is milder only for
        code objects without any stamp of the baseline's compilers.
        Why it matters: these kernels may have changed although their source did not.
        What to do: look at the changed kernels and pin them with `check --update-baseline`.
        """,
    ),
)


_EVERY = tuple(sorted((*RULES, *_ELSEWHERE), key=lambda rule: rule.number))
BY_NUMBER = {rule.number: rule for rule in _EVERY}


def every_rule() -> tuple[Rule, ...]:
    """All rules sorted by number, the ones checked elsewhere included."""
    return _EVERY


class Selection(NamedTuple):
    """The user's choice of rules. A rule is named by its number, a prefix of it, or its name."""

    select: tuple[str, ...] = ()
    """Only these rules; empty means the rules that are on by default."""
    ignore: tuple[str, ...] = ()
    severities: tuple[tuple[str, Severity], ...] = ()
    """(rule, severity) pairs; the last pair that matches a rule wins. Without `select`, a pair
    with a rule's whole number or name turns the rule on."""

    def rules(self) -> tuple[Rule, ...]:
        """The chosen rules. Raises `OptionError` for a name that no rule has."""
        selected = {rule for name in self.select for rule in named(name)}
        selected = selected or self._on()
        ignored, severities = self._ignored(), self._chosen_severities()
        return tuple(
            rule._replace(severity=severities[rule.number], fixed=True)
            if rule.number in severities
            else rule
            for rule in RULES
            if rule in selected and rule.number not in ignored
        )

    def chosen(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Findings without the ignored ones, each with the severity that the user chose."""
        ignored, severities = self._ignored(), self._chosen_severities()
        for finding in findings:
            if finding.rule not in ignored:
                severity = severities.get(finding.rule, finding.severity)
                yield finding._replace(severity=severity)

    def _on(self) -> set[Rule]:
        """Rules that are on by default, and rules whose severity the user chose by number or
        name."""
        names = {name for name, _ in self.severities}
        return {rule for rule in RULES if rule.on or names & {rule.number, rule.name}}

    def _ignored(self) -> set[str]:
        return {rule.number for name in self.ignore for rule in named(name)}

    def _chosen_severities(self) -> dict[str, Severity]:
        return {r.number: severity for name, severity in self.severities for r in named(name)}


BY_DEFAULT = Selection()


def findings(kernel: Kernel, occupancy: Occupancy | None, rules: Iterable[Rule]) -> list[Finding]:
    """Findings of the given rules for one kernel."""
    traits, code = kernel.traits, kernel.code
    made: list[Finding] = []
    for rule in rules:
        if not rule.may_find(traits):
            continue
        reads = rule.reads
        if reads == "traits":
            made += rule.check(rule, traits, occupancy)
        elif reads == "code":
            if code is not None or not rule.needs_code:
                made += rule.check(rule, traits, occupancy, code)
        elif reads == "kernel" or _has_read(kernel, reads):
            made += rule.check(rule, kernel, occupancy)
    return made


def _has_read(kernel: Kernel, what: Literal["touched", "loops"]) -> bool:
    return (kernel.touched if what == "touched" else kernel.loops) is not None


_SPILLING = ("KI101", "KI106", "KI302")
"""Rules whose advice is the step that holds what the code needs, where that is known."""


def advised(
    made: Iterable[Finding], kernel: Kernel, occupancy: Occupancy | None
) -> tuple[Finding, ...]:
    """The findings; those on spills name the registers that the code needs instead of general
    advice."""
    advice = kernel.needs.advice(kernel.traits, occupancy) if kernel.needs else ""
    return tuple(
        finding._replace(hint=advice) if advice and finding.rule in _SPILLING else finding
        for finding in made
    )


def may_ask_for_code(traits: Traits) -> bool:
    """True if a rule may read the kernel's instructions, because the kernel may use scratch, uses
    AGPRs, or has unknown callees."""
    numbers = traits.numbers
    if numbers.scratch_bytes_per_lane != 0 or numbers.agprs:
        return True
    return bool(numbers.dynamic_stack or numbers.indirect_call)


def on_code(result: Result) -> tuple[Finding, ...]:
    """Of a result's findings, those of rules that find something only where the code was read."""
    numbers = {rule.number for rule in RULES if rule.is_on_code}
    return tuple(finding for finding in result.findings if finding.rule in numbers)


def find(name: str) -> Rule | None:
    """The rule with this number or name, ignoring case; None if there is none."""
    key = name.casefold()
    return next((r for r in every_rule() if key in (r.number.casefold(), r.name)), None)


def named(name: str) -> tuple[Rule, ...]:
    """The rules with this number, number prefix or name. Raises `OptionError` if none matches."""
    rules = tuple(rule for rule in every_rule() if means(name, rule.number, rule.name))
    if not rules:
        raise OptionError(say("rule-unknown", name=name))
    return rules


def means(text: str, number: str, name: str) -> bool:
    """True if the text is the rule's whole name or begins its number; False for an empty text."""
    return bool(text) and (number.startswith(text) or name == text)
