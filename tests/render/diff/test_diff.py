"""What `diff` writes, in every format."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from html import unescape
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from kernelinfo.compare import compare
from kernelinfo.render import View
from kernelinfo.render.diff import json as diff_json
from kernelinfo.render.diff import markdown, text
from kernelinfo.render.diff.rows import rows
from tests.compare.test_compare import kernel, kernels

from ...test_golden import run

OLD, NEW = (f"assembly/variety-clang{version}-gfx90a.s" for version in (15, 22))
SCHEMA = json.loads(
    Path(sys.modules["kernelinfo"].__path__[0], "render", "diff", "diff-schema.json").read_text()
)

HOSTILE = (
    "a|b",
    "tick`tick``",
    "</details><script>alert(1)</script>",
    "two\nlines | more\r\n\n# heading",
    "**bold** [link](http://example.org) @everyone",
    "\x1b[31mred",
    "back\\slash\\",
    "`",
    "|",
    " ",
)


def lines_of(out: str) -> list[str]:
    return out.split("\n")


def test_json_is_valid_and_complete() -> None:
    document = json.loads(run("diff", OLD, NEW, "--format", "json")[0])
    Draft202012Validator.check_schema(SCHEMA)
    Draft202012Validator(SCHEMA).validate(document)
    assert document["summary"]["kernels"] == 26
    assert document["summary"]["counts"] == {"worse": 1, "moved": 25}
    assert [one["status"] for one in document["kernels"][:2]] == ["worse", "moved"]


def test_json_of_every_status_is_valid() -> None:
    old = kernels("gone", kernel("a", waves_per_simd=None), kernel("x::f(int)"), kernel("s"))
    new = kernels("fresh", kernel("a"), kernel("y::f(int)"), kernel("s", vgpr_spills=3))
    document = json.loads("".join(diff_json.render(compare(old, new), View())))
    Draft202012Validator(SCHEMA).validate(document)
    found = [one["status"] for one in document["kernels"]]
    assert found == ["worse", "changed", "gone", "new", "renamed"]


def test_every_key_is_described() -> None:
    def walk(schema: object, place: str) -> None:
        if isinstance(schema, dict):
            for name, value in schema.get("properties", {}).items():
                assert value.get("description"), f"{place}.{name}"
            for name, value in schema.items():
                walk(value, f"{place}.{name}")

    walk(SCHEMA, "")


def test_jsonl_and_csv_have_the_same_kernels() -> None:
    document = json.loads(run("diff", OLD, NEW, "--format", "json")[0])
    lines = run("diff", OLD, NEW, "--format", "jsonl")[0].splitlines()
    assert [json.loads(line) for line in lines] == document["kernels"]
    table = list(csv.DictReader(io.StringIO(run("diff", OLD, NEW, "--format", "csv")[0])))
    assert [row["New_Kernel_Name"] for row in table] == [
        one["new"]["name"] for one in document["kernels"]
    ]
    assert (table[0]["Old_Waves_Per_SIMD"], table[0]["New_Waves_Per_SIMD"]) == ("7.0", "6.0")


def test_the_worst_is_first() -> None:
    old = kernels(*(kernel(name, waves_per_simd=8.0) for name in "abcde"), "gone")
    new = kernels(
        kernel("a", waves_per_simd=8.0, vgpr_spills=2),
        kernel("b", waves_per_simd=4.0),
        kernel("c", waves_per_simd=1.0),
        kernel("d", waves_per_simd=10.0),
        kernel("e", waves_per_simd=8.0, vgprs=121),
        "new",
    )
    found = rows(compare(old, new))
    assert [row.kernel.name for row in found] == ["c", "b", "a", "d", "gone", "new", "e"]


def test_the_text_is_folded_after_top() -> None:
    shown = run("diff", OLD, NEW, "--top", "2")[0]
    assert " … 24 more kernels; --top 0 shows all" in shown
    assert len(lines_of(run("diff", OLD, NEW, "--top", "0")[0])) == len(lines_of(shown)) + 23


def test_markdown_folds_what_is_beyond_twenty() -> None:
    names = [f"k{number:02}" for number in range(30)]
    old = kernels(*names)
    new = kernels(*(kernel(name, waves_per_simd=2.0) for name in names))
    out = "".join(markdown.render(compare(old, new), View()))
    shown, folded = out.split("<details>")
    assert shown.count("\n| worse") == 20
    assert folded.count("\n| worse") == 10
    assert "<summary>10 more kernels</summary>" in folded


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_cannot_break_the_table(name: str) -> None:
    old = kernels(kernel(name, target=name))
    new = kernels(kernel(name, target=name, waves_per_simd=1.0))
    out = "".join(markdown.render(compare(old, new), View()))
    (row,) = (line for line in lines_of(out) if line.startswith("| worse"))
    assert len(row.split("|")) == 6
    assert len(lines_of(out)) == 10  # with the totals
    bare = re.sub(r"`[^`]*`|<code>[^<]*</code>", "", out)
    assert not set("<>@*[#\x1b") & set(bare.replace("**kernelinfo", "").replace("**\n", ""))
    (cell,) = re.findall(r"<code>([^<]*)</code>", row.split("|")[2]) or [
        row.split("|")[2].strip(" `")
    ]
    assert unescape(cell) in (name, name.encode("unicode_escape").decode(), name.strip(" "))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_cannot_act_on_a_terminal(name: str) -> None:
    old, new = kernels(kernel(name, target=name)), kernels(kernel(name, target="gfx90a"))
    out = "".join(text.render(compare(old, new), View()))
    assert all(line.isprintable() for line in lines_of(out))


def test_names_are_never_shortened_unasked() -> None:
    name = "void " + "deep::" * 40 + "kernel<int>(int)"
    old = kernels(kernel(name, symbol="_Z"))
    new = kernels(kernel(name, symbol="_Z", waves_per_simd=1.0))
    for render in (text.render, markdown.render):
        assert name in "".join(render(compare(old, new), View()))
    assert "deep" not in "".join(text.render(compare(old, new), View(names="short")))


def test_a_rename_shows_both_names() -> None:
    old, new = kernels("a::f(int)"), kernels("b::f(int)")
    out = "".join(text.render(compare(old, new), View()))
    assert " renamed a::f(int) → b::f(int)" in out
    assert "none affected · 1 only renamed" in out


def test_features_that_changed_are_told_though_nothing_moved() -> None:
    old, new = kernels(kernel("f", target="gfx90a:xnack+")), kernels(kernel("f", target="gfx90a"))
    comparison = compare(old, new)
    for render in (text.render, markdown.render):
        assert "gfx90a:xnack+ → gfx90a" in "".join(render(comparison, View()))
    document = json.loads("".join(diff_json.render(comparison, View())))
    Draft202012Validator(SCHEMA).validate(document)
    change = {"old": "gfx90a:xnack+", "new": "gfx90a", "kernels": 1}
    assert document["summary"]["retargeted"] == [change]
