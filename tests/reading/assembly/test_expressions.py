"""Expressions are worth what LLVM's assembler makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from kernelinfo import Options, Problem, Result, analyse

from ...messages import says

WORTH = {
    "1+2&2": 3,  # GNU as binds & tighter than +
    "1|1+1": 2,
    "1<<2+1": 5,
    "6&3*2": 6,
    "1==1&2": 0,
    "5==5": -1,
    "5==5==5": 0,
    "1 < 2 == -1": -1,
    "5<>4": -1,
    "2&&3": 1,
    "0||2": 1,
    "1||1&&0": 1,
    "3-1-1": 1,
    "1|2^3": 0,
    "1!3": -3,  # or-not
    "!5+!0": 1,
    "- -~+3": -4,
    "-7/2": -3,
    "7%-3": 1,
    "-1>>60": 15,
    "1<<63": -(1 << 63),
    "9223372036854775807+1": -(1 << 63),
    "18446744073709551615": -1,
    "010+0x1F+0b11+0X1": 43,
    "max(-1, -5, -3)": -1,
    "min(128, max(128, 7))": 128,
    "0+max(5)": 5,
    "or(1, 4)": 5,
    "alignto(5, 4)": 8,
    "((alignto(max(max(33, 1, 0), 1), 8))/8)-1": 4,
    "(((((alignto(max(1, 33), 4)/4)-1)&~65536)&63)+1)*4": 36,
    " 180 ": 180,
    "180 // vgprs": 180,
    "1*180; vgprs": 180,
    "180 /* x */": 180,
    # both signatures
    "occupancy(8, 8, 512, 8, 8, 106, 64)": 7,
    "occupancy(10, 4, 256, 8, 10, 100, 24)": 8,
    "occupancy(10, 4, 256, 6, 10, 80, 24)": 6,
    "occupancy(16, 24, 1536, 10, 16, 106, 145)": 9,
    "occupancy(16, 24, 1536, 10, 16, 106, 3)": 16,
    "occupancy(8, 8, 512, 8, 4, 0, 0)": 4,
    "occupancy(8, 8, 512, 8, 800, 16, 16, 100, 64)": 6,
    "occupancy(16, 16, 1024, 16, 800, 106, 16, 0, 1024)": 1,
    # symbols
    "num+1": 44,
    r'"a \"q\".n"*2': 4,
    # bounds
    "a62+0": 1 << 62,
    "c50000+0": 50_000,
    "1" + "+1" * 10_000: 10_001,
    "-" * 10_000 + "1": 1,
    "(" * 16_383 + "1" + ")" * 16_383: 1,
    "max(" + "1, " * 10_000 + "2)": 2,
}
SYMBOLS = {
    "num": "max(41, .Lf.num_vgpr)",
    ".Lf.num_vgpr": "43",
    r'"a \"q\".n"': "2",
    "a0": "1",
    **{f"a{n}": f"a{n - 1}+a{n - 1}" for n in range(1, 63)},
    "c0": "0",
    **{f"c{n}": f"c{n - 1}+1" for n in range(1, 50_001)},
}
ENDLESS = {"x": "y", "y": "x", "d0": "0", **{f"d{n}": f"d{n - 1}" for n in range(1, 100_100)}}
TARGETS = {
    "gfx90a": {
        "totalnumvgprs(0, 33)": 33,
        "totalnumvgprs(8, 33)": 44,  # AGPRs come first
        "extrasgprs(1, 0, 0)": 2,
        "extrasgprs(0, 0, 1)": 4,
        "extrasgprs(1, 1, 1)": 6,
    },
    "gfx908": {"totalnumvgprs(8, 33)": 33},
    "gfx942": {"extrasgprs(0, 0, 0)": 6},  # flat scratch is architected
    "gfx700": {"extrasgprs(0, 1, 0)": 4, "extrasgprs(1, 0, 1)": 2},
    "gfx1100": {"extrasgprs(1, 1, 1)": 2, "extrasgprs(0, 1, 1)": 0},
    "gfx1399": {"totalnumvgprs(0, 33)": 33},
}
WORTHLESS = {
    "4/0": "expression-division-by-zero",
    "7%0": "expression-division-by-zero",
    "alignto(5, 0)": "expression-division-by-zero",
    "1<<1000000000000": "expression-shift 1000000000000",
    "1>>-1": "expression-shift -1",
    "9" * 30_000: "expression-number",
    "18446744073709551616": "expression-number",
    "09": "expression-octal '09'",
    "max()": "expression-arguments max … 0",
    "occupancy(1,2,3)": "expression-arguments occupancy … 3",
    "lit(1)": "expression-function 'lit'",
    "nowhere+1": "symbol-undefined 'nowhere'",
    "x+1": "symbol-circular 'x'",
    "d100099": "expression-depth 'd99' … 100000",
    "instprefsize(4)": "expression-code-size",
    "1 +": "expression-malformed '1 +'",
    "1+" * 16_385 + "1": "expression-too-long 32768",
}


def worth(
    expressions: Iterable[str], folder: Path, symbols: dict[str, str], target: str = "gfx90a"
) -> list[int | str]:
    """What each expression is worth, or the problem where it is worth nothing."""
    blocks = "".join(
        f".amdhsa_kernel k{n}\n.amdhsa_group_segment_fixed_size {expression}\n.end_amdhsa_kernel\n"
        for n, expression in enumerate(expressions)
    )
    sets = "".join(f".set {name}, {expression}\n" for name, expression in symbols.items())
    path = folder / "k.s"
    path.write_text(f'.amdgcn_target "amdgcn-amd-amdhsa--{target}"\n{sets}{blocks}')
    values: dict[str, int | str] = {}
    for item in analyse([str(path)], Options()):
        if isinstance(item, Result):
            if item.kernel.numbers.lds_bytes is not None:
                values[item.kernel.symbol] = item.kernel.numbers.lds_bytes
        elif isinstance(item, Problem) and (named := re.search(r"'(k\d+)'", item.message)):
            numbers = re.findall(r"-?\d+", item.message)
            is_number = item.code == "value-impossible"
            values[named[1]] = int(numbers[-1]) if is_number else item.message
    return [values.get(f"k{n}", "") for n in range(len(values))]


def have(values: Iterable[int | str], reasons: Iterable[str]) -> list[bool]:
    return [
        says(str(value), f"value-unresolved {reason}")
        for value, reason in zip(values, reasons, strict=True)
    ]


def test_operators_bind_and_compute_as_in_llvm_mc(tmp_path: Path) -> None:
    values = worth(WORTH, tmp_path, SYMBOLS)
    assert {k[:60]: v for k, v in zip(WORTH, values, strict=True)} == {
        k[:60]: v for k, v in WORTH.items()
    }


def test_registers_depend_on_the_target(tmp_path: Path) -> None:
    for target, expected in TARGETS.items():
        values = worth(expected, tmp_path, {}, target)
        assert dict(zip(expected, values, strict=True)) == expected, target
    values = worth(["extrasgprs(1, 0, 0)", "totalnumvgprs(1, 0)"], tmp_path, {}, "gfx1399")
    assert all(have(values, ["expression-extrasgprs", "expression-totalnumvgprs"])), values


def test_what_has_no_value_says_why(tmp_path: Path) -> None:
    values = worth(WORTHLESS, tmp_path, ENDLESS)
    told = zip(have(values, WORTHLESS.values()), WORTHLESS, values, strict=True)
    assert not [(expression[:60], value) for is_said, expression, value in told if not is_said]


def test_a_symbol_set_again_has_its_latest_value_and_the_next_one_before_the_first(
    tmp_path: Path,
) -> None:
    block = ".amdhsa_kernel {}\n.amdhsa_group_segment_fixed_size n*1\n.end_amdhsa_kernel\n"
    a, b, c = map(block.format, "abc")
    path = tmp_path / "k.s"
    begin = '.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\n'
    path.write_text(f"{begin}{a}.set n, 1\n{b}.set n, n+1\n{c}")
    items = analyse([str(path)], Options())
    sizes = [item.kernel.numbers.lds_bytes for item in items if isinstance(item, Result)]
    assert sizes == [1, 1, 2]


@pytest.mark.nightly
def test_long_expressions_of_one_module_have_a_bound(tmp_path: Path) -> None:
    """Dozens of 16,000 signs are read, not thousands; short ones always are."""
    long = [f"{'-' * 16_000}{n}" for n in range(80)]
    values = worth([*long, "max(1, 2) + 3"], tmp_path, {})
    assert values[:60] == list(range(60))
    assert (have(values[-2:-1], ["expressions-too-long"]), values[-1]) == ([True], 5)
