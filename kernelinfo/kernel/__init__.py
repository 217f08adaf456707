"""The nouns of a report: a kernel, its occupancy, what the rules find in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy import Allocated, Occupancy
from kernelinfo.occupancy.targets import Device, Target
from kernelinfo.reading.blob import Note, Problem
from kernelinfo.reading.facts import Code, Fact, Features, Place, Sizes, SourceLine

if TYPE_CHECKING:
    from kernelinfo.kernel.compiler_number import CompilerNumber
    from kernelinfo.occupancy.devices import Filling
    from kernelinfo.occupancy.headroom import Step
    from kernelinfo.reading.arguments import Argument


class CodeObject(NamedTuple):
    """Where kernels come from."""

    path: str
    containers: tuple[str, ...]
    member: str | None
    offset: int | None
    """Bytes in the outermost file."""
    size: int
    """Bytes."""
    kind: Literal["assembly", "code-object", "build-log"]
    target: str | None
    features: Features
    code_object_version: int | None
    compiler: str | None
    """The stamp of the one that made the kernels; None where none is known."""
    stamps: tuple[str, ...]
    """Of all producers, sorted: the compiler, those of linked libraries, the linker."""
    conflicting_entry: str | None = None
    """The entry of the same file and processor, read before, whose id names other features."""
    kernel_count: int | None = None
    """Kernels that it holds, whichever of them are asked for."""


class Used(NamedTuple):
    """What the code uses, as the compiler counted; None where the input does not say."""

    vgprs: int | None  # per lane; AGPRs included where they share one file
    agprs: int | None
    sgprs: int | None  # per wave; VCC, flat scratch and XNACK included
    lds_bytes: int | None  # static, per workgroup
    scratch_bytes_per_lane: int | None


class Spills(NamedTuple):
    """Registers that did not fit; None where the input does not say."""

    vgprs: int | None
    sgprs: int | None

    @property
    def registers(self) -> int:
        """Those of both kinds that are known to have spilled."""
        return (self.vgprs or 0) + (self.sgprs or 0)


class Flags(NamedTuple):
    """None where the input does not say."""

    dynamic_stack: bool | None
    indirect_call: bool | None
    recursion: bool | None
    tg_split: bool | None


class Workgroup(NamedTuple):
    """Sizes that may be launched, in workitems."""

    declared_max: int | None
    required: Sizes | None


class Kernel(NamedTuple):
    """One kernel: its identity, and the traits it shares with all that state the same."""

    code_object: CodeObject
    symbol: str
    """Mangled."""
    name: str
    """Demangled."""
    traits: Traits
    code_bytes: int | None
    """Size of the code, callees excluded."""
    places: tuple[Place, ...]
    """Where its sources state their numbers."""
    line: int | None
    """1-based line of the kernel's label in assembly text."""
    code: Code | None
    """Counts of its instructions; None where they are not read: in code objects, and where neither
    a rule nor `Options.instructions` asks for them."""
    source: SourceLine | None
    """None without debug information."""
    arguments: tuple[Argument, ...] | None = None
    """None where they are not asked for."""
    contradiction: str = ""
    """What the assembly of the same compilation states otherwise, in words."""

    def __repr__(self) -> str:
        """One line: the name, the target and what the code uses."""
        used = (f"{name}={value}" for name, value in self.used._asdict().items())
        return f"Kernel({self.name!r}, {self.code_object.target!r}, {', '.join(used)})"

    @property
    def target(self) -> Target | None:
        """None when the input does not name one, or names one that is not known."""
        return self.traits.target

    @property
    def wave_size(self) -> int | None:
        """Lanes in a wave."""
        return self.traits.numbers.wave_size

    @property
    def workgroup(self) -> Workgroup:
        """Sizes that may be launched, in workitems."""
        numbers = self.traits.numbers
        return Workgroup(numbers.max_workgroup_size, numbers.required_workgroup)

    @property
    def used(self) -> Used:
        """Registers, LDS and scratch that the code uses."""
        numbers = self.traits.numbers
        return Used(*[getattr(numbers, name) for name in Used._fields])

    @property
    def allocated(self) -> Allocated:
        """What the hardware allocates, without dynamic LDS. Raises `UnknownTargetError`."""
        return self.traits.allocated

    @property
    def spills(self) -> Spills:
        """Registers that did not fit."""
        return Spills(self.traits.numbers.vgpr_spills, self.traits.numbers.sgpr_spills)

    @property
    def flags(self) -> Flags:
        """Properties of stack and calls that leave numbers open."""
        numbers = self.traits.numbers
        return Flags(*[getattr(numbers, name) for name in Flags._fields])

    def offset(self, fact: Fact) -> int | None:
        """The offset of a fact in bytes from the start of the code object; None in text."""
        return self._place_of(fact) if self.code_object.kind == "code-object" else None

    def line_of(self, fact: Fact) -> int | None:
        """The 1-based line of a fact in assembly text; None in code objects."""
        return None if self.code_object.kind == "code-object" else self._place_of(fact)

    def _place_of(self, fact: Fact) -> int | None:
        """The byte or line that states a fact; None where its source has none."""
        found = (
            place.begin + place.within[fact.name]
            for place in self.places
            if place.source == fact.source and fact.name in place.within
        )
        return next(found, None)

    def occupancy(
        self,
        *,
        workgroup_size: int | None = None,
        dynamic_lds: int | None = None,
        trap_handler: bool = True,
    ) -> Occupancy:
        """The occupancy on the kernel's own target; see `Traits.occupancy`."""
        return self.traits.occupancy(
            workgroup_size=workgroup_size, dynamic_lds=dynamic_lds, trap_handler=trap_handler
        )

    def on(self, target: Target) -> Kernel:
        """The kernel as if it used the same registers on another target; see `Traits.on`."""
        return self._replace(traits=self.traits.on(target))


class Finding(NamedTuple):
    """What a rule says of one kernel."""

    rule: str
    """KI and three digits."""
    name: str
    severity: Literal["error", "warning", "note"]
    message: str
    hint: str = ""
    """What to do, where there is something to do."""


class Result(NamedTuple):
    """One kernel, its occupancy under the launch that was asked for, and what the rules say."""

    kernel: Kernel
    occupancy: Occupancy | None
    """None where the target is not known, or the size that is asked about is none that the kernel
    is compiled for."""
    findings: tuple[Finding, ...] = ()

    def __repr__(self) -> str:
        """One line: the kernel, its occupancy and the rules that found something."""
        occupancy = self.occupancy
        waves = None if occupancy is None else occupancy.waves_per_simd
        limiters = () if occupancy is None else occupancy.limiters
        rules = tuple(finding.rule for finding in self.findings)
        return f"Result({self.kernel!r}, waves_per_simd={waves}, {limiters=}, findings={rules})"

    @property
    def compiler_number(self) -> CompilerNumber | None:
        """The compiler's own waves/SIMD and why it differs; None where it printed none."""
        if self.kernel.traits.numbers.compiler_waves_per_simd is None:
            return None
        from kernelinfo.kernel.compiler_number import compiler_number  # which few formats show

        return compiler_number(self.kernel, self.occupancy)

    @property
    def next(self) -> tuple[Step, ...]:
        """The steps to the next higher occupancy that are worth taking.

        None where they ask for fewer registers of a kind that spills; without VGPRs that only pad
        what LDS allows, which end with the LDS.
        """
        if self.occupancy is None:
            return ()
        spilled = {"vgpr": self.kernel.spills.vgprs, "sgpr": self.kernel.spills.sgprs}
        if any(spilled.get(step.resource) for step in self.occupancy.next):
            return ()
        used, limits = self.kernel.used.vgprs, self.occupancy.limits
        asked = next((limit.used for limit in limits if limit.resource == "vgpr"), None)
        others = tuple(step for step in self.occupancy.next if step.resource != "vgpr")
        is_padded = None not in (used, asked) and used != asked
        ends_with_lds = not others or any(step.resource == "lds" for step in others)
        return others if is_padded and ends_with_lds else self.occupancy.next

    @property
    def device(self) -> Device | None:
        """The product that device-wide numbers are for: the target's first; None without one."""
        target = self.kernel.target
        return None if target is None else next(iter(target.devices), None)

    def filling(self, device: Device, grid: int | None = None) -> Filling | None:
        """The device full of this kernel's workgroups; None where its occupancy is not known.
        `grid` counts workgroups. Raises `LaunchError` for a grid of none."""
        if self.occupancy is None:
            return None
        from kernelinfo.occupancy.devices import fill  # with dataclasses, for --device alone

        return fill(device, self.occupancy, grid)


class Repeat(NamedTuple):
    """A copy of another code object; its kernels are not counted again."""

    first: CodeObject
    path: str
    containers: tuple[str, ...]
    member: str | None
    offset: int | None
    is_exact: bool = True
    """Byte for byte; else it states what the assembly `first` does."""


Item = Result | Problem | Repeat | Note  # what an analysis finds, one after the other


class Report(NamedTuple):
    """All that a renderer may know."""

    results: tuple[Result, ...]
    problems: tuple[Problem, ...]
    repeats: tuple[Repeat, ...] = ()

    @classmethod
    def of(cls, items: Iterable[Item]) -> Report:
        """All items of an analysis, gathered."""
        found = list(items)
        return cls(
            tuple(item for item in found if isinstance(item, Result)),
            tuple(item for item in found if isinstance(item, Problem)),
            tuple(item for item in found if isinstance(item, Repeat)),
        )

    def __repr__(self) -> str:
        """One line: counts of what was read."""
        kernels, code_objects, problems = map(len, (self.results, self.code_objects, self.problems))
        return f"Report({kernels=}, {code_objects=}, {problems=})"

    def _repr_html_(self) -> str:
        """The table that notebooks show."""
        from kernelinfo.kernel.notebook import html_table

        return html_table(self.results)

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Those of the results."""
        return tuple(result.kernel for result in self.results)

    def rows(self) -> list[dict[str, Any]]:
        """A flat row a kernel, as `--format jsonl` writes them: for pandas, polars, DuckDB."""
        from kernelinfo.kernel.rows import row

        return [row(result) for result in self.results]

    @property
    def code_objects(self) -> tuple[CodeObject, ...]:
        """Those that kernels come from, in the order of reading."""
        return tuple(dict.fromkeys(kernel.code_object for kernel in self.kernels))
