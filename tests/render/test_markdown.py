"""`report --format markdown`: fit for a pull request, whatever a kernel is called."""

from __future__ import annotations

import re

import pytest

from kernelinfo import Result, load
from kernelinfo.render import View
from kernelinfo.render.markdown import render

from ..conftest import FIXTURES
from ..test_golden import run
from .diff.test_diff import HOSTILE

VARIETY = "assembly/variety-clang22-gfx90a.s"


def rows(text: str) -> int:
    return sum(line.startswith("| ") for line in text.split("\n")) - 2 * text.count("| --- |\n")


@pytest.mark.parametrize(("top", "shown"), [("5", 5), ("50", 11), ("0", 11)])
def test_kernels_without_findings_are_folded(top: str, shown: int) -> None:
    out = run(VARIETY, "--format", "markdown", "--top", top)[0]
    before, folded = out.split("<details>")
    assert (rows(before), rows(folded)) == (shown, 26 - shown)
    assert f"<summary>{26 - shown} more kernels</summary>" in folded


def test_all_are_shown_where_none_has_findings() -> None:
    out = run(VARIETY, "--format", "markdown", "-k", "exact_block*", "-k", "vgpr_heavy*")[0]
    assert out.startswith("**kernelinfo: no findings · 2 kernels**")
    assert "<details>" not in out
    assert rows(out) == 2


def test_a_row_of_another_target_says_so() -> None:
    out = run(VARIETY, "-k", "vgpr_heavy*", "--as", "gfx942,gfx908", "--format", "markdown")[0]
    own, *moved = [line.split(" | ")[1] for line in out.splitlines() if "vgpr_heavy" in line]
    assert [own, *moved] == ["`gfx90a as gfx942`", "`gfx90a as gfx908`"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_cannot_break_the_table(name: str) -> None:
    (result, *_) = load(FIXTURES / VARIETY).results
    hostile = Result(result.kernel._replace(name=name), result.occupancy)
    (row,) = list(render([hostile], View()))[-1:]
    assert len(row.split("|")) == len(list(render([result], View()))[-1].split("|"))
    assert row.count("\n") == 1
    assert "<script>" not in re.sub(r"`[^`]*`", "", row)


def test_what_could_not_be_read_is_told() -> None:
    out, err, code = run(VARIETY, "broken/empty.s", "--format", "markdown")
    assert code == 2
    assert err
    assert "1 problem: not all was read" in out.splitlines()[0]


@pytest.mark.parametrize("command", [["limits", "--arch", "gfx90a"], ["arch", "gfx90a"]])
def test_other_tables_are_markdown_too(command: list[str]) -> None:
    out, _, code = run(*command, "--format", "markdown")
    assert code == 0
    assert {line.count(" | ") for line in out.split("\n") if line} == {out.count(" --- ") - 1}
