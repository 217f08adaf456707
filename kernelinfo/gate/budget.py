"""KI206: what the project allows each kernel to take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kernelinfo.compare.summary import KernelSummary
from kernelinfo.gate.config import Budget
from kernelinfo.kernel import Finding
from kernelinfo.kernel.pattern import matches
from kernelinfo.rules.documented import documented

_BUDGET = documented("KI206")


def budget_of(kernel: KernelSummary, budgets: Sequence[Budget]) -> Budget | None:
    """The first that is for this kernel and its target."""
    return next(
        (
            budget
            for budget in budgets
            if budget.target in (None, kernel.processor)
            and matches(budget.kernel, kernel.name, kernel.symbol)
        ),
        None,
    )


def broken(kernel: KernelSummary, budget: Budget, file: str) -> Iterator[Finding]:
    """A finding for each bound that does not hold; `file` is where the budget is set."""
    location = file if budget.line is None else f"{file}:{budget.line}"
    for measure, bound in budget.bounds:
        value = getattr(kernel, measure.field)
        if value is not None and not bound.holds(value):
            yield _BUDGET.found(
                f"{value:g} {measure.noun}, and the budget is {measure.key} {bound} ({location})"
            )


def unsaid(kernel: KernelSummary, budget: Budget) -> tuple[str, ...]:
    """The keys that cannot be judged, because the input does not say the number."""
    return tuple(
        measure.key for measure, _ in budget.bounds if getattr(kernel, measure.field) is None
    )


def hidden(
    budget: Budget, budgets: Sequence[Budget], kernels: Iterable[KernelSummary]
) -> Finding | None:
    """The finding for a budget whose kernels all belong to earlier ones; None if it has none."""
    own = [kernel for kernel in kernels if budget_of(kernel, [budget])]
    if not own:
        return None
    earlier = (budget_of(kernel, budgets) for kernel in own)
    names = ", ".join(dict.fromkeys(one.kernel for one in earlier if one is not None))
    return _BUDGET.found(
        f"all its kernels belong to an earlier budget ({names}): this one guards nothing",
        "put it before that, for the first that matches counts",
        "note",
    )


def unmet(budget: Budget) -> Finding:
    """The finding for a budget that matches no kernel."""
    target = f" on {budget.target}" if budget.target else ""
    return _BUDGET.found(
        f"no kernel{target} is named {budget.kernel}: the budget guards nothing",
        "correct its kernel, or remove it",
        "note",
    )
