"""Bounds are named where they are met, and can be set where an honest file needs more."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pytest

from kernelinfo.reading.blob import Blob
from kernelinfo.reading.budget import Bounds
from kernelinfo.reading.containers import open_bytes
from tests.conftest import FIXTURES
from tests.test_golden import run

from .opening import OBJECT, opened
from .test_archive import archive, member
from .test_bundle import GFX90A, bundle
from .test_offload_binary import GFX90A as STRINGS
from .test_offload_binary import offload_binary


def nested(data: bytes, times: int) -> bytes:
    for _ in range(times):
        data = gzip.compress(data)
    return data


def traps(times: int) -> bytes:
    """An archive of small files that give 60 MiB each, a code object before and behind them."""
    trap = bz2.compress(bytes(60 << 20))
    middle = [member(f"{number}.bz2/", trap) for number in range(times)]
    return archive(member("first.co/", OBJECT), *middle, member("last.co/", OBJECT))


@pytest.mark.parametrize(
    ("data", "bound", "message"),
    [
        (nested(OBJECT, 8), "nesting=8", "containers nested more than 6 deep"),
        (bundle(*[(GFX90A, b"")] * 4200, (GFX90A, OBJECT)), "entries=5000", "4201 entries"),
        (gzip.compress(OBJECT + bytes(70 << 20)), "ratio=2000", "gzip data give more than the"),
        (
            offload_binary(*[(STRINGS, b"")] * 4200, (STRINGS, OBJECT), version=2),
            "entries=5000",
            "4201 entries, more than the 4096 allowed here",
        ),
    ],
    ids=["nesting", "bundle", "ratio", "offload-binary"],
)
def test_what_is_refused_is_read_when_allowed(
    data: bytes, bound: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    out, err, code = run(str(path), "--format", "csv")
    assert (len(out.splitlines()), code) == (1, 2)
    assert message in err
    name = bound.partition("=")[0]
    assert f"--bound {name}=" in err
    out, err, code = run(str(path), "--format", "csv", "--bound", bound)
    assert len(out.splitlines()) > 1
    assert message not in err


def test_thousands_of_small_traps_are_bounded_together(tmp_path: Path) -> None:
    path = tmp_path / "lib.a"
    path.write_bytes(traps(5000))
    out, err, code = run(str(path), "--format", "csv")
    assert code == 2
    assert "first.co" in out
    [line] = err.splitlines()
    assert line.startswith(f"{path}: its compressed parts give more than the ")
    assert "--bound ratio=" in line


def test_together_they_may_give_what_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "lib.a"
    path.write_bytes(traps(3))
    assert "last.co" not in run(str(path), "--format", "csv")[0]
    out, _, _ = run(str(path), "--format", "csv", "--bound", "ratio=30000")
    assert "last.co" in out


@pytest.mark.parametrize("bound", ["depth=3", "nesting", "nesting=", "nesting=-1", "ratio=1e3"])
def test_a_bound_that_is_none_is_refused(bound: str) -> None:
    out, err, code = run("nothing", "--bound", bound)
    assert (out, code) == ("", 2)
    defaults = "nesting=6, entries=4096, ratio=200, memory=8589934592"
    assert f"{bound!r} is not a bound; the defaults are {defaults}" in err


def test_a_text_beyond_the_memory_bound_is_one_line() -> None:
    text = (FIXTURES / "assembly" / "tiny-v6-clang22-gfx90a.s").read_text().encode("utf-16")
    blobs, messages = opened(text, Bounds(memory=len(text) - 1))
    assert blobs == []
    assert messages == [
        f"a text in UTF-16 of {len(text)} bytes, more than the {len(text) - 1} held at once; "
        "--bound memory=N reads it"
    ]
    found = list(open_bytes(text, "file", Bounds(memory=len(text))))
    assert [type(one) for one in found] == [Blob]
