"""Options of an analysis: choice of kernels, launch, bounds and rules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kernelinfo.kernel import Kernel, Result
from kernelinfo.kernel.names import in_member, matching
from kernelinfo.model.limits import Resource
from kernelinfo.reading import blob
from kernelinfo.reading.blob import Blob, Bounds, Note, Problem
from kernelinfo.reading.target_id import runs_on
from kernelinfo.rules import BY_DEFAULT, Selection

if TYPE_CHECKING:
    from kernelinfo.compile.ir import Compiled
    from kernelinfo.kernel.columns import Where

    CodeAndRemarks = tuple[list[Kernel], list[Problem | Note]]
    ReadCode = Callable[[Blob, Sequence[Kernel]], CodeAndRemarks]


class Options(NamedTuple):
    """Options of an analysis."""

    arch: str | None = None
    """Target of inputs that do not name one."""
    run_as: str | None = None
    """Target to compute the occupancy for instead of the kernel's own (what if)."""
    workgroup_size: int | None = None
    """Launched workitems per workgroup, for all kernels; None uses the other sources."""
    workgroup_sizes: tuple[tuple[str, int], ...] = ()
    """(pattern, workitems per workgroup) pairs, used if `workgroup_size` is None. The first pattern
    that matches a kernel counts."""
    dynamic_lds_bytes: int | None = None
    """Dynamic LDS in bytes per workgroup. None takes the launch that the input states, or 0."""
    trap_handler: bool = True
    kernels: tuple[str, ...] = ()
    """Patterns for names, see `names.matching`; one match chooses a kernel. Empty for all."""
    exclude: tuple[str, ...] = ()
    chooses: Callable[[str, str], bool] | None = None
    """Chooses kernels by (name, symbol), besides `kernels` and `exclude`; None for all."""
    named: str | None = None
    """The name that `chooses` stands for, as typed."""
    targets: tuple[str, ...] = ()
    """Ids of the targets on which chosen kernels run: `gfx942`, `gfx906:xnack+`; empty for all."""
    members: tuple[str, ...] = ()
    """Globs for members of containers, see `names.in_member`; one match chooses a member."""
    limited_by: tuple[Resource, ...] = ()
    """Resources; only kernels that one of them limits are results. Empty for all."""
    spilling: bool = False
    """True: only kernels that spill registers are results."""
    where: Where | None = None
    """Condition on results; only those for which it holds are results."""
    one_kernel: bool = False
    """True: the user names one kernel, although others are read with it."""
    unique: bool = False
    """True: code objects with equal bytes count once."""
    is_gate: bool = False
    """True for `check`: a truncated assembly, or a pattern or target without a kernel, is a problem
    instead of a note. A build log without a target is no problem: the gate judges its numbers."""
    all_copies: bool = False
    """True: code objects are results even if an assembly next to them states the same."""
    locate: Callable[[Kernel], bool] | None = None
    """Chooses kernels of code objects whose source line is searched in debug information, up to 1 s
    per code object. Kernels of assembly have theirs anyway."""
    instructions: bool = True
    """True: count instructions in every kernel of assembly, which doubles the time. False: only
    where a rule needs them."""
    positions: bool = True
    """True: code objects' kernels keep the offsets of their numbers: half of a kernel's memory."""
    count_instructions: ReadCode | None = None
    """Reads the code of the kernels of one blob, for code objects by llvm-objdump: instructions by
    class, registers touched, registers needed, and loops. Each of these is None if unknown."""
    read_for_rules: Callable[[Blob, Sequence[Kernel]], CodeAndRemarks | None] | None = None
    """Finds the registers that kernels of one blob touch, and loops in which rules may find
    something, if instructions are not counted. Its answer is None for blobs whose code it leaves
    unread."""
    arguments: Callable[[Kernel], bool] | None = None
    """Chooses kernels whose arguments are read, from the whole metadata."""
    bounds: Bounds = blob.BY_DEFAULT
    """Bounds on containers that could expand without limit."""
    selection: Selection = BY_DEFAULT
    """Selected rules."""
    spirv: bool = False
    """True: entries with SPIR-V, which have no kernels yet, are items of the run, for coverage."""
    compiled: tuple[Compiled, ...] = ()
    """Assembly of sources for each target, which is read in place of the sources."""

    @property
    def choices(self) -> tuple[str, ...]:
        """Options that choose kernels, as typed: `("-k vgpr*", "--target gfx90a")`."""
        excluded = [f"--exclude {value}" for value in self.exclude]
        excluded += [f"--where {self.where.text!r}"] if self.where is not None else []
        return (*(f"{option} {value}" for option, value in self.asked), *excluded)

    @property
    def asked(self) -> tuple[tuple[str, str], ...]:
        """Options that ask for kernels, as pairs: `(("-k", "vgpr*"), ("--target", "gfx90a"))`."""
        given = {"-k": self.kernels, "--target": self.targets, "--member": self.members}
        return tuple((option, value) for option, values in given.items() for value in values)

    def met(
        self, name: str, symbol: str, target: str | None, member: str | None = None
    ) -> set[tuple[str, str]]:
        """The options of `asked` that match a chosen kernel; `target` is its target id."""
        pairs = {("--target", value) for value in self.targets if runs_on(target or "", value)}
        if self.kernels:
            pairs |= {("-k", value) for value in matching(self.kernels, name, symbol)}
        if self.members:
            pairs |= {("--member", value) for value in self.met_members(member)}
        return pairs

    def unmatched(self, met: Collection[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """The options of `asked` that no chosen kernel matches: those that are not in `met`."""
        return tuple(option for option in self.asked if option not in met)

    def met_members(self, member: str | None) -> tuple[str, ...]:
        """The globs of `members` that match a member of a container."""
        return tuple(pattern for pattern in self.members if in_member(pattern, member or ""))

    def asks_for_member(self, member: str | None) -> bool:
        """True if a member of a container is chosen; None means a file outside any container."""
        return not self.members or bool(self.met_members(member))

    def asks_for_target(self, target: str) -> bool:
        """True if code for a target id is chosen."""
        return not self.targets or any(runs_on(target, chosen) for chosen in self.targets)

    def asks_for(self, name: str, symbol: str, target: str | None = None) -> bool:
        """True if the options choose a kernel of this name, symbol and target id. A `target` of
        None means any target."""
        if target is not None and not self.asks_for_target(target):
            return False
        if self.chooses and not self.chooses(name, symbol):
            return False
        if not (self.kernels or self.exclude):
            return True
        if self.kernels and not matching(self.kernels, name, symbol):
            return False
        return not (self.exclude and matching(self.exclude, name, symbol))

    def configured_size(self, kernel: Kernel) -> int | None:
        """The size in `workgroup_sizes` of the first pattern that matches the kernel; None without
        one.

        `*` does not apply to kernels that require a size.
        """
        patterns = tuple(pattern for pattern, _ in self.workgroup_sizes)
        fitting = matching(patterns, kernel.name, kernel.symbol)
        if kernel.numbers.required_workgroup is not None:
            fitting = tuple(pattern for pattern in fitting if pattern != "*")
        return next((size for pattern, size in self.workgroup_sizes if pattern in fitting), None)

    def passes_over(self, result: Result) -> bool:
        """True for a kernel that the runtime would not launch with the workgroup size given for all
        kernels; always False if the user names kernels."""
        if self.workgroup_size is None or self.kernels or self.one_kernel:
            return False
        return bool(result.occupancy and result.occupancy.refusal)

    def shows(self, result: Result) -> bool:
        """True if `limited_by`, `where` and `spilling` do not hide a result."""
        if self.where is not None and not self.where.holds(result):
            return False
        if self.limited_by:
            limiters = result.occupancy.limiters if result.occupancy else ()
            if not set(self.limited_by) & set(limiters):
                return False
        return not self.spilling or result.kernel.spilled_registers > 0
