"""A watch does not take what it writes itself for a change."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelinfo.atomic_write import create_aside
from kernelinfo.watch import files
from kernelinfo.watch.files import FolderTree, Outputs
from kernelinfo.watch.sources import Sources


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The descriptor of `watch.log` in the current folder, to which standard output goes."""
    monkeypatch.chdir(tmp_path)
    Path("b").mkdir()
    Path("b/k.s").write_text("code")
    Path("k.hip").write_text("source")
    stream = os.open("watch.log", os.O_CREAT | os.O_WRONLY)
    monkeypatch.setattr(files, "_STREAMS", (stream, 9999))
    yield stream
    os.close(stream)


def test_its_log_is_no_source(log: int) -> None:
    sources = Sources(["b"])
    sources.rest()
    os.write(log, b"look 1\n")
    assert not sources.have_changed(only_saved=False)
    os.link("watch.log", "another-name.log")
    assert not sources.have_changed(only_saved=False)
    Path("k.hip").write_text("saved")
    assert sources.have_changed(only_saved=False)


@pytest.mark.parametrize("path", [".", "*.log", "watch.log"])
def test_its_log_is_no_output(path: str, log: int) -> None:
    before = Outputs([path]).snapshot()
    os.write(log, b"look 1\n")
    assert Outputs([path]).snapshot() == before
    assert not any("watch.log" in one for one in before)


def test_files_that_a_run_is_still_writing_are_left_out(log: int) -> None:
    create_aside("b/k.co")
    assert FolderTree("b", only_folders=True).snapshot().keys() == {"b/k.s"}
