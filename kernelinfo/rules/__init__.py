"""Opinions about limits: one function a rule, one module each, listed here in the order shown.

A limit is arithmetic about hardware; a rule says what a kernel engineer would want to know of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kernelinfo.kernel import Finding, Kernel
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.dynamic_stack import dynamic_stack
from kernelinfo.rules.indirect_call import indirect_call
from kernelinfo.rules.lds_over_limit import lds_over_limit
from kernelinfo.rules.padded_registers import padded_registers
from kernelinfo.rules.remark import Remark, Severity
from kernelinfo.rules.scratch_without_spill import scratch_without_spill
from kernelinfo.rules.sgpr_spill import sgpr_spill
from kernelinfo.rules.sources_disagree import sources_disagree
from kernelinfo.rules.unlaunchable_workgroup import unlaunchable_workgroup
from kernelinfo.rules.vgpr_spill import vgpr_spill
from kernelinfo.rules.workgroup_leaves_slots import workgroup_leaves_slots


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule's number, its severity unless a remark has its own, and its function."""

    number: str
    severity: Severity
    check: Callable[[Kernel, Occupancy], Iterator[Remark]]

    @property
    def name(self) -> str:
        return self.check.__name__.replace("_", "-")

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return self.documentation.partition("\n")[0].rstrip(".")

    @property
    def documentation(self) -> str:
        return self.check.__doc__ or ""


RULES: tuple[Rule, ...] = (
    Rule("KI001", "error", unlaunchable_workgroup),
    Rule("KI002", "error", lds_over_limit),
    Rule("KI004", "warning", sources_disagree),
    Rule("KI101", "warning", vgpr_spill),
    Rule("KI102", "warning", scratch_without_spill),
    Rule("KI103", "note", sgpr_spill),
    Rule("KI104", "warning", dynamic_stack),
    Rule("KI105", "note", indirect_call),
    Rule("KI204", "note", workgroup_leaves_slots),
    Rule("KI208", "note", padded_registers),
)


def findings(kernel: Kernel, occupancy: Occupancy) -> Iterator[Finding]:
    """What all rules say of one kernel."""
    for rule in RULES:
        for remark in rule.check(kernel, occupancy):
            severity = remark.severity or rule.severity
            yield Finding(rule.number, rule.name, severity, remark.message, remark.hint)


def find(name: str) -> Rule | None:
    """The rule of that number or name."""
    return next((rule for rule in RULES if name in (rule.number, rule.name)), None)
