"""What the README shows is what happens; `pytest --regen` rewrites its outputs and tables."""

from __future__ import annotations

import contextlib
import re
import shlex
from pathlib import Path

import pytest

from kernelinfo.rules import ALL

from .test_golden import run

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
CONSOLE = re.compile(r"```console\n\$ kernelinfo ([^\n]*)\n(.*?)```", re.DOTALL)


def rule_table() -> str:
    rows = [f"| {rule.number} | {rule.name} | {rule.severity} | {rule.summary} |" for rule in ALL]
    return "\n".join(["| rule | name | severity | finds |", "| --- | --- | --- | --- |", *rows])


def rewritten(text: str) -> str:
    """The README with every output and table as it is now."""

    def output(block: re.Match[str]) -> str:
        out, _, _ = run(*shlex.split(block[1]), folder=ROOT)
        return f"```console\n$ kernelinfo {block[1]}\n{out}```"

    text = CONSOLE.sub(output, text)
    table = f"<!-- rules -->\n{rule_table()}\n<!-- /rules -->"
    return re.sub(r"<!-- rules -->.*<!-- /rules -->", lambda _: table, text, flags=re.DOTALL)


def test_outputs_and_tables_are_current(regenerate: bool) -> None:
    text = README.read_text("utf-8")
    if regenerate:
        README.write_text(rewritten(text), "utf-8")
    assert README.read_text("utf-8") == rewritten(text)


def test_every_path_it_names_exists() -> None:
    path = r"`((?:kernelinfo|grammars|fixtures|tests)/[^`\s]*)`"
    named = re.findall(path, README.read_text("utf-8"))
    assert len(named) >= 6
    for path in named:
        assert (ROOT / path).exists(), path


def test_its_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    with contextlib.chdir(ROOT):
        exec(code, {})
    out = capsys.readouterr().out
    assert "vgprbound(int, double*) 122 ('vgpr',)" in out
    assert out.splitlines()[-1] == "25.0"


def test_every_command_is_in_it() -> None:
    from kernelinfo.cli import COMMANDS

    text = README.read_text("utf-8")
    for command in COMMANDS:
        assert f"kernelinfo {command}" in text or command == "report", command
