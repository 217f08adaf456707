"""The recipes of `kernelinfo explain extending`, done as they stand there on a copy of the tree."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from jsonschema import Draft202012Validator

from tests.cli.test_formats import assert_formats_are_true
from tests.conftest import FIXTURES, needs_checkout
from tests.messages import tells

ROOT = FIXTURES.parent
TEXT = FIXTURES / "assembly" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"
WAVE32 = FIXTURES / "assembly" / "variety-clang22-gfx1201.s"
MANUAL = ROOT / "kernelinfo" / "manual" / "extending.md"
pytestmark = needs_checkout
EXAMPLE = re.compile(r"```(?:toml|python)\n# ([\w/.]+)(?:, in (\w+))?\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with every example of the manual in it, and inputs: `box` is of the new format,
    its assembly for the new target, whose waves the new rule speaks of."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("kernelinfo", "grammars"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for file, listing, text in EXAMPLE.findall(MANUAL.read_text("utf-8")):
        add(folder / file, listing, text)
    assembly = WAVE32.read_bytes().replace(b"gfx1201", b"gfx1399")
    (folder / "box").mkdir()
    (folder / "box" / "kernels.bin").write_bytes(b"BOX1\x03a.s" + assembly)
    (folder / "kernelinfo.toml").touch()
    (folder / "build").mkdir()
    shutil.copy(TEXT, folder / "build" / "a.s")
    paths = {"PYTHONPATH": os.pathsep.join(map(str, (folder, ROOT)))}
    command = [sys.executable, "-m", "tests.schemas"]  # as `pytest --regen tests/schemas`
    subprocess.run(command, cwd=folder, env=os.environ | paths, check=True)
    return folder


def add(file: Path, listing: str, text: str) -> None:
    """A new module, a new table at the end of a file, new lines of a list, a field of a class."""
    if not listing:
        assert file.suffix == ".toml" or not file.exists()
        with file.open("a", encoding="utf-8") as end:
            end.write(f"\n{text}")
        return
    lines, added = file.read_text("utf-8").splitlines(), 0
    for line in text.splitlines():
        if line.startswith("from "):
            lines.insert(lines.index("from __future__ import annotations") + 1, line)
            continue
        [start] = [at for at, own in enumerate(lines) if re.match(rf"(class )?{listing}\b", own)]
        if line.startswith(listing):
            lines[start] = line
        elif lines[start].startswith("class "):
            ends = ("", "    @property")
            fields = (at for at in range(start, len(lines)) if not lines[at])
            lines.insert(next(at for at in fields if lines[at + 1] in ends), line)
        else:
            lines.insert(start + 1 + added, line)
            added += 1
    file.write_text("\n".join(lines) + "\n", "utf-8")


class Answer(NamedTuple):
    """What one command line of the new tree answers."""

    stdout: str
    stderr: str
    returncode: int


SERVER = """
import contextlib, io, json, sys
from kernelinfo.__main__ import main
for line in sys.stdin:
    sys.argv, out, err, code = ["kernelinfo", *json.loads(line)], io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    print(json.dumps([out.getvalue(), err.getvalue(), code]), flush=True)
"""
"""One process for all command lines: a start costs more than an answer."""
Run = Callable[..., Answer]


@pytest.fixture(scope="module")
def run(tree: Path) -> Iterator[Run]:
    """The command line of the new tree."""
    command, pipe = [sys.executable, "-c", SERVER], subprocess.PIPE
    with subprocess.Popen(command, cwd=tree, stdin=pipe, stdout=pipe, text=True) as process:
        asked, answers = process.stdin, process.stdout
        assert asked
        assert answers

        def answer(*arguments: str) -> Answer:
            print(json.dumps(arguments), file=asked, flush=True)
            return Answer(*json.loads(answers.readline()))

        yield answer
        asked.close()


OPTIONS = [
    [],
    ["-q"],
    ["-v"],
    ["-k", "*"],
    ["--exclude", "nothing"],
    ["--unique"],
    ["--all-copies"],
    ["--source-lines", "--format", "json"],
    ["--arguments", "--format", "json"],
    ["--arch", "gfx1399"],
    ["--target", "gfx1399"],
    ["--member", "*"],
    ["--limited-by", "vgpr"],
    ["--member", "*"],
    ["--sort", "vgpr,code"],
    ["--where", "waves < 99"],
    ["--columns", "kernel,waves,VGPR_Used"],
    ["--by", "target"],
    ["--by", "library,target", "--device", "gfx1399"],
    ["--instructions", "--format", "csv"],
    ["--as", "gfx1100"],
    ["--block", "256", "-k", "vgpr_heavy*"],
    ["--dynamic-lds", "1k"],
    ["--no-trap-handler"],
    ["--select", "KI990"],
    ["--ignore", "KI101"],
    ["--severity", "KI990=warning"],
    ["--config", "kernelinfo.toml"],
    ["--format", "json"],
    ["--format", "jsonl", "--jobs", "2"],
    ["--format", "csv"],
    ["--format", "markdown"],
    ["--format", "html"],
    ["-o", "out.txt"],
    ["--names", "short"],
    ["--color", "always"],
    ["--width", "140"],
    ["--top", "5"],
    ["--group"],
    ["--bound", "nesting=9"],
    ["--only-below", "/"],
    ["--deep"],
]


OF_SOURCES = {"--compiler", "--compile-commands", "--source", "--source-root"}
"""Options for source files or their text, of which the box has none: the next two tests."""


def test_every_option_of_report_is_tried(run: Run) -> None:
    named = set(
        re.findall(r"^  (?:-\w, )?(--[\w-]+(?:, --[\w-]+)?)", run("report", "-h").stdout, re.M)
    )
    same = {"--kernel": "-k", "--output": "-o", "--quiet": "-q", "--verbose": "-v"}
    same |= {"--workgroup-size, --block": "--block"}
    tried = {word for options in OPTIONS for word in options if word.startswith("-")}
    untried = {"--help", "--spilling", "--bytes", *OF_SOURCES}  # the box has no device code
    assert {same.get(name, name) for name in named} - untried == tried


COMPILER = """\
#!/bin/sh
echo "$@" > "$0.words"
while [ $# -gt 1 ]; do
  if [ "$1" = -o ]; then cp "$0.s" "$2"; fi
  shift
done
"""
"""A compiler that knows the new target: it writes the assembly that lies beside it."""


@pytest.mark.skipif(os.name != "posix", reason="the compiler of this test is a script")
def test_a_source_for_the_new_target_is_compiled(run: Run, tmp_path: Path) -> None:
    compiler, source = tmp_path / "clang++", tmp_path / "k.hip"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    (tmp_path / "clang++.s").write_bytes(WAVE32.read_bytes().replace(b"gfx1201", b"gfx1399"))
    source.write_text("__attribute__((global)) void k() {}\n")
    commands = tmp_path / "commands.json"
    entry = {"directory": str(tmp_path), "file": "k.hip", "command": "hipcc -DWIDE=1 -c k.hip"}
    commands.write_text(json.dumps([entry]))
    words = ("--arch", "gfx1399", "--compiler", str(compiler))
    for more, defined in (((), False), (("--compile-commands", str(commands)), True)):
        done = run("report", str(source), *words, *more)
        assert done.returncode == 0, done.stderr
        assert "gfx1399" in done.stdout
        assert "vgpr_heavy" in done.stdout
        assert "KI990" in done.stdout
        asked = (tmp_path / "clang++.words").read_text().split()
        assert "--offload-arch=gfx1399" in asked
        assert ("-DWIDE=1" in asked) == defined


def test_the_source_text_of_the_new_target_is_shown(run: Run, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "src", tmp_path / "elsewhere" / "src")
    lines = (FIXTURES / "assembly" / "tiny-lines-clang22-gfx90a.s").read_bytes()
    (tmp_path / "lines.s").write_bytes(lines.replace(b"gfx90a", b"gfx1399"))
    page = tmp_path / "page.html"
    root = ("--source-root", str(tmp_path / "elsewhere"))
    for more, is_shown in (((), False), (("--source",), False), (("--source", *root), True)):
        done = run("report", str(tmp_path / "lines.s"), *more, "-o", str(page))
        assert done.returncode == 0, done.stderr
        assert ("out[THREAD] += much" in page.read_text("utf-8")) == is_shown, more


@pytest.mark.parametrize(
    ("path", "options"),
    [
        *(("box", options) for options in OPTIONS),
        ("box/kernels.bin", []),
        ("box/kernels.bin", ["-q"]),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_new_target_in_a_new_input_is_judged_by_a_new_rule(
    path: str, options: list[str], tree: Path, run: Run
) -> None:
    done = run("report", path, *options)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "" or {"-v", "--limited-by", "--where"} & {*options}
    out = (tree / "out.txt").read_text() if "-o" in options else done.stdout
    if "--columns" in options:  # they leave out target and findings
        assert "vgpr_heavy" in out
        return
    assert "gfx1399" in out
    if "--by" not in options:  # counts in place of kernels
        assert "vgpr_heavy" in out
        assert ("KI990" in out) == ("-q" not in options)


def test_the_new_target_and_the_new_rule_are_listed(run: Run) -> None:
    assert "2048" in run("arch", "gfx1399").stdout
    assert "Waves have 32 lanes." in run("explain", "KI990").stdout


def test_no_kernel_of_the_new_input_spills(run: Run) -> None:
    done = run("report", "box", "--spilling")
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert tells(done.stderr, "kernels-spill box: 0 of 23 kernels")


def test_what_is_wrong_with_a_new_input_is_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "short").write_bytes(b"BOX1")
    done = run("report", str(tmp_path / "short"))
    assert done.returncode == 2
    assert "a box cut off within its header; rebuild it" in done.stderr.splitlines()[0]


OF_FORMATS = [[], ["-q"], ["--names", "short"], ["--top", "2"], ["-v"], ["-k", "*"]]


def test_a_new_format_is_written(run: Run) -> None:
    asked = [("report", more) for more in [*OF_FORMATS, ["--jobs", "2"], ["--group"], ["--unique"]]]
    asked += [("check", more) for more in OF_FORMATS]
    for number, (command, more) in enumerate(asked):
        path = ("build/a.s", "build")[number % 2]
        done = run(command, path, "--format", "symbols", *more)
        assert done.returncode == (1 if command == "check" else 0), (more, done.stderr)
        assert [name[:2] for name in done.stdout.splitlines()] == ["_Z"] * 4, (command, more)


def test_a_new_format_is_offered_where_it_is_written(run: Run, tmp_path: Path) -> None:
    assert_formats_are_true(run, tmp_path)
    assert "symbols" in run("report", "-h").stdout


BUDGET = '[[budget]]\nkernel = "*"\nkernarg = "<=15"\n'


@pytest.mark.parametrize("path", ["build/a.s", "build"])
def test_a_new_number_is_bounded_pinned_and_compared(path: str, run: Run, tmp_path: Path) -> None:
    limits, pinned = tmp_path / "limits.toml", tmp_path / "pinned.json"
    limits.write_text(BUDGET)
    done = run("check", path, "--config", str(limits))
    assert done.returncode == 1, done.stderr
    assert "16 B of arguments" in done.stdout
    against = ["--config", "kernelinfo.toml", "--baseline", str(pinned)]
    assert run("check", path, *against, "--update-baseline").returncode == 0
    assert '"kernarg":16' in pinned.read_text()
    pinned.write_text(pinned.read_text().replace(', "kernarg":16', ""))
    assert "older" not in run("check", path, *against).stderr


def test_a_new_number_is_in_all_outputs_and_their_schemas(
    tree: Path, run: Run, tmp_path: Path
) -> None:
    def text_of(name: str) -> str:
        return (tree / "kernelinfo" / "render" / f"{name}-schema.json").read_text("utf-8")

    def schema(name: str) -> Draft202012Validator:
        return Draft202012Validator(json.loads(text_of(name)))

    changed = tmp_path / "changed" / "a.s"
    changed.parent.mkdir()
    text = TEXT.read_text("utf-8").replace(
        "kernarg_segment_size: 16", "kernarg_segment_size: 24", 1
    )
    changed.write_text(text)
    asked = ("--where", "kernarg > 16", "--sort", "kernarg", "--columns", "kernarg,Kernarg_Size")
    assert run("report", str(changed), *asked, "--format", "csv").stdout.split()[1:] == ["24,24"]
    rows = [*map(json.loads, run("report", str(changed), "--format", "jsonl").stdout.splitlines())]
    assert sorted(row["Kernarg_Size"] for row in rows) == [16, 16, 16, 24]
    assert [error.message for row in rows for error in schema("row").iter_errors(row)] == []
    report = json.loads(run("report", str(changed), "--format", "json").stdout)
    schema("report").validate(report)
    assert "arguments: 16 → 24 B" in run("diff", "build", str(changed.parent)).stdout
    diff = json.loads(run("diff", "build", str(changed.parent), "--format", "json").stdout)
    schema("diff/diff").validate(diff)
    (kernel,) = diff["kernels"]
    assert kernel["moves"] == [{"measure": "kernarg_bytes", "old": 16, "new": 24}]
    assert "Kernarg_Size" in run("diff", "build", str(changed), "--format", "csv").stdout
    assert "Kernarg_Size" in text_of("row")
    assert all("kernarg_bytes" in text_of(name) for name in ("diff/diff", "trend/trend"))
