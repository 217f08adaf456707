"""The page on occupancy shows what its commands really print; `pytest --regen` rewrites it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from .test_golden import run

PAGE = Path(__file__).parent.parent / "kernelinfo" / "render" / "occupancy.md"
CONSOLE = re.compile(r"```console\n\$ kernelinfo ([^\n]*)\n(.*?)```", re.DOTALL)


def rewritten(text: str) -> str:
    """The page with every output as it is now."""

    def output(block: re.Match[str]) -> str:
        out, err, code = run(*shlex.split(block[1]))
        assert (err, code) == ("", 0), block[1]
        return f"```console\n$ kernelinfo {block[1]}\n{out}```"

    return CONSOLE.sub(output, text)


def test_outputs_are_current(regenerate: bool) -> None:
    text = PAGE.read_text("utf-8")
    if regenerate:
        PAGE.write_text(rewritten(text), "utf-8")
    assert PAGE.read_text("utf-8") == rewritten(text)
    assert len(CONSOLE.findall(text)) >= 7


def test_explain_prints_it() -> None:
    out, err, code = run("explain", "occupancy")
    assert (err, code) == ("", 0)
    assert out == PAGE.read_text("utf-8")


def test_its_sentences_fit_a_terminal() -> None:
    sentences = CONSOLE.sub("", PAGE.read_text("utf-8"))
    assert max(map(len, sentences.splitlines())) <= 100


def test_the_numbers_in_its_sentences_are_those_of_its_commands() -> None:
    text = PAGE.read_text("utf-8")
    for output in (
        "4 workgroups/CU · 16 of 32 waves/CU · 50 %",
        "≤ 512  1           12.5 %",
        "1 workgroup/CU · 4 of 32 waves/CU · 12.5 %",
        "6 workgroups/WGP · 48 of 64 waves/WGP · 75 %",
        "1 workgroup/CU · 8 of 32 waves/CU · 25 %",
        "MI250 GCD: 104 CUs · 416 workgroups fill it · 1664 of 3328 waves",
        "cannot   launch: vgpr: room for 8 of the 16 waves of a workgroup",
    ):
        assert output in text, output
