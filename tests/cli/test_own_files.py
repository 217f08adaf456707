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


def written(folder: Path) -> Path:
    assert run(str(TEXT), "--format", "json", "-o", "r.json", folder=folder)[1:] == ("", 0)
    return folder / "r.json"


def test_files_of_the_user_stay(tmp_path: Path) -> None:
    names = {
        *("r.json.my-notes.part", f"r.json.{os.getpid()}.part", "r.json.part", ".r.json.part"),
        *(".r.json.notes.part", ".r.json.0123456789ABCDEF.part", ".r.json.0123456789abcde.part"),
        *(".r.json.0123456789abcdef.part.txt", ".s.json.0123456789abcdef.part"),
        "..0123456789abcdef.part",
    }
    for name in names:
        aged(tmp_path / name)
    written(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*names, "r.json"}


def test_what_a_killed_run_left_goes_after_a_day(tmp_path: Path) -> None:
    left = aged(tmp_path / OWN)
    aged(tmp_path / "target")
    link = tmp_path / ".r.json.00000000000000aa.part"
    link.symlink_to("target")
    fresh = tmp_path / ".r.json.00000000000000bb.part"
    fresh.touch()
    written(tmp_path)
    assert not left.exists()
    assert (link.exists(), fresh.exists()) == (True, True)


def test_permissions_stay_and_set_uid_goes(tmp_path: Path) -> None:
    for mode, expected in ((0o4755, 0o755), (0o2770, 0o770), (0o1644, 0o644), (0o600, 0o600)):
        (tmp_path / "r.json").touch()
        (tmp_path / "r.json").chmod(mode)
        assert stat.S_IMODE(written(tmp_path).stat().st_mode) == expected


def test_a_new_file_has_the_mode_of_any_other(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    assert written(tmp_path).stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("name", ["n" * 255, "é" * 127, "r.json"])
def test_a_name_of_any_length(name: str, tmp_path: Path) -> None:
    aside = create_aside(str(tmp_path / name))
    assert os.path.getsize(aside) == 0
    assert name.startswith(name_of_aside(os.path.basename(aside)) or "none")
    assert create_aside(str(tmp_path / name)) != aside
    with atomic_write(str(tmp_path / name)) as file:
        file.write(b"1")
    assert (tmp_path / name).read_bytes() == b"1"


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    with pytest.raises(ZeroDivisionError), atomic_write(str(path)) as file:
        file.write(b"half" * (1 // 0))
    assert not list(tmp_path.iterdir())
    path.write_text("old")
    with pytest.raises(ValueError, match="closed"), atomic_write(str(path)) as file:
        file.close()
    with atomic_write(str(path)) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]
