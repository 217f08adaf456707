"""KI3xx and KI4xx: how the code was compiled, and how large it is."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel import Kernel
from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy import Occupancy
from kernelinfo.occupancy.limits import most_vgprs
from kernelinfo.occupancy.placement import Launch, align, placement
from kernelinfo.reading.facts import Code
from kernelinfo.rules.remark import Remark, counted, waves_per_simd


def agpr_without_mfma(traits: Traits, occupancy: Occupancy, code: Code | None) -> Iterator[Remark]:
    """AGPRs are used, and no matrix instruction is there to use them.

    What it finds: in assembly text, AGPRs in a kernel without MFMA, SMFMAC and calls.
    Why it matters: they hold what did not fit into VGPRs. A move each way is cheap next to
    scratch; where both share one file, they count against occupancy all the same.
    What to do: nothing, if those waves are not missed; else the same as for spills.
    """
    agprs = traits.used.agprs
    if code is None or not agprs or code.matrix or code.calls:
        return
    held = ""
    if code.agpr_moves:
        held = f": they hold spilled VGPRs ({counted(code.agpr_moves, 'move')})"
    yield Remark(
        f"{agprs} AGPRs without a matrix instruction{held}",
        "where waves are missed, keep fewer values alive",
    )


def at_cap_and_spilling(traits: Traits, occupancy: Occupancy) -> Iterator[Remark]:
    """Register allocation stopped exactly at a step of the occupancy, and spilled.

    What it finds: spilled VGPRs, and as many in use as a number of waves per SIMD allows.
    Why it matters: a launch bound or `amdgpu_waves_per_eu` was the limit, not the code; the
    waves that it buys are paid for with spills.
    What to do: compile once with the next looser bound and measure both.
    """
    if not traits.spills.vgprs or (step := step_in_use(traits)) is None:
        return
    vgprs, waves = step
    yield Remark(
        f"allocation stopped exactly at the {vgprs}-VGPR step for {counted(waves, 'wave')} and "
        "spilled",
        "compile with the next looser bound and measure both",
    )


def step_in_use(traits: Traits) -> tuple[int, int] | None:
    """VGPRs and waves per SIMD of the step whose last granule the code uses.

    None below the last granule, and where it is the last of all: no bound stops there.
    """
    target, demand, used = traits.target, traits.demand, traits.used.vgprs
    if target is None or demand is None or used is None:
        return None
    file = target.vgpr_file(demand.wave_size)
    allocated = align(max(1, used), file.granule)
    waves = min(file.per_simd // allocated, target.waves.slots_per_simd)
    most = file.per_simd // waves // file.granule * file.granule if waves else 0
    return (allocated, waves) if allocated == most < file.addressable else None


def missing_launch_bound(traits: Traits, occupancy: Occupancy) -> Iterator[Remark]:
    """Spills because the compiler had to leave room for the largest workgroup there is.

    What it finds: `at-cap-and-spilling`, where the declared maximum is the hardware's, as without
    a launch bound, and the step is just the one with which such a workgroup can start.
    Why it matters: a kernel that is only launched with fewer workitems pays for those that never
    come.
    What to do: state the real size by `__launch_bounds__`.
    """
    target, demand = traits.target, traits.demand
    step = step_in_use(traits) if traits.spills.vgprs else None
    if target is None or demand is None or step is None:
        return
    largest = target.waves.max_workgroup_size
    if traits.workgroup.declared_max != largest or traits.workgroup.required is not None:
        return
    whole, half = (placement(target, demand, Launch(size)) for size in (largest, largest // 2))
    if step[0] == most_vgprs(whole, whole.group):
        yield Remark(
            f"the launch bound is {largest}, as without one, which allows {step[0]} VGPRs; "
            f"{largest // 2} would allow {most_vgprs(half, half.group)}",
            "state the size that is launched by __launch_bounds__",
        )


def waves_hint_too_high(traits: Traits, occupancy: Occupancy) -> Iterator[Remark]:
    """Spills, though more VGPRs would not cost a wave.

    What it finds: spilled VGPRs, while slots, LDS or whole workgroups hold the waves so low that
    the next step of the register file has room for all of them.
    Why it matters: `amdgpu_waves_per_eu` or the second argument of `__launch_bounds__` asks for
    waves that cannot be resident, and the spills buy nothing.
    What to do: lower that number to the waves that are resident.
    """
    spilled, used = traits.spills.vgprs, traits.used.vgprs
    if not spilled or used is None or not occupancy.exact:
        return
    room = occupancy.headroom.vgprs
    if room is None or room < spilled:
        return
    asked = next((limit.used for limit in occupancy.limits if limit.resource == "vgpr"), used)
    yield Remark(
        f"{spilled} VGPRs spilled, though {asked + room} VGPRs would keep the same "
        f"{waves_per_simd(occupancy.waves_per_simd)}",
        "lower the waves of amdgpu_waves_per_eu or __launch_bounds__ to these",
    )


_FEATURES_LEFT_OPEN = 4
"""The first code object version whose target id may leave a feature open (AMDGPUUsage, "Target
ID"); before, one that is not named is off."""


def mixed_target_features(kernel: Kernel, occupancy: Occupancy) -> Iterator[Remark]:
    """Of one processor, a file has code that sets XNACK or SRAM ECC and code that leaves it open.

    What it finds: a code object whose target id names a feature that the id of an earlier one of
    the same file and processor does not name, or the reverse. `xnack+` next to `xnack-` is normal.
    Why it matters: where both fit the device, it is up to the loader which one runs; where only
    one kernel of a library insists on a setting, that one is missing on the other devices. clang
    and newer bundlers refuse to put such code into one bundle.
    What to do: name the same features in every `--offload-arch` of the processor.
    """
    code_object = kernel.code_object
    entry, version = code_object.conflicting_entry, code_object.code_object_version or 0
    if entry and version >= _FEATURES_LEFT_OPEN:
        # `gfx90a:xnack+` of `hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+`
        own, other = (name.rpartition("--")[2] for name in (code_object.member or "", entry))
        yield Remark(
            f"built for {own}, next to code for {other} in the same file",
            "name the same features in every --offload-arch of the processor",
        )


def code_exceeds_icache(kernel: Kernel, occupancy: Occupancy) -> Iterator[Remark]:
    """A kernel's code is larger than the instruction cache.

    What it finds: more bytes of code than the first cache of instructions holds, on targets for
    which AMD has published its size. Functions that the kernel calls are not counted.
    Why it matters: a loop that does not fit fetches its instructions from L2 each time around,
    and so do the waves of the neighbouring CUs that share the cache.
    What to do: look whether a loop of this size is run often; less unrolling or inlining makes it
    smaller. Code that runs once may be as large as it likes, which is why the rule is off.
    """
    cache = kernel.target.icache if kernel.target else None
    if cache is not None and (kernel.code_bytes or 0) > cache.bytes:
        yield Remark(
            f"{kernel.code_bytes} bytes of code, where the instruction cache "
            f"of {cache.cus} CUs holds {cache.bytes}",
            "if a loop is as large, unroll or inline less",
        )
