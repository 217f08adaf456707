"""`kernelinfo watch PATH...`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import Annotated

import typer

from kernelinfo.analysis.options import Options
from kernelinfo.cli import compiling, console, options, project, screen
from kernelinfo.cli.messages import CANNOT_ANSWER, say
from kernelinfo.compile import Settings
from kernelinfo.errors import OptionError
from kernelinfo.pressure import with_instructions
from kernelinfo.reading.containers.files import STANDARD_INPUT
from kernelinfo.render import Renderer, View, paint
from kernelinfo.render.watch import details, on_screen, render_jsonl, rows
from kernelinfo.watch import Watch, WatchedOutputs, events
from kernelinfo.watch.looks import Event, WatchLook, with_peaks
from kernelinfo.watch.running import WatchedSources

_INTERRUPTED = 128 + signal.SIGINT


OUTPUTS: Mapping[str, Renderer] = {"text": details, "jsonl": render_jsonl}
"""Format → renderer of a look. As text, the look's rows are printed earlier, before peaks are
measured."""


def command(
    *,
    paths: list[str] = typer.Argument(
        metavar="PATH...",
        help="Sources to compile, or files, directories and globs that a build writes.",
    ),
    run: str | None = typer.Option(
        None,
        "--run",
        metavar="COMMAND",
        help="Run this command of the shell when a file of the current folder is saved.",
    ),
    compiler: options.Compiler = None,
    compile_commands: options.CompileCommands = None,
    flags: options.Flags = None,
    once: bool = typer.Option(False, "--once", help="End after the first look."),
    archs: options.Archs = None,
    target: options.Targets = None,
    member: options.Members = None,
    where: options.Where = None,
    workgroup_size: options.WorkgroupSize = None,
    dynamic_lds: options.DynamicLds = None,
    no_trap_handler: options.NoTrapHandler = False,
    kernels: options.Kernels = None,
    exclude: options.Exclude = None,
    all_copies: options.AllCopies = False,
    bound: options.Bound = None,
    deep: options.Deep = False,
    select: options.Select = None,
    ignore: options.Ignore = None,
    severity: options.Severity = None,
    config: options.Config = None,
    format: Annotated[str, options.format_option(OUTPUTS)] = "text",
    names: options.Names = "short",
    color: options.Color = "auto",
    width: options.Width = None,
    top: options.Top = 50,
    instructions: options.Instructions = False,
) -> None:
    """Show at each save what moved in the kernels.

    Shows the kernels after each build, changed ones first: what moved since the previous look and
    since the first one, new and ended findings, and the source line with most live registers. A
    terminal is drawn in place; otherwise each look is appended. Ctrl-C ends it.

    Examples:
      kernelinfo watch k.hip --arch gfx942 -- -O2     # compiles at each save
      kernelinfo watch build/ -k 'gemm*'              # somebody else builds
      kernelinfo watch build/ --run 'ninja -C build'  # builds at each save
      kernelinfo watch ~/.triton/cache                # each kernel of Triton
      kernelinfo watch kernels.s --once --format jsonl      # for an editor
    """
    query = options.choice(
        kernels, exclude, target, member, where, bound, deep=deep, all_copies=all_copies
    )
    query = options.with_launch(query, workgroup_size, dynamic_lds, no_trap=no_trap_handler)
    configured = project.configuration(
        select=select, ignore=ignore, severity=severity, config=config
    )
    query = project.with_project(query, configured)._replace(instructions=False)
    if instructions:
        query = with_instructions(query)
    view = console.make_view(names=names, color=color, width=width, top=top)
    settings = project.settings_of(archs, compiler, compile_commands, flags)
    watch = _watch_of(paths, run, settings, query)
    compiling.end_on_signals()
    try:
        code = _watch(watch, view, format, once=once, folds=width is not None)
    except SystemExit as end:
        if end.code != _INTERRUPTED:
            raise
        code = 0  # Ctrl-C is the way to end it
    sys.exit(code)


def _watch_of(paths: list[str], run: str | None, settings: Settings, query: Options) -> Watch:
    """What to watch: sources to compile, a command that builds, or outputs that another program
    builds.

    Raises `OptionError` for sources with `--run`, without a target, or that do not exist.
    """
    if STANDARD_INPUT in paths:
        raise OptionError(say("watch-stdin"))
    sources = project.sources_to_compile(paths, settings)
    if sources is None:
        project.refuse_missing_sources(paths)
        query = project.without_sources(paths, query, settings)
        return WatchedOutputs(paths, query, run or "")
    if run:
        raise OptionError(say("watch-source-and-run", source=sources[0]))
    compiling.tell_left_out(sources, settings)
    return WatchedSources(sources, settings, query)


def _watch(watch: Watch, view: View, format: str, *, once: bool, folds: bool) -> int:
    """Show looks until a signal arrives, or one look with `once`. Returns 2 if that one look failed
    or had problems, else 0. Looks that are appended keep long lines whole for editors, unless
    `folds` is set."""
    is_drawn = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    with closing(events(watch)) as stream:
        if is_drawn and format == "text" and not once:
            _draw(stream, watch, view)
        view = view._replace(fold=view.fold and (is_drawn or folds))
        return _append(stream, watch, view, format, once=once)


def _append(
    stream: Iterator[Event | None], watch: Watch, view: View, format: str, *, once: bool
) -> int:
    """Append each look, or with `once` the first one, to standard output. Returns the exit code."""
    for event in stream:
        if isinstance(event, str) and format == "text":
            _print([f"building: {event}\n"], view)
        if not isinstance(event, WatchLook):
            continue
        if format == "text":
            _print(rows(event, view), view)
        look = with_peaks(event, watch.options)
        _print(OUTPUTS[format](look, view), view)
        if once:
            return CANNOT_ANSWER if look.failure or look.problems else 0
    return 0


def _print(pieces: Iterable[str], view: View) -> None:
    """Write and flush the text. Raises `BrokenPipeError` if the reader has gone."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stdout.write(paint.without_hashes(paint.harmless("".join(pieces), color=view.color)))
    sys.stdout.flush()


def _draw(stream: Iterator[Event | None], watch: Watch, view: View) -> None:
    """Draw the last good look in place. If a command has failed since, its message is above it."""
    with screen.whole_screen() as draw:
        lines: Callable[[int, int], list[str]] | None = None
        good: WatchLook | None = None
        failed: WatchLook | None = None
        for event in stream:
            if event is None:
                if lines:
                    draw(lines)
                continue
            now = "waits for a change; Ctrl-C ends"
            if isinstance(event, str):
                now = f"building: {event}"
            elif event.failure:
                failed = event
            else:
                good, failed = event, None
            lines = partial(_lines, good, failed, now, view)
            draw(lines)
            if isinstance(event, WatchLook) and not event.failure:
                good = with_peaks(event, watch.options)
                lines = partial(_lines, good, failed, now, view)
                draw(lines)


def _lines(
    good: WatchLook | None,
    failed: WatchLook | None,
    now: str,
    view: View,
    width: int,
    height: int,
) -> list[str]:
    """The lines of a terminal of this size."""
    return on_screen(good, failed, now, view._replace(width=width), height)
