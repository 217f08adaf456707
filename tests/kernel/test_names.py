"""Kernel names as people write them."""

from __future__ import annotations

import pytest

from kernelinfo.kernel.names import base_name, stem, without_unit


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
        ("void each<f()::'lambda'(int)>(f()::'lambda'(int), int*)", "each<f()::'lambda'(int)>"),
        ("std::vector<a::b, c(*)(d)> n::make<a::b>(int)", "make<a::b>"),
        ("Functor::operator()(int) const", "operator()"),
        ("bool Order::operator<(int) const", "operator<"),
        ("tagged[abi:cxx11](int)", "tagged[abi:cxx11]"),
        ("", ""),
        ("<<<", "<<<"),
        (")))(", ")))("),
    ],
)
def test_stem(name: str, expected: str) -> None:
    assert stem(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("void gemm<float, 3>(float*)", "gemm"),
        ("void a::b<1>::gemm<a::b<2>>(a::b<3>)", "gemm"),
        ("depot::sort(int*)", "sort"),
        ("plain_c", "plain_c"),
        ("<<<", "<<<"),
    ],
)
def test_base_name(name: str, expected: str) -> None:
    assert base_name(name) == expected


def test_the_unit_of_a_static_kernel_is_no_part_of_its_name() -> None:
    assert without_unit("st(int*) (.intern.3adb6e9e)") == "st(int*)"
    assert without_unit("st(int*)") == "st(int*)"
