"""Files that are written: only temporary files of our own come and go, and modes stay harmless."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest

from kernelinfo.atomic_write import atomic_write, create_aside, name_of_aside

from ..conftest import FIXTURES
from ..test_golden import run

TEXT = FIXTURES / "assembly" / "occupancy-clang19-gfx90a.s"
OWN = ".r.json.0123456789abcdef.part"


def aged(path: Path) -> Path:
    path.write_text("mine")
    long_ago = time.time() - 2 * 86_400
    os.utime(path, (long_ago, long_ago))
    return path


@pytest.mark.parametrize(
    "name",
    [
        "r.json.my-notes.part",
        "r.json.PID.part",
        "r.json.part",
        ".r.json.part",
        ".r.json.notes.part",
        ".r.json.0123456789ABCDEF.part",
        ".r.json.0123456789abcde.part",
        ".r.json.0123456789abcdef.part.txt",
        ".s.json.0123456789abcdef.part",
        "..0123456789abcdef.part",
    ],
)
def test_files_of_the_user_stay(name: str, tmp_path: Path) -> None:
    name = name.replace("PID", str(os.getpid()))
    theirs = aged(tmp_path / name)
    assert run(str(TEXT), "--format", "json", "-o", "r.json", folder=tmp_path)[1:] == ("", 0)
    assert theirs.read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {name, "r.json"}


def test_what_a_killed_run_left_goes_after_a_day(tmp_path: Path) -> None:
    left = aged(tmp_path / OWN)
    aged(tmp_path / "target")
    link = tmp_path / ".r.json.00000000000000aa.part"
    link.symlink_to("target")
    fresh = tmp_path / ".r.json.00000000000000bb.part"
    fresh.touch()
    assert run(str(TEXT), "--format", "json", "-o", "r.json", folder=tmp_path)[1:] == ("", 0)
    assert not left.exists()
    assert (link.exists(), fresh.exists()) == (True, True)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (0o4755, 0o755),
        (0o2770, 0o770),
        (0o6777, 0o777),
        (0o1644, 0o644),
        (0o640, 0o640),
        (0o600, 0o600),
    ],
)
def test_permissions_stay_and_set_uid_goes(mode: int, expected: int, tmp_path: Path) -> None:
    (tmp_path / "r.json").touch()
    (tmp_path / "r.json").chmod(mode)
    assert run(str(TEXT), "--format", "json", "-o", "r.json", folder=tmp_path)[1:] == ("", 0)
    assert stat.S_IMODE((tmp_path / "r.json").stat().st_mode) == expected


def test_a_new_file_has_the_mode_of_any_other(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    assert run(str(TEXT), "--format", "json", "-o", "r.json", folder=tmp_path)[1:] == ("", 0)
    assert (tmp_path / "r.json").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("name", ["n" * 255, "é" * 127, "r.json"])
def test_a_name_of_any_length(name: str, tmp_path: Path) -> None:
    aside = create_aside(str(tmp_path / name))
    assert os.path.getsize(aside) == 0
    assert name.startswith(name_of_aside(os.path.basename(aside)) or "none")
    assert create_aside(str(tmp_path / name)) != aside
    with atomic_write(str(tmp_path / name)) as file:
        file.write(b"1")
    assert (tmp_path / name).read_bytes() == b"1"


def test_a_write_that_fails_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text("old")
    with pytest.raises(ValueError, match="closed"), atomic_write(str(path)) as file:
        file.close()
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["r.json"]
