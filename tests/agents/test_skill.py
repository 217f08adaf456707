"""The skill: its sentences are the manual's, its commands run and reach the next step."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kernelinfo import manual

from ..conftest import FIXTURES

SKILL = Path(sys.modules["kernelinfo"].__path__[0], "skill", "SKILL.md")
TEXT = SKILL.read_text("utf-8")
LINE = "__launch_bounds__(256, 5)"
SOURCES = re.findall(r"^\| (.+) \| `(\w+)` \| (.+) \|$", TEXT, re.MULTILINE)


def flat(text: str) -> str:
    """The text on one line."""
    return re.sub(r"\s+", " ", text)


def test_it_has_the_head_that_agents_read() -> None:
    head = re.match(r"---\nname: ([a-z-]{1,64})\ndescription: (.{1,1024})\n---\n", TEXT)
    assert head is not None
    assert head[1] == "kernelinfo"


@pytest.mark.parametrize(("sentence", "page", "words"), SOURCES)
def test_a_sentence_about_the_hardware_is_the_manuals(sentence: str, page: str, words: str) -> None:
    body = flat(TEXT.partition("## Sources")[0])
    assert flat(sentence) in body
    assert flat(words) in flat("".join(manual.page(page)))


def test_each_sentence_about_the_hardware_has_a_source() -> None:
    section = TEXT.partition("## What a ceiling is\n")[2].partition("\n## ")[0]
    facts = [
        flat(one) for one in re.findall(r"^- (.+?)(?=^- |\Z)", section, re.MULTILINE | re.DOTALL)
    ]
    named = [flat(sentence) for sentence, _, _ in SOURCES]
    assert len(facts) == 7
    for fact in facts:
        assert any(sentence in fact for sentence in named), fact


@pytest.mark.nightly
@pytest.mark.needs("hipcc")
def test_its_commands_reach_5_waves_of_the_tutorials_kernel(tmp_path: Path) -> None:
    """A reader follows it: the only edit is the line that the sweep prints."""
    source = tmp_path / "kernels.hip"
    shutil.copy(FIXTURES / "src" / "occupancy.hip", source)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "HIP_PLATFORM": "amd"}
    printed = []
    for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL):
        for line in block.split("\n"):
            done = subprocess.run(
                line, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True
            )
            assert done.returncode == 0, line
            printed.append(done.stdout)
            if " sweep " in line:
                assert LINE in done.stdout
                asked = source.read_text()
                asked = asked.replace("BOUNDS(256) void vgpr", f"{LINE} void vgpr")
                source.write_text(asked)
    (moved,) = re.findall(r"^.*vgprbound.*$", printed[-2], re.MULTILINE)
    assert "4 → 5" in moved


def test_the_manual_says_how_to_copy_it(tmp_path: Path) -> None:
    (line,) = re.findall(r"^cp -r .*$", "".join(manual.page("agents")), re.MULTILINE)
    (tmp_path / ".claude" / "skills").mkdir(parents=True)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path}
    subprocess.run(line, shell=True, cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / ".claude/skills/kernelinfo/SKILL.md").read_text("utf-8") == TEXT
