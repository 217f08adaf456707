"""Cut off anywhere, or with a byte of a header changed, every file keeps the promise.

Here some of all; `python -m tests.robustness` tries every prefix of every fixture, and every value
of each of the first bytes of headers.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ..conftest import FIXTURES
from ..fuzz.promise import is_harmless
from ..test_golden import INPUTS, run
from .formats import FORMATS
from .trials import tried

ONE_IN = 1021


@pytest.mark.parametrize("name", FORMATS)
def test_promise(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    format = FORMATS[name]
    for part in (format.headers, format.prefixes()):
        assert tried(format, part, step=ONE_IN).crashes == 0, list(tmp_path.iterdir())


@pytest.mark.parametrize("name", INPUTS)
def test_exit(name: str, tmp_path: Path) -> None:
    """Exit code of the command line."""
    data = (FIXTURES / name).read_bytes()
    for end in (len(data) // 3, len(data) - 1):
        (tmp_path / "file").write_bytes(data[: max(end, 0)])
        out, err, code = run("file", folder=tmp_path)
        assert code in (0, 2)
        assert bool(err) == (code == 2)
        assert is_harmless(out + err)


def test_every_fixture_is_cut_off() -> None:
    taken = [path for format in FORMATS.values() for path in format.files]
    assert sorted(taken) == sorted(path for path in FIXTURES.rglob("*") if path.is_file())
