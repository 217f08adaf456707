"""Files opened by name: regular ones only, below `--only-below`, and by few modules."""

from __future__ import annotations

import ast
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kernelinfo.cli import COMMANDS
from kernelinfo.opening import bound, check_below, is_below, only_below

from .conftest import FIXTURES
from .messages import codes, do_lines_match
from .test_golden import run
from .test_house import MODULES, PACKAGE

TEXT = FIXTURES / "assembly" / "tiny-lines-clang22-gfx90a.s"
SOURCE = FIXTURES / "src" / "tiny.hip"
needs_fleet = pytest.mark.needs("duckdb")

BY_NAME = {
    "baseline": ("check", "k.s", "--baseline", "FILE"),
    "baseline to update": ("check", "k.s", "--baseline", "FILE", "--update-baseline"),
    "configuration of check": ("check", "k.s", "--config", "FILE"),
    "configuration of report": ("report", "k.s", "--config", "FILE"),
    "shown configuration": ("check", "--config", "FILE", "--show-config"),
    "compile commands": ("report", "k.hip", "--arch", "gfx90a", "--compile-commands", "FILE"),
    "profile": ("compare-profile", "FILE", "k.s"),
    "IR": ("sweep", "FILE", "--waves", "4"),
    "old build": ("diff", "FILE", "k.s"),
    "input": ("report", "FILE"),
}
"""Commands that open FILE by its name."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an assembly, a source and a FIFO, below one with a secret."""
    (tmp_path / "secret.json").write_text('{"schema": "secret"}\n')
    inside = tmp_path / "inside"
    inside.mkdir()
    shutil.copy(TEXT, inside / "k.s")
    shutil.copy(SOURCE, inside / "k.hip")
    (inside / "link.json").symlink_to("../secret.json")
    (inside / "out").symlink_to("..")
    os.mkfifo(inside / "fifo.json")
    return inside


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("special", ["fifo.json", "/dev/zero", "/dev/stdin", "."])
def test_what_is_no_regular_file_is_refused(name: str, special: str, folder: Path) -> None:
    """Opening a FIFO would wait for a writer, and /dev/zero does not end. An input may be a FIFO,
    which is empty without a writer."""
    if name in ("input", "old build") and special == ".":
        pytest.skip("a folder is an input")
    out, err, code = run(
        *(special if word == "FILE" else word for word in BY_NAME[name]), folder=folder
    )
    assert (out, code) == ("", 2)
    assert "regular" in err or "directory" in err.lower() or codes(err) == ["pipe-empty"]
    assert len(err.splitlines()) == 1


@contextmanager
def piped(path: Path) -> Iterator[str]:
    """The name of a pipe with the bytes of a small file, as `<(cat PATH)` gives it."""
    reader, writer = os.pipe()
    os.write(writer, path.read_bytes())
    os.close(writer)
    yield f"/dev/fd/{reader}"
    os.close(reader)


@pytest.mark.parametrize(
    "words",
    ["PIPE", "explain PIPE add", "pressure PIPE", "diff PIPE k.s", "diff k.s PIPE", "check PIPE"],
)
def test_a_pipe_that_the_command_line_names_is_read(words: str, folder: Path) -> None:
    """Also by commands that open an input several times; the answers are those of the file."""
    expected = run(*words.replace("PIPE", "k.s").split(), folder=folder)
    assert expected[2] == 0
    with piped(folder / "k.s") as pipe:
        out, err, code = run(*words.replace("PIPE", pipe).split(), folder=folder)
        assert run("k.s", pipe, "--only-below", ".", folder=folder)[2] == 2
    assert (out.replace(pipe, "k.s"), err, code) == expected


@needs_fleet
@pytest.mark.parametrize("special", ["fifo.json", "/dev/zero", "/dev/stdin", "."])
def test_accepted_problems_are_a_regular_file(special: str, folder: Path) -> None:
    words = ("scan", "k.s", "--to", "fleet", "--build", "1", "--accept-problems", special)
    _, err, code = run(*words, folder=folder)
    assert code == 2
    assert f"{special}: is no regular file" in err


OUTSIDE = ("../secret.json", "link.json", "out/secret.json", "{above}/secret.json")


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("path", OUTSIDE)
def test_a_file_outside_of_the_bound_is_not_read(name: str, path: str, folder: Path) -> None:
    path = path.format(above=folder.parent)
    words = [path if word == "FILE" else word for word in BY_NAME[name]]
    _, err, code = run(*words, "--only-below", ".", folder=folder)
    assert code == 2
    assert "lies outside of" in err
    assert not bound()


WRITERS = {
    "report": ("report", "k.s", "-o", "FILE"),
    "limits": ("limits", "gfx90a", "-o", "FILE"),
    "pressure": ("pressure", "k.s", "-o", "FILE"),
    "baseline": ("check", "k.s", "--update-baseline", "--baseline", "FILE"),
    "manual": ("explain", "--format", "html", "-o", "FILE"),
    "extract": ("extract", "k.co", "-o", "FILE"),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("path", ["../new", "out/new", "{above}/new"])
def test_a_file_outside_of_the_bound_is_not_written(name: str, path: str, folder: Path) -> None:
    shutil.copy(FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co", folder / "k.co")
    path = path.format(above=folder.parent)
    words = [path if word == "FILE" else word for word in WRITERS[name]]
    before = sorted(folder.parent.iterdir())
    _, err, code = run(*words, "--only-below", ".", folder=folder)
    assert code == 2
    assert "lies outside of" in err
    assert sorted(folder.parent.iterdir()) == before
    inside = [("new" if word == "FILE" else word) for word in WRITERS[name]]
    assert run(*inside, "--only-below", ".", folder=folder)[2] == 0
    assert (folder / "new").exists()


@needs_fleet
@pytest.mark.parametrize("to", ["../fleet", "out/fleet", "memory://fleet"])
def test_a_dataset_outside_of_the_bound_is_not_written(to: str, folder: Path) -> None:
    words = ("scan", "k.s", "--to", to, "--build", "1", "--only-below", ".")
    _, err, code = run(*words, folder=folder)
    assert code == 2
    assert "lies outside of" in err
    assert not (folder.parent / "fleet").exists()


def test_folders_and_links_that_lead_out_are_named_and_the_rest_is_read(folder: Path) -> None:
    (folder / "secret.s").symlink_to("../secret.json")
    out, err, code = run("report", ".", "--only-below", ".", "--format", "csv", folder=folder)
    assert code == 2
    assert len(out.splitlines()) == 3
    assert len(err.splitlines()) == err.count("lies outside of") == 2


def test_what_lies_next_to_an_input_is_held_by_the_bound(folder: Path) -> None:
    """Triton's JSON and the configuration above are not read, the summary of CI is not written."""
    (folder.parent / "kernelinfo.toml").write_text("nonsense = 1\n")
    assert run("check", "k.s", folder=folder)[2] == 2
    assert run("check", "k.s", "--only-below", ".", "--exit-zero", folder=folder)[2] == 0


def test_no_compiler_runs_within_a_bound(folder: Path) -> None:
    words = ("report", "k.hip", "--arch", "gfx90a", "--compiler", "/bin/true", "--only-below", ".")
    _, err, code = run(*words, folder=folder)
    assert code == 2
    assert codes(err) == ["compiler-outside"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_the_bound(command: str) -> None:
    out, _, code = run(command, "--help")
    assert code == 0
    assert "--only-below DIR" in out


def test_the_bound_is_a_folder(folder: Path) -> None:
    for words in (("report", "k.s"), ("arch",), ("check", "k.s")):
        _, err, code = run(*words, "--only-below", "k.s", folder=folder)
        assert (do_lines_match(err, "only-below-no-folder k.s"), code) == (True, 2), err


def test_a_bound_is_only_narrowed(folder: Path) -> None:
    with only_below(folder):
        with pytest.raises(PermissionError, match="lies outside of"), only_below(folder.parent):
            pass
        (folder / "deeper").mkdir()
        with only_below(folder / "deeper"), pytest.raises(PermissionError):
            check_below(folder / "k.s")
        check_below(folder / "k.s")
    assert not bound()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a", True), ("a/b", True), ("a/../a/b", True), ("ab", False), ("a/..", False),
        ("up", False), ("up/a", True), ("loop", False), ("a/missing/deep", True), ("", False),
    ],
)  # fmt: skip
def test_paths_below_a_folder(
    path: str, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "ab").mkdir()
    (tmp_path / "up").symlink_to(".")
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.chdir(tmp_path)
    assert is_below(path, "a") is expected


OPENERS = {
    "opening.py": "the one function",
    "atomic_write.py": "files that are written",
    "reading/data.py": "large inputs in parts",
    "reading/containers/files.py": "inputs, checked before",
    "reading/grammar.py": "kernelinfo's own tables",
    "hardware/targets.py": "kernelinfo's own table",
    "manual/__init__.py": "kernelinfo's own pages",
    "fleet/dataset.py": "its own schema, lines in a scratch folder",
    "fleet/recording.py": "the start of a process",
    "fleet/storage.py": "files of a dataset while they are made",
    "fleet/remote.py": "copies in a scratch folder",
    "fleet/worker.py": "/dev/null",
    "cli/check.py": "the summary of a CI service, checked before",
    "cli/messages.py": "/dev/null",
    "gate/baseline.py": "a folder, to lock it",
    "__main__.py": "/dev/null",
    "compile/commands.py": "an empty source in a folder of its own",
    "compare/profile.py": "a database, checked before",
    "reading/containers/database.py": "a database that `load` has read",
}
"""Modules that open files by other means than `open_regular`, and what they open."""
_CALLS = {"open", "read_bytes", "read_text", "write_bytes", "write_text", "copyfile"}


def test_files_are_opened_by_one_function() -> None:
    found = set()
    for module in MODULES:
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func)
            last = name.rpartition(".")[2]
            if name == "sqlite3.connect" or (last in _CALLS and not name.startswith("fs.")):
                found.add(str(module.relative_to(PACKAGE)))
    found.discard("reading/containers/archives.py")  # tarfile.open of bytes in memory
    assert found == OPENERS.keys()


def test_saved_reports_name_no_file_to_open(folder: Path) -> None:
    """A report that names another file is read, and that file is not."""
    out, _, _ = run("report", "k.s", "--format", "json", folder=folder)
    document = json.loads(out)
    (folder / "r.json").write_text(json.dumps(document).replace("k.s", "../secret.json"))
    _, err, code = run("diff", "r.json", "k.s", "--only-below", ".", folder=folder)
    assert (err, code) == ("", 0)
