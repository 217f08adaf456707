"""`kernelinfo cmake-dir`."""

from __future__ import annotations

import os

import kernelinfo
from kernelinfo.cli import options
from kernelinfo.cli.output import write

EXAMPLES = """
  kernelinfo cmake-dir
  kernelinfo cmake-dir -o where.txt
  cmake -S . -B build -Dkernelinfo_DIR="$(kernelinfo cmake-dir)"
  kernelinfo explain build                        # what it is for
"""


def command(*, output: options.Output = None) -> None:
    """Print the folder of the CMake package."""
    write([os.path.join(os.path.dirname(kernelinfo.__file__), "cmake") + "\n"], output)
