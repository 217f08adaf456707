"""Budgets (KI206): limits that a project sets for the numbers of its kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kernelinfo.compare.summary import KernelSummary
from kernelinfo.config import Budget, entries_for
from kernelinfo.gate.messages import say
from kernelinfo.kernel import Finding
from kernelinfo.kernel.record import BY_NAME, Column
from kernelinfo.rules.documented import documented

_BUDGET = documented("KI206")


def of_each(kernels: Iterable[KernelSummary], budgets: Sequence[Budget]) -> list[Budget | None]:
    """The budget of each kernel: the first that matches its name and target, or None."""
    fitting = (entries_for(budgets, k.name, k.symbol, k.target) for k in kernels)
    return [next(iter(found), None) for found in fitting]


def broken(kernel: KernelSummary, budget: Budget, file: str) -> Iterator[Finding]:
    """One finding per broken bound of the budget. `file` is the configuration that sets it."""
    place = file if budget.line is None else f"{file}:{budget.line}"
    for measure, bound in budget.bounds:
        value = getattr(kernel.numbers, measure.field)
        if value is not None and not bound.holds(value):
            number, key = _with_noun(kernel, measure, value), measure.key
            message = say("budget-exceeded", number=number, key=key, bound=bound, place=place)
            yield _BUDGET.found(message)


def _with_noun(kernel: KernelSummary, measure: Column, value: float) -> str:
    """A number as messages say it: `264 VGPRs allocated (210 used)`."""
    number, beside = f"{value:g} {measure.noun}", BY_NAME.get(measure.beside)
    other = beside and getattr(kernel.numbers, beside.field)
    if beside is None or other is None or other == value:
        return number
    return f"{number} ({other:g} {beside.unit.rpartition(' ')[2]})"


def idle(budget: Budget, budgets: Sequence[Budget], kernels: Sequence[KernelSummary]) -> Finding:
    """The finding for a budget without kernels: none matches, or earlier budgets take them all."""
    own = [one for one, found in zip(kernels, of_each(kernels, [budget]), strict=True) if found]
    if own:
        names = ", ".join(dict.fromkeys(one.kernel for one in of_each(own, budgets) if one))
        message, mend = say("budget-shadowed", budgets=names), say("budget-shadowed-mend")
        return _BUDGET.found(message, mend, "note")
    target = say("budget-target", target=budget.target) if budget.target else ""
    message = say("budget-unmatched", target=target, kernel=budget.kernel)
    return _BUDGET.found(message, say("budget-unmatched-mend"), "note")
