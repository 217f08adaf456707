"""Code objects: what their descriptors, metadata and symbols say, and what their texts say."""

from __future__ import annotations

import subprocess
from pathlib import Path
from struct import pack_into, unpack_from

import msgpack

from kernelinfo import Kernel, load
from tests.compiling import assembly, needs_clang
from tests.conftest import CORPUS, FIXTURES, needs_corpus
from tests.fuzz.specimens import Specimen, code_object, descriptor

OBJECTS = sorted((FIXTURES / "code_object").iterdir())
MACHINES = {
    **{"gfx900": 0x2C, "gfx906": 0x2F, "gfx908": 0x30, "gfx1030": 0x36, "gfx90a": 0x3F},
    **{"gfx1100": 0x41, "gfx1250": 0x149, "gfx942": 0x4C},
}
"""EF_AMDGPU_MACH of AMDGPUUsage; of gfx1250 with XNACK, which no early LLVM knew."""


def facts(kernel: Kernel) -> dict[tuple[str, str], object]:
    return {(fact.source, fact.name): fact.value for fact in kernel.traits.facts}


def place(kernel: Kernel) -> int:
    """Offset of its descriptor in the file."""
    return next(place.begin for place in kernel.places if place.source == "descriptor")


def test_descriptor_and_metadata_agree() -> None:
    for path in OBJECTS:
        for kernel in load(path).kernels:
            stated = facts(kernel)
            for name in ("lds_bytes", "scratch_bytes_per_lane", "wave_size", "dynamic_stack"):
                encoded = stated.get(("descriptor", name))
                if encoded is None:
                    assert name == "dynamic_stack"
                    assert (kernel.code_object.code_object_version or 0) < 5
                else:
                    assert stated.get(("metadata", name), encoded) == encoded
            for used, reserved in (("vgprs", "reserved_vgprs"), ("sgprs", "reserved_sgprs")):
                room = stated.get(("descriptor", reserved), 1024)
                count = stated.get(("metadata", used), 0)
                assert isinstance(room, int)
                assert isinstance(count, int)
                assert room >= count


def test_facts_lie_where_they_say() -> None:
    path = FIXTURES / "code_object" / "occupancy-clang22-gfx90a.co"
    for kernel in load(path).kernels:
        (lds_bytes,) = unpack_from("<I", path.read_bytes(), place(kernel))
        assert facts(kernel)["descriptor", "lds_bytes"] == lds_bytes


def described(
    target: str, *, rsrc1: int = 0, rsrc3: int = 0, properties: int = 0, version: int = 6
) -> dict[str, object]:
    """What is read of a descriptor with these words (AMDGPUUsage, "Kernel Descriptor")."""
    path = FIXTURES / "code_object" / "nometadata.co"
    raw = bytearray(path.read_bytes())
    pack_into("<I", raw, 48, MACHINES[target])
    raw[8] = version - 2
    (at, *_) = [place(kernel) for kernel in load(path).kernels if kernel.symbol == "counted"]
    pack_into("<IIIH", raw, at + 44, rsrc3, rsrc1, 0, properties)
    kernel = next(kernel for kernel in load(bytes(raw)).kernels if kernel.symbol == "counted")
    return {
        name: value for (source, name), value in facts(kernel).items() if source == "descriptor"
    }


def test_descriptors_by_generation() -> None:
    """VGPRs are counted in the granule of the wave size; wave size and modes have their bits."""
    for target, properties, vgprs in (
        *(("gfx906", 0, 40), ("gfx908", 0, 40), ("gfx90a", 0, 80), ("gfx942", 0, 80)),
        *(("gfx1030", 0, 40), ("gfx1030", 1, 80), ("gfx1100", 1, 80), ("gfx1250", 1, 160)),
    ):
        found = described(target, rsrc1=9, properties=properties << 10)
        assert (found["reserved_vgprs"], found["wave_size"]) == (vgprs, 32 if properties else 64)
    assert described("gfx90a", properties=1 << 10)["wave_size"] == 64, "no bit before gfx10"
    assert "reserved_vgprs" not in described("gfx1250"), "it has no waves of 64"
    assert described("gfx900", rsrc1=5 << 6)["reserved_sgprs"] == 48
    assert "reserved_sgprs" not in described("gfx1030", rsrc1=5 << 6)
    every = {"accum_offset", "tg_split", "wgp_mode", "named_barriers"}
    for target, names in (
        *(("gfx908", set()), ("gfx90a", {"accum_offset", "tg_split"})),
        *(("gfx1030", {"wgp_mode"}), ("gfx1250", {"named_barriers"})),
    ):
        assert described(target, properties=1 << 10).keys() & every == names
    unified = described("gfx90a", rsrc3=17 | 1 << 16)
    assert (unified["accum_offset"], unified["tg_split"]) == (72, True)
    assert described("gfx1100", rsrc1=1 << 29)["wgp_mode"] is True
    assert described("gfx1250", rsrc3=3 << 14, properties=1 << 10)["named_barriers"] == 12
    for version, stack in ((4, None), (5, True)):
        found = described("gfx90a", properties=1 << 11, version=version)
        assert found.get("dynamic_stack") is stack


EARLY_ID = "amdgcn-amd-amdhsa--gfx1250"


def of_gfx1250(
    *counts: tuple[int | None, int], target: str = EARLY_ID, xnack: bool = False, stamp: str = ""
) -> list[Kernel]:
    """A kernel for each (VGPRs used, blocks of them in the descriptor). LLVM before September 2025
    counts blocks of 8, later ones of 16."""
    names = [f"k{number}" for number in range(len(counts))]
    maps = [
        {".name": name, ".symbol": f"{name}.kd", ".wavefront_size": 32, ".sgpr_count": 8}
        | {".group_segment_fixed_size": 0, ".private_segment_fixed_size": 0}
        | {".max_flat_workgroup_size": 1024}
        | ({} if used is None else {".vgpr_count": used})
        for name, (used, _) in zip(names, counts, strict=True)
    ]
    metadata = {"amdhsa.kernels": maps, "amdhsa.target": target, "amdhsa.version": [1, 2]}
    specimens = [Specimen(name, 8, 0, 8, 0, 0, 1024) for name in names]
    raw = bytearray(code_object(specimens, msgpack.packb(metadata), stamp=f"{stamp}\0".encode()))
    first = raw.index(descriptor(specimens[0]))
    for at, (_, blocks) in zip(range(first, len(raw), 64), counts, strict=False):
        pack_into("<IIIH", raw, at + 44, 0, blocks - 1, 0, 1 << 10)
    pack_into("<I", raw, 48, 0x49 | xnack << 8)
    return list(load(bytes(raw)).kernels)


def reserved(kernels: list[Kernel]) -> list[int | None]:
    return [kernel.numbers.reserved_vgprs for kernel in kernels]


def reasons(kernel: Kernel) -> str:
    return " ".join(kernel.occupancy(workgroup_size=256).at_most_because)


def test_what_settles_the_unit_of_vgprs() -> None:
    for kernels, expected in (
        (of_gfx1250((2, 12), xnack=True), [192]),
        (of_gfx1250((2, 12), target="amdgpu12.50-amd-amdhsa-unknown-gfx1250"), [192]),
        (of_gfx1250((2, 12), stamp="Linker: LLD 24.0.0 (https://x)"), [192]),
        (of_gfx1250((2, 12), stamp="AMD clang version 23.0.0git"), [192]),
        (of_gfx1250((90, 6), (2, 12)), [96, 192]),  # by 8 one kernel would lack room
        (of_gfx1250((12, 22)), [352]),  # no early LLVM would raise 12 to that
        (of_gfx1250((90, 12), (20, 3), stamp="clang version 22.0.0git"), [96, 24]),
        (of_gfx1250((12, 2), stamp="Linker: LLD 22.1.8"), [16]),
    ):
        assert reserved(kernels) == expected
        assert all("descriptor" not in reasons(kernel) for kernel in kernels)


def test_where_nothing_settles_it_the_bound_says_why() -> None:
    """13 blocks are 100 VGPRs by 8, or by 16 what keeps more than four waves from fitting."""
    for used in (100, None):
        (kernel,) = of_gfx1250((used, 13))
        assert kernel.traits.demand is not None
        assert (kernel.traits.demand.vgprs, reserved([kernel])) == (used or 104, [None])
        why = reasons(kernel)
        assert "by 8, if one of the target's first compilers made it, or by 16;" in why
        assert "no descriptor was read" not in why
        assert kernel.occupancy(workgroup_size=32).waves_per_simd == 1024 // 112 > 1024 // 208
    assert reserved(of_gfx1250((2, 1), (100, 13))) == [16, None], "one granule either way"


def test_the_same_kernels_without_a_flag_or_stamp_that_settles_it() -> None:
    """As LLVM 24 flags its objects; `vgpr_huge` and all others show that it counts by 16."""
    path = FIXTURES / "code_object" / "variety-clang22-gfx1250.co"
    raw = bytearray(path.read_bytes())
    pack_into("<I", raw, 48, 0x449)
    expected = {k.symbol: k.traits.numbers for k in load(path).kernels}
    assert {k.symbol: k.traits.numbers for k in load(bytes(raw)).kernels} == expected


PAIRS = [
    *CORPUS.glob("*/*gfx125*.co"),
    *CORPUS.glob("more/objects/*gfx125*.co"),
    *CORPUS.glob("triton/*gfx1250.hsaco"),
    *(CORPUS.parent / "reported" / "triton").glob("gfx1250*/*.hsaco"),
]


@needs_corpus
def test_an_object_says_what_its_assembly_says() -> None:
    assert len(PAIRS) >= 9
    for path in PAIRS:
        text = path.with_suffix(".amdgcn" if path.suffix == ".hsaco" else ".s")
        texts = {kernel.symbol: kernel.occupancy() for kernel in load(text).kernels}
        found = {kernel.symbol: kernel.occupancy() for kernel in load(path).kernels}
        assert found.keys() == texts.keys()
        for symbol, occupancy in found.items():
            assert occupancy.allocated.vgprs == texts[symbol].allocated.vgprs
            assert occupancy.percent == texts[symbol].percent


def test_unknown_callees_bound_the_object_as_its_text() -> None:
    for path in (FIXTURES / "code_object").glob("variety-*.co"):
        text = {k.symbol: k for k in load(FIXTURES / "assembly" / f"{path.stem}.s").kernels}
        for kernel in load(path).kernels:
            stated = text[kernel.symbol]
            # Text alone shows LDS that is reached and not reserved.
            because = [one for one in stated.occupancy().at_most_because if "LDS" not in one]
            assert kernel.occupancy().exact is (not because), kernel.name
            for flag, value in flags(kernel).items():
                assert value in (None, flags(stated)[flag]), (kernel.name, flag)


def flags(kernel: Kernel) -> dict[str, bool | None]:
    """Properties of stack and calls that leave numbers open."""
    names = ("dynamic_stack", "indirect_call", "recursion", "tg_split")
    return {name: getattr(kernel.numbers, name) for name in names}


CALLS = """
__attribute__((device)) int unseen(int);
__attribute__((device, noinline)) int sum(int x) { return x < 2 ? 1 : sum(x - 1) + sum(x - 2); }
__global__ void pointer(int (*callee)(int), int *out) { *out = callee(*out); }
__global__ void outside(int *out) { *out = unseen(*out); }
__global__ void recursive(int *out) { *out = sum(*out); }
__global__ void plain(int *out) { *out = 1; }
"""


@needs_clang
def test_symbols_of_an_object_tell_of_unknown_callees(tmp_path: Path) -> None:
    text = assembly(CALLS, tmp_path / "calls.s")
    object, stripped = tmp_path / "calls.o", tmp_path / "stripped.o"
    mc = ("llvm-mc-22", "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj")
    subprocess.run([*mc, text, "-o", object], check=True)
    stated = {k.name.partition("(")[0]: flags(k) for k in load(text).kernels}
    assert {name: values["indirect_call"] for name, values in stated.items()} == {
        "pointer": True,
        "outside": True,
        "recursive": False,
        "plain": False,
    }
    assert {k.name.partition("(")[0]: flags(k) for k in load(object).kernels} == stated
    subprocess.run(["llvm-strip-22", "--discard-all", object, "-o", stripped], check=True)
    for kernel in load(stripped).kernels:
        assert kernel.numbers.indirect_call is None


def test_nothing_is_aligned_where_no_architectural_vgpr_is_used() -> None:
    for path in FIXTURES.glob("*/agprs-alone-llc22-gfx90a.*"):
        if path.parent.name in ("assembly", "code_object"):
            used = {kernel.symbol: kernel.numbers for kernel in load(path).kernels}
            assert {symbol: (of.vgprs, of.agprs) for symbol, of in used.items()} == {
                "agprs_alone": (4, 4),
                "many_agprs_alone": (10, 10),
                "one_of_each": (5, 1),
            }
