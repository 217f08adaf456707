"""Vector registers that a kernel's code needs, however the compiler placed its values; and these
in words.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import NamedTuple, TypeGuard

from kernelinfo.kernel.messages import say
from kernelinfo.kernel.traits import Traits
from kernelinfo.model import Occupancy
from kernelinfo.model.calculator import Rung, vgpr_steps
from kernelinfo.model.limits import Launch, most_vgprs, place
from kernelinfo.reading.facts import SourceLine

_OF_A_CLASS = 256  # VGPRs, and AGPRs, that one instruction can name (CDNA3 ISA, "VGPRs")
_NEAR = 240  # of these; a tuple of 16 does not fit above


class NeedsShare(NamedTuple):
    """Live values of one role at the instruction where most values are live."""

    role: str | None
    """As in the bill of live registers; None for values that only a spill slot holds."""
    crossing: int  # alive at the begin or the end of the basic block
    inside: int  # made and ended inside of it


class RegisterNeeds(NamedTuple):
    """The most registers and spill slots live at any one instruction, each value counted once and
    each class by itself.

    Callees are left out. SGPRs in lanes of VGPRs count as SGPRs, and such a VGPR as one VGPR.
    """

    vector: int
    """Values per lane that count against the steps of the occupancy: those of VGPRs and AGPRs
    together where they share one file, those of the class with more where each has its own."""
    vgprs: int  # per lane
    agprs: int  # per lane
    sgprs: int  # per wave
    in_memory: int  # of `vector`, those that only a spill slot holds
    exact: bool  # False: the numbers are lower bounds
    number: int  # number of instructions before the first with `vector`
    line: int | None  # 1-based, of the assembly text
    address: int | None  # as symbols of the code object count
    source: SourceLine | None
    border: int
    """Vector values alive at the beginning or at the end of its basic block, whichever are more: no
    order of the instructions inside needs fewer."""
    is_loop: bool  # True if that block is a loop
    shares: tuple[NeedsShare, ...]
    """The `vector` values by role, the largest role first; empty without spill slots."""

    def step(self, steps: Iterable[Rung]) -> Rung | None:
        """The first of the steps whose VGPRs suffice for the needed vector registers; None if none
        does. Steps are sorted by occupancy, highest first."""
        return next((step for step in steps if step.vgprs >= self.vector), None)

    def advice(self, traits: Traits, occupancy: Occupancy | None) -> str:
        """The needs of a kernel with these traits, in words; see `in_words`."""
        return in_words(self, traits, occupancy)


def in_words(needs: RegisterNeeds | None, traits: Traits, occupancy: Occupancy | None) -> str:
    """`the code needs 167 VGPRs at gemm.py:31; usually 168 hold them (3 waves/SIMD)`; empty if the
    kernel spills nothing, or its needs are not known."""
    registers = registers_in_words(needs, traits, occupancy)
    return say("needs", what=registers) if registers else ""


def registers_in_words(
    needs: RegisterNeeds | None, traits: Traits, occupancy: Occupancy | None
) -> str:
    """`167 VGPRs at gemm.py:31; usually 168 hold them (3 waves/SIMD)`; empty in the same cases as
    `in_words`."""
    if not _is_needed(needs, traits):
        return ""
    registers = _registers(needs, traits)
    return registers if occupancy is None else f"{registers}{_held(needs, traits, occupancy)}"


def _is_needed(needs: RegisterNeeds | None, traits: Traits) -> TypeGuard[RegisterNeeds]:
    return needs is not None and bool(traits.numbers.vgpr_spills or needs.shares)


def _registers(needs: RegisterNeeds, traits: Traits) -> str:
    """`167 VGPRs at gemm.py:31`."""
    place = _place(needs)
    return say(
        "needs-registers",
        least="" if needs.exact else say("needs-least"),
        number=needs.vector,
        noun=_noun(needs, traits),
        place=say("needs-at", place=place) if place else "",
    )


def _held(needs: RegisterNeeds, traits: Traits, occupancy: Occupancy) -> str:
    """In words: that the allocated registers suffice, which step would suffice, or that none
    does."""
    given, steps = registers_of(occupancy), _steps(traits, occupancy)
    if given is not None and needs.vector <= given:
        return say("needs-fit", given=given, why=_why_not_free(needs, traits))
    if (step := needs.step(steps)) is None:
        most = max((step.vgprs for step in steps), default=0)
        bound = roomier_bound(needs, traits, occupancy)
        roomier = say("needs-roomier", size=bound[0], vgprs=bound[1]) if bound else ""
        return say("needs-none", most=most, roomier=roomier)
    return say("needs-step", vgprs=step.vgprs, waves=_waves(step.waves_per_simd))


def roomier_bound(
    needs: RegisterNeeds, traits: Traits, occupancy: Occupancy
) -> tuple[int, int] | None:
    """(workitems, VGPRs) of the largest launch bound that allows the needed registers and is
    smaller than the launched workgroup; None without one."""
    target, demand = traits.target, occupancy.demand.unpadded
    size = target.waves.max_workgroup_size if target else 0
    while target and size >= demand.wave_size:
        placed = place(target, demand, Launch(size))
        vgprs = most_vgprs(placed, placed.group)
        if size < occupancy.launch.workgroup_size and vgprs >= needs.vector:
            return size, vgprs
        size //= 2
    return None


def _steps(traits: Traits, occupancy: Occupancy) -> tuple[Rung, ...]:
    """The VGPR steps of a kernel's launch, highest occupancy first."""
    return vgpr_steps(traits.target, occupancy) if traits.target else ()


def looser_waves(
    needs: RegisterNeeds | None, traits: Traits, occupancy: Occupancy | None
) -> int | None:
    """Waves/SIMD of the step that has enough registers for a spilling kernel. None if the allocated
    registers suffice, if no step does, if no VGPRs are spilled, or if the numbers are not known."""
    if needs is None or occupancy is None or not traits.numbers.vgpr_spills:
        return None
    given = registers_of(occupancy)
    step = needs.step(_steps(traits, occupancy))
    if step is None or given is None or needs.vector <= given:
        return None
    return int(step.waves_per_simd) or None


def registers_of(occupancy: Occupancy) -> int | None:
    """Vector registers per lane that the compiler gave the code, without the descriptor's padding;
    None if they are not known."""
    return occupancy.demand.unpadded.vgprs


def _why_not_free(needs: RegisterNeeds, traits: Traits) -> str:
    """Why a compiler may spill although its registers hold the values."""
    is_shared = traits.target is not None and traits.target.agprs.file == "unified"
    if is_shared and max(needs.vgprs, needs.agprs) >= _NEAR:
        return say("needs-apart", vgprs=needs.vgprs, agprs=needs.agprs, most=_OF_A_CLASS)
    return say("needs-tuples")


def _noun(needs: RegisterNeeds, traits: Traits) -> str:
    """What the steps of the kernel's occupancy count."""
    is_shared = traits.target is not None and traits.target.agprs.file == "unified"
    return "VGPRs and AGPRs" if is_shared and needs.agprs else "VGPRs"


def _place(needs: RegisterNeeds) -> str:
    """`gemm.py:31`, or `line 77` of the assembly."""
    if needs.source:
        return f"{posixpath.basename(needs.source.file)}:{needs.source.line}"
    return "" if needs.line is None else say("needs-line", line=needs.line)


def _waves(number: float) -> str:
    return f"{number:.4g} wave{'' if number == 1 else 's'}/SIMD"
