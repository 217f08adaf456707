"""`pressure --source`: whose text may be shown, and lines by LLVM's symbolizer."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from ..calls import count_calls
from ..conftest import FIXTURES
from ..test_golden import run
from . import grep, texts, two_routes

LINES = "assembly/tiny-lines-clang22-gfx90a.s"
SECRET = "".join(f"secret {number}\n" for number in range(1, 40))
ELSEWHERE = (
    *("{above}/secret", "../secret", "link", "linked/secret", "x/../../secret"),
    *("/proc/self/status", "/proc/self/cmdline", "/proc/self/root{above}/secret", "/dev/zero"),
    *("/sys/kernel/mm/transparent_hugepage/enabled", "fifo", "/dev/fd/0", "dangling", "loop"),
)


def naming(folder: Path, file: str) -> None:
    """k.s in `folder`, whose debug information names `file`."""
    folder.mkdir(parents=True, exist_ok=True)
    text = (FIXTURES / LINES).read_text("utf-8").replace('"src/tiny.hip"', f'"{file}"')
    (folder / "k.s").write_text(text)


def test_text_that_lies_elsewhere_is_not_shown(tmp_path: Path) -> None:
    """The input names the file. It chooses none outside of the folders that the user named."""
    (tmp_path / "secret").write_text(SECRET)
    root = tmp_path / "inside"
    root.mkdir()
    links = {"link": "../secret", "linked": "..", "dangling": "no", "loop": "loop"}
    for name, target in links.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "fifo")
    words = ("pressure", "k.s", "add", "--source", "--source-root", ".", "--top", "0", "--format")
    for file in ELSEWHERE:
        naming(root, file.format(above=tmp_path))
        for format in ("text", "html"):
            out, _, code = run(*words, format, folder=root)
            shown = ("secret 1", "source text read from", 'data-piece="source"')
            assert (code, [one for one in shown if one in out]) == (0, []), file
            assert format == "html" or "no source text: " in out, file


@pytest.mark.parametrize("path", ["a/k.s", "a"])
def test_text_below_what_the_user_named_is_shown_and_listed(path: str, tmp_path: Path) -> None:
    """The folder of the input counts, and the current one unless it is the root of all files."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "x.hip").write_text(SECRET)
    (tmp_path / "y.hip").write_text(SECRET)
    words = ("pressure", str(tmp_path / path), "add", "--source", "--top", "1")
    for current in (".", "a", "/"):
        naming(tmp_path / "a", f"{tmp_path}/a/b/x.hip")
        out, _, _ = run(*words, folder=tmp_path / current)
        assert "secret 15" in out
        assert f"source text read from {tmp_path}/a/b/x.hip" in " ".join(out.split())
        naming(tmp_path / "a", f"{tmp_path}/y.hip")
        out, _, _ = run(*words, folder=tmp_path / current)
        assert ("secret 15" in out) == (current == ".")


def test_a_path_of_many_parts_is_looked_for_in_bounded_work(tmp_path: Path) -> None:
    """One path was tried for each part."""
    work, words = [], ("pressure", "k.s", "add", "--source")
    for parts in (1, 2_000):
        naming(tmp_path, "/".join("a" * parts))
        work.append(count_calls(lambda: run(*words, folder=tmp_path)))
    assert work[1] < work[0] + 20_000


@pytest.mark.nightly
@two_routes.needed
def test_lines_are_those_of_the_symbolizer(tmp_path: Path) -> None:
    compared = 0
    for target in grep.TARGETS:
        _, linked = grep.compiled(Random(f"lines {target}"), target, 10, tmp_path, "-g")
        code = dict(two_routes.disassembled(linked))
        for kernel in texts.kernels(linked):
            addresses = [f"0x{one.address:x}" for one in code[kernel["symbol"]]]
            command = ["llvm-symbolizer-22", "--obj", str(linked), "--no-inlines"]
            done = subprocess.run(
                [*command, "--output-style=GNU", *addresses], capture_output=True, text=True
            )
            lines = [line.rpartition(":")[2] for line in done.stdout.splitlines()[1::2]]
            numbers = [re.sub(r"^(\d+).*", r"\1", line) for line in lines]
            theirs = Counter("?" if number == "0" else number for number in numbers)
            ours = {str(one["line"] or "?"): one["instructions"] for one in kernel["lines"]}
            assert ours == theirs
            compared += len(addresses)
    assert compared >= 1000
