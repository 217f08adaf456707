"""Hostile assembly gets one clear, harmless answer in bounded time and memory."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import HOSTILE, needs_corpus
from ..fuzz.promise import is_harmless
from ..test_golden import run
from .hostile_texts import CALLS, LARGE, LARGEST, SMALL

SCRIPT = HOSTILE / "second" / "pressure_gen.py"
_MEGABYTES = 512
_SECONDS = 60
"""CPU time. One million instructions take a third of it; a hang takes all."""


def measured(
    command: str, path: Path, *more: str, megabytes: int = _MEGABYTES
) -> tuple[str, str, int]:
    """Standard output, standard error and exit code of the installed command under limits."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20,) * 2)
        resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS,) * 2)

    done = subprocess.run(
        [sys.executable, "-m", "kernelinfo", command, str(path), *more],
        capture_output=True,
        preexec_fn=limit,
    )
    return done.stdout.decode(), done.stderr.decode(), done.returncode


def check(path: Path) -> None:
    """Raise if the command breaks its promise for a file."""
    for command, *more in (("pressure",), ("explain", "*")):
        out, err, code = measured(command, path, *more)
        assert code in (0, 2), f"{command} {path.name}: {code}\n{err[-2000:]}"
        assert "Traceback" not in err
        assert "kernelinfo failed" not in err
        assert err or code == 0
        assert out or err
        assert is_harmless(out + err), path.name


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    subprocess.run([sys.executable, str(SCRIPT), str(folder)], check=True, capture_output=True)
    return folder


def _names() -> list[str]:
    """Names of the files that the script writes."""
    text = SCRIPT.read_text() if SCRIPT.exists() else ""
    return re.findall(r"(?m)^w\('([\w-]+)'", text)


@pytest.mark.nightly
@needs_corpus
@pytest.mark.parametrize("name", _names())
def test_the_shipped_attacks(name: str, shipped: Path) -> None:
    check(shipped / f"{name}.s")


@pytest.mark.nightly
@pytest.mark.parametrize("name", LARGE)
def test_large_graphs_and_texts(name: str, tmp_path: Path) -> None:
    path = tmp_path / "k.s"
    path.write_text(LARGE[name]())
    check(path)


@pytest.mark.nightly
@pytest.mark.parametrize("name", LARGEST)
def test_the_largest_graphs_fit_into_512_mib(name: str, tmp_path: Path) -> None:
    """Flat arrays hold the blocks; an object for each would take twice as much."""
    path = tmp_path / "k.s"
    path.write_text(LARGEST[name]())
    out, err, code = measured("pressure", path, "k")
    assert (code, err) == (0, "")
    assert "instructions" in out


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["self loops", "a million instructions"])
def test_json_of_the_largest_graphs_fits_into_600_mib(name: str, tmp_path: Path) -> None:
    """Records of 300,000 loops and blocks, 100 and 60 MiB, are not text and documents at once."""
    path, written = tmp_path / "k.s", tmp_path / "k.json"
    path.write_text(LARGEST[name]())
    options = ("k", "--format", "json", "-o", str(written))
    _, err, code = measured("pressure", path, *options, megabytes=600)
    assert (code, err) == (0, "")
    assert written.read_bytes().endswith(b"}\n")


@pytest.mark.parametrize(
    "each", [7, pytest.param(1, marks=pytest.mark.nightly)], ids=["some", "all"]
)
def test_oddities(each: int, tmp_path: Path) -> None:
    """Runs in this process, with the same demands as `check`."""
    path, wrong = tmp_path / "k.s", []
    for name, text in {**dict([*SMALL.items()][::each]), **CALLS}.items():
        path.write_text(text)
        for command, *more in (("pressure",), ("explain", "*")):
            out, err, code = run(command, str(path), *more)
            is_answer = code in (0, 2) and (err or (code == 0 and out)) and is_harmless(out + err)
            if not is_answer or "kernelinfo failed" in err:
                wrong.append((name, command, code))
    assert wrong == []
