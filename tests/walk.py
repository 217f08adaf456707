"""The modules that a report enters, in the order of their first calls: `python -m tests.walk PATH`.

A line is a stay in one room. Calls while modules are imported do not count.
"""

from __future__ import annotations

import contextlib
import io
import sys
from itertools import groupby
from textwrap import fill
from types import FrameType

PACKAGE = "kernelinfo."


def entered(path: str) -> list[str]:
    """Names of the modules, without the package's, that a report on `path` calls."""
    from kernelinfo.__main__ import main

    found: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith(PACKAGE) and not _is_importing(frame):
            found.setdefault(name.removeprefix(PACKAGE))

    sys.argv = ["kernelinfo", path]
    with contextlib.redirect_stdout(io.StringIO()):
        sys.setprofile(note)
        main()
        sys.setprofile(None)
    return [*found]


def _is_importing(frame: FrameType | None) -> bool:
    """True below the body of one of the package's modules."""
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if frame.f_code.co_name == "<module>" and name.startswith(PACKAGE):
            return True
        frame = frame.f_back
    return False


def walk(path: str) -> str:
    """The modules by rooms, and how many there are."""
    names = entered(path)
    stays = [
        fill(", ".join(stay), 96, subsequent_indent="    ")
        for _, stay in groupby(names, lambda name: name.split(".")[0])
    ]
    return "\n".join([*stays, "", f"{len(names)} modules are entered."])


if __name__ == "__main__":
    print(walk(sys.argv[1]))
