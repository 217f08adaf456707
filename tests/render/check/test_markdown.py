"""Markdown as a reader of GitHub's dialect renders it."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from markdown_it import MarkdownIt
from markdown_it.token import Token

from kernelinfo import Finding
from kernelinfo.gate.outcome import Judged, Notice, Outcome
from kernelinfo.render import View
from kernelinfo.render.check.markdown import render

from ...conftest import FIXTURES
from ...test_golden import run
from .outcomes import BROKEN, TUTORIAL, excusing, hostile, of_kernels, outcome_of

READER = MarkdownIt("commonmark").enable("table")


def markdown(outcome: Outcome) -> str:
    text = "".join(render(outcome, View()))
    text.encode("utf-8")
    return text


def tables(text: str) -> list[list[list[str]]]:
    """Rows of cells of each table, the heading first, as they are shown."""
    found: list[list[list[str]]] = []
    for token in READER.parse(text):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type == "inline" and found and token.level >= 4:
            found[-1][-1].append(shown(token))
    return found


def shown(token: Token) -> str:
    assert token.children is not None
    return "".join(
        "\n" if child.type == "html_inline" else child.content for child in token.children
    )


def test_the_kernels_that_fail_are_a_table() -> None:
    text = markdown(outcome_of(TUTORIAL))
    assert text.startswith("**kernelinfo failed: 2 warnings · 4 kernels**\n")
    ((heading, row),) = tables(text)
    assert heading == ["kernel", "target", "waves/SIMD", "finding", "at"]
    assert row[:3] == ["sgprbound(int, double*)", "gfx90a", "8"]
    loop, cap = row[3].split("\n")
    assert loop.startswith("KI106 warning: 14 spill reloads inside loop .LBB3_2")
    assert cap.startswith("KI302 warning: ")
    assert row[4].startswith(f"fixtures/assembly/{TUTORIAL.name}:")


def test_a_passed_gate_takes_one_line() -> None:
    outcome = outcome_of(TUTORIAL)._replace(fail_on="error")
    assert markdown(outcome) == "**kernelinfo passed: 2 warnings · 4 kernels**\n"


def test_many_are_folded_after_twenty() -> None:
    outcome = outcome_of(TUTORIAL)
    (one,) = (judged for judged in outcome.judged if "sgprbound" in judged.result.kernel.name)
    many = tuple(
        Judged(one.result._replace(kernel=one.result.kernel._replace(name=f"sgprbound<{index}>")))
        for index in range(27)
    )
    text = markdown(of_kernels(outcome, *many))
    first, rest = tables(text)
    assert (len(first), len(rest)) == (1 + 20, 1 + 7)
    assert "<details><summary>7 more kernels</summary>" in text
    assert rest[-1][0] == "sgprbound<26>"


def test_what_is_excused_is_folded_with_its_reason() -> None:
    text = markdown(excusing(outcome_of(TUTORIAL), "KI302", "known | accepted"))
    assert "<details><summary>1 suppressed</summary>" in text
    _, (_, row) = tables(text)
    assert row[0] == "sgprbound(int, double*)"
    assert row[3] == "known | accepted (until 2027-03-31)"


def test_notices_and_problems_are_listed() -> None:
    unused = Finding("KI506", "suppression-unused", "note", "matches nothing")
    text = markdown(outcome_of(BROKEN)._replace(notices=(Notice(unused, "KI101 rwkv*"),)))
    assert "* KI506 note: `KI101 rwkv*`: matches nothing\n" in text
    assert f"* `{BROKEN}`: " in text


def test_with_a_baseline_the_whole_library_is_told_in_a_line(tmp_path: Path) -> None:
    old, new = (FIXTURES / "assembly" / f"variety-clang{v}-gfx90a.s" for v in (15, 22))
    baseline = ("--baseline", str(tmp_path / "baseline.json"))
    assert run("check", str(old), "--update-baseline", *baseline)[2] == 0
    page, _, _ = run("check", str(new), "--format", "markdown", *baseline)
    compared, _, _ = run("diff", str(old), str(new), "--format", "markdown")
    (roll_up,) = (line for line in compared.splitlines() if line.startswith("kernels "))
    assert f"\nSince the baseline: {roll_up}\n" in page
    (affected,) = tables(compared)
    assert affected in tables(page)
    assert f"<summary>{len(affected) - 1} kernel affected</summary>" in page


@given(hostile())
def test_anything_may_be_called_anything(outcome: Outcome) -> None:
    text = markdown(outcome)
    found = tables(text)
    failing = [j for j in outcome.judged if any(map(outcome.fails, j.result.findings))]
    excused = sum(len(judged.suppressed) for judged in outcome.judged)
    assert sum(len(rows) - 1 for rows in found) == len(failing) + excused
    assert all(len(row) == len(rows[0]) for rows in found for row in rows)
    items = [token for token in READER.parse(text) if token.type == "list_item_open"]
    assert len(items) == len(outcome.notices) + len(outcome.problems)
    for token in READER.parse(text):
        for child in token.children or ():
            assert child.type not in ("link_open", "image", "em_open")
            if child.type == "html_inline":
                assert child.content in ("<br>", "<code>", "</code>")
