"""`kernelinfo mcp`."""

from __future__ import annotations

import gc
import os
from importlib.util import find_spec

import typer

from kernelinfo.cli.messages import say
from kernelinfo.errors import KernelinfoError, OptionError
from kernelinfo.opening import only_below

EXAMPLES = """
  kernelinfo mcp                           # an agent starts it, and ends it
  kernelinfo mcp --root build              # files below one folder only
  kernelinfo mcp --timeout 600             # for large libraries
  claude mcp add kernelinfo -- kernelinfo mcp
"""


def command(
    *,
    root: str = typer.Option(".", metavar="DIR", help="Read files below DIR only."),
    seconds: float = typer.Option(
        120, "--timeout", metavar="SECONDS", min=1, help="End an answer that takes longer."
    ),
) -> None:
    """Answer a coding agent's questions, by MCP.

    The Model Context Protocol runs over standard input and output. Tools: report, explain,
    pressure, diff, calc, limits, arch and rules. They only read, and run no compiler. The server
    ends with its input. Needs the extra `mcp`.
    """
    if not os.path.isdir(root):
        raise OptionError(say("root-no-folder", root=root))
    if find_spec("mcp") is None:
        raise KernelinfoError(say("mcp-missing"))
    # The SDK: 2,800 million instructions, for this command alone.
    from kernelinfo.agents.server import serve

    gc.enable()  # the event loop makes reference cycles, and runs for days
    with only_below(root):
        serve(root, seconds)
