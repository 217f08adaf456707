"""The report as terminals show it; tests/contract/report_text.toml and widths.toml have pipes."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import pytest
from rich.cells import cell_len
from rich.color import Color
from rich.terminal_theme import TerminalTheme

from kernelinfo import Options, Result, analyse
from kernelinfo.kernel import Item
from kernelinfo.render import View

from ..calls import count_calls
from ..conftest import FIXTURES
from ..outputs import outputs

VARIETY = "assembly/variety-clang22-gfx942.s"
SPILLS = "assembly/spills-clang22-gfx90a.s"
THREE = [f"assembly/variety-clang22-{gfx}.s" for gfx in ("gfx90a", "gfx942", "gfx950")]


def items(*names: str) -> list[Item]:
    return list(analyse([str(FIXTURES / name) for name in names], Options()))


def text(shown: Iterable[Item], view: View) -> str:
    return "".join(outputs("report")["text"](shown, view)).replace(f"{FIXTURES}/", "")


def many(count: int) -> Iterator[Item]:
    """As many kernels as a library has, of the same six."""
    results = [item for item in items(SPILLS) if isinstance(item, Result)]
    for number in range(count):
        result = results[number % len(results)]
        kernel = result.kernel._replace(symbol=f"k{number}", name=f"k{number}")
        yield result._replace(kernel=kernel)


def test_a_terminal_is_as_wide_as_it_is() -> None:
    for name in (VARIETY, SPILLS, "container/libtwo.so"):
        shown = items(name)
        for width in (60, 80, 100, 200):
            painted = text(shown, View(width=width, fold=True, color=True))
            lines = re.sub(r"\x1b\[[0-9;]*m", "", painted).splitlines()
            wide = {line for line in lines if cell_len(line) > width}
            assert not [line for line in wide if " KI" in line or line[:2] == " ≤"], name
            assert not [line for line in wide if cell_len(line) > 80 and line[:3] != "   "], name
    summary = items("assembly")
    for width in (60, 80, 120):
        lines = text(summary, View(width=width, fold=True, may_shorten=True)).splitlines()
        end = next(index for index, line in enumerate(lines) if " block " in line)
        assert max(map(len, lines[lines.index("") : end])) <= width


def test_nothing_is_lost_by_folding() -> None:
    """The words are those of a pipe: all but what narrow terminals leave out of the table."""
    piped = text(items(VARIETY), View()).split()
    for width in (160, 200):
        assert sorted(text(items(VARIETY), View(width=width, fold=True)).split()) == sorted(piped)


def test_a_narrow_terminal_leaves_out_what_is_zero_everywhere_and_bars() -> None:
    without_agprs = items("assembly/variety-clang15-gfx906.s")
    shown = text(without_agprs, View(width=80, fold=True))
    heading, _, table = shown.partition(" kernel ")[2].partition("\n")
    assert " ".join(heading.split()) == "block VGPR SGPR LDS scratch waves occ limited by"
    assert "■" not in table
    assert "AGPR" in text(without_agprs, View(width=80)), "a pipe always has every column"
    narrow = text(items(VARIETY), View(width=46, fold=True)).splitlines()
    assert [line.strip() for line in narrow].count("slots scratch") == 3


def test_many_kernels_do_not_bury_the_summary() -> None:
    few = text(many(600), View(width=100)).splitlines()
    below = few[next(i for i, line in enumerate(few) if "more kernels; --top 0" in line) :]
    assert len(below) < 30
    assert "600 kernels" in below[-2]
    ends = {line.rpartition(" and ")[2] for line in below if line.startswith(" KI302")}
    assert len(ends) == 2
    assert ends <= {"99 more kernels", "199 more kernels"}
    whole = text(many(600), View(width=100, top=0))
    assert "more kernel" not in whole
    of_ki302 = [line for line in whole.splitlines() if line.startswith(" KI302")]
    assert sum(len(line.rpartition(": ")[2].split(", ")) for line in of_ki302) == 300


def test_names_are_short_on_a_terminal_unless_the_user_chooses() -> None:
    three = items(*THREE)
    assert "vgpr_heavy(int*)" in text(three, View(fold=True))
    assert "vgpr_heavy(int*)" not in text(three, View(fold=True, may_shorten=True))


def test_every_finding_is_told_once_and_says_what_to_do() -> None:
    shown = items(VARIETY)
    told = {f for item in shown if isinstance(item, Result) for f in item.findings}
    assert all(finding.hint for finding in told)
    lines = text(shown, View(width=60)).splitlines()
    for finding in told:
        assert sum(finding.rule in line and finding.message in line for line in lines) == 1
    assert any(f"`kernelinfo explain {finding.rule}`" in lines[-1] for finding in told)


def test_colours_are_legible_on_light_and_dark() -> None:
    """By the formula of WCAG 2, over xterm's own palette."""
    palette = [
        (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205),
        (0, 205, 205), (229, 229, 229),
    ]  # fmt: skip
    white, black = (255, 255, 255), (0, 0, 0)
    theme = TerminalTheme(white, black, palette)
    painted = text(items(VARIETY, SPILLS), View(color=True)) + text(many(3), View(color=True))
    codes = {code for codes in re.findall(r"\x1b\[([\d;]+)m", painted) for code in codes.split(";")}
    colors = {int(code) - 30 for code in codes if len(code) == 2}
    assert colors
    for number in colors:
        rgb = Color.from_ansi(number).get_truecolor(theme)
        assert min(contrast(rgb, white), contrast(rgb, black)) >= 3, number
    assert contrast(Color.from_ansi(3).get_truecolor(theme), white) < 3, "which is why no yellow"


def contrast(one: Sequence[int], other: Sequence[int]) -> float:
    def luminance(rgb: Sequence[int]) -> float:
        linear = [
            c / 255 / 12.92 if c / 255 <= 0.03928 else ((c / 255 + 0.055) / 1.055) ** 2.4
            for c in rgb
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def copies(count: int, *, differ: bool) -> list[Item]:
    """One kernel in many files, as a cache of Triton's configurations has it; those that `differ`
    share no row of the table."""
    [result, *_] = (item for item in items(SPILLS) if isinstance(item, Result))
    made: list[Item] = []
    for number in range(count):
        kernel = result.kernel
        code_object = kernel.code_object._replace(path=f"cache/{number}/k.co")
        numbers = kernel.numbers._replace(scratch_bytes_per_lane=number * differ)
        traits = kernel.traits._replace(numbers=numbers)
        kernel = kernel._replace(code_object=code_object, traits=traits)
        made.append(result._replace(kernel=kernel))
    return made


def test_text_of_namesakes_takes_linear_work() -> None:
    for view in (View(), View(group=True), View(top=10, quiet=True), View(color=True, fold=True)):
        for differ in (False, True):
            few, more = (partial(text, copies(count, differ=differ), view) for count in (30, 120))
            assert count_calls(more) < 5 * count_calls(few), (view, differ)


@pytest.mark.skipif(os.name != "posix", reason="a pseudo-terminal is POSIX's")
def test_a_page_of_the_manual_is_drawn_and_paged_on_a_terminal() -> None:
    """80 columns are enough; what is wider is not sent."""
    read = on_a_terminal(("explain", "occupancy"), PAGER="sed s/^/paged:/")
    assert all(line.startswith("paged:") for line in read)
    page = [line.removeprefix("paged:") for line in read]
    assert "\x1b[1;4mOccupancy from first principles\x1b[0m" in page[0]
    assert not [line for line in page if line.startswith(("#", "* ", "```"))]
    assert any("wave is \x1b[1mresident\x1b[0m" in line for line in page)
    report = on_a_terminal((VARIETY,), NO_COLOR="1")
    assert max(map(cell_len, report)) <= 80
    assert "\x1b" not in "".join(report)


def on_a_terminal(arguments: Sequence[str], **environment: str) -> list[str]:
    """The lines that a terminal of 80 columns is sent."""
    ours, theirs = pty.openpty()
    given = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen(
        [sys.executable, "-m", "kernelinfo", *arguments],
        cwd=FIXTURES,
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=given | {"PAGER": "cat", "COLUMNS": "80", "TERM": "xterm"} | environment,
    )
    os.close(theirs)
    sent = b""
    try:
        while more := os.read(ours, 1 << 16):
            sent += more
    except OSError:  # the terminal is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    return sent.decode().replace("\r\n", "\n").splitlines()
