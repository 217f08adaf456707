"""Compilers of sources, run for a command: their messages on standard error, their end."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from kernelinfo.cli.complaints import complain
from kernelinfo.cli.messages import say
from kernelinfo.cli.signals import end_on_signals
from kernelinfo.compile.ir import Compiled, Input
from kernelinfo.compile.processes import Processes
from kernelinfo.compile.settings import Settings
from kernelinfo.compile.sources import compile_sources, compile_twice, list_left_out

SECONDS = 600
"""Time limit of one compilation. Kernels of many templates take minutes."""


def compile_now(
    sources: Sequence[str], settings: Settings, *, quiet: bool = False
) -> tuple[Compiled, ...]:
    """The compiled sources. Commands and the compiler's messages go to standard error.

    No compiler outlives the call.
    """
    end_on_signals()
    tell_left_out(sources, settings)
    with Processes(SECONDS) as processes:
        compiled = compile_sources(sources, settings, processes)
    for result in compiled:
        _tell(() if quiet else (result.command,), result.messages)
    return compiled


def compile_twice_now(
    sources: Sequence[str], settings: Settings, *, is_of_one: bool
) -> tuple[tuple[Compiled, Input | None], ...]:
    """The sources as `compile_twice` returns them, told and ended as by `compile_now`."""
    end_on_signals()
    tell_left_out(sources, settings)
    with Processes(SECONDS) as processes:
        pairs = compile_twice(sources, settings, processes, is_of_one=is_of_one)
    for compiled, ir in pairs:
        _tell((compiled.command, ir.command if ir else ()), compiled.messages)
    return pairs


def tell_left_out(sources: Sequence[str], settings: Settings) -> None:
    """Name on standard error what of compile commands no compiler gets."""
    for line in list_left_out(sources, settings):
        complain(line)


def _tell(commands: Iterable[Sequence[str]], messages: str) -> None:
    for command in filter(None, commands):
        complain(say("compiled-by", names=shlex.join(command)))
    for line in messages.splitlines():
        complain(line)
