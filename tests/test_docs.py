"""README, manual and CONTRIBUTING show what happens; `pytest --regen` rewrites their outputs,
tables and lists."""

from __future__ import annotations

import contextlib
import re
import shlex
import subprocess
import sys
import textwrap
from inspect import cleandoc
from pathlib import Path

import pytest

from kernelinfo import manual
from kernelinfo.hardware import targets
from kernelinfo.kernel import Rule
from kernelinfo.rules import every_rule

from .test_golden import run
from .test_house import FLOORS

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
CONTRIBUTING = ROOT / ".github" / "CONTRIBUTING.md"
PAGES = [README, CONTRIBUTING, *sorted((ROOT / "kernelinfo" / "manual").glob("*.md"))]
WALKED = "fixtures/assembly/occupancy-clang22-gfx90a.s"
NOT_IN_SDIST = ("tests/fuzz/corpus",)
CONSOLE = re.compile(r"```console\n\$ kernelinfo ([^\n]*)\n(.*?)```", re.DOTALL)


def rule_table() -> str:
    rows = [
        f"| {rule.number} | {rule.name} | {rule.severity if rule.on else 'off'} | {rule.summary} |"
        for rule in every_rule()
    ]
    table = ["| rule | name | severity | finds |", "| --- | --- | --- | --- |", *rows]
    return "\n".join([*table, *map(rule_section, every_rule())])


def rule_section(rule: Rule) -> str:
    """A rule's documentation, under a heading that code scanning links to."""
    return f"\n## {rule.number}\n\n`{rule.name}`\n\n{cleandoc(rule.documentation)}"


def topic_list() -> str:
    return textwrap.fill(", ".join(f"`{topic}`" for topic in manual.topics()) + ".", 100)


def walk() -> str:
    """The modules that a report enters, by a fresh process: nothing is imported or cached yet."""
    if targets.ARE_CHECKED or not any(ROOT.glob("grammars/*.tables")):
        pytest.skip("the walk is that of a checkout after `pip install -e .`")
    command = [sys.executable, "-m", "tests.walk", WALKED]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return f"```text\n{done.stdout}```"


def in_flight() -> str:
    """What `pressure` says is in flight in four kernels."""
    path = "fixtures/lines/in-flight-clang22-gfx942.s"
    tables = []
    for kernel in ("chase", "stream", "stream_restrict", "gemm"):
        out, _, _ = run("pressure", path, kernel, folder=ROOT)
        table = out[out.index(" in flight ") :].partition("\n\n")[0]
        tables.append(f"{kernel}\n{table}")
    return "```text\n" + "\n\n".join(tables) + "\n```"


TABLES = {"rules": rule_table, "topics": topic_list, "walk": walk, "in-flight": in_flight}


def rewritten(text: str) -> str:
    """The page with every output and table as it is now."""

    def output(block: re.Match[str]) -> str:
        out, err, _ = run(*shlex.split(block[1]), folder=ROOT)
        assert err == "", block[1]
        return f"```console\n$ kernelinfo {block[1]}\n{out}```"

    text = CONSOLE.sub(output, text)
    for name, table in TABLES.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        if begin in text:
            before, after = text.partition(begin)[0], text.partition(end)[2]
            text = f"{before}{begin}{table()}\n{end}{after}"
    return text


def test_a_report_enters_few_modules() -> None:
    """Who follows a small text from `__main__` to its row reads at most 48 files."""
    count = re.search(r"(\d+) modules are entered", walk())
    assert count
    assert int(count[1]) <= 48


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_outputs_and_tables_are_current(page: Path, regenerate: bool) -> None:
    text = page.read_text("utf-8")
    if regenerate:
        page.write_text(rewritten(text), "utf-8")
    assert page.read_text("utf-8") == rewritten(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_it_names_exists(page: Path) -> None:
    path = r"[`(]((?:kernelinfo|grammars|fixtures|tests|\.github|\.ci)/[^`)\s]*)[`)]"
    for named in re.findall(path, page.read_text("utf-8")):
        assert any(ROOT.glob(re.sub(r":\d+$", "", named))) or named in NOT_IN_SDIST, named


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_its_sentences_fit_a_terminal(page: Path) -> None:
    sentences = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    lines = [line for line in sentences.splitlines() if not line.startswith(("|", "!"))]
    assert max(map(len, lines)) <= 100


def test_readme_is_the_first_five_minutes() -> None:
    assert len(README.read_text("utf-8").splitlines()) <= 200


def test_explain_prints_the_manual() -> None:
    out, err, code = run("explain")
    assert (err, code) == ("", 0)
    for topic, title in manual.topics().items():
        assert re.search(rf"^ {topic} +{re.escape(title)}$", out, re.MULTILINE)
        page = ROOT / "kernelinfo" / "manual" / f"{topic}.md"
        assert run("explain", topic) == (page.read_text("utf-8"), "", 0)


HEADINGS = [("glossary", "occupancy"), ("robustness", "inputs"), ("waits", "pressure")]


@pytest.mark.parametrize(("section", "page"), HEADINGS)
def test_a_heading_is_a_topic(section: str, page: str) -> None:
    for words in (("explain", section), (section,)):
        out, err, code = run(*words)
        assert (err, code) == ("", 0)
        assert out.startswith(f"## {section.capitalize()}")
        assert out.count("\n## ") == 0
        assert out in manual.page(page)


def test_words_of_the_tables_are_topics() -> None:
    for word in ("slack", "unpadded", "steps", "bounds", "range"):
        assert f"\n| {word} | " in run("explain", word)[0]
    for word in ("accumulators", "fragments", "others"):
        assert f"\n| {word} | " in run("explain", word)[0]
    assert run("explain", "in flight") == run("explain", "in-flight")
    assert run("explain", "in flight")[2] == 0


def test_its_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    with contextlib.chdir(ROOT):
        exec(code, {})
    out = capsys.readouterr().out
    assert "vgprbound(int, double*) 122 ('vgpr',)" in out
    assert out.splitlines()[-1] == "25.0"


def test_the_map_is_that_of_the_house() -> None:
    """A row for each floor, from the bottom."""
    rows = re.findall(r"^\| (`kernelinfo/.*?) \|", CONTRIBUTING.read_text("utf-8"), re.MULTILINE)
    assert [set(re.findall(r"`kernelinfo/(\w+)`", row)) for row in rows] == [*FLOORS]


def test_every_command_is_in_it() -> None:
    from kernelinfo.cli import COMMANDS

    text = README.read_text("utf-8").replace("kernelinfo explain rules", "kernelinfo rules")
    for command in COMMANDS:
        assert f"kernelinfo {command}" in text or command == "report", command
