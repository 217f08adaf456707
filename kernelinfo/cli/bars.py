"""Bars that rich draws on standard error. They disappear at the end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)

_AFTER = 0.4  # seconds before a bar appears


def of_bytes(total: int | None) -> Progress:
    """A bar of bytes, kernels and time; `total` is in bytes, None if unknown."""
    columns = (DownloadColumn(), TextColumn("{task.fields[kernels]}"), TimeElapsedColumn())
    return _bar(total, *columns)


def of_time(what: str) -> Progress:
    """A bar of kernels and time; `what` names the work."""
    columns = (TextColumn(what), TextColumn("{task.fields[kernels]}"), TimeElapsedColumn())
    return _bar(None, *columns)


def of_items(noun: str) -> Progress:
    """A bar of items, such as variants; `noun` names them."""
    return _bar(None, MofNCompleteColumn(), TextColumn(noun))


def _bar(total: int | None, *columns: ProgressColumn) -> Progress:
    # rich would print what goes to standard output meanwhile on standard error.
    bar = Progress(
        BarColumn(), *columns, console=Console(stderr=True), transient=True, redirect_stdout=False
    )
    bar.add_task("", total=total, kernels="")
    return bar


@contextmanager
def drawn(bar: Progress) -> Iterator[Callable[..., None]]:
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
