"""Files that may not be read, that are emptied or shortened meanwhile, and what reading costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import FIXTURES
from tests.containers import OBJECT, bundle
from tests.contract.files import make
from tests.messages import code_of
from tests.test_golden import run


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may read everything; for a while this process is another user's."""
    if os.geteuid():
        yield
        return
    os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


def test_folders_and_files_that_may_not_be_read() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        for path in ("a/a.s", "a/x/a.s", "b/a.s", "b/x/a.s"):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(make(["assembly"]))
        (folder / "c").mkdir()
        (folder / "c" / "a.co").touch(0)
        (folder / "c" / "a.co").write_bytes(OBJECT)
        for pattern in ("*/*.s", "*/x/*.s", "?/x/a.s", "**/*.s"):
            readable = json.loads(run(pattern, "--format", "json", folder=folder)[0])
            (folder / "b").chmod(0)
            with as_nobody():
                out, err, code = run(pattern, "--format", "json", folder=folder)
            (folder / "b").chmod(0o755)
            assert (err, code) == ("b: permission denied\n", 2)
            assert 2 * len(json.loads(out)["inputs"]) == len(readable["inputs"]) > 0
        with as_nobody():
            assert run("c", folder=folder)[1:] == ("c/a.co: permission denied\n", 2)


def test_a_small_file_of_a_folder_is_looked_up_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.co", "b.co"):
        (tmp_path / name).write_bytes(OBJECT)
    looked_up: list[str] = []

    def stat(path: str, status: Callable[[str], os.stat_result] = os.stat) -> os.stat_result:
        looked_up.append(os.path.basename(path))
        return status(path)

    monkeypatch.setattr(os, "stat", stat)
    run(".", folder=tmp_path)
    assert looked_up.count("a.co") == looked_up.count("b.co") == 1


LARGE = 70 << 20
"""Bytes; a smaller file is read at once."""
FIRST_GOES = """
import json, os, sys
import kernelinfo
path, kept = sys.argv[1], int(sys.argv[2])
found, messages = [], []
for item in kernelinfo.analyse([path], kernelinfo.Options()):
    if hasattr(item, "kernel"):
        found.append(item.kernel.code_object.offset)
        os.truncate(path, kept)
    else:
        messages.append(item.message)
print(json.dumps([sorted(set(found)), messages]))
"""


def test_what_shrinks_while_it_is_read_is_named(tmp_path: Path) -> None:
    """The process goes on: a mapped file would end it by SIGBUS."""
    text = (FIXTURES / "assembly" / "tiny-v6-clang22-gfx90a.s").read_bytes()
    large = [("host-a", bytes(4096)), ("b", OBJECT), ("host-c", bytes(LARGE)), ("d", OBJECT)]
    for data, kept, least in (
        (bundle(*large), 10 << 20, 1),
        (text * (LARGE // len(text) + 1), 1 << 20, 2),
        (bundle(*large[:2], ("d", OBJECT)), 0, 2),
    ):
        path = tmp_path / "x"
        path.write_bytes(data)
        command = [sys.executable, "-c", FIRST_GOES, str(path), str(kept)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert (ended.returncode, ended.stderr) == (0, "")
        found, messages = json.loads(ended.stdout)
        assert len(found) >= least
        if kept:  # smaller files are read as they were
            assert code_of(messages[-1]) == "file-shrank"
