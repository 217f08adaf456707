"""Occupancy and findings of kernels, computed once for kernels with equal traits."""

from __future__ import annotations

from kernelinfo.analysis.options import Options
from kernelinfo.errors import LaunchError
from kernelinfo.hardware import targets
from kernelinfo.kernel import Finding, Kernel, Result
from kernelinfo.kernel.pattern import matching
from kernelinfo.kernel.traits import Traits
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.facts import Code
from kernelinfo.rules import Rule, findings

_MOST_KNOWN = 1 << 14


class Judge:
    """Judge of kernels: their occupancy and findings. Raises `OptionError` for an unknown rule."""

    def __init__(self, options: Options) -> None:
        self._options = options
        rules = options.selection.rules()
        self._of_traits = tuple(r for r in rules if r.reads == "traits")
        self._of_code = tuple(rule for rule in rules if rule.reads == "code")
        self._of_kernel = tuple(rule for rule in rules if rule.reads == "kernel")
        self._of_any_target = tuple(rule for rule in rules if rule.any_target)
        self._patterns = tuple(pattern for pattern, _ in options.workgroup_sizes)
        self._sizes = dict(reversed(options.workgroup_sizes))  # the first size of a pattern counts
        self._known: dict[tuple[Traits, Code | None, int | None], Result] = {}
        """(traits, code, configured workgroup size) -> result of the first such kernel, without
        findings on that kernel alone."""

    def judge(self, kernel: Kernel) -> Result | Problem:
        """The result of one kernel, or the problem that its launch is impossible on its target."""
        if kernel.traits.target is None:
            return self._without_occupancy(kernel)
        size = self._configured_size(kernel) if self._patterns else None
        key = kernel.traits, kernel.code, size
        first = self._known.get(key)
        if first is None:
            try:
                first = self._first(kernel, size)
            except LaunchError as error:
                origin = kernel.code_object
                message = f"{kernel.name}: {error}"
                return Problem(origin.path, message, origin.member, origin.offset)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = first
        if self._options.run_as is not None:
            kernel = kernel._replace(traits=first.kernel.traits)
        found, occupancy = first.findings, first.occupancy
        if occupancy and (own := _found(self._of_kernel, kernel, occupancy)):
            found = _in_order(*found, *own)
        return Result(kernel, occupancy, found)

    def _first(self, kernel: Kernel, configured_size: int | None) -> Result:
        """The result for all kernels of equal traits. Raises `LaunchError` if it cannot launch."""
        options = self._options
        if options.run_as is not None:
            kernel = kernel.on(targets.find(options.run_as))
        if self._is_of_other_sizes(kernel.traits):
            return self._without_occupancy(kernel)
        occupancy = kernel.traits.occupancy(
            workgroup_size=options.workgroup_size,
            configured_size=configured_size,
            dynamic_lds=options.dynamic_lds_bytes,
            trap_handler=options.trap_handler,
        )
        found = _found(self._of_traits, kernel.traits, occupancy)
        found += _found(self._of_code, kernel.traits, occupancy, kernel.code)
        return Result(kernel, occupancy, _in_order(*found))

    def _without_occupancy(self, kernel: Kernel) -> Result:
        return Result(kernel, None, tuple(findings(kernel, None, self._of_any_target)))

    def _configured_size(self, kernel: Kernel) -> int | None:
        """The workgroup size, in workitems, of the first pattern that matches the kernel; None
        without one.

        `*` does not apply to kernels that require a size.
        """
        fitting = matching(self._patterns, kernel.name, kernel.symbol)
        if kernel.workgroup.required is not None:
            fitting = tuple(pattern for pattern in fitting if pattern != "*")
        return self._sizes[fitting[0]] if fitting else None

    def _is_of_other_sizes(self, traits: Traits) -> bool:
        """True if the workgroup size for many kernels is not one that this kernel is compiled
        for."""
        options, demand = self._options, traits.demand
        is_for_one = bool(options.kernels) or options.one_kernel
        if options.workgroup_size is None or demand is None or is_for_one:
            return False
        return not demand.is_compiled_for(options.workgroup_size)


def _found(rules: tuple[Rule, ...], *subject: object) -> list[Finding]:
    """Findings of rules that take this subject."""
    return [rule.finding(remark) for rule in rules for remark in rule.check(*subject)]


def _in_order(*found: Finding) -> tuple[Finding, ...]:
    """Findings sorted by rule number."""
    return tuple(sorted(found, key=lambda finding: finding.rule))
