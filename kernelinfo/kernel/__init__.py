"""The nouns of a report: a kernel and its result, the rules and their findings."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Literal, NamedTuple

from kernelinfo.errors import KernelinfoError, Message
from kernelinfo.hardware.products import target_named
from kernelinfo.hardware.targets import Device, Target
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.kernel.traits import Traits
from kernelinfo.model import Allocated, Occupancy, next_in_repr
from kernelinfo.reading.blob import Note, Problem, SpirV
from kernelinfo.reading.facts import Code, Fact, Numbers, Place, SourceLine
from kernelinfo.reading.paths import SOURCE_LANGUAGES, SourceLanguage
from kernelinfo.reading.target_id import is_of_clang

if TYPE_CHECKING:
    from kernelinfo.kernel.code_object import InstructionCounts, LoopCounts, TouchedRegisters
    from kernelinfo.kernel.compiler_number import CompilerNumber
    from kernelinfo.kernel.needs import RegisterNeeds
    from kernelinfo.model import Step
    from kernelinfo.model.limits import Resource
    from kernelinfo.reading.arguments import Argument


Language = Literal["HIP", "OpenCL", "Triton", "assembly"]
_LANGUAGES: dict[SourceLanguage, Language] = {"hip": "HIP", "cl": "OpenCL"}


def remarking(messages: Mapping[str, str]) -> Callable[..., Finding]:
    """The function that makes the findings of the rules: `remark(rule, "KI205", size=48, …)`.

    `messages` holds a sentence for each code and, under the code with `-mend`, the advice on it;
    both are filled in from the same facts. In a call, a severity may follow the code.
    """

    def remark(
        rule: Rule, code: str, severity: Severity | None = None, /, **facts: object
    ) -> Finding:
        mend = messages.get(f"{code}-mend", "").format(**facts)
        return rule.finding(Message(messages[code].format(**facts), code), mend, severity)

    return remark


def grouped(value: float) -> str:
    """A number with at most two decimals and a space between thousands: `88 137`, `5.75`."""
    return f"{value:,.2f}".rstrip("0").rstrip(".").replace(",", " ")


def in_html(value: object) -> str:
    """The HTML that a notebook shows for a value. Renderers are in a higher room, so they are
    imported by name, when a notebook asks."""
    html: str = import_module("kernelinfo.render.notebooks").in_html(value)
    return html


def counted(count: int, noun: str) -> str:
    """The count with its noun in singular or plural: `1 wave`, `88 137 waves`."""
    return f"{grouped(count)} {noun}{'' if count == 1 else 's'}"


def waves_per_simd(value: float) -> str:
    """The waves per SIMD with their unit: `1 wave/SIMD`, `5.5 waves/SIMD`."""
    return f"{value:.4g} wave{'' if value == 1 else 's'}/SIMD"


Severity = Literal["error", "warning", "note"]


_LONGEST = 60
"""Characters of a name in `repr`."""


def _short(name: str) -> str:
    """The name, truncated for `repr` if it is long."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


USED = ("vgprs", "agprs", "sgprs", "lds_bytes", "scratch_bytes_per_lane")
"""Resources that the code uses, by their fields of `Numbers`."""


class Kernel(NamedTuple):
    """One kernel: its identity, and the traits that it shares with kernels of equal numbers."""

    code_object: CodeObject
    symbol: str
    """Mangled name."""
    name: str
    """Demangled name."""
    traits: Traits
    code_bytes: int | None
    """Size of the code in bytes, callees excluded."""
    places: tuple[Place, ...]
    """Position of each source in the input."""
    line: int | None
    """1-based line of the kernel's label in assembly text."""
    code: Code | None
    """Counts of its instructions. None for a code object, or if neither a rule nor `Options` asks
    for them."""
    source: SourceLine | None
    """Place in the source code; None without debug information."""
    arguments: tuple[Argument, ...] | None = None
    """Arguments in order; None if not asked for."""
    contradiction: str = ""
    """Sentence on numbers that the assembly of the same compilation states differently; empty if
    there are none."""
    instructions: InstructionCounts | None = None
    """Its instructions by class, callees excluded; None if not asked for or not all are known."""
    touched: TouchedRegisters | None = None
    """Registers that its code and its callees touch; None if not asked for or not all is known."""
    loops: tuple[LoopCounts, ...] | None = None
    """Its loops, each before those inside it; of very many those with matrix instructions and the
    largest. None if not asked for or not all of its code is known."""
    needs: RegisterNeeds | None = None
    """Vector registers that its code needs; None if not asked for or not known."""

    def __repr__(self) -> str:
        """One line: name, target, used and spilled resources, occupancy, limiters, next steps."""
        target = self.target.name if self.target else self.code_object.target
        parts = [repr(_short(self.name)), repr(target)]
        numbers = self.numbers
        parts += [f"{name}={getattr(numbers, name)}" for name in USED]
        more = {
            "dynamic_lds_bytes": numbers.dynamic_lds_bytes,
            "spilled_vgprs": numbers.vgpr_spills,
            "spilled_sgprs": numbers.sgpr_spills,
        }
        parts += [f"{name}={amount}" for name, amount in more.items() if amount]
        with suppress(KernelinfoError):
            occupancy = self.occupancy()
            parts.append(f"waves_per_simd={occupancy.waves_per_simd:g}")
            parts += [f"limiters={'+'.join(occupancy.limiters)}", *next_in_repr(self.next)]
        return f"Kernel({', '.join(parts)})"

    def _repr_html_(self) -> str:
        """What notebooks show: the table of this kernel under its declared launch."""
        occupancy = None
        with suppress(KernelinfoError):
            occupancy = self.occupancy()
        return in_html([Result(self, occupancy)])

    @property
    def target(self) -> Target | None:
        """The target; None if the input names none or an unknown one."""
        return self.traits.target

    @property
    def language(self) -> Language | None:
        """The language of the source; None if the input does not show it.

        It is taken from Triton's JSON, from the suffix of the source that was compiled or that
        debug information names, or from the compiler and its mangled names.
        """
        origin = self.code_object
        if origin.options:
            return "Triton"
        path = origin.path if origin.command else self.source.file if self.source else ""
        suffix = posixpath.splitext(path)[1]
        if suffix == ".py":
            return "Triton"
        if language := _LANGUAGES.get(SOURCE_LANGUAGES.get(suffix, "ir")):
            return language
        is_commented = self.numbers.compiler_waves_per_simd is not None
        if origin.kind == "assembly" and not origin.stamps and not is_commented:
            return "assembly"
        is_of_c = origin.compiler is not None and is_of_clang(origin.compiler)
        return "HIP" if is_of_c and re.match("_Z(?!TS)", self.symbol) else None  # _ZTS: SYCL

    @property
    def wave_size(self) -> int | None:
        """Lanes in a wave."""
        return self.numbers.wave_size

    @property
    def numbers(self) -> Numbers:
        """What the code uses and the input states; None for a number that is not stated."""
        return self.traits.numbers

    @property
    def spilled_registers(self) -> int:
        """Spilled VGPRs + SGPRs; an unknown count adds 0."""
        return (self.numbers.vgpr_spills or 0) + (self.numbers.sgpr_spills or 0)

    @property
    def allocated(self) -> Allocated:
        """Allocated resources, without dynamic LDS. Raises `UnknownTargetError`."""
        return self.traits.allocated

    def offset(self, fact: Fact) -> int | None:
        """Offset of a fact, in bytes from the start of the code object; None in text."""
        return self._place_of(fact) if self.code_object.kind == "code-object" else None

    def line_of(self, fact: Fact) -> int | None:
        """Line of a fact in assembly text, from 1; None in code objects."""
        return None if self.code_object.kind == "code-object" else self._place_of(fact)

    def _place_of(self, fact: Fact) -> int | None:
        """Byte offset or line of a fact; None if its source has no position for it."""
        positions = (
            place.begin + place.within[fact.name]
            for place in self.places
            if place.source == fact.source and fact.name in place.within
        )
        return next(positions, None)

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

    @property
    def waves_per_simd(self) -> float:
        """Waves per SIMD under the kernel's declared launch. Raises what `occupancy` raises."""
        return self.occupancy().waves_per_simd

    @property
    def percent(self) -> float:
        """Waves in % of the wave slots under the kernel's declared launch."""
        return self.occupancy().percent

    @property
    def limiters(self) -> tuple[Resource, ...]:
        """Resources that limit the waves under the kernel's declared launch."""
        return self.occupancy().limiters

    @property
    def next(self) -> tuple[Step, ...]:
        """Steps to the next higher occupancy that are worth taking; see `Result.next`."""
        return Result(self, self.occupancy()).next

    def on(self, target: Target | str) -> Kernel:
        """The kernel, assuming that it uses the same registers on another target or product.

        See `Traits.on`. Raises `UnknownTargetError` or `OptionError` for an unknown name.
        """
        if isinstance(target, str):
            target = target_named(target)
        return self._replace(traits=self.traits.on(target))


class Finding(NamedTuple):
    """One message of a rule on one kernel."""

    rule: str
    """KI and three digits."""
    name: str  # the rule's name
    severity: Literal["error", "warning", "note"]  # how much it matters
    message: str  # what was found
    hint: str = ""
    """Advice; empty if there is nothing to do."""

    @property
    def code(self) -> str:
        """The rule's number, or the code of the message if the finding has a message of its own,
        such as `waves-lost`. The code stays when the wording changes."""
        return self.message.code if isinstance(self.message, Message) else self.rule


def _checked_elsewhere(*_: object) -> Iterator[Finding]:
    """Yields nothing: another room checks this rule."""
    yield from ()


class Rule(NamedTuple):
    """A rule: its number, documentation, function, and the severity of its findings."""

    number: str  # KI and three digits
    name: str
    """`vgpr-spill`."""
    severity: Severity  # severity of its findings by default
    documentation: str
    """What it finds, why it matters and what to do."""
    check: Callable[..., Iterator[Finding]] = _checked_elsewhere
    """Called with the rule, what it reads, then the `Occupancy`, then the `Code` if it reads that.
    Other rooms check rules on more than one kernel: reading, budgets, baselines, suppressions."""
    reads: Literal["traits", "code", "kernel", "touched", "loops"] = "traits"
    """`Traits`; `Traits` and the instruction counts of assembly; the whole `Kernel`, with name,
    lines and code object; or a `Kernel` whose `touched` registers, or whose `loops`, are known."""
    any_target: bool = False
    """True: the rule also judges kernels of unknown targets, with None for the `Occupancy`."""
    needs: str = ""
    """Field of `Numbers`: the rule finds nothing where it is 0 or not stated; empty for none."""
    needs_code: bool = False
    """True: the rule finds nothing without the instruction counts of assembly."""
    on: bool = True
    """True if it runs by default; False: only if the user selects it."""
    fixed: bool = False
    """True: the user chose the severity, so no finding has another."""

    def finding(self, message: str, hint: str = "", severity: Severity | None = None) -> Finding:
        """A finding of this rule; `severity` overrides the rule's own, unless that is fixed."""
        severity = self.severity if self.fixed else severity or self.severity
        return Finding(self.number, self.name, severity, message, hint)

    def may_find(self, traits: Traits) -> bool:
        """False if the number that the rule needs (`needs`) is 0 or not stated, so that it finds
        nothing."""
        return not self.needs or bool(getattr(traits.numbers, self.needs))

    @property
    def is_on_code(self) -> bool:
        """True if the rule finds something only where the code was read."""
        return self.reads in ("touched", "loops")

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return self.documentation.partition("\n")[0].rstrip(".")


class Result(NamedTuple):
    """One kernel, its occupancy under the given launch, and the findings of the rules."""

    kernel: Kernel
    occupancy: Occupancy | None
    """None if the target is unknown."""
    findings: tuple[Finding, ...] = ()
    """What the rules say; in `check`, also what budgets and the baseline say."""

    def __repr__(self) -> str:
        """One line: name and target, occupancy under the given launch, rules with findings."""
        name, target = _short(self.kernel.name), self.kernel.code_object.target
        waves_per_simd = self.occupancy and self.occupancy.waves_per_simd
        limiters = self.occupancy and self.occupancy.limiters
        rules = tuple(finding.rule for finding in self.findings)
        return f"Result({name!r}, {target!r}, {waves_per_simd=}, {limiters=}, findings={rules})"

    @property
    def compiler_number(self) -> CompilerNumber | None:
        """The compiler's own waves/SIMD and why it differs; None if it printed none."""
        if self.kernel.numbers.compiler_waves_per_simd is None:
            return None
        from kernelinfo.kernel.compiler_number import compiler_number  # needed by few formats

        kernel = self.kernel
        return compiler_number(kernel.traits, kernel.code_object, self.occupancy)

    @property
    def next(self) -> tuple[Step, ...]:
        """Steps to the next higher occupancy that are worth taking.

        Empty if a step would take registers of a kind that already spills.
        """
        if self.occupancy is None:
            return ()
        spilled = {"vgpr": self.kernel.numbers.vgpr_spills, "sgpr": self.kernel.numbers.sgpr_spills}
        is_spilling = any(spilled.get(step.resource) for step in self.occupancy.next)
        return () if is_spilling else self.occupancy.next

    @property
    def device(self) -> Device | None:
        """The product for numbers of a whole device: the target's first product; None if no product
        is known."""
        target = self.kernel.target
        return None if target is None else next(iter(target.devices), None)


class Repeat(NamedTuple):
    """A copy of another code object; its kernels are not counted again."""

    first: CodeObject
    path: str  # the file as it was named
    containers: tuple[str, ...]  # what the code is wrapped in, outermost first
    member: str | None  # name inside the innermost container
    offset: int | None  # bytes from the start of the outermost file
    is_exact: bool = True
    """True if the bytes are equal; False if the kernels only state the same as the assembly
    `first`."""


Item = Result | Problem | Repeat | Note | SpirV  # an analysis yields these one by one
