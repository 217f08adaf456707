"""Compilers of sources, run for a command: their messages on standard error, their end."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Iterable, Sequence
from types import FrameType

from kernelinfo.analysis.parallel import ENDING_SIGNALS
from kernelinfo.cli.messages import complain, say
from kernelinfo.compile import Settings
from kernelinfo.compile.ir import Compiled, Input
from kernelinfo.compile.processes import Processes
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
    """The result of `compile_twice`, with messages and cleanup as in `compile_now`."""
    end_on_signals()
    tell_left_out(sources, settings)
    with Processes(SECONDS) as processes:
        pairs = compile_twice(sources, settings, processes, is_of_one=is_of_one)
    for compiled, ir in pairs:
        commands = dict.fromkeys((compiled.command, ir.command if ir else ()))
        _tell(commands, compiled.messages)
    return pairs


def tell_left_out(sources: Sequence[str], settings: Settings) -> None:
    """Print on standard error which words of compile commands are not passed to the compiler."""
    for line in list_left_out(sources, settings):
        complain(line)


def _tell(commands: Iterable[Sequence[str]], messages: str) -> None:
    for command in filter(None, commands):
        complain(say("compiled-by", names=shlex.join(command)))
    for line in messages.splitlines():
        complain(line)


# Exit on signals, for commands that start other programs.


def end_on_signals() -> None:
    """Make SIGHUP, SIGINT and SIGTERM raise `SystemExit`, which ends child processes on its way.

    The exit code is 128 + the signal's number, as in shells. Ignored signals stay ignored (nohup).
    """
    for number in ENDING_SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)


def _leave(number: int, frame: FrameType | None) -> None:
    for other in ENDING_SIGNALS:  # a second signal must not interrupt the clean-up
        signal.signal(other, signal.SIG_IGN)
    sys.exit(128 + number)
