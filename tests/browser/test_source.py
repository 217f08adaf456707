"""Source and instructions side by side: linked both ways, searched, printed, in any width."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from ..conftest import FIXTURES
from ..pressure import texts
from ..pressure.test_loops import blocks_of_loops
from ..test_golden import run
from .chromium import Opened
from .conftest import Reported

TEXT = "lines/attention-clang22-gfx942.s"
OBJECT = "lines/attention-clang22-gfx942.co"
ROWS = "lines/rows-llc22-gfx942.s"
OWN = ("pressure", TEXT, "attention", "--source")
SOURCE = (FIXTURES / "src" / "attention.hip").read_text("utf-8").splitlines()
MATRIX = str(1 + next(at for at, line in enumerate(SOURCE) if "scores = __builtin" in line))
"""Line with a matrix instruction."""
_INSTRUCTION = re.compile(r"\t[a-z]\w+(?:\s|$)")
_TEXTS = "Promise.all(piecesOf('text').map(readPiece))"


def lines_of_text(kernel: str) -> dict[tuple[str, str], list[str]]:
    """(file, source line) → lines of the assembly, by its `.file` and `.loc`."""
    files, found, at = dict[str, str](), defaultdict[tuple[str, str], list[str]](list), None
    is_inside = False
    for number, line in enumerate((FIXTURES / TEXT).read_text("utf-8").splitlines(), 1):
        if file := re.match(r'\s*\.file\s+(\d+) ".*?" "(?:.*/)?(.*?)"', line):
            files[file[1]] = file[2]
        elif location := re.match(r"\s*\.loc\s+(\d+) (\d+)", line):
            at = (files[location[1]], location[2]) if location[2] != "0" else None
        elif line.startswith(f"{kernel}:"):
            is_inside = True
        elif line.startswith(".Lfunc_end") or ".amdhsa_kernel" in line:
            is_inside = False
        elif is_inside and at and _INSTRUCTION.match(line):
            found[at].append(str(number))
    return found


@pytest.fixture
def page(opened: Opened, reported: Reported) -> Page:
    shown = opened.open(reported(*OWN))
    expect(shown.locator(".panes .line").first).to_be_visible()
    return shown


def where(page: Page, state: str, pane: str) -> list[str]:
    """Line numbers of drawn lines in this state."""
    return page.locator(f".{pane} .line.{state} .where").all_text_contents()


def whole(page: Page) -> None:
    """Draw all lines, as for print."""
    page.evaluate("dispatchEvent(new Event('beforeprint'))")


def click_source(page: Page, number: str) -> None:
    line = page.locator(".source .line", has=page.locator(f".where:text-is('{number}')")).first
    line.dispatch_event("click")


def test_a_click_on_a_source_line_marks_its_instructions(page: Page) -> None:
    whole(page)
    click_source(page, MATRIX)
    assert where(page, "marked", "source") == [MATRIX]
    assert where(page, "linked", "code") == lines_of_text("attention")["attention.hip", MATRIX]
    assert "16 matrix" in page.inner_text(".detail")


def test_a_click_on_an_instruction_marks_its_source_line(page: Page) -> None:
    whole(page)
    own = lines_of_text("attention")["attention.hip", MATRIX]
    line = page.locator(".code .line", has=page.locator(f".where:text-is('{own[-1]}')"))
    line.locator(".text").click()
    assert where(page, "marked", "code") == [own[-1]]
    assert where(page, "linked", "source") == [MATRIX]
    assert where(page, "linked", "code") == own[:-1]
    expect(page.locator(".source .line.linked")).to_be_in_viewport()


def test_every_source_line_has_the_instructions_of_the_text(page: Page) -> None:
    whole(page)
    shown = page.evaluate(
        "[...document.querySelectorAll('.source .counts')].map((counts) =>"
        " [counts.parentElement.querySelector('.where').textContent, counts.title])"
    )
    counts = sorted((number, int(title.split()[0])) for number, title in shown)
    stated = lines_of_text("attention")
    assert counts == sorted((line, len(found)) for (_, line), found in stated.items())


def test_inlined_functions_keep_their_file(page: Page) -> None:
    whole(page)
    files = page.locator(".source .line.file b").all_text_contents()
    assert files == ["attention.hip", "lanes.h"]
    assert page.locator(".source").inner_text().count("ds_bpermute((lane ^ MASK)") == 1


def test_the_marked_instruction_lists_its_live_values(page: Page) -> None:
    out, _, _ = run("pressure", TEXT, "attention", "--source", "--top", "0")
    peak = re.findall(r"peak +(\d+) VGPRs", out)[0]
    detail = page.locator(".detail")
    assert f": {peak} VGPRs" in detail.inner_text()
    registers = detail.locator("tbody th").all_text_contents()
    named = [
        int(last or first) - int(first) + 1
        for names in registers
        for first, last in re.findall(r"v\[?(\d+)(?::(\d+))?", names)
    ]
    assert sum(named) == int(peak)


NAMED = """\
	;DEBUG_VALUE: f:x <- $vgpr0
	v_mov_b32_e32 v1, v0
	;DEBUG_VALUE: f:y <- $vgpr1
	global_load_dwordx2 v[2:3], v1, s[0:1]
	;DEBUG_VALUE: f:z <- $vgpr3
.LBB0_1:
	;DEBUG_VALUE: f:z <- $vgpr3
	;DEBUG_VALUE: f:y <- $vgpr1
	v_add_u32_e32 v1, v3, v1
	;DEBUG_VALUE: f:y <- $vgpr1
	;DEBUG_VALUE: f:x <- undef
	s_cbranch_scc1 .LBB0_1
	global_store_dwordx2 v1, v[2:3], s[0:1]
"""


def test_live_values_have_the_names_of_their_variables(opened: Opened, tmp_path: Path) -> None:
    """Those that `pressure --at` has at each instruction."""
    text, out = tmp_path / "k.s", tmp_path / "page.html"
    text.write_text(texts.module(NAMED))
    run("pressure", str(text), "k", "--source", "--format", "html", "-o", str(out))
    page = opened.open(out)
    whole(page)
    seen = set[str]()
    for line in page.locator(".code .line[role=option]").all():
        line.click()
        [kernel] = texts.kernels(text, "k", "--at", line.locator(".where").inner_text())
        values = {"".join(value["registers"]): value["variable"] for value in kernel["live_across"]}
        stated = {name for name in values.values() if name}
        cells = page.locator(".detail tbody td:nth-of-type(1)").all_text_contents()
        assert stated == {name for cell in cells for name in re.findall(r"f:\w", cell)}
        seen |= stated
    assert seen == {"f:x", "f:y", "f:z"}


def test_keys_move_along_both_sides(page: Page) -> None:
    page.get_by_role("button", name="peak").click()
    code = page.locator(".panes .code")
    code.focus()
    first = where(page, "marked", "code")
    code.press("ArrowDown")
    assert where(page, "marked", "code") > first
    code.press("ArrowUp")
    assert where(page, "marked", "code") == first
    code.press("ArrowLeft")
    source = page.locator(".panes .source")
    expect(source).to_be_focused()
    before = int(where(page, "marked", "source")[0])
    source.press("ArrowDown")
    assert int(where(page, "marked", "source")[0]) > before
    assert page.locator(".source .line.marked .counts").count() == 1
    source.press("ArrowRight")
    expect(code).to_be_focused()
    code.press("End")
    assert page.inner_text(".code .line.marked .text").startswith("s_endpgm")
    code.press("Home")
    expect(page.locator(".code .line.marked")).to_be_in_viewport()


def test_n_and_p_go_to_lines_above_the_next_step(page: Page) -> None:
    whole(page)
    bars = page.locator(".source .bar.above").all_text_contents()
    assert [int(number) for number in bars if int(number) <= 168] == []
    source = page.locator(".panes .source")
    source.focus()
    source.press("Home")
    stops = set()
    for _ in bars:
        source.press("n")
        stops.add(where(page, "marked", "source")[0])
        assert page.locator(".source .line.marked .bar.above").count() == 1
    assert len(stops) == len(bars) > 1
    source.press("p")
    assert where(page, "marked", "source")[0] in stops


def test_spills_are_red_and_loops_have_brackets(page: Page) -> None:
    whole(page)
    spilled = page.locator(".code .line.spill .text").all_text_contents()
    text = (FIXTURES / TEXT).read_text("utf-8")
    assert len(spilled) == len(re.findall(r"Folded (?:Spill|Reload)", text)) > 10
    code = text.partition("attention:")[2].partition(".Lfunc_end")[0]
    loops = page.locator(".code .brackets .first").count()
    assert loops == page.locator(".code .brackets .last").count() == code.count("Loop Header")


def test_brackets_are_where_llvm_says_that_the_blocks_of_loops_are(
    opened: Opened, reported: Reported
) -> None:
    page = opened.open(reported("pressure", TEXT, "one_query", "--source"))
    whole(page)
    blocks = blocks_of_loops((FIXTURES / TEXT).read_text("utf-8"), "one_query")
    for label, lines in blocks.items():
        bracket = page.locator(f".brackets [title='loop {label}']")
        rows = page.locator(".code .line[role]", has=bracket)
        assert {*map(int, rows.locator(".where").all_text_contents())} == lines
    assert len(blocks) > 3


def test_search_marks_and_filters(page: Page) -> None:
    page.keyboard.press("/")
    search = page.locator(".panes-bar input[type=search]")
    expect(search).to_be_focused()
    page.keyboard.type("v_mfma")
    mfma = len(re.findall(r"^\tv_mfma", (FIXTURES / TEXT).read_text("utf-8"), re.MULTILINE))
    expect(page.locator(".panes-bar [role=status]")).to_contain_text(f"{mfma} instructions")
    search.press("Enter")
    assert page.inner_text(".code .line.marked .text").startswith("v_mfma")
    page.get_by_label("only these").check()
    whole(page)
    assert page.locator(".code .line").count() == mfma
    assert page.locator(".code .line mark").count() == mfma
    assert set(where(page, "line", "source")) == {
        line
        for (_, line), numbers in lines_of_text("attention").items()
        if set(numbers) & set(where(page, "line", "code"))
    }


def test_all_lines_are_printed(page: Page) -> None:
    page.evaluate(
        "addEventListener('beforeprint', () => {"
        " window.printed = document.querySelectorAll('.code .line[role]').length; })"
    )
    page.pdf()
    stated = lines_of_text("attention")
    assert page.evaluate("window.printed") >= sum(map(len, stated.values())) > 700


def test_an_object_shows_the_same_lines(opened: Opened, reported: Reported) -> None:
    page = opened.open(reported("pressure", OBJECT, "attention", "--source"))
    whole(page)
    counts = page.locator(".source .line .counts").count()
    assert counts == len(lines_of_text("attention"))
    assert page.locator(".code .where").first.text_content().startswith("0x")  # type: ignore[union-attr]


def test_python_of_triton(opened: Opened, reported: Reported) -> None:
    page = opened.open(reported("pressure", ROWS, "--source"))
    whole(page)
    assert page.locator(".source .line.file b").all_text_contents() == ["rows.py"]
    click_source(page, "9")
    assert page.locator(".code .line.linked .text").all_text_contents()[0].startswith("v_min_f32")


def test_the_page_of_a_report_has_both_panes(opened: Opened, reported: Reported) -> None:
    page = opened.open(reported("report", TEXT, ROWS, "--source"))
    assert page.locator(".panes").count() == 0
    page.locator(".kernels").get_by_role("link", name="attention").click()
    expect(page.locator(".panes .source")).to_contain_text("online softmax")
    assert page.locator(".what-if").count() == 1
    page.go_back()
    page.locator(".kernels").get_by_role("link", name="scale_rows").click()
    expect(page.locator(".panes .source")).to_contain_text("def scale_rows")


def test_no_source_text_unless_asked(opened: Opened, reported: Reported) -> None:
    for arguments in (("pressure", TEXT), ("report", TEXT)):
        path = reported(*arguments)
        page = opened.open(path)
        assert page.evaluate(_TEXTS) == []
        assert "online softmax" not in path.read_text("utf-8")
    page = opened.open(reported(*OWN))
    assert "online softmax" in str(page.evaluate(_TEXTS))


def test_a_missing_text_says_why_and_keeps_its_lines(opened: Opened, tmp_path: Path) -> None:
    path = tmp_path / "k.s"
    text = (FIXTURES / TEXT).read_text("utf-8")
    path.write_text(text.replace('"src/attention.hip"', '"src/other.hip"'))
    out = tmp_path / "page.html"
    run("pressure", str(path), "attention", "--source", "--format", "html", "-o", str(out))
    page = opened.open(out)
    whole(page)
    reason = page.inner_text(".source .line.file >> nth=0")
    assert "src/other.hip: not found; give --source-root DIR" in reason
    click_source(page, MATRIX)
    assert where(page, "linked", "code") == lines_of_text("attention")["attention.hip", MATRIX]


def test_texts_are_shown_as_text(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    hostile = "</script><img src=x onerror=alert(1)>\x1b[2J\u202e" + "x" * 5000
    (tmp_path / "src" / "tiny.hip").write_text(f"{hostile}\n" * 30)
    out = tmp_path / "page.html"
    path = "assembly/tiny-lines-clang22-gfx90a.s"
    root = ("--source-root", str(tmp_path))
    run("pressure", path, "add", *root, "--format", "html", "-o", str(out))
    page = opened.open(out)
    whole(page)
    assert page.locator(".source img").count() == 0
    shown = page.locator(".source .line .text").first.inner_text()
    assert shown.startswith("</script><img src=x onerror=alert(1)>")
    assert len(shown) < 1100


def test_code_without_lines_stands_alone(opened: Opened, reported: Reported) -> None:
    page = opened.open(reported("pressure", "assembly/spills-clang22-gfx90a.s", "--source"))
    page.locator("table.kernels a").first.click()
    expect(page.locator(".panes .code .line").first).to_be_visible()
    assert page.locator(".panes .source").count() == 0
    assert "build with -gline-tables-only" in page.inner_text(".panes-section")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_the_window(opened: Opened, reported: Reported, scheme: str, width: int) -> None:
    opened.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    opened.page.set_viewport_size({"width": width, "height": 844})
    page = opened.open(reported(*OWN))
    page.get_by_role("button", name="peak").click()
    expect(page.locator(".code .line.marked")).to_be_in_viewport()
    expect(page.locator(".source .line.linked")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    opened.screenshot(f"source-{scheme}-{width}")


def long_kernel(count: int) -> str:
    """Assembly of one kernel of so many instructions, each fifth of another line of long.py."""
    text = (FIXTURES / ROWS).read_text("utf-8")
    begin, end = re.split(r"(?=\ts_endpgm)", text, maxsplit=1)
    lines = [begin.replace('"src" "rows.py"', '"long.py"')]
    for index in range(count):
        if index % 5 == 0:
            lines.append(f"\t.loc\t1 {1 + index // 5 % 3000} 1\n")
        lines.append(f"\tv_add_f32_e32 v{index % 60}, v{(index + 7) % 60}, v{(index + 13) % 60}\n")
    return "".join(lines) + end


@pytest.mark.nightly
def test_twenty_thousand_instructions(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text("\n".join(f"line {n}" for n in range(1, 3001)))
    path, out = tmp_path / "long.s", tmp_path / "long.html"
    path.write_text(long_kernel(20_000))
    run("pressure", str(path), "--source", "--format", "html", "-o", str(out))
    page = opened.open(out)
    expect(page.locator(".panes .line").first).to_be_visible()
    drawn = page.locator(".panes .line")
    assert drawn.count() < 1000
    code = page.locator(".panes .code")
    code.focus()
    code.press("End")
    expect(page.locator(".code .line.marked .text")).to_have_text("s_endpgm")
    assert drawn.count() < 1000
    page.keyboard.press("/")
    page.keyboard.type("line 2999")
    page.keyboard.press("Enter")
    expect(page.locator(".panes-bar [role=status]")).to_contain_text("1 source line")
    whole(page)
    assert page.locator(".code .line[role]").count() > 20_000


def test_the_page_of_one_kernel_opens_at_the_peak(page: Page) -> None:
    """Both halves have the marked line in view, and registers of vectors stand first."""
    expect(page.locator(".code .line.marked")).to_be_in_viewport()
    expect(page.locator(".source .line.linked")).to_be_in_viewport()
    names = page.locator(".detail tbody th").all_text_contents()
    kinds = [name[0] in "va" for name in names]
    assert kinds == sorted(kinds, reverse=True)
