"""Nothing that names files for a command takes a file for an option: `--` stands before paths."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from ..conftest import FIXTURES
from ..test_golden import run
from .recipes import ROOT

SPILLS = FIXTURES / "assembly" / "spills-clang22-gfx90a.s"
GOOD = FIXTURES / "assembly" / "tiny-v6-clang22-gfx90a.s"
PAGES = sorted((ROOT / "kernelinfo" / "manual").glob("*.md"))
_BLOCK = re.compile(r"<!-- recipe: (\S+) -->\n+```\w+\n(.*?)```", re.DOTALL)
_WITH_VALUE = ("--config", "--format", "-o", "--top", "--min-kernels")
_END = re.compile(r"\|\||\n(?!\s+(?:\+|--) )|WORKING_DIRECTORY|check=True|\$\{INPUT_FORMAT")


def texts() -> Iterator[tuple[str, str]]:
    """(place, text) of all that runs `kernelinfo check`."""
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    yield from ((f"hook {hook['id']}", f"{hook['entry']} FILE") for hook in hooks)
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    for path in (ROOT / "action.yml", ROOT / ".ci" / "run", *workflows):
        yield path.name, path.read_text("utf-8")
    for page in PAGES:
        yield from (
            (f"{page.stem}: {name}", text) for name, text in _BLOCK.findall(page.read_text("utf-8"))
        )


def checks(text: str) -> Iterator[list[str]]:
    """The words behind `kernelinfo check` of each call in a text, in whichever language it is."""
    flat = re.sub(
        r"\$\(location (\S+)\)", r"\1", text.replace('kernelinfo", "check', "kernelinfo check")
    )
    for call in re.split(r"(?:\bkernelinfo|\{KERNELINFO\}) check\b(?![-`])", flat)[1:]:
        yield re.sub(r"""["',()+\]]""", " ", _END.split(call)[0]).split()


CALLS = [(place, words) for place, text in texts() for words in checks(text)]


@pytest.mark.parametrize(("place", "words"), CALLS, ids=[place for place, _ in CALLS])
def test_paths_stand_behind_dashes(place: str, words: list[str]) -> None:
    before = words[: words.index("--")] if "--" in words else words
    pairs = zip(("", *before), before, strict=False)
    named = [word for last, word in pairs if word[:1] != "-" and last not in _WITH_VALUE]
    assert named in ([], ["$@"]), "the action's words begin with its own `--`"


def test_all_calls_are_seen() -> None:
    places = {place.split(": ")[-1] for place, _ in CALLS}
    assert places >= {
        *("hook kernelinfo", "hook kernelinfo-build", "action.yml", "gitlab", "jenkins"),
        *("cmake", "pytorch", "triton-cache", "bazel", "vscode"),
    }


def test_the_action_sets_its_words_with_dashes_in_front_of_paths() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    assert text.index('set -- "$@" --\n') < text.index("while IFS= read -r path")
    installs = [
        line for line in text.splitlines() if re.search(r'install .*"\S*\$(?!to|SOURCE/)', line)
    ]
    assert installs
    for line in installs:
        assert re.search(r'-- "[^"]*\$(?:VERSION|SOURCE)"$|-r |\$@', line), line


def test_the_function_of_cmake_gives_paths_behind_dashes() -> None:
    text = (ROOT / "kernelinfo" / "cmake" / "kernelinfoConfig.cmake").read_text("utf-8")
    commands = re.findall(r"COMMAND (.*)", text)
    assert commands == ["${command} -- ${paths}"] * 2


@pytest.mark.parametrize("name", ["-kx.s", "-ogood.s", "--json", "--help", "--version", "--", "-o"])
def test_a_file_named_like_an_option_is_a_file(tmp_path: Path, name: str) -> None:
    """The committed file that the hook gets besides others hides no kernel, and writes nothing."""
    (tmp_path / name).write_bytes(SPILLS.read_bytes())
    (tmp_path / "good.s").write_bytes(GOOD.read_bytes())
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    hook = hooks[0] if name.endswith(".s") else hooks[1]
    out, err, code = run(*hook["entry"].split()[1:], name, "good.s", folder=tmp_path)
    assert (code, "spilled" in out) == (1, True), err
    assert (tmp_path / "good.s").read_bytes() == GOOD.read_bytes()
    out, err, _ = run("--", name, "good.s", folder=tmp_path)
    assert "claim(int*)" in out, err


def test_the_format_of_the_output_stands_before_the_dashes(tmp_path: Path) -> None:
    output = tmp_path / "findings.sarif"
    _, err, code = run("check", "-o", str(output), "--fail-on", "error", "--", str(GOOD))
    assert (code, '"version": "2.1.0"' in output.read_text()) == (0, True), err
