"""A watch does not take what it writes itself for a change."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kernelinfo.atomic_write import create_aside
from kernelinfo.watch import FileTree, Sources


@contextmanager
def log(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The descriptor of `watch.log` in the current folder, to which standard output goes."""
    monkeypatch.chdir(folder)
    Path("b").mkdir()
    Path("b/k.s").write_text("code")
    Path("k.hip").write_text("source")
    stream, before = os.open("watch.log", os.O_CREAT | os.O_WRONLY), os.dup(1)
    os.dup2(stream, 1)
    try:
        yield stream
    finally:
        os.dup2(before, 1)
        os.close(before)
        os.close(stream)


def test_its_log_is_no_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with log(tmp_path, monkeypatch) as stream:
        sources = Sources(["b"])
        sources.rest()
        os.write(stream, b"look 1\n")
        assert not sources.have_changed(only_saved=False)
        os.link("watch.log", "another-name.log")
        assert not sources.have_changed(only_saved=False)
        Path("k.hip").write_text("saved")
        assert sources.have_changed(only_saved=False)


def test_its_log_and_unfinished_files_are_no_outputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with log(tmp_path, monkeypatch) as stream:
        for path in (".", "*.log", "watch.log"):
            before = FileTree(path, only_folders=True).snapshot()
            os.write(stream, b"look 1\n")
            assert FileTree(path, only_folders=True).snapshot() == before, path
            assert not any("watch.log" in one for one in before)
        create_aside("b/k.co")
        assert FileTree("b", only_folders=True).snapshot().keys() == {"b/k.s"}
