"""Kernel names as people see them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from mmap import ACCESS_READ, mmap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelinfo
from kernelinfo.kernel import Kernel
from kernelinfo.kernel.names import demangle, short
from kernelinfo.render.names import folded, names_of, printable

from ..conftest import FIXTURES

LIBRARY = Path("/usr/lib/x86_64-linux-gnu/librocsparse.so.0")
"""Debian's librocsparse0, whose kernels have 11 431 names."""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain_c", "plain_c"),
        ("empty(int, double*)", "empty"),
        ("void gemm<float, 3>(float*)", "gemm<float, 3>"),
        ("depot::sort(int*)", "sort"),
        ("outer::v1::nested(float*)", "nested"),
        ("(anonymous namespace)::hidden(int*)", "hidden"),
        ("void (anonymous namespace)::hidden<int>(int*)", "hidden<int>"),
        ("st(int*) (.intern.3adb6e9e)", "st"),
        ("void each<f()::'lambda'(int)>(f()::'lambda'(int), int*)", "each<f::'lambda'(int)>"),
        ("std::vector<a::b, c(*)(d)> n::make<a::b>(int)", "make<b>"),
        ("Functor::operator()(int) const", "operator()"),
        ("void gemm<256u, 4ul, -2l, true>(int)", "gemm<256, 4, -2, true>"),
        (
            "void k<rocsparse_complex_num<double> const*>(int)",
            "k<rocsparse_complex_num<double> const*>",
        ),
        ("void k<unsigned int, unsigned long>(int)", "k<unsigned, unsigned long>"),
        ("void k<(rocprim::detail::select_method)1>(int)", "k<(select_method)1>"),
        ("void k<std::vector<int, std::allocator<int>>>(int)", "k<vector<int>>"),
        (
            "void k<std::basic_string<char, std::char_traits<char>, std::allocator<char> > >(int)",
            "k<string>",
        ),
        ("void k<a::b<4ul>::type>(int)", "k<b<4>::type>"),
        (
            "void run<err a::impl<b::c, 2u>(int*, b::c)::'lambda0'(int), long>(int*)",
            "run<impl<c, 2>::'lambda0'(int), long>",
        ),
        ("void run<main::{lambda(int)#2}>(int*)", "run<main::{lambda(int)#2}>"),
        ("", ""),
        ("<<<", "<<<"),
        (")))(", ")))("),
    ],
)
def test_short(name: str, expected: str) -> None:
    assert short(name) == expected


CPP = st.text("ab1u: ,<>()[]{}'&*~#", max_size=60) | st.text(max_size=30)


@given(CPP.filter(bool))
def test_a_name_stays_a_name(name: str) -> None:
    once = printable(short(name))
    assert once
    assert once.isprintable()
    assert once == printable(short(name))


@given(CPP, st.integers(10, 80))
def test_a_folded_name_is_the_same_name(name: str, width: int) -> None:
    lines = folded(printable(name), width, 2)
    joined = lines[0] + "".join(line[2:] for line in lines[1:])
    assert "".join(joined.split()) == "".join(printable(name).split())


def test_a_name_is_folded_where_an_engineer_would() -> None:
    name = "void rocprim::detail::sort_kernel<rocprim::config<256u, 4u>, float*>(float*, int)"
    assert folded(name, 44, 2) == [
        "void rocprim::detail::sort_kernel<",
        "  rocprim::config<256u, 4u>, float*>(float*,",
        "  int)",
    ]


def kernels(names: Iterable[tuple[str, str]]) -> list[Kernel]:
    """Kernels of these symbols and names."""
    path = "code_object/occupancy-hip-amdgcn-amd-amdhsa-gfx90a.out"
    model = kernelinfo.load(FIXTURES / path).kernels[0]
    return [model._replace(symbol=symbol, name=name) for symbol, name in names]


def test_what_parameters_tell_apart_is_told() -> None:
    names = {
        "_Z1": "void scale<256u, double>(int, double*, double const*, long)",
        "_Z2": "void scale<256u, double>(int, double*, double, long)",
        "_Z3": "void scale<256u, float>(int, float*, float, long)",
        "_Z4": "void a::part<int>(int)",
        "_Z5": "void b::part<int>(int)",
        "_Z6": "twin(int)",
        "_Z7": "twin(int)",
        "twin": "twin",
    }
    assert names_of(kernels(names.items()), "short") == {
        "_Z1": "scale<256, double>(int, double*, double const*, …)",
        "_Z2": "scale<256, double>(int, double*, double, …)",
        "_Z3": "scale<256, float>",
        "_Z4": "void a::part<int>(int)",
        "_Z5": "void b::part<int>(int)",
        "_Z6": "_Z6",
        "_Z7": "_Z7",
        "twin": "twin",
    }


@given(st.dictionaries(st.text("ab_Z", min_size=1, max_size=5), CPP.filter(bool), max_size=6))
def test_no_two_kernels_have_one_short_name(names: dict[str, str]) -> None:
    found = names_of(kernels(names.items()), "short")
    clashing = set(names) & set(map(printable, names.values()))
    assert len(set(found.values())) == len(names) or clashing


@pytest.mark.needs("librocsparse")
def test_a_whole_library_is_told_apart() -> None:
    """Its descriptors' symbols, without the cost of reading all of it."""
    with LIBRARY.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        symbols = {found.decode() for found in re.findall(rb"\0(_Z\w+)\.kd(?=\0)", data)}
    assert len(symbols) == 11_431
    found = names_of(kernels((symbol, demangle(symbol)) for symbol in symbols), "short")
    assert len(set(found.values())) == len(symbols)
    shorter = sum(len(name) for name in found.values())
    assert shorter < sum(len(demangle(symbol)) for symbol in symbols) / 2


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("größe(float*)", "größe(float*)"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("two\nlines", "two\\nlines"),
        ("left\u202eright", "left\\u202eright"),
        ("not\udc80text", "not\\udc80text"),
    ],
    ids=["letters stay", "colours", "new lines", "bidirectional marks", "undecodable bytes"],
)
def test_names_cannot_act_on_a_terminal(name: str, expected: str) -> None:
    assert printable(name) == expected
