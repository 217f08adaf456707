"""What is worth a line on standard error: what a run did not check, and what guards nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelinfo.compare.summary import KernelSummary
from kernelinfo.gate.config import Budget, Configuration
from kernelinfo.gate.expectation import chooses, unbuilt
from kernelinfo.kernel import Result
from kernelinfo.kernel.pattern import matching


def left_out(
    found: Sequence[Result],
    configuration: Configuration,
    idle_budgets: Sequence[Budget],
    elsewhere: Sequence[KernelSummary],
    *,
    at_least: int | None,
) -> Iterator[str]:
    """What a run over a part of the build did not check, for all that it could not know.

    `elsewhere` are kernels of the baseline that the run does not cover.
    """
    if at_least is None and configuration.min_kernels > 1:
        yield f"expect.min-kernels = {configuration.min_kernels}"
    if targets := unbuilt(found, configuration):
        yield f"target {', '.join(targets)}, which no kernel of this part is for"
    if idle_budgets:
        names = ", ".join(budget.kernel for budget in idle_budgets)
        yield f"[[budget]] {names}, which no kernel of this part matches"
    if sizes := unmatched_sizes(found, configuration):
        yield f"[workgroup-size] {', '.join(sizes)}, which no kernel of this part matches"
    if elsewhere:
        yield f"{len(elsewhere)} of the baseline's kernels, which are not in this part"


def ignored(configuration: Configuration) -> Iterator[str]:
    """What is configured and not checked because its rule is not selected."""
    if configuration.budgets and not chooses(configuration, "KI206"):
        yield "[[budget]]; KI206 is not selected"
    if configuration.baseline and not chooses(configuration, "KI501"):
        yield f"what got worse since {configuration.baseline}; KI501 is not selected"


def unmatched_sizes(found: Sequence[Result], configuration: Configuration) -> tuple[str, ...]:
    """The patterns of [workgroup-size] that name no kernel, or only those of earlier patterns."""
    patterns = tuple(pattern for pattern, _ in configuration.workgroup_sizes)
    kernels = (result.kernel for result in found if patterns)
    used = {fit for one in kernels for fit in matching(patterns, one.name, one.symbol)[:1]}
    return tuple(pattern for pattern in patterns if pattern not in used)
