"""What a test needs beyond the extra `test`: the list is tools.toml.

`python3 -m tests.tools --missing` prints the names of what is missing here and no package of pip's,
`--apt` the Debian packages that have it, and `--names` all names, which KERNELINFO_REQUIRE takes: a
test that needs one of those fails if it is missing; others are skipped. `--nightly` adds what only
the nightly needs. It uses the standard library alone: .ci/run asks it before anything is
installed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tomllib
from glob import glob
from importlib.util import find_spec
from pathlib import Path
from typing import TypedDict


class Tool(TypedDict, total=False):
    """A table of tools.toml."""

    commands: list[str]
    module: str
    file: str
    apt: list[str]
    nightly: bool


TOOLS: dict[str, Tool] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def find_program(name: str) -> str | None:
    """Path of a tool that is a program, in PATH or beside this Python; None if it is missing."""
    paths = (os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent))
    path = os.pathsep.join(paths)
    programs = (shutil.which(command, path=path) for command in TOOLS[name].get("commands", ()))
    return next(filter(None, programs), None)


def is_here(name: str) -> bool:
    """True if the tool of that name in tools.toml is installed."""
    tool = TOOLS[name]
    if "file" in tool:
        return bool(glob(tool["file"]))
    if "module" in tool:
        return find_spec(tool["module"].partition(".")[0]) is not None
    return find_program(name) is not None


def missing(*names: str) -> list[str]:
    """Those of the tools that are not installed."""
    return [name for name in names if not is_here(name)]


def are_required() -> set[str]:
    """The names that KERNELINFO_REQUIRE demands."""
    return set(os.environ.get("KERNELINFO_REQUIRE", "").split())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--apt", action="store_true", help="Debian's packages of what is missing")
    parser.add_argument("--missing", action="store_true", help="what is missing, without pip's")
    parser.add_argument("--names", action="store_true", help="all names")
    parser.add_argument("--nightly", action="store_true", help="also what only the nightly needs")
    given = parser.parse_args()
    names = [name for name, tool in TOOLS.items() if given.nightly or not tool.get("nightly")]
    if given.names:
        print(*names)
    absent = [name for name in missing(*names) if "apt" in TOOLS[name]]  # pip has the others
    if given.missing:
        print(*absent)
    if given.apt:
        print(*dict.fromkeys(package for name in absent for package in TOOLS[name].get("apt", [])))


if __name__ == "__main__":
    main()
