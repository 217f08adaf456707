"""Kernel names as people see them: short, folded, without what acts on a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from mmap import ACCESS_READ, mmap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelinfo
from kernelinfo import Result
from kernelinfo.render import View

from ..conftest import FIXTURES
from ..fuzz.specimens import Specimen, code_object
from ..outputs import outputs

LIBRARY = Path("/usr/lib/x86_64-linux-gnu/librocsparse.so.0")
"""Debian's librocsparse0, whose kernels have 11 431 names."""
SHORT = {
    "plain_c": "plain_c",
    "empty(int, double*)": "empty",
    "void gemm<float, 3>(float*)": "gemm<float, 3>",
    "depot::sort(int*)": "sort",
    "outer::v1::nested(float*)": "nested",
    "(anonymous namespace)::hidden(int*)": "hidden",
    "void (anonymous namespace)::hidden<int>(int*)": "hidden<int>",
    "st(int*) (.intern.3adb6e9e)": "st",
    "void each<f()::'lambda'(int)>(f()::'lambda'(int), int*)": "each<f::'lambda'(int)>",
    "std::vector<a::b, c(*)(d)> n::make<a::b>(int)": "make<b>",
    "Functor::operator()(int) const": "operator()",
    "void gemm<256u, 4ul, -2l, true>(int)": "gemm<256, 4, -2, true>",
    "void k<unsigned int, unsigned long>(int)": "k<unsigned, unsigned long>",
    "void k<(rocprim::detail::select_method)1>(int)": "k<(select_method)1>",
    "void k<std::vector<int, std::allocator<int>>>(int)": "k<vector<int>>",
    "void k<a::b<4ul>::type>(int)": "k<b<4>::type>",
    "void k<rocsparse_complex_num<double> const*>(int)": "k<rocsparse_complex_num<double> const*>",
    "void k<std::basic_string<char, std::char_traits<char>, std::allocator<char> > >(int)": (
        "k<string>"
    ),
    "void run<err a::impl<b::c, 2u>(int*, b::c)::'lambda0'(int), long>(int*)": (
        "run<impl<c, 2>::'lambda0'(int), long>"
    ),
    "void run<main::{lambda(int)#2}>(int*)": "run<main::{lambda(int)#2}>",
    "<<<": "<<<",
    ")))(": ")))(",
    "größe(float*)": "größe",
    "\x1b[31mred": "\\x1b[31mred",
    "two\nlines": "two\\nlines",
    "left\u202eright": "left\\u202eright",
}
"""Name of a kernel -> its short name."""
APART = {
    "void scale<256u, double>(int, double*, double const*, long)": (
        "scale<256, double>(int, double*, double const*, …)"
    ),
    "void scale<256u, double>(int, double*, double, long)": (
        "scale<256, double>(int, double*, double, …)"
    ),
    "void scale<256u, float>(int, float*, float, long)": "scale<256, float>",
    "void a::part<int>(int)": "void a::part<int>(int)",
    "void b::part<int>(int)": "void b::part<int>(int)",
}
"""Name of a kernel -> what a table calls it, where parameters or namespaces tell it apart."""
CPP = st.text("ab1u: ,<>()[]{}'&*~#", min_size=1, max_size=60) | st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30
)


@cache
def model() -> Result:
    path = FIXTURES / "code_object/occupancy-hip-amdgcn-amd-amdhsa-gfx90a.out"
    return kernelinfo.load(path).results[0]


def items(names: Iterable[str]) -> list[Result]:
    """A kernel of each name."""
    return [
        model()._replace(kernel=model().kernel._replace(symbol=f"_Z{number}", name=name))
        for number, name in enumerate(names)
    ]


def names_in_a_table(results: Iterable[Result]) -> list[str]:
    text = "".join(outputs("report")["text"](results, View(names="short", top=0, quiet=True)))
    lines = text.splitlines()
    heading = next(index for index, line in enumerate(lines) if line.startswith(" block"))
    column = len(lines[heading]) - len("kernel")
    return [line[column:] for line in lines[heading + 1 :] if "%" in line]


def test_short_names() -> None:
    rows = dict(zip(SHORT, names_in_a_table(items(SHORT)), strict=True))
    assert {name: rows[name] for name in SHORT if rows[name] != SHORT[name]} == {}
    assert names_in_a_table(items(APART)) == [*APART.values()]
    assert names_in_a_table(items(["twin(int)", "twin(int)", "other"])) == ["_Z0", "_Z1", "other"]


@given(st.lists(CPP.map(str.strip).filter(bool), min_size=1, max_size=8, unique=True))
def test_a_name_stays_a_name(names: list[str]) -> None:
    shown = names_in_a_table(items(names))
    assert all(name and name.isprintable() for name in shown)
    told = {printable(name).strip() for name in names}
    assert len({*shown}) == len(names) == len(shown) or len(told) < len(names)


@given(CPP, st.integers(40, 80))
def test_a_folded_name_is_the_same_name(name: str, width: int) -> None:
    text = "".join(
        outputs("report")["text"](items([name]), View(width=width, fold=True, quiet=True))
    )
    text = text.replace("\\x3a:", "::").replace("\\u0023#", "##")  # commands of CI services
    assert "".join(printable(name).split()) in "".join(text.split())


def printable(name: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def test_a_name_is_folded_where_an_engineer_would() -> None:
    name = "void rocprim::detail::sort_kernel<rocprim::config<256u, 4u>, float*>(float*, int)"
    text = "".join(outputs("report")["text"](items([name]), View(width=50, fold=True)))
    lines = [line.strip() for line in text.splitlines()]
    assert "void rocprim::detail::sort_kernel<" in lines
    assert "rocprim::config<256u, 4u>, float*>(float*, int)" in lines


@pytest.mark.needs("librocsparse")
def test_a_whole_library_is_told_apart() -> None:
    """Its descriptors' symbols, without the cost of reading all of it."""
    with LIBRARY.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        symbols = {symbol.decode() for symbol in re.findall(rb"\0(_Z\w+)\.kd(?=\0)", data)}
    assert len(symbols) == 11_431
    made = code_object([Specimen(symbol, 8, 0, 8, 0, 0, 64) for symbol in symbols])
    results = kernelinfo.load(made).results
    shown = names_in_a_table(results)
    assert len({*shown}) == len(shown) == len(symbols)
    assert sum(map(len, shown)) < sum(len(result.kernel.name) for result in results) / 2
