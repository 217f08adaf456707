"""llvm-objdump programs on this machine, in the order in which they are tried."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path

from kernelinfo.compile.processes import on_path
from kernelinfo.errors import ReadError
from kernelinfo.pressure.messages import say

_NAME = re.compile(r"llvm-objdump(?:-(\d{1,3}))?$")
_VERSION = re.compile(r"LLVM version (\d{1,3})\.")
_ROCM = "opt/rocm*/llvm/bin"  # relative to the root; each version of ROCm has its own folder
_SECONDS = 10


def programs() -> list[str]:
    """Paths of llvm-objdump: the one in `LLVM_OBJDUMP`, then the installed ones, newest first.

    Searches `ROCM_PATH`, PATH and `/opt/rocm*`. Relative folders of PATH are skipped, so that no
    program in the current folder runs. Raises `ReadError` if `LLVM_OBJDUMP` names no program.
    """
    wanted = os.environ.get("LLVM_OBJDUMP", "")
    folders = [folder for folder in os.get_exec_path() if os.path.isabs(folder)]
    first = on_path(wanted)
    if wanted and first is None:
        raise ReadError(say("objdump-no-program", program=wanted))
    installed = {os.path.realpath(path): path for path in reversed(_installed(folders))}
    paths = list(reversed(installed.values()))
    if len(paths) > 1:
        paths.sort(key=version, reverse=True)
    return list(dict.fromkeys([first, *paths] if first else paths))


def _installed(folders: list[str]) -> list[str]:
    """Paths of the installed programs. Links with a version in the name precede their file."""
    root = os.environ.get("ROCM_PATH", "")
    rocm = [os.path.join(root, "llvm", "bin")] if os.path.isabs(root) else []
    known = map(str, Path("/").glob(_ROCM))
    found = [
        os.path.join(folder, name)
        for folder in [*rocm, *folders, *known]
        if os.path.isdir(folder)
        for name in sorted(os.listdir(folder), reverse=True)
        if _NAME.match(name)
    ]
    return [path for path in dict.fromkeys(found) if _is_program(path)]


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


@cache  # asking starts a program
def version(path: str) -> int:
    """The LLVM version of a program, by its name or its `--version`; 0 if unknown."""
    named = _NAME.search(path)
    if named and named[1]:
        return int(named[1])
    try:
        done = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = _VERSION.search(done.stdout.decode("utf-8", "replace"))
    return int(found[1]) if found else 0
