"""A long text is read part by part: the answers are those of reading it whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CORPUS, FIXTURES, needs_corpus, with_code

from .inside import (
    Data,
    FileBudget,
    LongText,
    Text,
    assembly,
    build_log,
    data,
    lines_from,
    pieces,
    searchable,
)

TEXTS = sorted([*FIXTURES.rglob("*.s"), *(FIXTURES / "log").iterdir()])


def read(text: Text) -> list[object]:
    """Everything that a reader says about a text, and the line of each statement."""
    is_log = build_log.accepts(text)
    reader = build_log.read if is_log else assembly.read
    return [is_log, *with_code(reader(text, arch="gfx90a", budget=FileBudget(kernels=2000)))]


def cut(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Let windows and pieces have `size` bytes."""
    for name in ("_READ_AHEAD", "_PIECE", "_LINES", "_COUNTED"):
        monkeypatch.setattr(data, name, size)


@pytest.mark.parametrize("size", [61, 500, 4099])
def test_fixtures_are_read_in_parts_as_whole(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [searchable(path.read_bytes()) for path in TEXTS]
    whole = [read(text) for text in texts]
    cut(monkeypatch, size)
    for path, text, expected in zip(TEXTS, texts, whole, strict=True):
        assert read(LongText(Data.of(text))) == expected, path.name


@needs_corpus
@pytest.mark.nightly
@pytest.mark.parametrize("size", [1021, 1 << 14])
def test_the_corpus_is_read_in_parts_as_whole(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [searchable(path.read_bytes()) for path in sorted(CORPUS.rglob("*.s"))]
    whole = [read(text) for text in texts]
    cut(monkeypatch, size)
    for text, expected in zip(texts, whole, strict=True):
        assert read(LongText(Data.of(text))) == expected
    assert len(texts) > 100


def test_every_cut_of_a_text_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names, blocks, metadata and numbers are cut at each of their bytes."""
    content = (FIXTURES / "assembly" / "tiny-v6-clang22-gfx1030.s").read_bytes()
    whole = read(content)
    for size in range(40, 400, 7):
        cut(monkeypatch, size)
        assert read(LongText(Data.of(content))) == whole, size


def test_a_text_whose_lines_end_with_returns_is_read_in_parts() -> None:
    content = (FIXTURES / "assembly" / "tiny-v6-clang22-gfx90a.s").read_bytes()
    returns = Data.of(content.replace(b"\n", b"\r"))
    assert read(LongText(returns)) == read(content)


@pytest.mark.parametrize("size", [1, 2, 5, 64])
def test_a_long_text_answers_as_bytes(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cut(monkeypatch, size)
    for content in (b"", b"\n", b"a", b"ab\n\ncde\nf", b"x" * 70 + b"\ny\n"):
        text = LongText(Data.of(content))
        assert len(text) == len(content)
        for start in range(-3, len(content) + 2):
            assert [*lines_from(text, max(start, 0))] == [*lines_from(content, max(start, 0))]
            for end in (None, *range(start, start + 9)):
                assert text[start:end] == content[start:end]
                for sought in (b"\n", b"cd", b"xx\ny"):
                    assert text.find(sought, start, end) == content.find(sought, start, end)
        assert b"".join(piece for _, piece in pieces(text)) == content


PEAK = """
import sys
from kernelinfo import Options, analyse
kernels = sum(1 for item in analyse(sys.argv[1:], Options(instructions=False)))
# Not ru_maxrss: that begins with what the parent had when it started this process.
print(kernels, int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0]) * 1024)
"""


@pytest.mark.nightly
def test_a_text_takes_memory_for_its_kernels_not_for_its_length(tmp_path: Path) -> None:
    module = (FIXTURES / "assembly" / "spills-clang22-gfx90a.s").read_bytes()
    padding, path, peaks = b"\ts_nop 0\n" * (1 << 18), tmp_path / "long.s", []
    for copies in (10, 40):
        path.write_bytes((module + padding) * copies)
        command = [sys.executable, "-c", PEAK, str(path)]
        done = subprocess.run(command, capture_output=True, check=True)
        kernels, peak = map(int, done.stdout.split())
        assert kernels > copies
        peaks.append(peak)
    assert peaks[1] - peaks[0] < 30 * len(padding) / 4
