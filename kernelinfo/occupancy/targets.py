"""Hardware facts of each gfx target, from targets.toml; the file is the list of known targets."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, NamedTuple

from kernelinfo.errors import TargetsError, UnknownTargetError
from kernelinfo.occupancy.clusters import Clusters
from kernelinfo.occupancy.target_tables import ARE_CHECKED, check_types, tables


class Belief(NamedTuple):
    """Another value of one field of a topic, as versions of some software have it."""

    by: Literal["LLVM", "HIP", "rocprofiler-sdk"]
    before: int
    """The first version without it: LLVM's major one, HIP's year; 0 if every version has it."""
    field: str
    value: int
    source: str


def believed(beliefs: tuple[Belief, ...], by: str, version: int = 0) -> dict[str, Any]:
    """The values that `version` has instead of the hardware's, by the names of their fields."""
    return {
        belief.field: belief.value
        for belief in beliefs
        if belief.by == by and (version < belief.before or not belief.before)
    }


class Waves(NamedTuple):
    """Wave slots of one SIMD (LLVM: EU)."""

    default_size: Literal[32, 64]
    """Lanes in a wave where the code does not say."""
    slots_per_simd: int
    max_workgroup_size: int
    """Workitems."""
    source: str
    dispatch_cap_per_cu: int = 0
    """Waves per CU beyond which the runtime does not dispatch on some parts; 0 where no cap."""


class Vgprs(NamedTuple):
    """The vector register file of one SIMD as waves of one size see it; counts are per lane."""

    wave_size: Literal[32, 64]
    per_simd: int
    addressable: int
    """The most that one wave can have, AGPRs included where they share the file."""
    granule: int
    """What the hardware allocates in."""
    encoding_granule: int
    """What the kernel descriptor counts in."""
    source: str
    dynamic_blocks: tuple[int, ...] = ()
    """Block sizes in which waves may take and give back VGPRs while they run."""
    most_dynamic_blocks: int = 0
    """The most blocks of one wave."""
    early_encoding_granule: int = 0
    """What descriptors of the target's first compilers count in; 0 where that is the same."""
    early_encoding_before: int = 0
    """The first LLVM release that never did so; it did during its development."""
    believed: tuple[Belief, ...] = ()


class Agprs(NamedTuple):
    """Accumulation registers: in a file of their own (gfx908) or part of the VGPR file."""

    file: Literal["none", "separate", "unified"]
    source: str
    offset_granule: int = 0
    """The descriptor's ACCUM_OFFSET and the VGPRs below it are multiples of this."""
    addressable: int = 0
    """In a unified file, the most VGPRs and the most AGPRs that one wave can name; else 0."""


class Sgprs(NamedTuple):
    """Scalar registers, per wave."""

    per_simd: int  # 0 where every wave has its fixed share and SGPRs never limit
    allocatable: int  # the most that one wave can have, VCC, flat scratch and XNACK included
    granule: int  # what the hardware allocates in; on targets with a fixed share, that share
    encoding_granule: int  # what the kernel descriptor counts in; 0 where it does not
    trap_handler: int  # SGPRs the hardware adds to each wave when a trap handler is installed
    with_vcc: int  # SGPRs that VCC takes beyond the numbered ones
    with_xnack: int  # the same when XNACK is on, VCC included
    with_flat_scratch: int  # the same with flat scratch, VCC and XNACK included
    source: str
    architected_flat_scratch: bool = False  # flat scratch is taken whether or not the code uses it
    fixed_allocation: int = 0  # chips with the SGPR initialisation bug give every wave this many


class Lds(NamedTuple):
    bytes_per_workgroup: int  # the most that one workgroup may have
    granule_bytes: int
    source: str
    believed: tuple[Belief, ...] = ()


class Scratch(NamedTuple):
    granule_bytes: int
    """What the scratch of one wave is rounded up to."""
    bytes_per_wave: int
    """The most that the hardware can address for one wave."""
    source: str
    cus_per_aperture: int = 0
    """CUs that share one scratch aperture on the product with the fewest; 0 where not known."""
    aperture_bytes: int = 0


class InstructionCache(NamedTuple):
    """The first cache of instructions, L1I or L0I."""

    bytes: int
    cus: int  # CUs that share it
    source: str


class Domain(NamedTuple):
    """The block whose resources the waves of one workgroup share. LLVM says "per CU" for it: "per
    whatever functional block the waves of a workgroup must share"."""

    per: Literal["CU", "WGP"]
    simds: int
    lds_bytes: int
    barriers: int  # workgroups of more than one wave that fit
    scratch_waves: int  # waves that can have scratch at once
    source: str
    believed: tuple[Belief, ...] = ()


class Device(NamedTuple):
    """A product, as one agent of the runtime: of an MI250 one of its two dies."""

    name: str
    cus: int = 0  # 0 where only WGPs are counted
    wgps: int = 0  # 0 where there are none, or two CUs to each
    xccs: int = 0  # dies whose counters a profiler adds up; 0 where not known

    def domains(self, per: Literal["CU", "WGP"]) -> int:
        """Residency domains of that kind on the whole device."""
        return self.cus if per == "CU" else self.wgps or self.cus // 2


class Target(NamedTuple):
    """What one gfx target offers, each topic with its source; there is one object of each."""

    name: str
    family: str
    products: str
    elf_mach: int
    """EF_AMDGPU_MACH, the low byte of e_flags."""
    confidence: str
    waves: Waves
    vgprs: tuple[Vgprs, ...]
    agprs: Agprs
    sgprs: Sgprs
    lds: Lds
    scratch: Scratch
    domains: tuple[Domain, ...]
    """The default one first; a second where WGP and CU mode can be chosen."""
    tg_split: bool
    """A workgroup without LDS may be spread over several CUs."""
    llvm: int = 0
    """The first release of LLVM that knows the target; 0 where LLVM 14 knows it, and where no
    release does yet."""
    xnack: bool | None = None
    """A target id may state XNACK; None where that is not known. LLVM TargetParser,
    getArchAttrAMDGCN, and e_flags of empty objects of llvm-mc 22; not known of targets that only
    LLVM main has, nor of gfx125x, of which LLVM 22 and 24 disagree."""
    sramecc: bool | None = None
    """The same of SRAMECC."""
    named_barriers: bool = False
    """The kernel descriptor counts named barriers."""
    v2_name_with_xnack: str = ""
    """What code object v2, whose target ids have no features, calls the target with XNACK on
    (AMDGPUUsage, "AMDGPU Code Object V2 ISA", and LLVM 13 AMDGPUTargetStreamer)."""
    devices: tuple[Device, ...] = ()
    """Those whose size is known; AMD's product pages."""
    members: tuple[str, ...] = ()
    """The devices that code for a generic target may run on; they decide."""
    icache: InstructionCache | None = None
    """None where nobody has published it."""
    clusters: Clusters | None = None
    caveat: str = ""
    """Why a result is a bound, where the hardware is not fully known."""

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[object, ...]:
        """Another process unpickles its own object of that name."""
        return find, (self.name,)

    def vgpr_file(self, wave_size: int) -> Vgprs:
        """The register file as waves of `wave_size` lanes see it. Raises `TargetsError` where the
        target has no such waves."""
        for file in self.vgprs:
            if file.wave_size == wave_size:
                return file
        raise TargetsError(f"{self.name}: no waves of {wave_size} lanes")

    def domain(self, wgp_mode: bool | None) -> Domain:
        """The residency domain in WGP mode (True), CU mode (False) or the default (None)."""
        if wgp_mode is None:
            return self.domains[0]
        per = "WGP" if wgp_mode else "CU"
        return next((domain for domain in self.domains if domain.per == per), self.domains[0])


def known() -> tuple[str, ...]:
    """The names of all targets, in the order of the file."""
    return tuple(tables())


@cache
def find(name: str) -> Target:
    """The target of that name. Raises `UnknownTargetError`, or `TargetsError` for a wrong table."""
    if name not in tables():
        raise UnknownTargetError(name, known())
    return _target(name, tables()[name])


def by_elf_mach(mach: int) -> Target | None:
    """The target whose code objects have `mach` in the low byte of e_flags; None if unknown."""
    return _with("elf_mach", mach)


def by_v2_name(name: str) -> Target | None:
    """The target that code object v2 calls `name` when XNACK is on; None if there is none."""
    return _with("v2_name_with_xnack", name)


@cache
def _with(key: str, value: object) -> Target | None:
    found = (name for name, table in tables().items() if table.get(key) == value)
    return next(map(find, found), None)


def _target(name: str, table: dict[str, Any]) -> Target:
    table = table | {"name": name}
    where = f"targets.toml: [{name}]"
    if not ARE_CHECKED:
        check_types(Target, table, where)
    target: Target = _row(Target, table)
    if not ARE_CHECKED and (wrong := contradictions(target)):
        raise TargetsError(f"{where}: {wrong[0]}")
    return target


def contradictions(target: Target) -> list[str]:
    """What cannot be true at once in one table; empty when it makes sense."""
    files, sgprs, lds, agprs = target.vgprs, target.sgprs, target.lds, target.agprs
    per_simd = {file.wave_size: file.per_simd for file in files}
    with_beliefs: tuple[Vgprs | Lds | Domain, ...] = (*files, lds, *target.domains)
    checks = {
        "a VGPR granule does not divide its file": all(
            f.per_simd % f.granule == 0 == f.granule % f.encoding_granule for f in files
        ),
        "an early encoding granule is none that was replaced": all(
            f.encoding_granule % (f.early_encoding_granule or f.encoding_granule) == 0
            and f.early_encoding_granule != f.encoding_granule
            for f in files
        ),
        "an early encoding granule needs the release that replaced it": all(
            (f.early_encoding_granule > 0) == (f.early_encoding_before > 0) for f in files
        ),
        "a wave addresses more VGPRs than there are": all(
            f.addressable <= f.per_simd for f in files
        ),
        "waves of 64 do not see half of what waves of 32 see": set(per_simd) != {32, 64}
        or 2 * per_simd[64] == per_simd[32],
        "the default wave size has no register file": target.waves.default_size in per_simd,
        "a unified register file needs an offset granule and the most VGPRs and AGPRs of a wave": (
            {agprs.offset_granule > 0, agprs.addressable > 0} == {agprs.file == "unified"}
        ),
        "the SGPR granule does not fit the file": sgprs.per_simd % sgprs.granule == 0,
        "the LDS granule does not divide LDS": all(
            d.lds_bytes % lds.granule_bytes == 0 for d in target.domains
        ),
        "a workgroup may have more LDS than there is": lds.bytes_per_workgroup
        <= target.domains[0].lds_bytes,
        "a domain stands twice": len({d.per for d in target.domains}) == len(target.domains),
        "a belief is about no field of its topic": all(
            belief.field in topic._fields for topic in with_beliefs for belief in topic.believed
        ),
    }
    return [complaint for complaint, holds in checks.items() if not holds]


_KINDS: dict[str, Any] = {
    "waves": Waves,
    "vgprs": Vgprs,
    "agprs": Agprs,
    "sgprs": Sgprs,
    "lds": Lds,
    "scratch": Scratch,
    "domains": Domain,
    "devices": Device,
    "icache": InstructionCache,
    "clusters": Clusters,
    "believed": Belief,
}


def _row(kind: Any, value: Any) -> Any:
    """A table as a row of that kind, a list as a tuple of them; anything else as it is."""
    if isinstance(value, list):
        return tuple(_row(kind, one) for one in value)
    if isinstance(value, dict):
        return kind(**{key: _row(_KINDS.get(key), one) for key, one in value.items()})
    return value
