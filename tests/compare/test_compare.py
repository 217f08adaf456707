"""Pairs of the same kernel in two builds."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelinfo import KernelNumbers, KernelSummary, diff
from kernelinfo.compare import Build, Comparison, compare
from tests.conftest import FIXTURES

PLAIN = KernelNumbers(
    workgroup_size=256,
    waves_per_simd=4.0,
    percent=50.0,
    limiters=("vgpr",),
    vgprs=122,
    reserved_vgprs=128,
    agprs=0,
    sgprs=70,
    lds_bytes=0,
    scratch_bytes_per_lane=0,
    vgpr_spills=0,
    sgpr_spills=0,
    code_bytes=400,
)


def kernel(name: str, **values: Any) -> KernelSummary:
    numbers = {key: values.pop(key) for key in PLAIN._fields if key in values}
    of = {"target": "gfx90a", "name": name, "symbol": name, "code_object": "", **values}
    return KernelSummary(**of, numbers=PLAIN._replace(**numbers))


def test_each_number_is_read_by_its_own_name() -> None:
    one = kernel("f", vgprs=9)
    assert [getattr(one, name) for name in KernelNumbers._fields] == list(one.numbers)
    with pytest.raises(AttributeError, match="vgpr_count"):
        one.vgpr_count  # noqa: B018


def kernels(*found: KernelSummary | str) -> Build:
    return Build(tuple(kernel(one) if isinstance(one, str) else one for one in found), ())


def names(comparison: Comparison) -> tuple[list[tuple[str, str, str]], list[str], list[str]]:
    """Pairs, gone and new."""
    return (
        [(pair.old.name, pair.new.name, pair.match) for pair in comparison.pairs],
        [one.name for one in comparison.gone],
        [one.name for one in comparison.new],
    )


def test_each_limit_that_moved_is_named() -> None:
    old = kernel("f", limiters=("vgpr", "lds"), lds_bytes=16384)
    new = kernel("f", **{**old.numbers._asdict(), "waves_per_simd": 3.0, "vgprs": 130})
    new = new._replace(numbers=new.numbers._replace(reserved_vgprs=136, lds_bytes=20480))
    (pair,) = compare(kernels(old), kernels(new)).pairs
    assert (
        pair.why
        == "VGPR: 128 → 136 allocated, 122 → 130 used; LDS: 16384 → 20480 B, 4 → 3 waves/SIMD"
    )


SUMMARIES = st.builds(
    kernel,
    st.sampled_from(
        ["f", "g(int)", "a::g(int)", "b::g(int)", "void h<1>()", "void h<2>()", "void a::h<1>()"]
    ),
    symbol=st.sampled_from(["x", "y"]),
    code_object=st.sampled_from(["", "a.s", "b.s"]),
    target=st.sampled_from(["gfx90a", "gfx90a:xnack+", "gfx90a:xnack-", "gfx942"]),
    vgprs=st.sampled_from([None, 8, 9]),
)
BUILDS = st.lists(SUMMARIES, max_size=12).map(lambda found: Build(tuple(found), ()))


def content(comparison: Comparison) -> tuple[Counter[Any], Counter[Any], Counter[Any]]:
    return Counter(comparison.pairs), Counter(comparison.gone), Counter(comparison.new)


@given(BUILDS, BUILDS, st.booleans())
def test_every_kernel_is_in_one_place(old: Build, new: Build, across: bool) -> None:
    found = compare(old, new, across_targets=across)
    assert Counter(old.kernels) == Counter([p.old for p in found.pairs]) + Counter(found.gone)
    assert Counter(new.kernels) == Counter([p.new for p in found.pairs]) + Counter(found.new)


@given(BUILDS, st.randoms(use_true_random=False))
def test_a_build_is_its_own_shuffle(old: Build, random: Any) -> None:
    new = Build(tuple(random.sample(old.kernels, len(old.kernels))), ())
    found = compare(old, new)
    assert not found.gone
    assert not found.new
    assert all(pair.old == pair.new and pair.match == "exact" for pair in found.pairs)
    assert tuple(pair.new for pair in found.pairs) == new.kernels


@given(BUILDS, BUILDS, st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_the_builds_does_not_matter(
    old: Build, new: Build, across: bool, random: Any
) -> None:
    shuffled = [Build(tuple(random.sample(b.kernels, len(b.kernels))), ()) for b in (old, new)]
    found = compare(*shuffled, across_targets=across)
    assert content(found) == content(compare(old, new, across_targets=across))


@given(BUILDS, BUILDS, st.booleans())
def test_swapping_the_builds_swaps_gone_and_new(old: Build, new: Build, across: bool) -> None:
    there = compare(old, new, across_targets=across)
    back = compare(new, old, across_targets=across)
    assert (there.gone, there.new) == (back.new, back.gone)
    swapped = Counter(pair._replace(old=pair.new, new=pair.old) for pair in there.pairs)
    assert swapped == Counter(back.pairs)


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("f(int)", "f(int)", "exact"),
        ("a::f(int)", "b::f(int)", "namespace"),
        ("void v1::gemm<float>(float*)", "void v2::gemm<float>(float*)", "namespace"),
        ("st(int*) (.intern.3adb6e9e)", "st(int*) (.intern.0badcafe)", "name"),
    ],
)
def test_a_kernel_is_known_again(old: str, new: str, match: str) -> None:
    assert names(compare(kernels(old, "other"), kernels("other", new))) == (
        [("other", "other", "exact"), (old, new, match)],
        [],
        [],
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("void gemm<double>(double*)", "void gemm<short>(short*)"),
        ("void gemm<float, 3>(float*)", "void gemm<float, 4>(float*)"),
        ("void v1::gemm<float>(float*)", "void v2::gemm<half>(half*)"),
        ("f(int)", "f(int, int)"),
    ],
)
def test_other_template_arguments_or_parameters_are_another_kernel(old: str, new: str) -> None:
    assert names(compare(kernels(old), kernels(new))) == ([], [old], [new])
    loose = compare(kernels(old), kernels(new), loose=True)
    assert names(loose) == ([(old, new, "base-name")], [], [])


def test_another_mangling_is_the_same_name() -> None:
    old, new = (kernels(kernel("f(int)", symbol=symbol)) for symbol in ("_Z1fi", "_ZN1fEi"))
    assert names(compare(old, new)) == ([("f(int)", "f(int)", "name")], [], [])


def test_a_base_name_that_several_have_tells_nothing() -> None:
    old, new = kernels("void f<1>()", "void f<2>()"), kernels("void f<3>()")
    assert names(compare(old, new, loose=True)) == (
        [],
        ["void f<1>()", "void f<2>()"],
        ["void f<3>()"],
    )


def test_a_renamed_namespace_keeps_its_templates_apart() -> None:
    old = kernels("void a::f<1>()", "void a::f<2>()")
    new = kernels("void b::f<2>()", "void b::f<1>()")
    assert names(compare(old, new))[0] == [
        ("void a::f<2>()", "void b::f<2>()", "namespace"),
        ("void a::f<1>()", "void b::f<1>()", "namespace"),
    ]


def test_who_has_the_name_keeps_it() -> None:
    """A kernel whose name is still there is never paired with one that only resembles it."""
    old, new = kernels("a::f(int)"), kernels("b::f(int)", "a::f(int)")
    assert names(compare(old, new)) == (
        [("a::f(int)", "a::f(int)", "exact")],
        [],
        ["b::f(int)"],
    )


def test_namesakes_are_told_apart_by_their_code_objects() -> None:
    old = kernels(kernel("f", code_object="a.s", vgprs=8), kernel("f", code_object="b.s", vgprs=9))
    new = kernels(kernel("f", code_object="b.s", vgprs=8), kernel("f", code_object="a.s", vgprs=9))
    places = [(p.old.code_object, p.new.code_object) for p in compare(old, new).pairs]
    assert places == [("b.s", "b.s"), ("a.s", "a.s")]


def test_a_namesake_more_moves_nothing() -> None:
    old = kernels(kernel("f", vgprs=64), kernel("f", vgprs=128))
    new = kernels(kernel("f", vgprs=32), kernel("f", vgprs=64), kernel("f", vgprs=128))
    found = compare(old, new)
    assert all(pair.old == pair.new for pair in found.pairs)
    assert [one.vgprs for one in found.new] == [32]


def test_of_two_new_namesakes_the_order_of_the_build_chooses_none() -> None:
    old, both = kernels(kernel("f", vgprs=100)), (kernel("f", vgprs=8), kernel("f", vgprs=9))
    for order in (both, both[::-1]):
        assert [pair.new.vgprs for pair in compare(old, kernels(*order)).pairs] == [8]


def test_a_feature_that_changed_is_the_same_processor() -> None:
    old, new = (kernels(kernel("f", target=t)) for t in ("gfx90a:xnack+", "gfx90a"))
    (pair,) = compare(old, new).pairs
    assert (pair.old.target, pair.new.target, pair.match) == ("gfx90a:xnack+", "gfx90a", "exact")


def test_features_that_several_have_keep_kernels_apart() -> None:
    old = kernels(kernel("f", target="gfx90a:xnack+"), kernel("f", target="gfx90a:xnack-"))
    new = kernels(kernel("f", target="gfx90a"))
    found = compare(old, new)
    assert (len(found.pairs), len(found.gone), len(found.new)) == (0, 2, 1)


def test_across_targets_only_when_asked() -> None:
    old = kernels(kernel("f", target="gfx90a"), kernel("g", target="gfx90a"))
    new = kernels(kernel("f", target="gfx942"), kernel("g", target="gfx90a"))
    assert names(compare(old, new)) == ([("g", "g", "exact")], ["f"], ["f"])
    assert len(compare(old, new, across_targets=True).pairs) == 2


@pytest.mark.parametrize(
    "place",
    ["{}-hip-amdgcn-amd-amdhsa-{}.s", "{1}/{0}.co", "lib.so › {}/hipv4-amdgcn-amd-amdhsa--{}"],
)
def test_across_targets_a_symbol_of_several_files_is_that_of_the_same_file(place: str) -> None:
    def of(target: str, **waves: float) -> Build:
        processor = target.partition(":")[0]
        return kernels(
            *(
                kernel("k", target=target, waves_per_simd=value, code_object=place.format(file, id))
                for file, value in waves.items()
                for id in [target if "hipv4" in place else processor]
            )
        )

    old = of("gfx90a:xnack+", a=8, b=4, c=2)
    found = compare(old, of("gfx942", b=4, c=2), across_targets=True)
    assert [(pair.old.waves_per_simd, pair.new.waves_per_simd) for pair in found.pairs] == [
        (4, 4),
        (2, 2),
    ]
    assert ([one.waves_per_simd for one in found.gone], found.new) == ([8], ())


def test_text_and_code_object_of_one_compilation_are_the_same_build() -> None:
    for stem in ("occupancy-clang22-gfx90a", "variety-clang22-gfx942"):
        found = diff(FIXTURES / f"assembly/{stem}.s", FIXTURES / f"code_object/{stem}.co")
        assert (found.gone, found.new) == ((), ())
        assert {pair.match for pair in found.pairs} == {"exact"}
        assert all(pair.old.waves_per_simd == pair.new.waves_per_simd for pair in found.pairs)


def test_two_compilers_of_one_source_have_the_same_kernels() -> None:
    old, new = (FIXTURES / f"assembly/variety-clang{number}-gfx90a.s" for number in (15, 22))
    found = diff(old, new)
    assert len(found.pairs) == 26
    assert (found.gone, found.new) == ((), ())
    assert "15.0.6" in found.old_compilers[0]
    assert "22." in found.new_compilers[0]
