"""A bug of kernelinfo costs the kernel, member or file that it met, and is one line."""

from __future__ import annotations

import re
from collections.abc import Callable
from errno import EIO
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.containers import archive, member
from tests.fuzz.specimens import Specimen, assembly, code_object

from ..messages import codes, do_lines_match, says
from ..test_golden import run

_LOG = (
    "x.hip:6:1: remark: Function Name: {0}1 [-Rpass-analysis=kernel-resource-usage]\n"
    "x.hip:6:1: remark:     VGPRs: 3 [-Rpass-analysis=kernel-resource-usage]\n"
    "x.hip:6:1: remark:     LDS Size [bytes/block]: 64 [-Rpass-analysis=kernel-resource-usage]\n"
)


def _kernels(letter: str) -> list[Specimen]:
    return [
        Specimen(f"{letter}1", 64, 8, 40, 1024, 0, 256),
        Specimen(f"{letter}2", 128, 0, 96, 0, 16, 1024),
    ]


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """Files of each kind, in the order of their names; each kernel's name has its file's letter."""
    members = (member(f"{name}.co/", code_object(_kernels(name))) for name in "cd")
    contents = {
        "a.co": code_object(_kernels("a"), debug=True),
        "b.s": b'\t.file\t1 "b.hip"\n' + assembly(_kernels("b")),
        "c.a": archive(*members),
        "e.log": _LOG.format("e").encode(),
        "y.s": b'\t.file\t1 "y.hip"\n' + assembly(_kernels("y")),
        "z.co": code_object(_kernels("z")),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def plant(
    patch: pytest.MonkeyPatch,
    place: str,
    call: int = 1,
    error: Callable[[str], BaseException] = ArithmeticError,
) -> None:
    """Let the function at `place` raise in one of its calls."""
    module, _, name = place.partition(":")
    *path, last = name.split(".")
    owner: Any = import_module(f"kernelinfo.{module}")
    for part in path:
        owner = getattr(owner, part)
    original: Callable[..., Any] = getattr(owner, last)
    calls = 0

    def planted(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            raise error("a\nbug")
        return original(*arguments, **named)

    patch.setattr(owner, last, planted)


_TEXT, _OBJECT = "reading.assembly", "reading.code_object"
READERS = [
    ("reading.containers.files:load", 1, "a1 a2"),
    ("reading.containers.files:is_pointer", 2, "b1 b2"),
    ("reading.containers:_is_code_object", 1, "a1 a2"),
    ("reading.containers:_text", 1, "b1 b2"),
    ("reading.containers.archives:read_ar", 1, "c1 c2 d1 d2"),
    ("reading.containers.archives:_ar_member", 2, "d1 d2"),
    ("reading.containers:_is_code_object", 4, "c1 c2"),
    (f"{_OBJECT}:read", 1, "a1 a2"),
    (f"{_OBJECT}:read_elf", 2, "c1 c2"),
    (f"{_OBJECT}:NoteMetadata", 1, "a1 a2"),
    (f"{_OBJECT}.descriptor:numbers", 1, ""),
    (f"{_TEXT}:read", 1, "b1 b2"),
    (f"{_TEXT}:ModuleText.take", 2, None),
    (f"{_TEXT}:ModuleText.finish", 1, "b1 b2"),
    (f"{_TEXT}:KernelText.facts", 2, "b2"),
    (f"{_TEXT}:with_proven", 1, "b1"),
    (f"{_TEXT}:SourceFiles.position", 1, ""),
    (f"{_TEXT}.metadata_yaml:parse", 1, ""),
    ("reading.build_log:read", 1, "e1"),
    ("reading.build_log:statements", 2, "e1"),
    ("analysis.kernels:modules", 3, "c1 c2"),
    ("analysis.kernels:combine", 4, "b2"),
    ("analysis.kernels:with_launch", 1, ""),
    ("analysis:Analysis._judge", 1, "a1"),
    ("analysis:Analysis._answer", 10, "y1"),
    ("analysis.copies:Copies.merged", 1, "a1 a2"),
]
EVERY = {*["a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2", "e1", "y1", "y2", "z1", "z2"]}


BUG = "bug ArithmeticError: a"


def one_line(err: str) -> str:
    """The place of the one line of standard error, which tells a bug."""
    found = re.match(r"\./(\w+\.\w+)\b", err)
    assert found, err
    assert do_lines_match(err, BUG), err
    return found[1]


@pytest.mark.parametrize("command", ["report", "check"])
def test_a_bug_costs_what_it_met(command: str, build: Path) -> None:
    for place, call, lost in READERS:
        with pytest.MonkeyPatch.context() as patch:
            plant(patch, place, call)
            out, err, code = run(command, ".", "--arch", "gfx90a", "--format", "csv", folder=build)
        assert code == 2, place
        file = one_line(err)
        missing = {name for name in EVERY if not re.search(rf'(?m)[,"]{name}[,"]', out)}
        if lost is None:
            assert {name[0] for name in missing} <= {file[0]}, place
        else:
            assert missing == {*lost.split()}, place


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Three texts, and the same in a folder of their own."""
    for letter in "bcy":
        for path in (tmp_path, tmp_path / "same"):
            path.mkdir(exist_ok=True)
            (path / f"{letter}.s").write_bytes(assembly(_kernels(letter)))
    return tmp_path


COMMANDS = {
    "pressure": ["pressure", ".", "--format", "csv"],
    "explain": ["explain", ".", "*"],
    "explain json": ["explain", ".", "*", "--format", "jsonl"],
    "source": ["report", ".", "--format", "html", "--source"],
    "watch": ["watch", ".", "--once"],
    "watch json": ["watch", ".", "--once", "--format", "jsonl"],
    "diff": ["diff", ".", "same", "--format", "csv"],
    "check": ["check", ".", "--format", "json"],
}
PLANTS = {
    "one kernel": ("reading.assembly:KernelText.facts", 2),
    "its analysis": ("analysis.kernels:combine", 4),
    "one file": ("reading.containers.files:load", 1),
    "its code": ("pressure.kernel_code:AssemblyText.function", 2),
    "its listing": ("pressure.kernel_code:read_listing", 1),
    "the text": ("pressure.kernel_code:AssemblyText.__init__", 1),
    "its story": ("pressure.measure:KernelCode.story", 3),
}
MEASURES = ("pressure", "explain", "source", "watch", "watch json")


@pytest.mark.parametrize("plan", PLANTS)
def test_every_command_tells_a_bug(plan: str, texts: Path) -> None:
    for command, arguments in COMMANDS.items():
        if not (command in MEASURES or plan.startswith("one") or plan == "its analysis"):
            continue
        with pytest.MonkeyPatch.context() as patch:
            plant(patch, *PLANTS[plan])
            out, err, code = run(*arguments, folder=texts)
        assert code == 2, command
        if command.startswith("watch"):
            assert sum(says(line, BUG) for line in out.splitlines()) == 1
        else:
            one_line(err)
        assert {"y1", "y2"} <= {*re.findall(r"\w+", out)}, command


def test_code_objects_beside_a_bug_are_extracted(
    build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, call in (("analysis.inputs:open_paths", 0), ("reading.code_object:read", 2)):
        plant(monkeypatch, place, call)
    _, err, code = run("extract", "a.co", "c.a", "z.co", "-o", "out", folder=build)
    assert (code, do_lines_match(err, "bug c.a › c.co at 0x44 … ArithmeticError: a")) == (
        2,
        True,
    ), err
    assert [path.name for path in sorted((build / "out").iterdir())] == [
        "a.co-001-gfx90a.co",
        "d.co-002-gfx90a.co",
        "z.co-003-gfx90a.co",
    ]


@pytest.mark.parametrize(
    ("place", "arguments"),
    [
        ("compare.saved:_records", ["diff", "saved.json", "b.s"]),
        ("gate.baseline_text:parse", ["check", "b.s", "--baseline", "pinned.json"]),
        ("gate.baseline_text:parse", ["diff", "pinned.json", "b.s"]),
        ("compare.profile:together", ["compare-profile", "b.s", "pinned.json"]),
        ("config:lines_of", ["check", "b.s", "--config", "kernelinfo.toml"]),
    ],
)
def test_a_document_that_meets_a_bug_is_one_line(
    place: str, arguments: list[str], texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("report", "b.s", "--format", "json", "-o", "saved.json", folder=texts)
    run("check", "b.s", "--baseline", "pinned.json", "--update-baseline", folder=texts)
    (texts / "kernelinfo.toml").write_text("paths = []\n")
    plant(monkeypatch, place)
    _, err, code = run(*arguments, folder=texts)
    assert (code, do_lines_match(err, BUG)) == (2, True), err


def test_want_of_memory_and_faults_of_the_system_are_no_bugs(
    texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        plant(patch, "reading.assembly:read", error=MemoryError)
        _, err, code = run(".", folder=texts)
        assert (codes(err), code) == (["memory-full"], 2)
    with monkeypatch.context() as patch:
        plant(patch, "reading.assembly:read", error=KeyboardInterrupt)
        assert run(".", folder=texts)[1:] == ("", 130)
    with monkeypatch.context() as patch:
        plant(patch, "reading.assembly:read", error=partial(OSError, EIO, "Input/output error"))
        out, err, code = run(".", folder=texts)
        assert do_lines_match(err, "read-interrupted ./b.s … input/output error"), err
        assert (code, "y2" in out) == (2, True)
