"""Kernels whose metadata is decoded in pieces are those of the metadata decoded whole."""

from __future__ import annotations

import random
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from kernelinfo import Options, analyse

from ...conftest import FIXTURES

note_metadata: Any = import_module("kernelinfo.reading.code_object.note_metadata")
OBJECTS = [
    FIXTURES / "code_object" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.out",
    FIXTURES / "code_object" / "occupancy-clang22-gfx90a.co",
]


def read(path: Path) -> list[object]:
    """Results, problems and notes, without what was met before."""
    for function in (note_metadata._numbers, note_metadata._part):
        function.cache_clear()
    return [*analyse([str(path)], Options())]


def assert_reads_alike(places: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(places)
    for original in OBJECTS:
        content = original.read_bytes()
        begin = content.index(b"amdhsa.kernels")
        end = content.index(b"amdhsa.version")
        damaged = folder / original.name
        for _ in range(places // len(OBJECTS)):
            byte = chance.choice((chance.randrange(256), 0xA0, 0xC0, 0x81, 0xDE))
            at = chance.randrange(begin, end)
            damaged.write_bytes(content[:at] + bytes((byte,)) + content[at + 1 :])
            in_pieces = read(damaged)
            with monkeypatch.context() as patch:
                patch.setattr(note_metadata, "_joined", lambda pieces: None)
                assert in_pieces == read(damaged), (original.name, at, byte)


def test_plain_metadata_is_decoded_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [read(path) for path in OBJECTS]
    monkeypatch.setattr(note_metadata, "_decoded", None)
    assert [read(path) for path in OBJECTS] == expected


def test_damaged_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_reads_alike(60, tmp_path, monkeypatch)


@pytest.mark.nightly
def test_metadata_damaged_at_2000_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_reads_alike(2000, tmp_path, monkeypatch)
