"""Hardware facts of each gfx target, from targets.toml, and register counts that follow from them.

The file is the list of known targets. A build writes it as the module `target_literals`; a checkout
reads the TOML."""

import typing
from functools import cache
from os.path import dirname, join
from typing import Any, Literal, NamedTuple

from kernelinfo.errors import KernelinfoError, LaunchError, UnknownTargetError
from kernelinfo.hardware.counters import WaitCounter
from kernelinfo.hardware.messages import say

try:
    from kernelinfo.hardware.target_literals import TABLES
except ImportError:  # a checkout
    TABLES = None


class Clusters(NamedTuple):
    """The runtime's limits on clusters."""

    workgroups: int  # the most workgroups of one cluster
    in_flight: int  # the most clusters per shader engine at a time
    source: str  # document and line that state these numbers


class Belief(NamedTuple):
    """A wrong value of one field, which some versions of other software assume."""

    by: Literal["LLVM", "HIP", "rocprofiler-sdk"]  # the software that assumes it
    before: int
    """First version without the wrong value (LLVM's major version, HIP's year); 0 if every version
    has the wrong value."""
    field: str  # the field whose value differs
    value: int  # the value that the software assumes
    source: str  # document and line that state it


def believed(beliefs: tuple[Belief, ...], by: str, version: int = 0) -> dict[str, Any]:
    """Field → the wrong value that this `version` of the software `by` assumes for it."""
    return {
        belief.field: belief.value
        for belief in beliefs
        if belief.by == by and (version < belief.before or not belief.before)
    }


class WaveSlots(NamedTuple):
    """Wave slots of one SIMD (LLVM: EU)."""

    default_size: Literal[32, 64]
    """Lanes per wave if the code does not say."""
    slots_per_simd: int  # waves that one SIMD holds
    max_workgroup_size: int
    """Workitems of the largest workgroup."""
    source: str  # document and line that state these numbers
    dispatch_cap_per_cu: int = 0
    """The most waves per CU that the runtime dispatches on some products; 0 for no cap."""


class Vgprs(NamedTuple):
    """The vector register file of one SIMD for waves of one size, in registers per lane."""

    wave_size: Literal[32, 64]  # lanes per wave
    per_simd: int  # VGPRs per lane in the file of one SIMD
    addressable: int
    """The most VGPRs per lane of one wave, including AGPRs of a unified file."""
    granule: int
    """The hardware's unit of allocation, in VGPRs per lane."""
    encoding_granule: int
    """The kernel descriptor's unit, in VGPRs per lane."""
    source: str  # document and line that state these numbers
    dynamic_blocks: tuple[int, ...] = ()
    """Block sizes of dynamic VGPRs, which waves take and give back while they run."""
    most_dynamic_blocks: int = 0
    """The most blocks of one wave."""
    early_encoding_granule: int = 0
    """The descriptor's unit in the target's first compilers; 0 if it never changed."""
    early_encoding_before: int = 0
    """First LLVM release with `encoding_granule`; its development versions may use the early
    unit."""
    believed: tuple[Belief, ...] = ()
    """Values that other software assumes instead of the hardware's."""


class Agprs(NamedTuple):
    """Accumulation registers: in a separate file (gfx908) or in the unified VGPR file."""

    file: Literal["none", "separate", "unified"]
    """Where they are: nowhere, in a file of their own, in the VGPR file."""
    source: str  # document and line that state these numbers
    offset_granule: int = 0
    """Unit of the descriptor's ACCUM_OFFSET, in registers per lane; 0 without a unified file."""
    addressable: int = 0
    """The most VGPRs, and the most AGPRs, that one wave can address in a unified file, per lane; 0
    without a unified file."""


class Sgprs(NamedTuple):
    """The scalar register file of one SIMD, in registers per wave."""

    per_simd: int  # SGPRs in the file; 0 if every wave has a fixed share: they never limit
    allocatable: int  # the most SGPRs of one wave, including VCC, flat scratch and XNACK
    granule: int  # the hardware's unit of allocation, or the fixed share
    encoding_granule: int  # the kernel descriptor's unit; 0 if it does not count SGPRs
    trap_handler: int  # SGPRs that the hardware adds to each wave for an installed trap handler
    with_vcc: int  # SGPRs beyond the numbered ones in code with VCC
    with_xnack: int  # the same with XNACK, VCC included
    with_flat_scratch: int  # the same with flat scratch, VCC and XNACK included
    source: str  # document and line that state these numbers
    architected_flat_scratch: bool = False  # flat scratch counts even if the code does not use it
    fixed_allocation: int = 0
    """SGPRs of every wave on chips with the SGPR initialisation bug; else 0."""


class Lds(NamedTuple):
    bytes_per_workgroup: int  # the most bytes of LDS of one workgroup
    granule_bytes: int  # unit of allocation, in bytes
    source: str  # document and line that state these numbers
    believed: tuple[Belief, ...] = ()
    """Values that other software assumes instead of the hardware's."""


class Scratch(NamedTuple):
    granule_bytes: int
    """Unit of one wave's scratch, in bytes."""
    bytes_per_wave: int
    """The most bytes that the hardware can address for one wave."""
    source: str  # document and line that state these numbers
    cus_per_aperture: int = 0
    """CUs that share one scratch aperture, on the product where the fewest CUs share one; 0 if not
    known."""
    aperture_bytes: int = 0  # bytes of one scratch aperture; 0 if not known


class InstructionCache(NamedTuple):
    """The first cache of instructions, L1I or L0I."""

    bytes: int  # size in bytes
    cus: int  # CUs that share it
    source: str  # document and line that state these numbers


class Domain(NamedTuple):
    """The residency domain: the CU or WGP that all waves of a workgroup share.

    LLVM calls it "per CU": "per whatever functional block the waves of a workgroup must share"."""

    per: Literal["CU", "WGP"]  # the unit that all waves of a workgroup share
    simds: int  # number of SIMDs
    lds_bytes: int  # bytes of LDS
    barriers: int  # the most workgroups of several waves
    scratch_waves: int  # the most waves with scratch
    source: str  # document and line that state these numbers
    believed: tuple[Belief, ...] = ()
    """Values that other software assumes instead of the hardware's."""


class Device(NamedTuple):
    """A product, as one agent of the runtime: for an MI250, one of its two dies."""

    name: str  # product, as one agent of the runtime
    cus: int = 0  # number of CUs; 0 if only WGPs are counted
    wgps: int = 0  # number of WGPs; 0 if the product has none, or two CUs per WGP
    xccs: int = 0  # dies; a profiler adds their counters up; 0 if not known

    def domains(self, per: Literal["CU", "WGP"]) -> int:
        """Number of CUs or WGPs on the whole device."""
        return self.cus if per == "CU" else self.wgps or self.cus // 2


class Target(NamedTuple):
    """The hardware facts of one gfx target; each topic names its source.

    A process has one object per target; `find` returns it."""

    name: str  # the gfx target
    family: str  # architecture, such as CDNA3
    products: str  # products with this target
    elf_mach: int
    """EF_AMDGPU_MACH, the low byte of e_flags."""
    confidence: str  # how well the numbers are known: high, medium or low
    waves: WaveSlots
    vgprs: tuple[Vgprs, ...]  # the vector register file of one SIMD, for each wave size
    agprs: Agprs
    sgprs: Sgprs
    lds: Lds  # LDS of one workgroup
    scratch: Scratch  # scratch memory
    domains: tuple[Domain, ...]
    """The default domain first; two if WGP and CU mode can be chosen."""
    tg_split: bool
    """True if the waves of a workgroup without LDS may run on different CUs."""
    llvm: int = 0
    """First LLVM release with the target; 0 if LLVM 14 has it or no release has it yet."""
    xnack: bool | None = None
    """True if a target id may state XNACK; None if not known.

    Source: LLVM TargetParser, getArchAttrAMDGCN, and e_flags of empty objects of llvm-mc 22. Not
    known for targets that only LLVM main has, and for gfx125x: LLVM 22 and 24 disagree."""
    sramecc: bool | None = None
    """True if a target id may state SRAMECC; None if not known."""
    named_barriers: bool = False
    """True if the kernel descriptor counts named barriers."""
    v2_name_with_xnack: str = ""
    """Name in code object v2 of the target with XNACK on; empty if it has none.

    v2's target ids have no features. Source: AMDGPUUsage, "AMDGPU Code Object V2 ISA", and LLVM 13
    AMDGPUTargetStreamer."""
    devices: tuple[Device, ...] = ()
    """Products of known size, from AMD's product pages."""
    members: tuple[str, ...] = ()
    """Generic target: the targets that its code runs on; the occupancy is worked out on them."""
    icache: InstructionCache | None = None
    """The first cache of instructions; None if its size is not published."""
    clusters: Clusters | None = None
    """The runtime's limits on clusters; None if the target has none."""
    counters: tuple[WaitCounter, ...] = ()
    """Counters of operations in flight, for which code waits; empty if they are not known."""
    caveat: str = ""
    """Reason in words why a result is only a bound; empty if the hardware is fully known."""

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickles only the name: the other process looks up its own object."""
        return find, (self.name,)

    def vgpr_file(self, wave_size: int) -> Vgprs:
        """The register file for waves of `wave_size` lanes. Raises `LaunchError` if the target has
        no waves of this size."""
        for file in self.vgprs:
            if file.wave_size == wave_size:
                return file
        raise LaunchError(say("target-wave-size", target=self.name, lanes=wave_size))

    def domain(self, wgp_mode: bool | None) -> Domain:
        """The residency domain in WGP mode (True), in CU mode (False) or by default (None).

        Also the default domain if the target has no domain of that mode.
        """
        if wgp_mode is None:
            return self.domains[0]
        per = "WGP" if wgp_mode else "CU"
        return next((domain for domain in self.domains if domain.per == per), self.domains[0])


def known() -> tuple[str, ...]:
    """The names of all targets, in the order of the file."""
    return tuple(tables())


@cache
def find(name: str) -> Target:
    """The target of this name. Raises `UnknownTargetError`; `KernelinfoError` for a wrong table."""
    if name not in tables():
        raise UnknownTargetError(name, known())
    return _target(name, tables()[name])


def by_elf_mach(mach: int) -> Target | None:
    """The target with EF_AMDGPU_MACH `mach`, the low byte of e_flags; None if unknown."""
    return _with("elf_mach", mach)


def by_v2_name(name: str) -> Target | None:
    """The target that code object v2 calls `name` when XNACK is on; None if there is none."""
    return _with("v2_name_with_xnack", name)


def _with(key: str, value: object) -> Target | None:
    names = (name for name, table in tables().items() if table.get(key) == value)
    return next(map(find, names), None)


def _target(name: str, table: dict[str, Any]) -> Target:
    table = table | {"name": name}
    where = f"targets.toml: [{name}]"
    if not ARE_CHECKED:
        check_types(Target, table, where)
    target: Target = _row(Target, table)
    if not ARE_CHECKED and (wrong := contradictions(target)):
        raise KernelinfoError(say("targets-contradiction", where=where, error=wrong[0]))
    return target


def contradictions(target: Target) -> list[str]:
    """Contradictions in the table of a target, in words; empty if it is sound."""
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
    "waves": WaveSlots,
    "vgprs": Vgprs,
    "agprs": Agprs,
    "sgprs": Sgprs,
    "lds": Lds,
    "scratch": Scratch,
    "domains": Domain,
    "devices": Device,
    "icache": InstructionCache,
    "clusters": Clusters,
    "counters": WaitCounter,
    "believed": Belief,
}


def _row(kind: Any, value: Any) -> Any:
    """A table becomes a `kind`, and a list a tuple with each item converted the same way; any other
    `value` is unchanged."""
    if isinstance(value, list):
        return tuple(_row(kind, item) for item in value)
    if isinstance(value, dict):
        return kind(**{key: _row(_KINDS.get(key), item) for key, item in value.items()})
    return value


REGISTER_BYTES = 4  # size of a VGPR in one lane, on every target


def align(count: int, granule: int) -> int:
    """`count` rounded up to a multiple of `granule`."""
    return -(-count // granule) * granule


def total_vgprs(target: Target, arch_vgprs: int, agprs: int) -> int:
    """VGPRs and AGPRs per lane together (LLVM AMDGPUBaseInfo.cpp getTotalNumVGPRs).

    Unified file: VGPRs rounded up + AGPRs. Separate files (gfx908): the larger count."""
    if agprs and target.agprs.file == "unified":
        return align(arch_vgprs, target.agprs.offset_granule) + agprs
    return max(arch_vgprs, agprs)


def extra_sgprs(target: Target, *, vcc: bool, flat_scratch: bool, xnack: bool) -> int:
    """SGPRs per wave beyond the numbered ones (LLVM IsaInfo::getNumExtraSGPRs)."""
    sgprs = target.sgprs
    extra = sgprs.with_vcc if vcc else 0
    for used, count in ((xnack, sgprs.with_xnack), (flat_scratch, sgprs.with_flat_scratch)):
        # A target that needs no SGPRs for a feature states the count of VCC alone.
        if used and count > sgprs.with_vcc:
            extra = max(extra, count)
    return extra


Tables = dict[str, dict[str, Any]]
"""Target's name → its table, in the order of the file."""
ARE_CHECKED = TABLES is not None
"""True if a build wrote the tables: the build has checked them for contradictions."""


@cache
def tables() -> Tables:
    """The tables of all targets; references to shared topics are resolved."""
    if ARE_CHECKED:
        built: Tables = TABLES
        return built
    with open(join(dirname(__file__), "targets.toml"), encoding="utf-8") as file:
        return read_tables(file.read())


def read_tables(text: str) -> Tables:
    """The tables of all targets from the text of targets.toml, as `tables` returns them."""
    import tomllib  # not needed in an installed copy

    whole = tomllib.loads(text)
    targets = {name: table for name, table in whole.items() if name.startswith("gfx")}
    for table in targets.values():
        for topic, value in table.items():
            if isinstance(value, str) and value in whole.get(topic, ()):
                table[topic] = whole[topic][value]
    return targets


def check_types(kind: Any, value: Any, where: str) -> None:
    """Checks the type of a value from TOML. Raises `KernelinfoError` with `where` if it is wrong.

    A named tuple takes a table of its fields, a tuple takes a list, and any other kind takes a
    value of exactly that type. `X | None` takes an X, since TOML has no None.
    """
    if type(None) in typing.get_args(kind):
        kind = next(item for item in typing.get_args(kind) if item is not type(None))
    if hasattr(kind, "_fields"):
        if not isinstance(value, dict):
            raise KernelinfoError(say("targets-no-table", where=where, value=value))
        names = set(kind._fields)
        needed = names - kind._field_defaults.keys()
        if wrong := sorted((value.keys() - names) | (needed - value.keys())):
            raise KernelinfoError(say("targets-keys", where=where, names=", ".join(wrong)))
        types = typing.get_type_hints(kind)
        for key, item in value.items():
            check_types(types[key], item, f"{where} {key}")
    elif typing.get_origin(kind) is tuple:
        if not isinstance(value, list):
            raise KernelinfoError(say("targets-no-list", where=where, value=value))
        for item in value:
            check_types(typing.get_args(kind)[0], item, where)
    elif typing.get_origin(kind) is typing.Literal:
        if value not in typing.get_args(kind):
            raise KernelinfoError(
                say("targets-choice", where=where, value=value, choices=typing.get_args(kind))
            )
    elif type(value) is not kind:
        raise KernelinfoError(say("targets-type", where=where, kind=kind.__name__, value=value))
    elif kind is str and not value.strip():
        raise KernelinfoError(say("targets-empty", where=where))
