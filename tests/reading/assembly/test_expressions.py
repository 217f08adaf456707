"""Expressions are worth what LLVM's assembler makes of them."""

from __future__ import annotations

import pytest

from kernelinfo.hardware import targets
from kernelinfo.reading.assembly.expressions import Evaluator, SymbolSetting, Unresolved
from kernelinfo.reading.grammar import MOST_TOKENS


def value(
    expression: str, symbols: dict[str, str] | None = None, target: str | None = "gfx90a"
) -> int | Unresolved:
    definitions = {name: [SymbolSetting(1, text)] for name, text in (symbols or {}).items()}
    hardware = targets.find(target) if target else None
    return Evaluator(definitions, hardware).value(expression, 1)


def reason(expression: str, symbols: dict[str, str] | None = None, target: str = "gfx90a") -> str:
    result = value(expression, symbols, target)
    assert isinstance(result, Unresolved), result
    return result.reason


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1+2&2", 3),  # GNU as binds & tighter than +
        ("1|1+1", 2),
        ("1<<2+1", 5),
        ("6&3*2", 6),
        ("1==1&2", 0),
        ("5==5", -1),
        ("5==5==5", 0),
        ("1 < 2 == -1", -1),
        ("5<>4", -1),
        ("2&&3", 1),
        ("0||2", 1),
        ("1||1&&0", 1),
        ("3-1-1", 1),
        ("1|2^3", 0),
        ("1!3", -3),  # or-not
        ("!5+!0", 1),
        ("- -~+3", -4),
        ("-7/2", -3),
        ("7%-3", 1),
        ("-1>>60", 15),
        ("1<<63", -(1 << 63)),
        ("9223372036854775807+1", -(1 << 63)),
        ("18446744073709551615", -1),
        ("010+0x1F+0b11+0X1", 43),
        ("max(-1, -5, -3)", -1),
        ("min(128, max(128, 7))", 128),
        ("0+max(5)", 5),
        ("or(1, 4)", 5),
        ("alignto(5, 4)", 8),
        ("((alignto(max(max(33, 1, 0), 1), 8))/8)-1", 4),
        ("(((((alignto(max(1, 33), 4)/4)-1)&~65536)&63)+1)*4", 36),
    ],
)
def test_operators_bind_and_compute_as_in_llvm_mc(expression: str, expected: int) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    "text", ["180", " 180 ", "180 // vgprs", "180; vgprs", "180 /* x */", "180 /*"]
)
def test_comments_behind_a_value_are_no_part_of_it(text: str) -> None:
    assert value(text) == 180
    assert value(f"1*{text}") == 180


@pytest.mark.parametrize(
    ("expression", "target", "expected"),
    [
        ("totalnumvgprs(0, 33)", "gfx90a", 33),
        ("totalnumvgprs(8, 33)", "gfx90a", 44),  # AGPRs come first
        ("totalnumvgprs(8, 33)", "gfx908", 33),
        ("totalnumvgprs(0, 33)", None, 33),
        ("extrasgprs(1, 0, 0)", "gfx90a", 2),
        ("extrasgprs(0, 0, 1)", "gfx90a", 4),
        ("extrasgprs(1, 1, 1)", "gfx90a", 6),
        ("extrasgprs(0, 0, 0)", "gfx942", 6),  # flat scratch is architected
        ("extrasgprs(0, 1, 0)", "gfx700", 4),
        ("extrasgprs(1, 0, 1)", "gfx700", 2),
        ("extrasgprs(1, 1, 1)", "gfx1100", 2),
        ("extrasgprs(0, 1, 1)", "gfx1100", 0),
    ],
)
def test_registers_depend_on_the_target(expression: str, target: str | None, expected: int) -> None:
    assert value(expression, target=target) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("occupancy(8, 8, 512, 8, 8, 106, 64)", 7),
        ("occupancy(10, 4, 256, 8, 10, 100, 24)", 8),
        ("occupancy(10, 4, 256, 6, 10, 80, 24)", 6),
        ("occupancy(16, 24, 1536, 10, 16, 106, 145)", 9),
        ("occupancy(16, 24, 1536, 10, 16, 106, 3)", 16),
        ("occupancy(8, 8, 512, 8, 4, 0, 0)", 4),
        ("occupancy(8, 8, 512, 8, 800, 16, 16, 100, 64)", 6),
        ("occupancy(16, 16, 1024, 16, 800, 106, 16, 0, 1024)", 1),
    ],
)
def test_both_signatures_of_occupancy(expression: str, expected: int) -> None:
    assert value(expression) == expected


def test_symbols_are_found_whatever_their_names() -> None:
    symbols = {"k.num_vgpr": "max(41, .Lf.num_vgpr)", ".Lf.num_vgpr": "43", 'a "q".n': "2"}
    assert value("k.num_vgpr+1", symbols) == 44
    assert value(r'"a \"q\".n"*2', symbols) == 4


def test_a_symbol_set_again_has_its_latest_value_and_the_next_one_before_the_first() -> None:
    definitions = {"n": [SymbolSetting(10, "1"), SymbolSetting(20, "n+1")]}
    evaluator = Evaluator(definitions, None)
    assert [evaluator.value("n*1", line) for line in (5, 15, 25)] == [1, 1, 2]


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("", "the value is missing"),
        ("4/0", "a division by zero"),
        ("7%0", "a division by zero"),
        ("alignto(5, 0)", "a division by zero"),
        ("1<<1000000000000", "a shift by 1000000000000 of 64 bits"),
        ("1>>-1", "a shift by -1 of 64 bits"),
        ("9" * 100_000, "a number of more than 64 bits"),
        ("18446744073709551616", "a number of more than 64 bits"),
        ("09", "'09' is no octal number"),
        ("max()", "max does not take 0 arguments"),
        ("occupancy(1,2,3)", "occupancy does not take 3 arguments"),
        ("lit(1)", "'lit' is no function of the assembler"),
        ("nowhere+1", "symbol 'nowhere' is not defined"),
        ("a+1", "symbol 'a' is defined by itself"),
        ("instprefsize(4)", "the size of the code is not in the text"),
        ("1 +", "'1 +' is no expression"),
        ("max(" * 50_000 + "1" + ")" * 50_000, "an expression of more than 32768 tokens"),
        ("1+" * (1 << 20) + "1", "an expression of more than 32768 tokens"),
    ],
)
def test_what_has_no_value_says_why(expression: str, words: str) -> None:
    assert reason(expression, {"a": "b", "b": "a"}) == words


def test_functions_of_the_target_need_one() -> None:
    unknown = Evaluator({}, None)
    assert unknown.value("extrasgprs(1, 0, 0)", 0) == Unresolved("extrasgprs of an unknown target")
    assert unknown.value("totalnumvgprs(1, 0)", 0) == Unresolved(
        "totalnumvgprs of an unknown target"
    )


def test_nothing_is_evaluated_twice_or_by_recursion() -> None:
    doubling = {f"a{n}": f"a{n - 1}+a{n - 1}" for n in range(1, 63)} | {"a0": "1"}
    assert value("a62+0", doubling) == 1 << 62
    chain = {f"c{n}": f"c{n - 1}+1" for n in range(1, 50_001)} | {"c0": "0"}
    assert value("c50000+0", chain) == 50_000
    assert value("1" + "+1" * 10_000) == 10_001
    assert value("-" * 10_000 + "1") == 1
    deep = MOST_TOKENS // 2 - 1
    assert value("(" * deep + "1" + ")" * deep) == 1
    assert value("max(" + "1, " * 10_000 + "2)") == 2


def test_a_chain_of_definitions_has_an_end() -> None:
    chain = {f"c{n}": f"c{n - 1}" for n in range(1, 100_100)} | {"c0": "0"}
    assert reason("c100099", chain) == "'c99' is more than 100000 definitions away"


def test_long_expressions_of_one_module_have_a_bound() -> None:
    """Dozens of 16,000 signs are read, not thousands; short ones always are."""
    evaluator = Evaluator({}, None)
    values = [evaluator.value("-" * 16_000 + str(n), 1) for n in range(200)]
    assert values[:60] == list(range(60))
    assert values[-1] == Unresolved("the module's expressions are too long in total")
    assert evaluator.value("max(1, 2) + 3", 1) == 5
