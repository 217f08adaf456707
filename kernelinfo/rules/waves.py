"""KI2xx: waves that a little less, or another launch, would bring."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel import Kernel
from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy import Occupancy, occupancy, targets
from kernelinfo.occupancy.limits import allocated_vgprs, lds_of, waves_by_resource
from kernelinfo.occupancy.placement import Launch, placement
from kernelinfo.rules.remark import Remark, counted, waves_per_simd

_NEAR_VGPRS, _NEAR_LDS = 0.05, 0.1  # of the step, how far the kernel may be above it
_WORTH = 1.2  # times the waves of now: one wave more on top of eight is not worth a word
_MANY_WORKGROUPS = 4  # resident workgroups from which on one more hardly counts


def near_next_step(traits: Traits, occupancy: Occupancy) -> Iterator[Remark]:
    """A few VGPRs fewer would fit one more workgroup.

    What it finds: VGPRs as the only limit, and the next step 5 % below what the kernel uses, or
    one granule where this step is wider: with few VGPRs each granule is a step, and nothing is
    near. The step must bring a fifth more waves. Kernels that spill are left out: they are
    pressed already.
    Why it matters: so few registers can often be had by a small change of the source.
    What to do: look for values that need not stay alive; whether more waves help, measure.
    """
    if occupancy.limiters != ("vgpr",) or len(occupancy.next) != 1 or traits.spills.vgprs:
        return
    step = occupancy.next[0]
    limit = next(limit for limit in occupancy.limits if limit.resource == "vgpr")
    top = limit.used + (occupancy.headroom.vgprs or 0)
    padded = traits.used.vgprs is not None and limit.used > traits.used.vgprs
    one_granule = limit.allocated - step.at_most <= limit.granule < top - step.at_most
    if step.waves_per_simd < _WORTH * occupancy.waves_per_simd:
        return
    if padded or not (one_granule or -step.change <= _NEAR_VGPRS * step.at_most):
        return
    yield Remark(
        f"{counted(-step.change, 'VGPR')} fewer than {limit.used} would give "
        f"{step.waves_per_simd:.4g} instead of {waves_per_simd(occupancy.waves_per_simd)}",
        "look for values that need not stay alive",
    )


def lds_near_step(traits: Traits, occupancy: Occupancy) -> Iterator[Remark]:
    """A little less LDS would fit one more workgroup.

    What it finds: LDS as the only limit, and the next step, which brings a fifth more waves, at
    most 10 % below what is asked for. Where granules alone cost it, `lds-rounding-costs-workgroup`
    says so instead.
    Why it matters: padding against bank conflicts often costs just this much.
    What to do: a narrower pad or a smaller tile; whether more waves help, measure.
    """
    if occupancy.limiters != ("lds",) or len(occupancy.next) != 1:
        return
    step = occupancy.next[0]
    worth = step.waves_per_simd >= _WORTH * occupancy.waves_per_simd
    if worth and -step.change <= _NEAR_LDS * step.at_most and not lost_to_rounding(occupancy):
        yield Remark(
            f"{-step.change} B of LDS less would give {step.waves_per_simd:.4g} instead of "
            f"{waves_per_simd(occupancy.waves_per_simd)}",
            "take a narrower pad or a smaller tile",
        )


def lds_rounding_costs_workgroup(traits: Traits, occupancy: Occupancy) -> Iterator[Remark]:
    """One more workgroup would fit if LDS were not given out in granules.

    What it finds: LDS as the only limit, where the bytes asked for would let more workgroups in
    than the same bytes rounded up; a note where there are more than four anyway.
    Why it matters: a few bytes cost a whole workgroup, and no table of the source shows it.
    What to do: use no more than the multiple of the granule below.
    """
    lost = lost_to_rounding(occupancy)
    if not lost:
        return
    limit = next(limit for limit in occupancy.limits if limit.resource == "lds")
    fit = occupancy.workgroups + lost
    yield Remark(
        f"{limit.used} B of LDS are rounded to {limit.allocated}: {occupancy.workgroups} "
        f"workgroups per {occupancy.per} fit, by their bytes {fit} would",
        f"use at most {limit.used // limit.granule * limit.granule} B",
        "note" if occupancy.workgroups > _MANY_WORKGROUPS else None,
    )


def lost_to_rounding(occupancy: Occupancy) -> int:
    """Workgroups that LDS lets in by its bytes and not by its granules; 0 where more limits."""
    if occupancy.limiters != ("lds",) or not occupancy.workgroups:
        return 0
    at, demand = occupancy.placement, occupancy.demand
    allowed = waves_by_resource(at, demand)
    del allowed["lds"]
    by_bytes = at.domain.lds_bytes // (lds_of(demand, at.launch) or 1)
    return min(by_bytes, min(allowed.values()) // at.group) - occupancy.workgroups


def workgroup_leaves_slots(traits: Traits, occupancy: Occupancy) -> Iterator[Remark]:
    """Whole workgroups do not fill the wave slots that registers and LDS would leave.

    What it finds: a size that is required, configured or given and does not divide the slots, where
    these are the only limit, or scratch for as many waves with them. A note for a size that is
    given: it is asked about.
    Why it matters: 704 workitems are 11 waves; two such workgroups fill 22 of 32 slots.
    What to do: launch a size that divides the slots; `explain` lists the best.
    """
    unsure = occupancy.allocated.vgprs is None or occupancy.allocated.lds_bytes is None
    if set(occupancy.limiters) - {"scratch"} != {"slots"} or unsure:
        return
    if occupancy.launchable and occupancy.percent < 100 and occupancy.range is None:
        yield Remark(
            f"workgroups of {occupancy.launch.workgroup_size} fill {occupancy.waves} of "
            f"{occupancy.wave_slots} wave slots",
            "launch a size that divides the slots",
            "note" if occupancy.launch.assumption == "option" else "warning",
        )


def partial_wave(traits: Traits, occupancy: Occupancy) -> Iterator[Remark]:
    """The last wave of each workgroup has lanes without a workitem.

    What it finds: a workgroup size that is required or given, and no multiple of the wave's
    lanes. One workitem alone is taken to be intended.
    Why it matters: the idle lanes take a slot, registers and cycles like busy ones.
    What to do: a multiple of the wave size; on gfx10 and later wave32 may waste less.
    """
    launch = occupancy.launch
    if launch.assumption in ("declared-max", "hardware-max"):
        return
    wave = occupancy.placement.wave_size
    busy = launch.workgroup_size % wave
    if busy and launch.workgroup_size > 1:
        yield Remark(
            f"workgroups of {launch.workgroup_size} leave {wave - busy} of {wave} lanes of their "
            "last wave idle",
            f"launch a multiple of {wave}",
        )


def compiler_disagrees(kernel: Kernel, occupancy: Occupancy) -> Iterator[Remark]:
    """The compiler printed another occupancy than the hardware delivers.

    What it finds: an `; Occupancy:` in the assembly that is not this report's number, and which of
    the compiler's simplifications make the difference.
    Why it matters: register limits, launch bounds and other tools are chosen by that number.
    What to do: nothing about the kernel; trust the number that counts whole workgroups.
    """
    # Off unless asked for: imported here, as most reports do without.
    from kernelinfo.kernel.compiler_number import compiler_number

    number = compiler_number(kernel, occupancy)
    if number is not None and number.reason:
        yield Remark(
            f"the compiler printed {waves_per_simd(number.waves_per_simd)}, the hardware holds "
            f"{occupancy.waves_per_simd:.4g}: {number.reason}",
            "trust the latter, which counts whole workgroups",
        )


_BY_ATTRIBUTE = "raise the upper bound of amdgpu_waves_per_eu, where there is one"


def padded_registers(traits: Traits, result: Occupancy) -> Iterator[Remark]:
    """The descriptor allocates more VGPRs than the code uses.

    What it finds: VGPRs encoded beyond the granule of those in use. The compiler pads them up to
    the occupancy that `amdgpu_waves_per_eu` asks for, or (LLVM 21 on) that LDS allows anyway.
    Why it matters: the kernel is then limited by registers that it does not use; kernels that run
    at the same time get fewer. Code for a generic target is padded for the LDS that all its
    devices have, and holds those with more to that.
    What to do: where LDS is the cause, less LDS also ends the padding; where the attribute is,
    raise its upper bound; where a generic target is, compile for the device.
    """
    used, encoded = traits.used.vgprs, traits.encoded.vgprs
    if used is None or encoded is None or traits.target is None or traits.demand is None:
        return
    if traits.demand.agprs is None:
        return  # AGPRs that the input does not count may be what the rest is for
    at = placement(traits.target, traits.demand, result.launch)
    allocated = allocated_vgprs(at, traits.demand.vgprs)
    if allocated is not None and allocated - max(1, used) >= at.vgpr_file.granule:
        hint = _generic(traits, result.launch) or _lds(result) or _BY_ATTRIBUTE
        yield Remark(f"{allocated} VGPRs are allocated, {used} are used", hint=hint)


def _lds(result: Occupancy) -> str:
    """Where LDS binds as hard as the padded registers do, they were padded for it."""
    if not {"vgpr", "lds"} <= set(result.limiters):
        return ""
    return "likely padded to what LDS allows anyway; less LDS ends it"


def _generic(traits: Traits, launch: Launch) -> str:
    """Where some devices of a generic target have more LDS than the padding could count on."""
    compiled = targets.find(traits.compiled_for or "")
    assumed = compiled.domains[0].lds_bytes
    members = [targets.find(name) for name in compiled.members]
    richer = [member.name for member in members if member.domains[0].lds_bytes > assumed]
    if traits.demand is None or not richer:
        return ""
    poorer = next(member for member in members if member.name not in richer)
    if not _lds(occupancy(poorer, traits.demand, launch)):
        return ""
    return (
        f"likely padded for the {assumed // 1024} KiB of LDS that {compiled.name} assumes, "
        f"though there is more on {' and '.join(richer)}; compile for the device"
    )
