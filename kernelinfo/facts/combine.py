"""The same kernel from several sources -> one Kernel: the best source of each number is chosen."""

from __future__ import annotations

from typing import get_args

from kernelinfo.facts.names import demangle
from kernelinfo.kernel import CodeObject, Encoded, Flags, Kernel, Spills, Used, Workgroup
from kernelinfo.limits import Demand, align
from kernelinfo.model import Fact, FactName, FactValue, KernelFacts, Source
from kernelinfo.targets import Target

_BEST_FIRST: tuple[Source, ...] = get_args(Source)


def combine(facts: KernelFacts, code_object: CodeObject, target: Target | None) -> Kernel:
    """One kernel from all that was said of it; what was not said stays None.

    Sources that should agree and do not are kept in `Kernel.disagreements`.
    """
    said: dict[FactName, list[Fact]] = {}
    best_first = sorted(facts.facts, key=_rank)
    for fact in best_first:
        said.setdefault(fact.name, []).append(fact)
    chosen = {name: stated[0] for name, stated in said.items()}
    kernel = _Chosen(chosen)
    return Kernel(
        code_object=code_object,
        symbol=facts.symbol,
        name=demangle(facts.symbol),
        target=target,
        wave_size=kernel.count("wave_size"),
        wgp_mode=kernel.flag("wgp_mode"),
        code_bytes=kernel.count("code_bytes"),
        line=facts.line,
        workgroup=Workgroup(kernel.count("max_workgroup_size"), kernel.required_workgroup()),
        used=Used(
            vgprs=kernel.count("vgprs"),
            agprs=kernel.count("agprs"),
            sgprs=kernel.count("sgprs"),
            lds_bytes=kernel.count("lds_bytes"),
            scratch_bytes_per_lane=kernel.count("scratch_bytes_per_lane"),
        ),
        encoded=Encoded(
            vgprs=kernel.count("reserved_vgprs"),
            accum_offset=kernel.count("accum_offset"),
            sgprs=kernel.count("reserved_sgprs"),
        ),
        spills=Spills(kernel.count("vgpr_spills"), kernel.count("sgpr_spills")),
        flags=Flags(
            dynamic_stack=kernel.flag("dynamic_stack"),
            indirect_call=kernel.flag("indirect_call"),
            recursion=kernel.flag("recursion"),
            tg_split=kernel.flag("tg_split"),
        ),
        demand=None if target is None else _demand(kernel, target),
        takes_dynamic_lds=kernel.flag("dynamic_lds"),
        launched_lds_bytes=kernel.count("dynamic_lds_bytes"),
        compiler_waves_per_simd=kernel.count("compiler_waves_per_simd"),
        facts=tuple(best_first),
        disagreements=_disagreements(said),
    )


def _rank(fact: Fact) -> int:
    if fact.name == "reserved_sgprs" and fact.source == "kernel-info":
        # Up to LLVM 16 the compiler leaves XNACK's SGPRs out and the assembler, given the same
        # directives, counts them: llvm-mc 15 makes 104 of what clang 16 encodes as 96.
        return _BEST_FIRST.index("directive") - 1
    return _BEST_FIRST.index(fact.source)


class _Chosen:
    """The chosen fact of each name, by the type of its value."""

    def __init__(self, facts: dict[FactName, Fact]) -> None:
        self._facts = facts

    def _value(self, name: FactName) -> FactValue | None:
        fact = self._facts.get(name)
        return None if fact is None else fact.value

    def count(self, name: FactName) -> int | None:
        value = self._value(name)
        return int(value) if isinstance(value, int) else None

    def flag(self, name: FactName) -> bool | None:
        value = self._value(name)
        return None if value is None else bool(value)

    def required_workgroup(self) -> tuple[int, int, int] | None:
        value = self._value("required_workgroup")
        return value if isinstance(value, tuple) else None


def _demand(kernel: _Chosen, target: Target) -> Demand:
    """What counts for occupancy, and why it may be more than the file says."""
    at_least = []
    wave_size = kernel.count("wave_size")
    wgp_mode = kernel.flag("wgp_mode")
    sizes = {file.wave_size for file in target.vgprs}
    if wave_size not in sizes:
        wave_size = target.waves.default_size
        if len(sizes) > 1:
            at_least.append(f"the wave size is not stated: {wave_size} is assumed")
    if wgp_mode is None and len(target.domains) > 1:
        at_least.append(f"the mode is not stated: {target.domains[0].per} mode is assumed")
    vgprs, sgprs = kernel.count("reserved_vgprs"), kernel.count("reserved_sgprs")
    if vgprs is None and kernel.count("vgprs") is not None:
        at_least.append("no descriptor was read: it may reserve more VGPRs than the code uses")
    if kernel.flag("indirect_call"):
        at_least.append("the kernel calls functions that are not known here")
    if kernel.flag("dynamic_stack"):
        at_least.append("the scratch of the kernel grows at run time")
    if kernel.count("named_barriers"):
        at_least.append("the hardware's pool of named barriers is not published")
    return Demand(
        wave_size=wave_size,
        vgprs=_asked(kernel.count("vgprs"), vgprs, target.vgpr_file(wave_size).granule),
        sgprs=_asked(kernel.count("sgprs"), sgprs, target.sgprs.granule),
        lds_bytes=kernel.count("lds_bytes"),
        scratch_bytes_per_lane=kernel.count("scratch_bytes_per_lane"),
        accum_offset=kernel.count("accum_offset"),
        wgp_mode=wgp_mode,
        tg_split=bool(kernel.flag("tg_split")),
        at_least=tuple(at_least),
    )


def _asked(used: int | None, encoded: int | None, granule: int) -> int | None:
    """What the hardware is asked for: the code's own count where that explains the descriptor's.

    A descriptor that encodes more than the code uses is obeyed all the same.
    """
    if used is None or encoded is None:
        return used if encoded is None else encoded
    same = align(max(1, used), granule) == align(max(1, encoded), granule)
    return used if same else encoded


def _disagreements(said: dict[FactName, list[Fact]]) -> tuple[tuple[Fact, Fact], ...]:
    """Pairs that should be equal and are not, and a descriptor that reserves too little."""
    pairs = [
        (best, other)
        for best, *others in said.values()
        for other in others
        if other.value != best.value
    ]
    encodings: tuple[tuple[FactName, FactName], ...] = (
        ("reserved_vgprs", "vgprs"),
        ("reserved_sgprs", "sgprs"),
    )
    for encoded, used in encodings:
        if encoded in said and used in said:
            reserved, stated = said[encoded][0], said[used][0]
            if int(reserved.value) < int(stated.value):  # type: ignore[arg-type]
                pairs.append((reserved, stated))
    return tuple(pairs)
