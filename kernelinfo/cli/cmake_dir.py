"""`kernelinfo cmake-dir`."""

from __future__ import annotations

import os

from kernelinfo.cli import options
from kernelinfo.cli.output import write

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXAMPLES = """
  kernelinfo cmake-dir
  kernelinfo cmake-dir -o where.txt
  cmake -S . -B build -Dkernelinfo_DIR="$(kernelinfo cmake-dir)"
  kernelinfo explain build                        # what it is for
"""


def command(*, output: options.Output = None) -> None:
    """Print the folder of the CMake package."""
    write([os.path.join(_PACKAGE, "cmake") + "\n"], output)
