"""A real terminal by tmux, and a project whose kernel ninja or kernelinfo itself compiles."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ..conftest import FIXTURES

needs_terminal = pytest.mark.needs("tmux")
needs_compiler = pytest.mark.needs("clang-22")
needs_ninja = pytest.mark.needs("ninja")
needs_vim = pytest.mark.needs("vim")

PATIENCE = 90.0
"""Seconds that a busy machine may take."""
KERNELINFO = f"{shlex.quote(sys.executable)} -m kernelinfo"
FLAGS = "-nogpuinc -nogpulib"

SOURCE = """\
#include "k.h"
__attribute__((global)) void sum(float *out, const float *in) {
  unsigned id = __builtin_amdgcn_workitem_id_x();
  float live[LIVE];
#pragma unroll
  for (int i = 0; i < LIVE; i++) live[i] = in[i * 64 + id];
  __builtin_amdgcn_s_barrier();
  float total = 0;
#pragma unroll
  for (int i = 0; i < LIVE; i++) total = total * 2 + live[i] * live[LIVE - 1 - i];
  out[id] = total;
}
"""
COMMAND = (
    "clang++-22 -x hip --cuda-device-only -S -O3 -gline-tables-only --offload-arch=gfx90a "
    f"{FLAGS} -o $out $in"
)
NINJA = f"""\
rule hip
  command = {COMMAND}
build build/k.s: hip k.hip | k.h
rule slow
  command = sleep 300
build never: slow
"""


SLOW_COMPILER = """\
#!/bin/sh
case "$*" in *-S*) test -e "$(dirname "$0")/fast" || sleep 300 ;; esac
exec clang++-22 "$@"
"""
"""A compiler that takes minutes until a file `fast` is next to it."""


def header(live: int) -> str:
    return f"#define LIVE {live}\n"


def project(root: Path) -> Path:
    """A project whose kernel keeps as many values as its header says."""
    (root / "k.hip").write_text(SOURCE)
    (root / "k.h").write_text(header(8))
    (root / "build.ninja").write_text(NINJA + "default build/k.s\n")
    (root / "slow.sh").write_text("sleep 300 & sleep 300\nwait\n")
    compiler = root / "slow-clang++"
    compiler.write_text(SLOW_COMPILER)
    compiler.chmod(0o755)
    return root


class Terminal:
    """A bash in a terminal of 120 columns and 40 rows."""

    def __init__(self, name: str, folder: Path) -> None:
        self._name = name
        inherited = {key: os.environ[key] for key in os.environ.keys() - {"COLUMNS", "LINES"}}
        environment = inherited | {"PYTHONPATH": str(FIXTURES.parent)}
        shell = "env 'PS1=$ ' bash --norc --noprofile"
        command = ["new-session", "-d", "-x", "120", "-y", "40", "-c", str(folder), shell]
        self._tmux("-f", "/dev/null", *command, environment=environment)

    def _tmux(self, *words: str, environment: dict[str, str] | None = None) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._name, *words],
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        )
        return done.stdout

    def type(self, line: str) -> None:
        """Type a line and Enter."""
        self._tmux("send-keys", "-l", line)
        self.press("Enter")

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def resize(self, columns: int, rows: int) -> None:
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self) -> str:
        """The lines that are shown, without the blanks at their ends."""
        return self._tmux("capture-pane", "-p").rstrip()

    def state(self) -> str:
        """The settings of the terminal itself that a program can leave changed."""
        return self._tmux("display-message", "-p", "#{cursor_flag} #{alternate_on} #{pane_dead}")

    def until(self, holds: str | Callable[[str], object]) -> str:
        """The screen once it matches and rests: a picture of it may be half drawn."""
        end, before = time.monotonic() + PATIENCE, ""
        while time.monotonic() < end:
            shown = self.screen()
            matches = re.search(holds, shown) if isinstance(holds, str) else holds(shown)
            if matches and shown == before:
                return shown
            before = shown
            time.sleep(0.1)
        raise AssertionError(f"never came: {holds}\n{self.screen()}")

    def close(self) -> None:
        self._tmux("kill-server")


@contextmanager
def terminal(name: str, folder: Path) -> Iterator[Terminal]:
    """A terminal that ends with the block."""
    found = Terminal(f"kernelinfo-{os.getpid()}-{name}", folder)
    try:
        found.until(r"\$$")
        yield found
    finally:
        found.close()


def sleeping(folder: Path) -> list[str]:
    """Command lines of the slow programs of builds in a folder."""
    found = [one for one in commands_in(folder) if " -m kernelinfo" not in one]
    return [one for one in found if one.startswith("sleep") or "slow-clang" in one]


def commands_in(folder: Path) -> list[str]:
    """Command lines of all processes that run in a folder, mention it, or compile for it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            where = os.readlink(process / "cwd")
        except OSError:
            continue
        is_sleep = command.startswith("sleep 300") and "kernelinfo-" in where
        if where.startswith(str(folder)) or str(folder) in command or is_sleep:
            found.append(command)
    return found
