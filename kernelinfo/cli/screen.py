"""Looks drawn in place on a terminal. The terminal is afterwards as it was before."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from rich import progress
from rich.console import Console, ConsoleDimensions
from rich.live import Live
from rich.text import Text

ScreenLines = Callable[[int, int], list[str]]
"""The lines to show on a terminal of so many columns and rows."""


@contextmanager
def whole_screen() -> Iterator[Callable[[ScreenLines], None]]:
    """A function that draws lines on the whole terminal, until the end of the block. Lines that are
    already on the screen are redrawn only if the terminal was resized."""
    console = Console()
    drawn: tuple[ScreenLines, ConsoleDimensions] | None = None

    def draw(lines: ScreenLines) -> None:
        nonlocal drawn
        size = console.size
        if drawn == (lines, size):
            return
        drawn = lines, size
        shown = lines(size.width, size.height)
        text = Text("\n").join(Text.from_ansi(line.rstrip("\n")) for line in shown)
        text.no_wrap, text.overflow = True, "ellipsis"
        live.update(text, refresh=True)

    with Live(console=console, screen=True, auto_refresh=False) as live:
        yield draw


# Bars that rich draws on standard error. They disappear at the end.

_AFTER = 0.4  # seconds before a bar appears


def of_bytes(total: int | None) -> progress.Progress:
    """A bar of bytes, kernels and time; `total` is in bytes, None if unknown."""
    columns = (
        progress.DownloadColumn(),
        progress.TextColumn("{task.fields[kernels]}"),
        progress.TimeElapsedColumn(),
    )
    return _bar(total, *columns)


def of_time(what: str) -> progress.Progress:
    """A bar of kernels and time; `what` names the work."""
    columns = (
        progress.TextColumn(what),
        progress.TextColumn("{task.fields[kernels]}"),
        progress.TimeElapsedColumn(),
    )
    return _bar(None, *columns)


def of_items(noun: str) -> progress.Progress:
    """A bar of items, such as variants; `noun` names them."""
    return _bar(None, progress.MofNCompleteColumn(), progress.TextColumn(noun))


def _bar(total: int | None, *columns: progress.ProgressColumn) -> progress.Progress:
    # rich would print what goes to standard output meanwhile on standard error.
    bar = progress.Progress(
        progress.BarColumn(),
        *columns,
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
    )
    bar.add_task("", total=total, kernels="")
    return bar


@contextmanager
def drawn(bar: progress.Progress) -> Iterator[Callable[..., None]]:
    """A function that updates the bar's fields. The bar comes after 0.4 s and ends with the block.

    It is drawn by threads of its own, so that it moves while this thread waits. While they run, a
    pool has to spawn its processes instead of forking.
    """
    start = threading.Timer(_AFTER, bar.start)
    start.daemon = True
    start.start()
    try:
        yield partial(bar.update, bar.task_ids[0])
    finally:
        start.cancel()
        start.join()
        if bar.live.is_started:
            bar.stop()
