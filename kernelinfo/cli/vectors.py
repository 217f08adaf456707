"""`kernelinfo vectors`."""

from __future__ import annotations

from itertools import chain

from kernelinfo import __version__
from kernelinfo.cli import options
from kernelinfo.cli.output import write
from kernelinfo.model.vectors import LICENSE, SCHEMA, hardware, vectors
from kernelinfo.render.tables import json_lines

EXAMPLES = """
  kernelinfo vectors                              # on standard output
  kernelinfo vectors -o kernelinfo-vectors.jsonl
  kernelinfo explain numbers                      # the fields, a model in C
"""


def command(*, output: options.Output = None) -> None:
    """Write test vectors for other occupancy models.

    Each line is one case as JSON: a target, the amounts that a kernel uses, and the occupancy. The
    lines before the cases hold the constants of the hardware.
    """
    about = {"schema": SCHEMA, "kernelinfo": __version__, "license": LICENSE}
    write(json_lines(chain([about], hardware(), vectors())), output)
