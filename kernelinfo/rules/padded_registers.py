"""KI208."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy import Occupancy, occupancy, targets
from kernelinfo.occupancy.limits import allocated_vgprs
from kernelinfo.occupancy.placement import Launch, placement
from kernelinfo.rules.remark import Remark

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
