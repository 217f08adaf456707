"""The verdict on one kernel after the other, worked out once for those that are alike."""

from __future__ import annotations

from kernelinfo.analysis.options import Options
from kernelinfo.errors import LaunchError
from kernelinfo.kernel import Finding, Kernel, Result
from kernelinfo.kernel.pattern import matches
from kernelinfo.occupancy import Occupancy, targets
from kernelinfo.reading.blob import Problem
from kernelinfo.rules import Findings

_Common = tuple[Occupancy, tuple[Finding, ...]]
"""What kernels that are alike share of their verdicts."""
_MOST_KNOWN = 1 << 12


class Verdicts:
    """Raises `OptionError` for a rule that `options` names and that does not exist."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._findings = Findings(options.selection.rules())
        self._known: dict[tuple[object, int | None], _Common] = {}
        """Of kernels that are alike, by the size that is configured for them."""

    def of(self, kernel: Kernel) -> Result | Problem:
        if kernel.target is None:
            return Result(kernel, None)
        try:
            if self._options.run_as is not None:
                kernel = kernel.on(targets.find(self._options.run_as))
            occupancy, common = self._common(kernel)
        except LaunchError as error:
            place = kernel.code_object
            return Problem(place.path, str(error), place.member, place.offset)
        return Result(kernel, occupancy, self._findings.all(common, kernel, occupancy))

    def _common(self, kernel: Kernel) -> _Common:
        """Raises `LaunchError` for a launch that makes no sense."""
        options = self._options
        size = _configured_size(kernel, options.workgroup_sizes)
        if kernel.alike and (known := self._known.get((kernel.alike, size))):
            return known
        occupancy = kernel.occupancy(
            workgroup_size=options.workgroup_size,
            configured_size=size,
            dynamic_lds=options.dynamic_lds_bytes,
            trap_handler=options.trap_handler,
        )
        common = occupancy, self._findings.common(kernel, occupancy)
        if kernel.alike:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[kernel.alike, size] = common
        return common


def _configured_size(kernel: Kernel, sizes: tuple[tuple[str, int], ...]) -> int | None:
    fitting = (size for pattern, size in sizes if matches(pattern, kernel.name, kernel.symbol))
    return next(fitting, None)
