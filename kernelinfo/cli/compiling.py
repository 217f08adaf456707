"""Compilers of sources, run for a command: their messages on standard error, their end."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from kernelinfo.cli.output import complain
from kernelinfo.cli.signals import end_on_signals
from kernelinfo.compile.nouns import Compiled, Settings
from kernelinfo.compile.processes import Processes
from kernelinfo.compile.sources import compile_sources

SECONDS = 600
"""Time limit of one compilation. Kernels of many templates take minutes."""


def compile_now(
    sources: Sequence[str], settings: Settings, *, quiet: bool = False
) -> tuple[Compiled, ...]:
    """The compiled sources. Commands and the compiler's messages go to standard error.

    No compiler outlives the call.
    """
    end_on_signals()
    with Processes(SECONDS) as processes:
        compiled = compile_sources(sources, settings, processes)
    for one in compiled:
        if one.command and not quiet:
            complain(f"compiled by: {shlex.join(one.command)}")
        for line in one.messages.splitlines():
            complain(line)
    return compiled
