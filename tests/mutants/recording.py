"""Writes down the functions of the product that a process enters. Imports nothing else.

A child process of a test begins by `sitecustomize/sitecustomize.py`, which stands first on its
path.
"""

from __future__ import annotations

import os
import sys
import threading
from types import CodeType, FrameType

FILE, ROOT = "KERNELINFO_RECORD", "KERNELINFO_RECORDED_ROOT"


def begin(file: str, root: str) -> None:
    """Append `file:qualified name` to a file at the first call of each function below `root`."""
    os.environ.update({FILE: file, ROOT: root})
    path = os.path.join(os.path.dirname(__file__), "sitecustomize")
    if path not in os.environ.get("PYTHONPATH", ""):
        os.environ["PYTHONPATH"] = os.pathsep.join((path, os.environ.get("PYTHONPATH", root)))
    product = os.path.join(root, "kernelinfo") + os.sep
    output = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    seen: dict[int, CodeType] = {}  # by identity: the hash of a code object reads all of it

    def enter(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if id(code) not in seen:
            seen[id(code)] = code
            if code.co_filename.startswith(product):
                name = f"{code.co_filename[len(root) + 1 :]}:{code.co_qualname}\n"
                os.write(output, name.encode())

    sys.settrace(enter)
    threading.settrace(enter)
