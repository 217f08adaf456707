"""Rules that need more than one kernel: reading, budgets, baselines, suppressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kernelinfo.kernel import Finding

if TYPE_CHECKING:
    from kernelinfo.kernel import Severity


class Documented(NamedTuple):
    """A rule that is checked outside of this room and listed like the others."""

    number: str
    name: str
    severity: Severity
    documentation: str
    on: bool = True

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return self.documentation.partition("\n")[0].rstrip(".")

    def found(self, message: str, hint: str = "", severity: Severity | None = None) -> Finding:
        """A finding of this rule; `severity` overrides the rule's own."""
        return Finding(self.number, self.name, severity or self.severity, message, hint)


DOCUMENTED: tuple[Documented, ...] = (
    Documented(
        "KI003",
        "partial-read",
        "error",
        """A member, symbol or descriptor could not be read.

        What it finds: input that is cut off, damaged or of an unknown form. It is reported as a
        problem, and the exit code is 2.
        Why it matters: the unread part may hold the kernel that matters.
        What to do: build the file again; if the file is whole, report a bug with it.
        """,
    ),
    Documented(
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
    Documented(
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
    Documented(
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
    Documented(
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
    Documented(
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
    Documented(
        "KI504",
        "baseline-stale",
        "note",
        """A kernel is better than its baseline; an error with `--strict-baseline`.

        What it finds: waves gained, or fewer spills or less scratch, among the numbers of [gate]; a
        finding that the baseline accepts and that has ended.
        Why it matters: until it is pinned, the gain may be lost again unnoticed.
        What to do: pin it with `check --tighten`, which pins improvements alone.
        """,
    ),
    Documented(
        "KI505",
        "suppression-expired",
        "error",
        """A suppression has expired and excuses nothing any more.

        What it finds: a [[suppress]] whose `until` is before today.
        Why it matters: its author wanted to look at it again.
        What to do: fix the finding, or set a later day.
        """,
    ),
    Documented(
        "KI506",
        "suppression-unused",
        "note",
        """A suppression excuses nothing.

        What it finds: a [[suppress]] that matches no finding.
        Why it matters: it would hide a later finding that it matches.
        What to do: remove it; after a rename, correct its kernel.
        """,
    ),
    Documented(
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


def documented(number: str) -> Documented:
    """The documented rule with this number."""
    return next(rule for rule in DOCUMENTED if rule.number == number)
