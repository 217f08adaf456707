"""KI1xx: values in memory instead of registers, and calls that leave numbers open."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from kernelinfo.hardware.targets import REGISTER_BYTES, align
from kernelinfo.kernel import Finding, Kernel, Rule, counted
from kernelinfo.kernel.code_object import FEW_COPIES, LoopCounts, matrix_loops
from kernelinfo.kernel.names import demangle, short
from kernelinfo.kernel.traits import Traits
from kernelinfo.model import Occupancy
from kernelinfo.reading.facts import Code, SpillPlace
from kernelinfo.rules.messages import remark, say

_FEW_VGPRS = 4  # spilled VGPRs; so few rarely cost time, often one value saved across a call
_MANY_SGPRS = 64  # spilled SGPRs fill the lanes of one VGPR in wave64; more take further VGPRs
_FRAME_BYTES = 16
"""Scratch bytes that a spilling kernel may have on top: stack alignment, and one slot for a
register that holds addresses."""
_LARGE_BYTES = 256  # per lane; the calling convention alone rarely takes more


def vgpr_spill(
    rule: Rule, traits: Traits, occupancy: Occupancy | None, code: Code | None
) -> Iterator[Finding]:
    """VGPRs did not fit and are kept in scratch memory or in AGPRs.

    What it finds: a VGPR spill count above 0 in the metadata; a note up to 4. `spill-in-loop`
    replaces it if the spills are in a loop. In assembly the message names the source line (`-g1`)
    or the call with most of the spill instructions.
    Why it matters: every reload costs a memory access for a whole wave.
    What to do: find the reloads (`explain`); a looser launch bound gives more registers.
    """
    in_loop = code is not None and code.loops
    if (spilled := traits.numbers.vgpr_spills) and not in_loop:
        scratch = traits.numbers.scratch_bytes_per_lane
        in_scratch = ""
        if scratch:
            in_scratch = say("KI101-scratch", scratch=scratch)
        elif scratch is not None:
            in_scratch = say("KI101-without-scratch")
        place = ""
        if code is not None and code.place:
            instructions = counted(code.place.number, "spill instruction")
            place = say("KI101-place", instructions=instructions, place=_at(code.place))
        severity = "note" if spilled <= _FEW_VGPRS else None
        vgprs = counted(spilled, "VGPR")
        looser = say("KI101-looser") if _may_have_more(traits) else ""
        yield remark(
            rule, "KI101", severity, vgprs=vgprs, scratch=in_scratch, place=place, looser=looser
        )


def _may_have_more(traits: Traits) -> bool:
    """False if the kernel's VGPRs are all that a wave can address: no launch bound gives more."""
    target, demand, used = traits.target, traits.demand, traits.numbers.vgprs
    if target is None or demand is None or used is None:
        return True
    file = target.vgpr_file(demand.wave_size)
    return align(used, file.granule) < file.addressable


def scratch_without_spill(
    rule: Rule, traits: Traits, occupancy: Occupancy | None, code: Code | None
) -> Iterator[Finding]:
    """Scratch memory that register spills do not explain.

    What it finds: scratch in a kernel without spills, or more scratch than the spilled registers
    take. It is a warning above 256 B, or if assembly shows that a loop touches the scratch.
    `dynamic-stack` replaces it if scratch grows at run time.
    Why it matters: a local array indexed at run time, an alloca or the frame of a call that was
    not inlined lives in memory instead of registers.
    What to do: index the array by constants (unroll the loop), or inline the call. There is
    nothing to do about the frame of a library function such as `printf`.
    """
    scratch = traits.numbers.scratch_bytes_per_lane or 0
    vgprs, sgprs = traits.numbers.vgpr_spills, traits.numbers.sgpr_spills
    if vgprs is None or sgprs is None or traits.numbers.dynamic_stack:
        return
    spilled = vgprs + sgprs
    explained = REGISTER_BYTES * spilled + _FRAME_BYTES if spilled else 0
    if scratch > explained:
        beyond = say("KI102-without")
        if spilled:
            beyond = say("KI102-beyond", registers=_registers(vgprs, sgprs))
        cause = say("KI102-array")
        if code is None or code.calls:
            cause = say("KI102-array-or-frame")
            if code and code.callees:
                cause = say("KI102-array-or-callee", callees=_called(code.callees))
        # The compiler comments a clause of reloads once, so with spills the count is unreliable.
        in_loops = 0 if spilled or code is None else code.scratch_in_loops or 0
        loops = say("KI102-loops", times=counted(in_loops, "time")) if in_loops else ""
        severity = "warning" if in_loops or scratch - explained > _LARGE_BYTES else None
        finding = remark(
            rule, "KI102", severity, scratch=scratch, beyond=beyond, cause=cause, loops=loops
        )
        if code and _are_of_a_library(code.callees):
            finding = finding._replace(hint=say("KI102-library-mend"))
        yield finding


def _registers(vgprs: int, sgprs: int) -> str:
    """`5 VGPRs and 1 SGPR`."""
    kinds = ((vgprs, "VGPR"), (sgprs, "SGPR"))
    return " and ".join(counted(count, noun) for count, noun in kinds if count)


def sgpr_spill(rule: Rule, traits: Traits, occupancy: Occupancy | None) -> Iterator[Finding]:
    """SGPRs did not fit and are kept in lanes of VGPRs.

    What it finds: a spill count above 0 in the metadata; a warning from 64 on.
    Why it matters: each spill costs a lane move, and every 64 spills (wave64) take another VGPR.
    What to do: keep fewer kernel arguments and uniform values alive at once.
    """
    if spilled := traits.numbers.sgpr_spills:
        severity = "warning" if spilled >= _MANY_SGPRS else None
        yield remark(rule, "KI103", severity, sgprs=counted(spilled, "SGPR"))


def dynamic_stack(
    rule: Rule, traits: Traits, occupancy: Occupancy | None, code: Code | None
) -> Iterator[Finding]:
    """Scratch grows at run time, so its size is unknown.

    What it finds: `.uses_dynamic_stack`: recursion, an alloca of unknown size, or a call whose
    callee the compiler did not see.
    Why it matters: the runtime reserves a guess, and too small a guess is a memory fault.
    What to do: bound the recursion, give the alloca a constant size, make the callee visible.
    """
    if traits.numbers.dynamic_stack:
        scratch = traits.numbers.scratch_bytes_per_lane or 0
        callees = code.callees if code else ()
        calls = say("KI104-calls", callees=_called(callees)) if callees else ""
        finding = remark(rule, "KI104", scratch=scratch, calls=calls)
        yield finding._replace(hint="") if _are_of_a_library(callees) else finding


def indirect_call(
    rule: Rule, traits: Traits, occupancy: Occupancy | None, code: Code | None
) -> Iterator[Finding]:
    """The kernel calls functions that the compiler could not see.

    What it finds: a call through a pointer, or to a function of another file. In assembly of LLVM
    20 and later, the message on a call through a pointer names the VGPRs that the kernel alone
    needs and, if a function of the file needs more, the one with the most VGPRs, for which the
    compiler makes room.
    Why it matters: registers and scratch count only the functions in this file, so the occupancy
    is an upper bound. A large function in the file costs all kernels that call through a pointer.
    What to do: for other files, nothing if the callees are small; otherwise compile all device
    code as one module. For a pointer, choose among direct calls.
    """
    if not traits.numbers.indirect_call:
        return
    callees = traits.numbers.callees
    if code and code.outside:
        yield remark(rule, "KI105-outside", callees=_called(code.outside))
    elif code and callees and callees.most_vgprs > callees.alone_vgprs:
        vgprs, alone = callees.most_vgprs, callees.alone_vgprs
        function = short(demangle(callees.function))
        yield remark(rule, "KI105-largest", most=vgprs, function=function, alone=alone)
    elif code and callees:
        yield remark(rule, "KI105-alone", alone=callees.alone_vgprs)
    else:
        yield remark(rule, "KI105")


def spill_in_loop(
    rule: Rule, traits: Traits, occupancy: Occupancy, code: Code | None
) -> Iterator[Finding]:
    """Spilled registers are stored or loaded inside a loop.

    What it finds: in assembly text, "Folded Spill" and "Folded Reload" comments in blocks that the
    compiler marks as part of a loop. Moves to AGPRs are not counted. It replaces `vgpr-spill`. The
    message names the source line (`-g1`) or the call with most of them.
    Why it matters: each costs a memory access of the whole wave in every iteration. Spills around
    a loop cost it once.
    What to do: keep fewer values live across that loop, or allow more VGPRs.
    """
    loops = code.loops if code else None
    if not loops:
        return
    worst = max(loops, key=lambda loop: (loop.depth, loop.reloads + loop.spills))
    kinds = ((worst.reloads, "spill reload"), (worst.spills, "spill store"))
    spills = " and ".join(counted(count, noun) for count, noun in kinds if count)
    depth = place = other_loops = vgprs = ""
    if worst.depth > 1:
        depth = say("KI106-depth", depth=worst.depth)
    if worst.place:
        place = say("KI106-place", count=worst.place.number, place=_at(worst.place))
    if len(loops) > 1:
        other_loops = say("KI106-others", loops=counted(len(loops) - 1, "other loop"))
    if spilled := traits.numbers.vgpr_spills:
        scratch, taken = traits.numbers.scratch_bytes_per_lane or 0, REGISTER_BYTES * spilled
        # Spilled registers may share a slot or sit in AGPRs; then the bytes do not add up.
        part = say("KI106-scratch", spilled=taken, scratch=scratch) if taken <= scratch else ""
        vgprs = say("KI106-vgprs", vgprs=spilled, scratch=part)
    yield remark(
        rule,
        "KI106",
        spills=spills,
        loop=worst.header,
        depth=depth,
        place=place,
        others=other_loops,
        vgprs=vgprs,
        looser=say("KI106-looser") if _may_have_more(traits) else "",
    )


def copies_in_matrix_loop(rule: Rule, kernel: Kernel, occupancy: Occupancy) -> Iterator[Finding]:
    """Values move between VGPRs and AGPRs in a loop with matrix instructions.

    What it finds: an innermost loop with matrix instructions in which at least 32 instructions, and
    at least a tenth of the loop, copy between VGPRs and AGPRs. A warning of `check` if there are
    more copies than in the baseline. Only where code is read: in assembly always, in code objects
    by `pressure`, by `explain` and with `--instructions`.
    Why it matters: the copies take issue slots from the matrix instructions in every iteration.
    The accumulators or operands did not fit into the kind of register in which they are needed.
    What to do: let a wave hold fewer accumulators (a smaller tile, more waves), so that they fit:
    half the tile took four Triton kernels from 354 to 898 copies to between 0 and 18. LLVM 22 has
    `-mllvm -amdgpu-mfma-vgpr-form`. It helps kernels that call functions through pointers (128
    copies to 0 in `fixtures/src/copies.hip`), and changed none of 520 kernels without such calls.
    """
    loops = [
        loop
        for loop in matrix_loops(kernel.loops or ())
        if loop.agpr_copies >= max(FEW_COPIES, loop.counts.instructions / 10)
    ]
    if not loops:
        return
    worst = max(loops, key=lambda loop: loop.counts.copies)
    each, others = worst.counts.copies / worst.counts.matrix, ""
    if len(loops) > 1:
        others = say("KI107-others", loops=counted(len(loops) - 1, "other loop"))
    yield remark(
        rule,
        "KI107",
        copies=worst.counts.copies,
        between=worst.agpr_copies,
        instructions=worst.counts.instructions,
        loop=in_words(worst),
        each=f"{each:.0f}" if each >= 10 else f"{each:.2g}",
        others=others,
    )


def in_words(loop: LoopCounts) -> str:
    """`loop .LBB0_2 (gemm.py:11)`."""
    place = f"{posixpath.basename(loop.source.file)}:{loop.source.line}" if loop.source else ""
    if not loop.label:
        return say("loop-placed", place=place or f"{loop.address or 0:#x}")
    beside = say("loop-label-place", place=place) if place else ""
    return say("loop-labelled", label=loop.label, place=beside)


def _at(place: SpillPlace) -> str:
    """`at attention.hip:87, after the call to lookup`."""
    parts = []
    if place.source:
        parts.append(say("spills-at", place=posixpath.basename(place.source)))
    if place.callee:
        parts.append(say("spills-behind-call", callee=short(demangle(place.callee))))
    return ", ".join(parts)


def _are_of_a_library(callees: tuple[str, ...]) -> bool:
    """True if all callees are functions of the compiler's libraries, such as `__ockl_printf_begin`.

    Names with two underscores are reserved for these (ISO C 7.1.3). False without a callee.
    """
    return bool(callees) and all(demangle(callee).startswith("__") for callee in callees)


def _called(symbols: tuple[str, ...]) -> str:
    """`lookup`, or `lookup and 2 other functions`."""
    first, *further = [short(demangle(symbol)) for symbol in symbols] or [""]
    return f"{first} and {counted(len(further), 'other function')}" if further else first
