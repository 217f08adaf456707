"""Rules that no look at one kernel can check: of reading, budgets, baselines, suppressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kernelinfo.kernel import Finding

if TYPE_CHECKING:
    from kernelinfo.rules.severity import Severity


class Documented(NamedTuple):
    """A rule that is checked elsewhere, and listed like the others."""

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
        """What the rule says; its own severity unless there is a milder or harder case."""
        return Finding(self.number, self.name, severity or self.severity, message, hint)


DOCUMENTED: tuple[Documented, ...] = (
    Documented(
        "KI003",
        "partial-read",
        "error",
        """A member, symbol or descriptor could not be read.

        What it finds: input that is cut off, damaged or of a form that is not known. It is
        reported as a problem, and the exit code is 2.
        Why it matters: what was not read may be what matters; no other number is complete.
        What to do: build it again; if it is whole, report it with the file.
        """,
    ),
    Documented(
        "KI005",
        "unknown-target",
        "error",
        """A gfx processor that the table of hardware facts does not have.

        What it finds: code for a target that `kernelinfo arch` does not list. It is reported as a
        problem, and the exit code is 2.
        Why it matters: without its constants there is no occupancy, only what the input says.
        What to do: update kernelinfo; `--as` a target that is like it.
        """,
    ),
    Documented(
        "KI206",
        "occupancy-budget",
        "error",
        """A kernel is beyond a bound that the project has set for it.

        What it finds: a number outside a [[budget]] of the configuration, the first that names the
        kernel and its target; as a note, a budget that no kernel matches.
        Why it matters: it was decided so.
        What to do: look at what changed, or decide anew in the configuration.
        """,
    ),
    Documented(
        "KI501",
        "regression",
        "error",
        """A kernel is worse than the baseline by more than [gate] allows.

        What it finds: waves lost, spills or scratch gained; registers, LDS and code only where
        [gate] says so. Of kernels that another compiler built than those of the baseline only
        spills and scratch fail, unless `toolchain-change = "strict"`; the rest is a note.
        Why it matters: one VGPR across a step costs a wave, and nobody sees it in a review.
        What to do: see with `explain` what the next step takes; or pin the new state with
        `check --update-baseline`, which the review then shows in one line.
        """,
    ),
    Documented(
        "KI502",
        "kernel-vanished",
        "error",
        """A kernel of the baseline is not in the build. The exit code is 2.

        What it finds: no kernel of its target has its name, nor alone the same template arguments
        and parameters under another namespace. `ignore` and suppressions do not excuse it.
        Why it matters: a gate that no longer sees a kernel guards nothing.
        What to do: build it; or drop it with `check --update-baseline`.
        """,
    ),
    Documented(
        "KI503",
        "kernel-unbaselined",
        "note",
        """A kernel is not in the baseline.

        What it finds: a kernel that is new, or has another name, template argument or parameter.
        Why it matters: until it is pinned it may get worse unseen; budgets and rules hold for it.
        What to do: pin it with `check --update-baseline`.
        """,
    ),
    Documented(
        "KI504",
        "baseline-stale",
        "note",
        """A kernel is better than its baseline; an error with `--strict-baseline`.

        What it finds: waves gained, spills or scratch lost, of what [gate] looks at.
        Why it matters: until it is pinned, the gain may be lost again unseen.
        What to do: pin it with `check --update-baseline`.
        """,
    ),
    Documented(
        "KI505",
        "suppression-expired",
        "error",
        """A suppression is past its last day, and excuses nothing any more.

        What it finds: a [[suppress]] whose `until` is before today.
        Why it matters: somebody wanted to look at it again.
        What to do: mend what it excused, or give it a later day.
        """,
    ),
    Documented(
        "KI506",
        "suppression-unused",
        "note",
        """A suppression excuses nothing.

        What it finds: a [[suppress]] that no finding of any kernel matches.
        Why it matters: it would hide the next finding of that name.
        What to do: remove it; after a rename, correct its kernel.
        """,
    ),
    Documented(
        "KI507",
        "toolchain-changed",
        "note",
        """The build was made by another compiler than the baseline.

        What it finds: a compiler's stamp that the baseline does not have. Only kernels of code
        objects that none of the baseline's compilers had a part in are judged more mildly (KI501).
        Why it matters: these kernels may have moved without a change of their source.
        What to do: look through what moved, and pin it with `check --update-baseline`.
        """,
    ),
)


def documented(number: str) -> Documented:
    """The rule of that number."""
    return next(rule for rule in DOCUMENTED if rule.number == number)
