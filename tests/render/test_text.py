"""The report as terminals show it and as pipes carry it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from rich.color import Color
from rich.style import Style
from rich.terminal_theme import TerminalTheme

from kernelinfo.analysis import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.kernel import Item, Repeat, Result
from kernelinfo.kernel.names import short
from kernelinfo.render import View
from kernelinfo.render.paint import cells, paint, wrap
from kernelinfo.render.table import SEVERITY_STYLES
from kernelinfo.render.text import render

from ..calls import count_calls
from ..conftest import FIXTURES
from ..test_golden import run

VARIETY = "assembly/variety-clang22-gfx942.s"
SPILLS = "assembly/spills-clang22-gfx90a.s"
WITHOUT_AGPRS = "assembly/variety-clang15-gfx906.s"


def items(name: str) -> list[Item]:
    return list(analyse([str(FIXTURES / name)], Options()))


def lines(name: str, view: View) -> list[str]:
    return "".join(render(items(name), view)).replace(f"{FIXTURES}/", "").splitlines()


def many(count: int) -> Iterator[Item]:
    """As many kernels as a library has, of the same six."""
    results = [item for item in items(SPILLS) if isinstance(item, Result)]
    for number in range(count):
        result = results[number % len(results)]
        kernel = result.kernel._replace(symbol=f"k{number}", name=f"k{number}")
        yield result._replace(kernel=kernel)


@pytest.mark.parametrize("name", [VARIETY, SPILLS, "container/libtwo.so"])
@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_a_terminal_is_as_wide_as_it_is(name: str, width: int) -> None:
    painted = lines(name, View(width=width, fold=True, color=True))
    shown = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in painted]
    rows = [line for line in shown if line[:3] != "   "]
    assert all(cells(line) <= max(width, 80) for line in rows)
    assert all(cells(line) <= width for line in shown if " KI" in line or line[:2] == " ≤")


@pytest.mark.parametrize("width", [160, 200])
def test_nothing_is_lost_by_folding(width: int) -> None:
    """The words are those of a pipe: all but what narrow terminals leave out of the table."""
    piped = " ".join(lines(VARIETY, View())).split()
    folded = " ".join(lines(VARIETY, View(width=width, fold=True))).split()
    assert sorted(folded) == sorted(piped)


def test_a_narrow_terminal_leaves_out_what_is_zero_everywhere_and_bars() -> None:
    shown = lines(WITHOUT_AGPRS, View(width=80, fold=True))
    heading = next(line for line in shown if line.startswith(" kernel"))
    assert heading.split() == [
        "kernel", "block", "VGPR", "SGPR", "LDS", "scratch", "waves", "occ", "limited", "by",
    ]  # fmt: skip
    assert "■" not in "".join(shown[shown.index(heading) :])
    piped = lines(WITHOUT_AGPRS, View(width=80))
    assert any("AGPR" in line for line in piped), "a pipe always has every column"


def test_a_pipe_has_one_finding_a_line_and_whole_names() -> None:
    shown = lines(VARIETY, View(width=60))
    findings = [line for line in shown if re.search(r"KI\d{3} (note|warning)", line)]
    told = [(f, i) for i in items(VARIETY) if isinstance(i, Result) for f in i.findings]
    assert len(findings) == len({finding for finding, _ in told}) < len(told)
    for finding, of in told:
        (line,) = (one for one in findings if finding.rule in one and finding.message in one)
        shared = sum(finding == other for other, _ in told) > 1
        assert not shared or short(of.kernel.name) in line.rpartition(": ")[2].split(", ")
    assert any("smaller ones to 512 can" in line and "KI001" in line for line in findings)
    assert any("never_called()::'lambda'(int), int*)" in line for line in shown)


def test_many_kernels_do_not_bury_the_summary() -> None:
    shown = "".join(render(many(600), View(width=100))).splitlines()
    below = shown[next(i for i, line in enumerate(shown) if "more kernels; --top 0" in line) :]
    assert len(below) < 30
    assert "600 kernels" in below[-2]
    of_ki302 = [line for line in below if line.startswith(" KI302")]
    assert len(of_ki302) == 2
    assert of_ki302[0].endswith("and 99 more kernels") or of_ki302[0].endswith(
        "and 199 more kernels"
    )


def test_all_is_told_of_all_on_demand() -> None:
    shown = "".join(render(many(600), View(width=100, top=0)))
    assert "more kernel" not in shown
    of_ki302 = [line for line in shown.splitlines() if line.startswith(" KI302")]
    assert len(of_ki302) == 2
    assert sum(len(line.rpartition(": ")[2].split(", ")) for line in of_ki302) == 300


def test_a_fourth_message_of_a_rule_is_counted() -> None:
    shown = lines(VARIETY, View(top=5))
    steps = [line for line in shown if line.startswith(" next")]
    assert len(steps) == 4, "three of the four kernels' in words"
    assert "… and 1 more kernel; --top 0 tells of each" in steps[-1]


def test_next_is_left_out_where_it_would_mislead() -> None:
    """Kernels that spill have no step down; where LDS pads the VGPRs, LDS is named."""
    shown = lines(SPILLS, View())
    steps = [line for line in shown if "  next  " in line]
    assert [line.split()[0] for line in steps] == ["hint_too_high"]
    assert "≤ 21 KiB LDS (−11 KiB) → 3 waves/SIMD" in steps[0]
    assert "VGPRs (" not in steps[0]


def test_every_finding_says_what_to_do() -> None:
    for name in (SPILLS, VARIETY):
        found = [f for item in items(name) if isinstance(item, Result) for f in item.findings]
        assert all(finding.hint for finding in found)
        rules = {finding.rule for finding in found}
        footer = lines(name, View())[-1]
        assert any(f"`kernelinfo explain {rule}`" in footer for rule in rules)


def test_repeats_are_folded() -> None:
    (first, *_) = (item for item in items(SPILLS) if isinstance(item, Result))
    code_object = first.kernel.code_object
    repeats = [Repeat(code_object, f"copy{i}", (), None, None) for i in range(9)]
    shown = "".join(render([first, *repeats], View())).splitlines()
    assert sum("byte for byte" in line for line in shown) == 3
    assert any("… and 6 more code objects counted once" in line for line in shown)


def test_colours_are_legible_on_light_and_dark() -> None:
    """By the formula of WCAG 2, over xterm's own palette."""
    white, black = (255, 255, 255), (0, 0, 0)
    palette = [
        (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205),
        (0, 205, 205), (229, 229, 229),
    ]  # fmt: skip
    theme = TerminalTheme(white, black, palette)
    for style in (*SEVERITY_STYLES.values(), "red"):
        color = Style.parse(style).color
        if color is not None:
            rgb = color.get_truecolor(theme)
            assert contrast(rgb, white) >= 3, style
            assert contrast(rgb, black) >= 3, style
    assert contrast(Color.parse("yellow").get_truecolor(theme), white) < 3, "which is why not"


def contrast(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    def luminance(rgb: tuple[int, int, int]) -> float:
        linear = [
            c / 255 / 12.92 if c / 255 <= 0.03928 else ((c / 255 + 0.055) / 1.055) ** 2.4
            for c in rgb
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_explain_hangs_in_a_narrow_terminal() -> None:
    out, _, _ = run("explain", VARIETY, "odd_block", "--width", "80")
    prose = [line for line in out.splitlines() if not line.startswith((" KI", "odd_block"))]
    assert all(cells(line) <= 80 for line in prose)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("::error file=x::no", "\\x3a:error file=x::no"),
        ("  ::stop-commands::x", "  \\x3a:stop-commands::x"),
        ("a ::error::after a line break", "a \\x3a:error::after a line break"),
        ("##[error]no", "\\u0023#[error]no"),
        ("x ##vso[task.setvariable]", "x \\u0023#vso[task.setvariable]"),
        ("ns::kernel<int>(a::b)", "ns::kernel<int>(a::b)"),
        ("# 3 ## heading", "# 3 ## heading"),
    ],
)
@pytest.mark.parametrize("color", [True, False])
def test_names_are_no_commands_to_ci_services(name: str, shown: str, color: bool) -> None:
    assert paint([(name, "")], color) == shown
    assert paint([(name[:1], ""), (name[1:], "")], False) == shown


def test_limiters_that_do_not_fit_share_a_line() -> None:
    shown = [line.strip() for line in lines(VARIETY, View(width=46, fold=True))]
    assert "slots VGPR" in shown
    assert shown.count("slots scratch") == 3


def test_a_long_word_is_indented_less() -> None:
    told = [*wrap([("KI101 warning spilled: ", ""), ("k" * 24, ""), (" and more", "")], 30, 14)]
    shown = ["".join(text for text, _ in line).rstrip() for line in told]
    assert shown == ["KI101 warning spilled:", "      " + "k" * 24, " " * 14 + "and more"]


def copies(count: int, *, differ: bool) -> list[Item]:
    """One kernel in many files, as a cache of Triton's configurations has it; those that `differ`
    share no row of the table."""
    [result, *_] = (item for item in items(SPILLS) if isinstance(item, Result))
    made: list[Item] = []
    for number in range(count):
        kernel = result.kernel
        code_object = kernel.code_object._replace(path=f"cache/{number}/k.co")
        numbers = kernel.traits.numbers._replace(scratch_bytes_per_lane=number * differ)
        traits = kernel.traits._replace(numbers=numbers)
        kernel = kernel._replace(code_object=code_object, traits=traits)
        made.append(result._replace(kernel=kernel))
    return made


@pytest.mark.parametrize("differ", [False, True])
@pytest.mark.parametrize(
    "view", [View(), View(group=True), View(top=10, quiet=True), View(color=True, fold=True)]
)
def test_text_of_namesakes_takes_linear_work(differ: bool, view: View) -> None:
    few, many = (copies(count, differ=differ) for count in (30, 120))
    assert count_calls(lambda: [*render(many, view)]) < 5 * count_calls(
        lambda: [*render(few, view)]
    )
