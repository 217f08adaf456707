"""KI2xx: waves that slightly fewer resources or another launch would gain."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.errors import Message
from kernelinfo.hardware import targets
from kernelinfo.kernel import Finding, Kernel, Result, Rule, counted, waves_per_simd
from kernelinfo.kernel.traits import Traits
from kernelinfo.model import Occupancy, occupancy
from kernelinfo.model.limits import Demand, Launch, waves_by_resource
from kernelinfo.rules.messages import remark, say

_NEAR_VGPRS, _NEAR_LDS = 0.05, 0.1  # how far above the step a kernel may be, as a share of the step
_WORTH = 1.2  # times the current waves; a smaller gain is not reported
_MANY_WORKGROUPS = 4  # with more resident workgroups, one more hardly counts


def near_next_step(rule: Rule, traits: Traits, occupancy: Occupancy) -> Iterator[Finding]:
    """A few VGPRs fewer would fit one more workgroup.

    What it finds: VGPRs as the only limit, and a next step at most 5 % or one granule below the
    VGPRs in use. The one-granule case counts only if the current step is wider than a granule.
    The step must gain a fifth more waves. Kernels that spill are left out.
    Why it matters: a small change of the source often saves so few registers.
    What to do: look for values that need not stay live; measure whether more waves help.
    """
    if occupancy.limiters != ("vgpr",) or len(occupancy.next) != 1 or traits.numbers.vgpr_spills:
        return
    step = occupancy.next[0]
    limit = next(limit for limit in occupancy.limits if limit.resource == "vgpr")
    top = occupancy.most_vgprs or limit.used
    one_granule = limit.allocated - step.at_most <= limit.granule < top - step.at_most
    if step.waves_per_simd < _WORTH * occupancy.waves_per_simd:
        return
    if not (one_granule or -step.change <= _NEAR_VGPRS * step.at_most):
        return
    yield remark(
        rule,
        "KI201",
        vgprs=counted(-step.change, "VGPR"),
        used=limit.used,
        more=f"{step.waves_per_simd:.4g}",
        waves=waves_per_simd(occupancy.waves_per_simd),
    )


def lds_near_step(rule: Rule, traits: Traits, occupancy: Occupancy) -> Iterator[Finding]:
    """A little less LDS would fit one more workgroup.

    What it finds: LDS as the only limit, and a next step at most 10 % below the LDS in use that
    gains a fifth more waves. `lds-rounding-costs-workgroup` replaces it if rounding alone costs
    the workgroup.
    Why it matters: padding against bank conflicts often costs just this much.
    What to do: try a narrower pad or a smaller tile; measure whether more waves help.
    """
    if occupancy.limiters != ("lds",) or len(occupancy.next) != 1:
        return
    step = occupancy.next[0]
    worth = step.waves_per_simd >= _WORTH * occupancy.waves_per_simd
    if worth and -step.change <= _NEAR_LDS * step.at_most and not lost_to_rounding(occupancy):
        waves = waves_per_simd(occupancy.waves_per_simd)
        yield remark(
            rule, "KI202", less=-step.change, more=f"{step.waves_per_simd:.4g}", waves=waves
        )


def lds_rounding_costs_workgroup(
    rule: Rule, traits: Traits, occupancy: Occupancy
) -> Iterator[Finding]:
    """Rounding LDS up to its granule costs a workgroup.

    What it finds: LDS as the only limit, and more workgroups would fit without rounding to
    granules; a note if more than four fit anyway.
    Why it matters: a few bytes cost a whole workgroup, and the source does not show it.
    What to do: reduce LDS to a multiple of the granule.
    """
    lost = lost_to_rounding(occupancy)
    if not lost:
        return
    limit = next(limit for limit in occupancy.limits if limit.resource == "lds")
    yield remark(
        rule,
        "KI203",
        "note" if occupancy.workgroups > _MANY_WORKGROUPS else None,
        used=limit.used,
        allocated=limit.allocated,
        workgroups=occupancy.workgroups,
        per=occupancy.per,
        more=occupancy.workgroups + lost,
        most=limit.used // limit.granule * limit.granule,
    )


def lost_to_rounding(occupancy: Occupancy) -> int:
    """Workgroups lost to rounding LDS to its granule; 0 if LDS is not the only limiter."""
    if occupancy.limiters != ("lds",) or not occupancy.workgroups:
        return 0
    placed = occupancy.placement
    allowed = waves_by_resource(placed)
    del allowed["lds"]
    by_bytes = placed.domain.lds_bytes // (placed.lds_bytes or 1)
    return min(by_bytes, min(allowed.values()) // placed.group) - occupancy.workgroups


def workgroup_leaves_slots(rule: Rule, traits: Traits, occupancy: Occupancy) -> Iterator[Finding]:
    """Whole workgroups leave wave slots empty.

    What it finds: a required, configured or given workgroup size that does not divide the wave
    slots, if the slots (or scratch with them) are the only limit. A size given by option is a
    note.
    Why it matters: 704 workitems are 11 waves; two such workgroups fill 22 of 32 slots.
    What to do: launch a size whose waves divide the slots evenly; `explain` lists the best sizes.
    """
    if [resource for resource in occupancy.limiters if resource != "scratch"] != ["slots"]:
        return
    if occupancy.demand.vgprs is None or occupancy.demand.lds_bytes is None:
        return
    if occupancy.launchable and occupancy.percent < 100 and occupancy.range is None:
        yield remark(
            rule,
            "KI204",
            "note" if occupancy.launch.assumption == "option" else "warning",
            size=occupancy.launch.workgroup_size,
            waves=occupancy.waves,
            slots=occupancy.wave_slots,
        )


def partial_wave(rule: Rule, traits: Traits, occupancy: Occupancy) -> Iterator[Finding]:
    """The last wave of each workgroup has lanes without a workitem.

    What it finds: a required, configured or given workgroup size that is not a multiple of the
    wave size. A single workitem is taken as intended.
    Why it matters: idle lanes take a slot, registers and cycles like busy ones.
    What to do: launch a multiple of the wave size; on gfx10 and later wave32 may waste less.
    """
    launch = occupancy.launch
    if launch.assumption in ("declared-max", "hardware-max"):
        return
    wave = occupancy.demand.wave_size
    busy = launch.workgroup_size % wave
    if busy and launch.workgroup_size > 1:
        yield remark(rule, "KI205", size=launch.workgroup_size, idle=wave - busy, lanes=wave)


def compiler_disagrees(rule: Rule, kernel: Kernel, occupancy: Occupancy) -> Iterator[Finding]:
    """The compiler printed another occupancy than the hardware reaches.

    What it finds: an `; Occupancy:` in the assembly that differs from this report, and the
    simplification of the compiler that explains the difference.
    Why it matters: people choose register limits and launch bounds by the printed number.
    What to do: nothing in the kernel; trust the number that counts whole workgroups.
    """
    number = Result(kernel, occupancy).compiler_number
    if number is not None and number.reason:
        printed, waves = waves_per_simd(number.waves_per_simd), f"{occupancy.waves_per_simd:.4g}"
        yield remark(rule, "KI207", printed=printed, waves=waves, why=number.reason)


def padded_registers(rule: Rule, traits: Traits, result: Occupancy) -> Iterator[Finding]:
    """The descriptor allocates more registers than the code uses.

    What it finds: a descriptor that encodes more granules of VGPRs, AGPRs or SGPRs than the code
    uses. From LLVM 21 on the compiler pads them to the waves that LDS and workgroup size allow;
    earlier ones pad only to the upper bound of `amdgpu_waves_per_eu`. If padding costs no wave,
    limiters and next steps are computed without it.
    Why it matters: kernels that run at the same time get fewer registers, and padding for a bound
    or a generic target may cost waves. Padding for a generic target assumes the smallest LDS among
    its devices.
    What to do: padding for LDS needs no action, and goes away if the kernel uses less LDS; if the
    attribute causes it, raise its upper bound; if a generic target causes it, compile for the
    device.
    """
    demand = traits.demand
    if demand is None or not demand.is_padded:
        return
    alone = _without_padding(result)
    if alone.waves == result.waves and _is_assembled(demand, result.placement.target):
        return
    kinds = list(_padded_kinds(demand, result))
    allocated, used = (" and ".join(words) for words in zip(*kinds, strict=True))
    lost: str = say("KI208-free")
    if alone.waves > result.waves:
        waves, unpadded = f"{result.waves_per_simd:.4g}", waves_per_simd(alone.waves_per_simd)
        lost = say("KI208-lost", waves=waves, unpadded=unpadded)
    finding = remark(rule, "KI208", allocated=allocated, used=used, lost=lost)
    yield finding._replace(hint=_generic(traits, result.launch) or _cause(result, alone))


def loses_waves(padded: Occupancy) -> bool:
    """True if a kernel would have more waves without the padding of its registers."""
    return _without_padding(padded).waves > padded.waves


def _without_padding(padded: Occupancy) -> Occupancy:
    return occupancy(targets.find(padded.target), padded.demand.unpadded, padded.launch)


def _is_assembled(demand: Demand, target: targets.Target) -> bool:
    """True if all padding is explained by the SGPRs that the assembler adds for VCC, flat scratch
    and XNACK. Hand-written metadata does not count these."""
    if demand.used_vgprs is not None or demand.used_sgprs is None:
        return False
    extra = targets.extra_sgprs(target, vcc=True, flat_scratch=True, xnack=True)
    assembled = targets.align(demand.used_sgprs + extra, target.sgprs.encoding_granule)
    return (demand.sgprs or 0) <= assembled


def _padded_kinds(demand: Demand, result: Occupancy) -> Iterator[tuple[str, str]]:
    """(allocated, used) of each padded kind: `104 VGPRs (52 AGPRs)`, `50 (0)`."""
    granted = result.allocated
    if (used := demand.used_vgprs) is not None:
        agprs = demand.agprs or 0
        is_split = demand.accum_offset is not None and (granted.agprs or 0) > agprs
        yield (
            f"{granted.vgprs} VGPRs" + (f" ({granted.agprs} AGPRs)" if is_split else ""),
            f"{used}" + (f" ({agprs})" if is_split else ""),
        )
    if demand.used_sgprs is not None:
        yield f"{granted.sgprs} SGPRs", f"{demand.used_sgprs}"


def _cause(result: Occupancy, alone: Occupancy) -> Message:
    """The likely cause of the padding; `alone` is the occupancy of the code without it."""
    if alone.waves > result.waves:
        return say("KI208-bound-mend")
    allowed = waves_by_resource(result.placement)
    padded = max(allowed.get("vgpr", 0), allowed.get("sgpr", 0))
    lds = allowed.get("lds", result.wave_slots)
    if lds <= padded and lds < result.wave_slots:
        return say("KI208-lds-mend")
    return say("KI208-launch-mend")


def _generic(traits: Traits, launch: Launch) -> str:
    """A hint if devices of a generic target have more LDS than the padding assumes, or empty."""
    compiled = targets.find(traits.compiled_for or "")
    assumed = compiled.domains[0].lds_bytes
    members = [targets.find(name) for name in compiled.members]
    richer = [member.name for member in members if member.domains[0].lds_bytes > assumed]
    if traits.demand is None or not richer:
        return ""
    poorer = next(member for member in members if member.name not in richer)
    padded = occupancy(poorer, traits.demand, launch)
    if _cause(padded, _without_padding(padded)).code != "KI208-lds-mend":
        return ""
    lds, devices = assumed // 1024, " and ".join(richer)
    return say("KI208-generic-mend", lds=lds, target=compiled.name, devices=devices)
