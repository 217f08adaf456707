"""Patterns that name kernels, and those that do not."""

from __future__ import annotations

import re
import sys
from fnmatch import fnmatchcase

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from kernelinfo import OptionError, Report, load

from ..conftest import FIXTURES
from ..messages import refused

[RESULT, *_] = load(FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co").results
ATTENTION = "void llama::flash_attn_ext_f16<64, 256, true>(char const*, int)"


def matches(pattern: str, name: str, symbol: str) -> bool:
    """Whether a pattern chooses a kernel of this name and symbol."""
    kernel = RESULT.kernel._replace(name=name, symbol=symbol)
    return len(Report((RESULT._replace(kernel=kernel),), ())[pattern]) == 1


NAMED = [
    ("*", ATTENTION),
    (ATTENTION, ATTENTION),
    ("_Zmangled", ATTENTION),
    ("_Zm*", ATTENTION),
    ("llama::flash_attn_ext_f16<64, 256, true>", ATTENTION),
    ("llama::flash_attn*", ATTENTION),
    ("flash_attn_ext_f16<64, 256, true>", ATTENTION),
    ("flash_attn_ext_*<*, 256, *>", ATTENTION),
    ("void llama::*", ATTENTION),
    ("*(char const*, int)", ATTENTION),
    ("re:^flash_attn_ext_f(16|32)<", ATTENTION),
    ("re:char const", ATTENTION),
    ("re:bare|attn_e", ATTENTION),
    ("re:s*flash_+attnx?_", ATTENTION),
    (r"re:\bflash\w+f(16|32)\b", ATTENTION),
    ("re:(?i)FLASH_attn", ATTENTION),
    ("re:(bare_(flash))*_attn", ATTENTION),
    ("re:fla{1}sh[_]attn", ATTENTION),
    (r"re:\d+, true>\(char( volatile)? const", ATTENTION),
    ("view::operator[]", "view::operator[](int) const"),
    ("*operator[[]]*", "view::operator[](int) const"),
    ("tagged[abi:cxx11]", "tagged[abi:cxx11](int)"),
    ("tagged[[]abi:cxx11]*", "tagged[abi:cxx11](int)"),
    ("each<main::(lambda)#1>", "void each<main::(lambda)#1>(int*)"),
    ("each<*#?>", "void each<main::(lambda)#1>(int*)"),
    ("gemm_[0-9]", "gemm_4(float*)"),
    ("flash_attn_ext_f16", ATTENTION),
    ("llama::flash_attn_ext_f16", ATTENTION),
    ("flash_attn_ext_f16<64,256,true>", ATTENTION),
    ("flash_attn_ext_f16< 64 , 256,true >", ATTENTION),
    ("flash_attn_ext_f16<64,256,true>(char const *, int)", ATTENTION),
    ("flash_attn_ext_*<64,*>", ATTENTION),
    ("stencil3d<4,8>", "void fd::stencil3d<4u, 8u>(float*)"),
    ("stencil3d", "void fd::stencil3d<4u, 8u>(float*)"),
    ("sort<greater<int>>", "void lib::sort<lib::greater<int> >(int*)"),
    ("sort<greater<int>>(…)", "void lib::sort<lib::greater<int> >(int*)"),
]
STEMS = {
    "plain_c": "plain_c",
    "empty(int, double*)": "empty",
    "void gemm<float, 3>(float*)": "gemm<float, 3>",
    "depot::sort(int*)": "sort",
    "outer::v1::nested(float*)": "nested",
    "(anonymous namespace)::hidden(int*)": "hidden",
    "void (anonymous namespace)::hidden<int>(int*)": "hidden<int>",
    "st(int*) (.intern.3adb6e9e)": "st",
    "void each<f()::'lambda'(int)>(f()::'lambda'(int), int*)": "each<f()::'lambda'(int)>",
    "std::vector<a::b, c(*)(d)> n::make<a::b>(int)": "make<a::b>",
    "Functor::operator()(int) const": "operator()",
    "bool Order::operator<(int) const": "operator<",
    "tagged[abi:cxx11](int)": "tagged[abi:cxx11]",
    "": "",
    "<<<": "<<<",
    ")))(": ")))(",
}


def test_patterns_that_name_a_kernel() -> None:
    named = [*NAMED, *((stem, name) for name, stem in STEMS.items() if "[" not in stem)]
    assert [pair for pair in named if not matches(*pair, "_Zmangled")] == []


OTHERS = [
    *("flash_attn", "flash_attn_ext_*<*, 128, *>", "llama::flash", "re:^attn", "FLASH*", ""),
    *("_Z", "flash_attn_ext_f16<64, 256>", "flash_attn_ext_f16<6 4,256,true>"),
    "other::flash_attn_ext_f16",
]


def test_patterns_that_do_not() -> None:
    assert [pattern for pattern in OTHERS if matches(pattern, ATTENTION, "_Zmangled")] == []


def test_what_no_linear_matcher_reads_is_said() -> None:
    for pattern in ("re:(", r"re:(?=a)", r"re:(a)\1", "re:\udc80", "re:a{2000}"):
        with pytest.raises(OptionError, match="that RE2 accepts"):
            matches(pattern, "a", "a")


def test_no_pattern_takes_forever() -> None:
    """Python's own matcher would take twice as long for each letter."""
    for pattern in ("^(a+)+$", "^(a|aa)+$", "(a*)*b", "(.*)(.*)(.*)(.*)(.*)x$"):
        assert not matches(f"re:{pattern}", "a" * 10_000 + "!", "_Z")


def test_letters_of_any_language() -> None:
    assert matches("re:^größ.$", "größe", "_Z")


NAMES = st.text("ab:<>,()[]* &~#1 _", max_size=20)


@given(NAMES, NAMES)
def test_a_name_is_a_pattern_for_itself_and_all_its_spellings(name: str, symbol: str) -> None:
    for pattern in (name, symbol, "*"):
        assert matches(pattern, name, symbol)
    if "[" not in name:
        assert matches(f"{name}*", name, symbol)


@given(NAMES, st.text("ab*?<>,", max_size=8))
def test_globs_are_the_shells(name: str, pattern: str) -> None:
    """A name has only one spelling here."""
    assert matches(pattern, name, name) == fnmatchcase(name, pattern)


@given(NAMES, st.text("ab|*?+.()^ ", max_size=8))
def test_a_regular_expression_that_occurs_in_a_name_matches_it(name: str, pattern: str) -> None:
    try:
        occurs, found = re.search(pattern, name), matches(f"re:{pattern}", name, "_Zmangled")
    except (re.error, OptionError):  # each knows operators that the other does not
        reject()
    assert found or not occurs


@given(NAMES, st.text("ab<>:", max_size=5))
def test_regular_expressions_are_pythons(name: str, part: str) -> None:
    assert matches(f"re:{re.escape(part)}", name, name) == (part in name)


def test_without_google_re2_a_regular_expression_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Globs work; the line names the extra."""
    monkeypatch.setitem(sys.modules, "re2", None)
    with refused("re2-missing re:never|asked … kernelinfo", OptionError):
        matches("re:never|asked", ATTENTION, "_Z")
    assert matches("flash_*", ATTENTION, "_Z")
