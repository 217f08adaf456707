"""KI3xx and KI4xx: how the code was compiled, and how large it is."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from shlex import quote

from kernelinfo.hardware.targets import align
from kernelinfo.kernel import Finding, Kernel, Language, Rule, counted, waves_per_simd
from kernelinfo.kernel.names import matches, short
from kernelinfo.kernel.needs import roomier_bound
from kernelinfo.kernel.traits import Traits
from kernelinfo.model import Occupancy
from kernelinfo.model.limits import RESOURCES, Launch, most_vgprs, place
from kernelinfo.reading.facts import Code
from kernelinfo.reading.paths import BEFORE_FLAGS
from kernelinfo.rules.messages import remark, say
from kernelinfo.rules.spills import in_words

_BOUNDS: dict[Language | None, str] = {
    "HIP": "__launch_bounds__ or amdgpu_waves_per_eu",
    "OpenCL": "amdgpu_flat_work_group_size or amdgpu_waves_per_eu",
    "Triton": "waves_per_eu or num_warps",
    "assembly": ".amdhsa_next_free_vgpr",
    None: "the launch bound",
}
"""What limits the VGPRs of a kernel, in the words of its language."""
_SIZES: dict[Language | None, str] = {
    "HIP": "__launch_bounds__",
    "OpenCL": "reqd_work_group_size",
    "Triton": "num_warps",
    "assembly": ".amdhsa_next_free_vgpr",
    None: "the launch bound",
}
"""What states the size of a kernel's workgroups, or bounds its VGPRs by it."""
_WAVES: dict[Language | None, str] = {
    "HIP": "amdgpu_waves_per_eu or the second argument of __launch_bounds__",
    "OpenCL": "amdgpu_waves_per_eu",
    "Triton": "waves_per_eu",
    "assembly": "the waves that .amdhsa_next_free_vgpr is meant for",
    None: "the number of waves that was asked for",
}
"""What asks the compiler for waves."""


def agpr_without_mfma(
    rule: Rule, traits: Traits, occupancy: Occupancy, code: Code | None
) -> Iterator[Finding]:
    """The kernel uses AGPRs but has no matrix instruction.

    What it finds: in assembly text, AGPRs in a kernel without MFMA, SMFMAC and calls.
    Why it matters: the AGPRs hold values that did not fit into VGPRs. Moving a value to an AGPR is
    cheaper than scratch, but in a unified register file AGPRs cost occupancy like VGPRs.
    What to do: nothing if the kernel does not need more waves; otherwise the same as for spills.
    """
    agprs = traits.numbers.agprs
    if code is None or not agprs or code.matrix or code.calls:
        return
    held = ""
    if code.agpr_moves:
        held = say("KI301-held", moves=counted(code.agpr_moves, "move"))
    yield remark(rule, "KI301", agprs=agprs, held=held)


def sweep_command(
    kernel: Kernel,
    occupancy: Occupancy | None,
    ir: str = "",
    waves: int | None = None,
    source: str = "",
) -> str:
    """The command that shows what other occupancies of a kernel cost; empty if the kernel's source
    is not known. `ir` is the path of its LLVM IR; `waves` are waves/SIMD to try instead of all;
    `source` is a source that was not compiled in this run.

    If the largest workgroup made the kernel spill, it tries the largest launch bound that allows
    what the code needs, or 64 workitems if that is not known.
    """
    origin = kernel.code_object
    path = ir or (origin.path if origin.command else source)
    if not path:
        return ""
    name = short(kernel.name)
    if not matches(name, kernel.name, kernel.symbol):
        name = kernel.symbol
    words = ["kernelinfo", "sweep", path, name]
    if _is_held_by_its_size(kernel.traits):
        roomier = None
        if kernel.needs and occupancy:
            roomier = roomier_bound(kernel.needs, kernel.traits, occupancy)
        words += ["--launch-bounds", str(roomier[0] if roomier else 64)]
    words += [] if waves is None else ["--waves", str(waves)]
    if not ir and origin.target_id:
        words += ["--arch", origin.target_id]
    if not ir and origin.command and BEFORE_FLAGS in origin.command:
        compiler, *_ = origin.command
        words += [] if posixpath.basename(compiler) == "hipcc" else ["--compiler", compiler]
        flags = origin.command[origin.command.index(BEFORE_FLAGS) + 1 : -1]
        words += ["--", *flags] if flags else []
    return " ".join(map(quote, words))


def _is_held_by_its_size(traits: Traits) -> bool:
    """True if the declared workgroup size causes the spills: the kernel uses all VGPRs that a
    workgroup of this size can have, and still spills."""
    numbers = traits.numbers
    size = numbers.max_workgroup_size or 0
    if not numbers.vgpr_spills or numbers.required_workgroup is not None or size <= 64:
        return False
    step = step_in_use(traits)
    if step is None or traits.target is None or traits.demand is None:
        return False
    whole = place(traits.target, traits.demand, Launch(size))
    return step[0] == most_vgprs(whole, whole.group)


def at_cap_and_spilling(rule: Rule, kernel: Kernel, occupancy: Occupancy) -> Iterator[Finding]:
    """The kernel spills at the VGPR cap of an occupancy step.

    What it finds: spilled VGPRs in a kernel that uses exactly the VGPRs of an occupancy step.
    Why it matters: a launch bound or `amdgpu_waves_per_eu` set the limit. The kernel pays for
    these waves with spills.
    What to do: compile with the next looser bound (`kernelinfo sweep`) and measure both.
    """
    if (step := step_in_use(kernel.traits)) is None:
        return
    vgprs, waves = step
    if command := sweep_command(kernel, occupancy):
        looser = say("KI302-swept", command=command)
    else:
        looser = say("KI302-looser", bound=_BOUNDS[kernel.language])
    yield remark(rule, "KI302", vgprs=vgprs, waves=counted(waves, "wave"), looser=looser)


def step_in_use(traits: Traits) -> tuple[int, int] | None:
    """(VGPRs, waves per SIMD) of the occupancy step that the kernel fills to its last granule.

    None if granules of the step are free, or if the step is the largest addressable one.
    """
    target, demand, used = traits.target, traits.demand, traits.numbers.vgprs
    if target is None or demand is None or used is None:
        return None
    file = target.vgpr_file(demand.wave_size)
    allocated = align(max(1, used), file.granule)
    waves = min(file.per_simd // allocated, target.waves.slots_per_simd)
    whole_step = file.per_simd // waves // file.granule * file.granule if waves else 0
    return (allocated, waves) if allocated == whole_step < file.addressable else None


def missing_launch_bound(rule: Rule, kernel: Kernel, occupancy: Occupancy) -> Iterator[Finding]:
    """The kernel spills because no launch bound is stated.

    What it finds: `at-cap-and-spilling` in a kernel that declares the hardware's largest workgroup,
    which is the default, and uses all VGPRs with which such a workgroup can start.
    Why it matters: if the host launches fewer workitems, the spills buy nothing.
    What to do: state the real size: `__launch_bounds__`, OpenCL's `reqd_work_group_size`, Triton's
    `num_warps`. `kernelinfo sweep` shows what it gives.
    """
    traits = kernel.traits
    target, demand, step = traits.target, traits.demand, step_in_use(traits)
    if target is None or demand is None or step is None or not _is_held_by_its_size(traits):
        return
    largest = target.waves.max_workgroup_size
    if traits.numbers.max_workgroup_size != largest:
        return
    half = place(target, demand, Launch(largest // 2))
    command = sweep_command(kernel, occupancy)
    yield remark(
        rule,
        "KI303",
        largest=largest,
        vgprs=step[0],
        half=largest // 2,
        more=most_vgprs(half, half.group),
        size=_SIZES[kernel.language],
        swept=say("KI303-swept", command=command) if command else "",
    )


def waves_hint_too_high(rule: Rule, kernel: Kernel, occupancy: Occupancy) -> Iterator[Finding]:
    """The kernel spills although more VGPRs would not cost a wave.

    What it finds: spilled VGPRs in a kernel that slots, LDS or whole workgroups limit to fewer
    waves than its VGPRs allow. The next VGPR step has room for all spilled registers.
    Why it matters: `amdgpu_waves_per_eu` or the second argument of `__launch_bounds__` asks for
    more waves than can be resident, so the spills buy nothing.
    What to do: lower that number to the resident waves.
    """
    spilled, used = kernel.numbers.vgpr_spills, kernel.numbers.vgprs
    if not spilled or used is None or not occupancy.exact:
        return
    most, needed = occupancy.most_vgprs, occupancy.demand.unpadded.vgprs
    if most is None or needed is None or most - needed < spilled:
        return
    waves = waves_per_simd(occupancy.waves_per_simd)
    hint = _WAVES[kernel.language]
    yield remark(rule, "KI304", spilled=spilled, vgprs=most, waves=waves, hint=hint)


def asked_waves_not_reached(rule: Rule, traits: Traits, occupancy: Occupancy) -> Iterator[Finding]:
    """Fewer waves are resident than the source asked the compiler for.

    What it finds: `waves_per_eu` in the JSON that Triton writes next to a code object, above the
    occupancy. The message names the resources that limit it.
    Why it matters: the compiler kept registers low for waves that cannot be resident.
    What to do: ask for no more waves than are resident, or use less of the limiting resources.
    """
    hint = traits.numbers.asked_waves
    if hint is None or not occupancy.launchable or occupancy.waves_per_simd >= hint:
        return
    limits = " and ".join(RESOURCES[limiter] for limiter in occupancy.limiters)
    yield remark(
        rule,
        "KI306",
        waves=waves_per_simd(hint),
        limits=limits,
        allow="allows" if len(occupancy.limiters) == 1 else "allow",
        most=f"{occupancy.waves_per_simd:.4g}",
    )


_FEATURES_LEFT_OPEN = 4
"""The first code object version whose target id may leave a feature open (AMDGPUUsage, "Target
ID"). In earlier versions a feature that is not named is off."""


def mixed_target_features(rule: Rule, kernel: Kernel, occupancy: Occupancy) -> Iterator[Finding]:
    """A file has code for one processor with XNACK or SRAM ECC set and code with it left open.

    What it finds: two code objects of one file and processor, and only one target id names the
    feature. `xnack+` next to `xnack-` is normal.
    Why it matters: if both fit the device, the loader decides which one runs. If only one kernel
    of a library names a setting, that kernel is missing on the other devices. clang and newer
    bundlers refuse to put such code into one bundle.
    What to do: name the same features in every `--offload-arch` of the processor.
    """
    code_object = kernel.code_object
    entry, version = code_object.conflicting_entry, code_object.code_object_version or 0
    if entry and version >= _FEATURES_LEFT_OPEN:
        # `gfx90a:xnack+` of `hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+`
        target, other = (name.rpartition("--")[2] for name in (code_object.member or "", entry))
        yield remark(rule, "KI305", target=target, other=other)


def code_exceeds_icache(rule: Rule, kernel: Kernel, occupancy: Occupancy) -> Iterator[Finding]:
    """Code is larger than the instruction cache.

    What it finds: a loop with more bytes of code than the first-level instruction cache holds, on
    targets whose cache size AMD has published. If the loops are not known, the whole kernel counts;
    they are known with `--instructions`, `pressure` and `explain`. Assembly does not say how large
    an instruction is: there the least possible size of a loop counts. Functions that the kernel
    calls are not counted.
    Why it matters: a loop larger than the cache fetches its instructions from L2 in every
    iteration. Neighbouring CUs that share the cache pay as well.
    What to do: check whether a loop of this size runs often; less unrolling or inlining makes it
    smaller. Code that runs once may be large, so the rule is off by default.
    """
    cache = kernel.target.icache if kernel.target else None
    if cache is None or (kernel.code_bytes or cache.bytes + 1) <= cache.bytes:
        return
    if kernel.loops is None:
        if kernel.code_bytes:
            yield remark(rule, "KI401", code=kernel.code_bytes, cus=cache.cus, cache=cache.bytes)
        return
    larger = [loop for loop in kernel.loops if loop.code_bytes > cache.bytes]
    if larger:
        innermost = max(larger, key=lambda loop: (loop.depth, loop.code_bytes))
        code = innermost.code_bytes
        in_text = innermost.address is None
        yield remark(
            rule,
            "KI401-loop",
            code=say("KI401-least", code=code) if in_text else code,
            loop=in_words(innermost),
            cus=cache.cus,
            cache=cache.bytes,
        )
