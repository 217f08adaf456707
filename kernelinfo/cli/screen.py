"""Looks drawn in place on a terminal. The terminal is afterwards as it was before."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from rich import progress
from rich.console import Console
from rich.live import Live
from rich.text import Text

ScreenLines = Callable[[int, int], list[str]]
"""The lines to show on a terminal of so many columns and rows."""


class Screen:
    """The whole terminal, while `live` is started."""

    def __init__(self, console: Console, live: Live) -> None:
        self._console, self._live = console, live
        self._lines: ScreenLines = lambda width, height: []
        self._size = console.size

    def show(self, lines: ScreenLines) -> None:
        """Draw the lines, and draw them anew when the size of the terminal changes."""
        self._lines = lines
        self._size = self._console.size
        shown = lines(self._size.width, self._size.height)
        text = Text("\n").join(Text.from_ansi(line.rstrip("\n")) for line in shown)
        text.no_wrap, text.overflow = True, "ellipsis"
        self._live.update(text, refresh=True)

    def fit(self) -> None:
        """Draw anew if the size of the terminal changed."""
        if self._console.size != self._size:
            self.show(self._lines)


@contextmanager
def whole_screen() -> Iterator[Screen]:
    """The whole terminal, until the end of the block."""
    console = Console()
    with Live(console=console, screen=True, auto_refresh=False) as live:
        yield Screen(console, live)


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

    Its threads draw it, whatever this one waits for. While they live, a pool spawns its processes.
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
