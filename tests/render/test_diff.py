"""What `diff` writes of kernels that are called anything; see tests/contract/diff_formats.toml."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

from ..fuzz.specimens import Specimen, code_object
from ..test_golden import run

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


def diff(folder: Path, old: dict[str, int], new: dict[str, int], *options: str) -> str:
    """The comparison of two builds of kernels with so many VGPRs each."""
    for build, kernels in (("old.co", old), ("new.co", new)):
        specimens = [Specimen(name, vgprs, 0, 8, 0, 0, 64) for name, vgprs in kernels.items()]
        (folder / build).write_bytes(code_object(specimens))
    out, err, code = run("diff", "old.co", "new.co", *options, folder=folder)
    assert (err, code) == ("", 0)
    return out


def test_names_cannot_break_the_table_or_act_on_a_terminal(tmp_path: Path) -> None:
    for name in HOSTILE:
        out = diff(tmp_path, {name: 64}, {name: 256}, "--format", "markdown")
        (row,) = (line for line in out.split("\n") if line.startswith("| worse"))
        assert len(row.split("|")) == 6, name
        bare = re.sub(r"`[^`]*`|<code>[^<]*</code>", "", out)
        assert not set("<>@*[#\x1b") & set(bare.replace("**kernelinfo", "").replace("**\n", ""))
        cell = row.split("|")[2]
        (shown,) = re.findall(r"<code>([^<]*)</code>", cell) or [cell.strip(" `")]
        assert unescape(shown) in (name, name.encode("unicode_escape").decode(), name.strip(" "))
        text = diff(tmp_path, {name: 64}, {name: 256})
        assert all(line.isprintable() for line in text.split("\n")), name


def test_the_worst_is_first(tmp_path: Path) -> None:
    old = {**dict.fromkeys(("better", "half", "eighth", "kept"), 64), "better": 128, "gone": 8}
    new = {"better": 64, "half": 128, "eighth": 512, "kept": 56, "new": 8}
    lines = diff(tmp_path, old, new, "--format", "jsonl").splitlines()
    rows = [json.loads(line) for line in lines]
    assert [(row["new"] or row["old"])["name"] for row in rows] == [
        *("eighth", "half", "better", "gone", "new", "kept")
    ]


def test_markdown_folds_what_is_beyond_twenty(tmp_path: Path) -> None:
    names = [f"k{number:02}" for number in range(30)]
    old, new = dict.fromkeys(names, 64), dict.fromkeys(names, 256)
    shown, folded = diff(tmp_path, old, new, "--format", "markdown").split("<details>")
    assert (shown.count("\n| worse"), folded.count("\n| worse")) == (20, 10)
    assert "<summary>10 more kernels</summary>" in folded
