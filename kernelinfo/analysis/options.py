"""What the user says that the inputs do not."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from kernelinfo.kernel import Kernel, Result
from kernelinfo.kernel.pattern import matching
from kernelinfo.occupancy.limits import Resource
from kernelinfo.reading import budget
from kernelinfo.reading.budget import Bounds
from kernelinfo.rules import BY_DEFAULT, Selection


class Options(NamedTuple):
    """What is asked for, of which kernels, and under which launch."""

    arch: str | None = None
    """The target of inputs that do not name one."""
    run_as: str | None = None
    """What if the same registers ran on this target."""
    workgroup_size: int | None = None
    """Workitems."""
    workgroup_sizes: tuple[tuple[str, int], ...] = ()
    """What is launched of which kernels, by pattern, where `workgroup_size` leaves it open; the
    first that matches counts."""
    dynamic_lds_bytes: int | None = None
    """Per workgroup; None takes what the input knows of the launch, or 0."""
    trap_handler: bool = True
    kernels: tuple[str, ...] = ()
    """Patterns as `pattern.matches` takes them; any may match."""
    exclude: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    """Kernels compiled for these are read; empty for all."""
    limited_by: tuple[Resource, ...] = ()
    """Only kernels that one of these limits are results."""
    spilling: bool = False
    """Only kernels that spill registers are results."""
    one_kernel: bool = False
    """The user names one kernel, among others that are read with it."""
    unique: bool = False
    """Code objects that are equal byte for byte count once."""
    is_gate: bool = False
    """An assembly that may be cut off, and a pattern of `kernels` or a target of `targets` that
    chooses no kernel, are problems, else notes. A build log without a target is none: the gate
    judges what it states."""
    all_copies: bool = False
    """Code objects that state what an assembly next to them does are results of their own."""
    locate: Callable[[Kernel], bool] | None = None
    """For which kernels of code objects the source line is sought in the debug information, which
    takes up to a second each object. Assembly text is read for it anyway."""
    instructions: bool = True
    """Whether the instructions of assembly are counted in all kernels, or only where a rule asks:
    that takes as long as all else."""
    arguments: Callable[[Kernel], bool] | None = None
    """For which kernels the arguments are read, which takes the whole metadata."""
    bounds: Bounds = budget.BY_DEFAULT
    """How much is read of inputs that could claim to be more."""
    selection: Selection = BY_DEFAULT
    """The rules that speak."""

    @property
    def choices(self) -> tuple[str, ...]:
        """`("-k vgpr*", "--target gfx90a")`: the options that choose kernels."""
        given = {"-k": self.kernels, "--exclude": self.exclude, "--target": self.targets}
        return tuple(f"{option} {one}" for option, values in given.items() for one in values)

    @property
    def asked(self) -> tuple[tuple[str, str], ...]:
        """`(("-k", "vgpr*"), ("--target", "gfx90a"))`: the options that ask for kernels."""
        given = {"-k": self.kernels, "--target": self.targets}
        return tuple((option, one) for option, values in given.items() for one in values)

    def met(self, name: str, symbol: str, target: str | None) -> set[tuple[str, str]]:
        """The options of `asked` that a chosen kernel answers."""
        if not self.asked:
            return set()
        named = {("-k", one) for one in matching(self.kernels, name, symbol)}
        return named | {("--target", one) for one in self.targets if one == target}

    def unmatched(self, met: Collection[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """The options of `asked` that are not in `met`: no chosen kernel answers them."""
        return tuple(option for option in self.asked if option not in met)

    def asks_for(self, name: str, symbol: str, target: str | None = None) -> bool:
        """True if a kernel is chosen, by its name, its symbol and, where given, its target."""
        if target is not None and self.targets and target not in self.targets:
            return False
        if not (self.kernels or self.exclude):
            return True
        if self.kernels and not matching(self.kernels, name, symbol):
            return False
        return not (self.exclude and matching(self.exclude, name, symbol))

    def shows(self, result: Result) -> bool:
        """True if `limited_by` and `spilling` leave a result in."""
        if self.limited_by:
            limiters = result.occupancy.limiters if result.occupancy else ()
            if not set(self.limited_by) & set(limiters):
                return False
        return not self.spilling or result.kernel.spills.registers > 0
