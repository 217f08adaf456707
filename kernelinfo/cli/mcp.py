"""`kernelinfo mcp`."""

from __future__ import annotations

import gc
import os
from importlib.util import find_spec

import typer

from kernelinfo.errors import KernelinfoError, OptionError

EXAMPLES = """
  kernelinfo mcp --root build                     # an agent starts it, and ends it
  claude mcp add kernelinfo -- kernelinfo mcp     # tells an agent how
  kernelinfo mcp --help
"""


def command(
    *,
    root: str = typer.Option(".", metavar="DIR", help="Read files below DIR only."),
    timeout: float = typer.Option(
        120, metavar="SECONDS", min=1, help="End an answer that takes longer."
    ),
) -> None:
    """Answer a coding agent's questions, over the Model Context Protocol.

    Tools: report, explain, pressure, diff, calc, limits, arch and rules. They only read, and run no
    compiler. Requests come on standard input until it ends. Needs the extra `mcp`.
    """
    if not os.path.isdir(root):
        raise OptionError(f"--root {root}: is no folder; give one")
    if find_spec("mcp") is None:
        raise KernelinfoError("mcp not installed; run pip install 'kernelinfo[mcp]'")
    # The SDK takes 20 times as long to import as all of typer.
    from kernelinfo.agents.server import serve

    gc.enable()  # the event loop makes reference cycles, and runs for days
    serve(root, timeout)
