"""Occupancy and findings of one kernel after the other, worked out once for equal traits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kernelinfo.analysis.options import Options
from kernelinfo.errors import LaunchError
from kernelinfo.kernel import Finding, Kernel, Result
from kernelinfo.kernel.traits import Traits
from kernelinfo.light_typing import NamedTuple
from kernelinfo.occupancy import Occupancy, targets
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.facts import Code
from kernelinfo.rules import Rule, findings

Matcher = Callable[[str, str], tuple[str, ...]]
"""Gives those of some patterns that name a kernel, by its demangled and mangled name."""
_MOST_KNOWN = 1 << 12


class _Shared(NamedTuple):
    """What all kernels with the same traits and code have in common under one launch."""

    traits: Traits
    """On the target of `--as`, where that is given."""
    occupancy: Occupancy | None
    """None where the size given for many kernels is none that these are compiled for."""
    findings: tuple[Finding, ...]


class Judge:
    """Turns kernels into results. Raises `OptionError` for a rule that does not exist."""

    def __init__(self, options: Options) -> None:
        self._options = options
        rules = options.selection.rules()
        self._of_traits = tuple(r for r in rules if not (r.needs_kernel or r.needs_code))
        self._of_code = tuple(rule for rule in rules if rule.needs_code)
        self._of_kernel = tuple(rule for rule in rules if rule.needs_kernel)
        self._of_any_target = tuple(rule for rule in rules if not rule.needs_target)
        self._fitting = _matcher(tuple(pattern for pattern, _ in options.workgroup_sizes))
        self._sizes = dict(reversed(options.workgroup_sizes))  # the first of a pattern counts
        self._known: dict[tuple[Traits, Code | None, int | None], _Shared] = {}
        """By traits and code as read, and the workgroup size that is configured for the kernel."""

    def judge(self, kernel: Kernel) -> Result | Problem:
        """The result of one kernel; a `Problem` where its launch or target makes no sense."""
        if kernel.traits.target is None:
            return Result(kernel, None, tuple(findings(kernel, None, self._of_any_target)))
        size = self._configured_size(kernel, self._fitting) if self._fitting else None
        key = kernel.traits, kernel.code, size
        shared = self._known.get(key)
        if shared is None:
            try:
                shared = self._share(kernel, size)
            except LaunchError as error:
                origin = kernel.code_object
                message = f"{kernel.name}: {error}"
                return Problem(origin.path, message, origin.member, origin.offset)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = shared
        if shared.traits is not kernel.traits:
            kernel = kernel._replace(traits=shared.traits)
        found = shared.findings
        if shared.occupancy is None:
            return Result(kernel, None, found)
        if own := _found(self._of_kernel, kernel, shared.occupancy):
            found = _in_order(*found, *own)
        return Result(kernel, shared.occupancy, found)

    def _share(self, kernel: Kernel, configured_size: int | None) -> _Shared:
        """Raises `LaunchError` for a launch that makes no sense."""
        options = self._options
        if options.run_as is not None:
            kernel = kernel.on(targets.find(options.run_as))
        if self._is_of_other_sizes(kernel.traits):
            return _Shared(kernel.traits, None, tuple(findings(kernel, None, self._of_any_target)))
        occupancy = kernel.traits.occupancy(
            workgroup_size=options.workgroup_size,
            configured_size=configured_size,
            dynamic_lds=options.dynamic_lds_bytes,
            trap_handler=options.trap_handler,
        )
        found = _found(self._of_traits, kernel.traits, occupancy)
        found += _found(self._of_code, kernel.traits, occupancy, kernel.code)
        return _Shared(kernel.traits, occupancy, _in_order(*found))

    def _configured_size(self, kernel: Kernel, matcher: Matcher) -> int | None:
        """The size of the first pattern that fits; `*` names no kernel that requires its own."""
        fitting = matcher(kernel.name, kernel.symbol)
        if kernel.workgroup.required is not None:
            fitting = tuple(pattern for pattern in fitting if pattern != "*")
        return self._sizes[fitting[0]] if fitting else None

    def _is_of_other_sizes(self, traits: Traits) -> bool:
        """Whether a size given for many kernels is none that these are compiled for."""
        size, demand = self._options.workgroup_size, traits.demand
        if size is None or demand is None or self._options.names_kernels:
            return False
        return not demand.is_compiled_for(size)


def _matcher(patterns: tuple[str, ...]) -> Matcher | None:
    if not patterns:
        return None
    from kernelinfo.kernel.pattern import matching  # which few runs need

    return partial(matching, patterns)


def _found(rules: tuple[Rule, ...], *subject: object) -> list[Finding]:
    """What rules that all take such a subject find in it."""
    return [rule.finding(remark) for rule in rules for remark in rule.check(*subject)]


def _in_order(*found: Finding) -> tuple[Finding, ...]:
    """By the numbers of the rules."""
    return tuple(sorted(found, key=lambda finding: finding.rule))
