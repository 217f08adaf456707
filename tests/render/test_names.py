"""Kernel names as people see them."""

from __future__ import annotations

import pytest

from kernelinfo.render.names import printable, short


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
        ("", ""),
        ("<<<", "<<<"),
        (")))(", ")))("),
    ],
)
def test_short(name: str, expected: str) -> None:
    assert short(name) == expected


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
