"""gfx1250's descriptors count VGPRs by 16; those of LLVM before September 2025 by 8."""

from __future__ import annotations

from pathlib import Path
from struct import pack_into

import pytest

from kernelinfo import Kernel, load
from kernelinfo.hardware.targets import find
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.kernel.combine import combine
from kernelinfo.reading.code_object.vgpr_unit import with_settled_vgprs
from kernelinfo.reading.facts import Features, KernelFacts, Module, Numbers, StatedNumbers
from tests.conftest import CORPUS, FIXTURES, needs_corpus

GFX1250 = find("gfx1250")
EARLY_ID = "amdgcn-amd-amdhsa--gfx1250"
VARIETY = FIXTURES / "code_object" / "variety-clang22-gfx1250.co"
REPORTED = CORPUS.parent / "reported" / "triton"


def module(*counts: tuple[int | None, int], xnack: str | None = None, stamp: str = "") -> Module:
    """One kernel for each (VGPRs used, blocks in the descriptor)."""
    kernels = []
    for used, blocks in counts:
        stated: list[StatedNumbers] = [("descriptor", Numbers(reserved_vgprs=blocks * 16))]
        stated += [] if used is None else [("metadata", Numbers(vgprs=used))]
        kernels.append(KernelFacts("k", tuple(stated)))
    features = Features(xnack="any" if xnack else "unsupported")
    stamps = (stamp,) if stamp else ()
    return Module("code-object", "gfx1250", features, 5, stamps, tuple(kernels))


def settled(given: Module, target_id: str = EARLY_ID) -> list[Kernel]:
    read = with_settled_vgprs(given, GFX1250, target_id)
    of = CodeObject("k.co", (), None, 0, 0, "code-object", "gfx1250", Features(), 5, None, ())
    return [combine(kernel, of, GFX1250) for kernel in read.kernels]


@pytest.mark.parametrize(
    ("given", "target_id"),
    [
        pytest.param(module((2, 12), xnack="any"), EARLY_ID, id="flags know XNACK"),
        pytest.param(module((2, 12)), "amdgpu12.50-amd-amdhsa-unknown-gfx1250", id="a new triple"),
        pytest.param(module((2, 12), stamp="Linker: LLD 24.0.0 (https://x)"), EARLY_ID, id="LLD"),
        pytest.param(module((2, 12), stamp="AMD clang version 23.0.0git"), EARLY_ID, id="clang"),
        pytest.param(module((90, 6), (2, 12)), EARLY_ID, id="one kernel would lack room"),
        pytest.param(module((12, 22)), EARLY_ID, id="no early LLVM would raise 12 to that"),
    ],
)
def test_counted_by_16(given: Module, target_id: str) -> None:
    found = [kernel.traits.numbers.reserved_vgprs for kernel in settled(given, target_id)]
    stated = [kernel.stated[0][1].reserved_vgprs for kernel in given.kernels]
    assert found == stated
    assert all(
        "descriptor" not in " ".join(reasons(kernel)) for kernel in settled(given, target_id)
    )


def reasons(kernel: Kernel) -> tuple[str, ...]:
    return kernel.occupancy(workgroup_size=256).at_most_because


@pytest.mark.parametrize(
    ("stamp", "counts"),
    [("clang version 22.0.0git", ((90, 12), (20, 3))), ("Linker: LLD 22.1.8", ((12, 2),))],
)
def test_counted_by_8_where_llvm_would_have_written_that(
    stamp: str, counts: tuple[tuple[int, int], ...]
) -> None:
    """Each count is what is used, rounded up by 8; and twice that no occupancy asks for."""
    found = settled(module(*counts, stamp=stamp))
    reserved = [kernel.traits.numbers.reserved_vgprs for kernel in found]
    assert reserved == [8 * blocks for _, blocks in counts]


@pytest.mark.parametrize("used", [100, None])
def test_where_nothing_settles_it_the_bound_says_why(used: int | None) -> None:
    """13 blocks are 100 VGPRs by 8, or by 16 what keeps more than four waves from fitting."""
    (kernel,) = settled(module((used, 13)))
    assert kernel.traits.demand is not None
    assert kernel.traits.demand.vgprs == (used or 104)
    assert kernel.traits.numbers.reserved_vgprs is None
    why = " ".join(reasons(kernel))
    assert "by 8, if one of the target's first compilers made it, or by 16;" in why
    assert "no descriptor was read" not in why
    fewer, more = 112, 208
    waves = kernel.occupancy(workgroup_size=32).waves_per_simd
    assert waves == 1024 // fewer > 1024 // more


def test_one_granule_is_one_granule_either_way() -> None:
    (first, second) = settled(module((2, 1), (100, 13)))
    assert first.traits.numbers.reserved_vgprs == 16
    assert second.traits.numbers.reserved_vgprs is None


def test_a_descriptor_that_states_waves_the_target_lacks_was_read() -> None:
    stated: tuple[StatedNumbers, ...] = (
        ("descriptor", Numbers(wave_size=64)),
        ("metadata", Numbers(vgprs=12)),
    )
    of = CodeObject("k.co", (), None, 0, 0, "code-object", "gfx1250", Features(), 5, None, ())
    (reason, *_) = reasons(combine(KernelFacts("k", stated), of, GFX1250))
    assert reason.startswith("the descriptor does not say of how many")


def test_the_same_kernels_without_a_flag_or_stamp_that_settles_it() -> None:
    """As LLVM 24 flags its objects; `vgpr_huge` and all others show that it counts by 16."""
    raw = bytearray(VARIETY.read_bytes())
    pack_into("<I", raw, 48, 0x449)
    expected = {k.symbol: k.traits.numbers for k in load(VARIETY).kernels}
    assert {k.symbol: k.traits.numbers for k in load(bytes(raw)).kernels} == expected


PAIRS = [
    *CORPUS.glob("*/*gfx125*.co"),
    *CORPUS.glob("more/objects/*gfx125*.co"),
    *CORPUS.glob("triton/*gfx1250.hsaco"),
    *REPORTED.glob("gfx1250*/*.hsaco"),
]


@needs_corpus
@pytest.mark.parametrize("path", PAIRS, ids=lambda path: path.name)
def test_an_object_says_what_its_assembly_says(path: Path) -> None:
    texts = {kernel.symbol: kernel for kernel in load(assembly_of(path)).kernels}
    found = load(path).kernels
    assert {kernel.symbol for kernel in found} == texts.keys()
    for kernel in found:
        text = texts[kernel.symbol]
        assert kernel.occupancy().allocated.vgprs == text.occupancy().allocated.vgprs
        assert kernel.occupancy().percent == text.occupancy().percent


def assembly_of(path: Path) -> Path:
    return path.with_suffix(".amdgcn" if path.suffix == ".hsaco" else ".s")


@needs_corpus
def test_there_are_pairs() -> None:
    assert len(PAIRS) >= 9
