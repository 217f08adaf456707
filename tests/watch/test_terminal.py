"""watch in a real terminal, with real editors, compilers and builds."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ..conftest import FIXTURES
from ..messages import says
from .terminal import (
    FLAGS,
    KERNELINFO,
    SOURCE,
    Terminal,
    commands_in,
    header,
    needs_compiler,
    needs_ninja,
    needs_terminal,
    needs_vim,
    project,
    sleeping,
    terminal,
)
from .watching import NEW, OLD, replaced

pytestmark = needs_terminal

BY_NINJA = f"{KERNELINFO} watch build --run ninja"
BY_ITSELF = f"{KERNELINFO} watch k.hip --arch gfx90a --compiler clang++-22 -- {FLAGS}"
MODES = [
    pytest.param(BY_ITSELF, id="sources"),
    pytest.param(BY_NINJA, marks=needs_ninja, id="ninja"),
]


@pytest.fixture
def root() -> Iterator[Path]:
    """A project with a short path: a long one folds a compiler's message, and rows leave the
    screen."""
    with TemporaryDirectory(prefix="watch-") as folder:
        yield project(Path(folder))


@pytest.fixture(params=MODES)
def shown(root: Path, request: pytest.FixtureRequest) -> Iterator[Terminal]:
    """A watch of the project, after its first look."""
    with terminal(root.name, root) as found:
        found.type(request.param)
        found.until("look 1 at .*: 1 kernel")
        yield found


def registers(screen: str) -> int:
    """VGPRs in the row of the kernel."""
    (row,) = [line for line in screen.splitlines() if line.startswith(" sum ")]
    return int(row.split()[2])


@needs_compiler
def test_sed_changes_the_header(shown: Terminal, root: Path) -> None:
    few = registers(shown.screen())
    subprocess.run(["sed", "-i", "s/8/100/", "k.h"], cwd=root, check=True)
    screen = shown.until("look 2 at .*: 1 of 1 kernel changed")
    assert registers(screen) > few + 50
    assert "worse  sum  VGPR: " in screen
    screen = shown.until("k.hip:6: ")
    assert "live[i] = in[i * 64 + id];" in screen, "the source line that holds most"
    subprocess.run(["sed", "-i", "s/100/8/", "k.h"], cwd=root, check=True)
    screen = shown.until("look 3 at .*: 1 of 1 kernel changed")
    assert "better sum  VGPR: " in screen
    assert registers(screen) == few


@needs_compiler
@needs_vim
def test_vim_saves_by_another_file(shown: Terminal, root: Path) -> None:
    before = (root / "k.h").stat().st_ino
    settings = "set backupcopy=no backupskip="  # by default it renames nothing below /tmp
    edit = ["vim", "-Es", "-Nu", "NONE", "-c", settings, "-c", "%s/8/90/", "-c", "x", "k.h"]
    subprocess.run(edit, cwd=root, check=True, stdin=subprocess.DEVNULL)
    assert (root / "k.h").stat().st_ino != before
    shown.until("look 2 at .*: 1 of 1 kernel changed")
    (root / "k.h").write_text(header(8))
    shown.until("look 3 at .*: 1 of 1 kernel changed")  # one save is one look


@needs_compiler
def test_a_save_that_truncates_first(shown: Terminal, root: Path) -> None:
    with open(root / "k.h", "w") as file:
        file.flush()
        time.sleep(0.1)
        file.write(header(90))
    screen = shown.until("of 1 kernel changed")
    assert registers(screen) > 80


def test_a_source_without_a_target_is_2(root: Path) -> None:
    with terminal(root.name, root) as shown:
        shown.type(f"{KERNELINFO} watch k.hip; echo code $?")
        assert "k.hip: " in shown.until("code 2")


def test_a_source_that_is_not_there_is_2(root: Path) -> None:
    with terminal(root.name, root) as shown:
        shown.type(f"{KERNELINFO} watch typo.hip --arch gfx90a; echo code $?")
        assert "typo.hip: no such file or directory" in shown.until("code 2")


@needs_compiler
@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ("#define LIVE none\n", "error: use of undeclared identifier 'none'"),
        (None, "'k.h' file not found"),
    ],
    ids=["an error", "missing"],
)
def test_a_header_is_mended(root: Path, wrong: str | None, complaint: str) -> None:
    (root / "k.h").unlink()
    if wrong:
        (root / "k.h").write_text(wrong)
    with terminal(root.name, root) as shown:
        shown.type(BY_ITSELF)
        assert complaint in shown.until("look 1 at .*: failed")
        (root / "k.h").write_text(header(8))
        shown.until("look 2 at .*: 1 kernel")


@needs_compiler
@pytest.mark.parametrize("name", ["k.h", "k.hip"])
def test_a_file_that_is_deleted_fails_until_it_is_back(root: Path, name: str) -> None:
    with terminal(root.name, root) as shown:
        shown.type(BY_ITSELF)
        shown.until("look 1 at .*: 1 kernel")
        (root / name).rename(root / "away")
        assert "error: " in shown.until("look 2 at .*: failed")
        (root / "away").rename(root / name)
        shown.until("look 3 at .*: 0 of 1 kernel changed")


@needs_compiler
def test_ten_saves_in_a_second(shown: Terminal, root: Path) -> None:
    for live in range(10, 110, 10):
        (root / "k.h").write_text(header(live))
        time.sleep(0.1)
    screen = shown.until(lambda screen: "look 1" not in screen and registers(screen) > 90)
    assert "Ctrl-C ends" in shown.until("waits for a change")
    assert "error" not in screen


@needs_compiler
def test_an_error_stands_above_the_last_good_look(shown: Terminal, root: Path) -> None:
    (root / "k.hip").write_text(SOURCE.replace("float total = 0", "float total = none"))
    screen = shown.until("look 2 at .*: failed")
    assert "error: use of undeclared identifier 'none'" in screen
    above, _, below = screen.partition("look 2 at")
    assert "error:" in above
    assert "look 1 at" in below, "the last good look stays"
    (root / "k.hip").write_text(SOURCE)
    # The third: that the compiler deleted its output was no look.
    screen = shown.until("look 3 at .*: 0 of 1 kernel changed")
    assert "error:" not in screen


SLOW = "watch k.hip --arch gfx90a --compiler ./slow-clang++"
RUNNING = [
    pytest.param("watch build --run 'test -e fast || sh slow.sh; ninja'", 2, id="shell"),
    pytest.param("watch build --run 'test -e fast || ninja never; ninja'", 1, id="ninja"),
    pytest.param(
        f"watch k.hip --arch gfx90a --compiler ./slow-clang++ -- {FLAGS}", 2, id="sources"
    ),
]
"""Builds that take minutes until there is a file `fast`, and the number of their slow programs."""


@needs_compiler
@needs_ninja
@pytest.mark.parametrize(("command", "programs"), RUNNING)
def test_a_save_ends_the_build_before(root: Path, command: str, programs: int) -> None:
    """With its whole group: the shell, its children and theirs."""
    with terminal(root.name, root) as shown:
        shown.type(f"{KERNELINFO} {command}")
        shown.until(lambda _: len(sleeping(root)) >= programs)
        (root / "fast").touch()
        (root / "k.hip").write_text(f"{SOURCE}// saved again")
        shown.until("look 1 at .*: 1 kernel")
        assert not sleeping(root)


@needs_compiler
@needs_ninja
@pytest.mark.parametrize(("command", "programs"), RUNNING)
def test_ctrl_c_leaves_nothing(root: Path, command: str, programs: int) -> None:
    with terminal(root.name, root) as shown:
        shown.type("clear; echo before")
        shown.until("^before")
        state, screen = shown.state(), shown.screen()
        shown.type(f"{KERNELINFO} {command}")
        shown.until(lambda _: len(sleeping(root)) >= programs)
        shown.until("building: ")
        assert shown.state() != state, "the screen is its own"
        shown.press("C-c")
        after = shown.until(lambda now: now.startswith("before") and now.endswith("$"))
        assert after.startswith(screen)
        assert shown.state() == state
        shown.type("echo code $?")
        shown.until("code 0")
        assert not sleeping(root)
        assert not [one for one in commands_in(root) if " -m kernelinfo" in one]


@needs_compiler
def test_another_size_is_drawn_anew(shown: Terminal) -> None:
    shown.resize(70, 20)
    screen = shown.until(lambda now: "look 1 at" in now)
    assert max(map(len, screen.splitlines())) <= 70
    assert len(screen.splitlines()) <= 20


def test_a_folder_that_is_deleted_and_made_again(tmp_path: Path) -> None:
    build = tmp_path / "build"
    build.mkdir()
    shutil.copy(OLD, build / "k.s")
    with terminal(tmp_path.name, tmp_path) as shown:
        shown.type(f"{KERNELINFO} watch build")
        shown.until("look 1 at .*: 4 kernels")
        shutil.rmtree(build)
        shown.until("4 kernels gone")
        shown.until(lambda screen: says(screen, "file-not-yet build"))
        build.mkdir()
        shutil.copy(NEW, build / "k.s")
        assert "moved  ldsbound" in shown.until("look 3 at")


@pytest.mark.nightly
def test_one_of_3000_objects_changes(tmp_path: Path) -> None:
    objects = FIXTURES / "code_object"
    build = tmp_path / "build"
    build.mkdir()
    for number in range(3000):
        shutil.copy(objects / "tiny-v6-clang22-gfx90a.co", build / f"kernel{number}.co")
    with terminal(tmp_path.name, tmp_path) as shown:
        shown.type(f"{KERNELINFO} watch build")
        shown.until("look 1 at .*: 6.000 kernels")
        replaced(build / "kernel1500.co", (objects / "tiny-v4-clang15-gfx90a.co").read_bytes())
        screen = shown.until("look 2 at .*: [12] of 6.000 kernels changed")
        assert "kernel1500.co" in screen
        shown.press("C-c")
        shown.type("echo code $?")
        shown.until("code 0")
