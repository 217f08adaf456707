"""Expressions are worth what LLVM's assembler makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from kernelinfo import Options, Problem, Result, analyse

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
    "4/0": "a division by zero",
    "7%0": "a division by zero",
    "alignto(5, 0)": "a division by zero",
    "1<<1000000000000": "a shift by 1000000000000 of 64 bits",
    "1>>-1": "a shift by -1 of 64 bits",
    "9" * 30_000: "a number of more than 64 bits",
    "18446744073709551616": "a number of more than 64 bits",
    "09": "'09' is no octal number",
    "max()": "max does not take 0 arguments",
    "occupancy(1,2,3)": "occupancy does not take 3 arguments",
    "lit(1)": "'lit' is no function of the assembler",
    "nowhere+1": "symbol 'nowhere' is not defined",
    "x+1": "symbol 'x' is defined by itself",
    "d100099": "'d99' is more than 100000 definitions away",
    "instprefsize(4)": "the size of the code is not in the text",
    "1 +": "'1 +' is no expression",
    "1+" * 16_385 + "1": "an expression of more than 32768 tokens",
}


def worth(
    expressions: Iterable[str], folder: Path, symbols: dict[str, str], target: str = "gfx90a"
) -> list[int | str]:
    """What each expression is worth, or the reason why it is worth nothing."""
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
            if item.kernel.used.lds_bytes is not None:
                values[item.kernel.symbol] = item.kernel.used.lds_bytes
        elif isinstance(item, Problem) and (
            said := re.match(
                r"kernel '(k\d+)': .*?(?:is (-?\d+), which|is unresolved: (.*))", item.message
            )
        ):
            values[said[1]] = int(said[2]) if said[2] else said[3]
    return [values.get(f"k{n}", "") for n in range(len(values))]


def test_operators_bind_and_compute_as_in_llvm_mc(tmp_path: Path) -> None:
    values = worth(WORTH, tmp_path, SYMBOLS)
    assert {k[:60]: v for k, v in zip(WORTH, values, strict=True)} == {
        k[:60]: v for k, v in WORTH.items()
    }


def test_registers_depend_on_the_target(tmp_path: Path) -> None:
    for target, expected in TARGETS.items():
        values = worth(expected, tmp_path, {}, target)
        assert dict(zip(expected, values, strict=True)) == expected, target
    assert worth(["extrasgprs(1, 0, 0)", "totalnumvgprs(1, 0)"], tmp_path, {}, "gfx1399") == [
        "extrasgprs of an unknown target",
        "totalnumvgprs of an unknown target",
    ]


def test_what_has_no_value_says_why(tmp_path: Path) -> None:
    values = worth(WORTHLESS, tmp_path, ENDLESS)
    assert {k[:60]: v for k, v in zip(WORTHLESS, values, strict=True)} == {
        k[:60]: v for k, v in WORTHLESS.items()
    }


def test_a_symbol_set_again_has_its_latest_value_and_the_next_one_before_the_first(
    tmp_path: Path,
) -> None:
    block = ".amdhsa_kernel {}\n.amdhsa_group_segment_fixed_size n*1\n.end_amdhsa_kernel\n"
    a, b, c = map(block.format, "abc")
    path = tmp_path / "k.s"
    begin = '.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\n'
    path.write_text(f"{begin}{a}.set n, 1\n{b}.set n, n+1\n{c}")
    items = analyse([str(path)], Options())
    sizes = [item.kernel.used.lds_bytes for item in items if isinstance(item, Result)]
    assert sizes == [1, 1, 2]


@pytest.mark.nightly
def test_long_expressions_of_one_module_have_a_bound(tmp_path: Path) -> None:
    """Dozens of 16,000 signs are read, not thousands; short ones always are."""
    long = [f"{'-' * 16_000}{n}" for n in range(80)]
    values = worth([*long, "max(1, 2) + 3"], tmp_path, {})
    assert values[:60] == list(range(60))
    assert values[-2:] == ["the module's expressions are too long in total", 5]
