"""Progress bars on standard error, if that is a terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

from kernelinfo.kernel import Item, Result
from kernelinfo.rules.remark import counted

if TYPE_CHECKING:
    from rich.progress import Progress

_PATIENCE = 1.0  # seconds before the bar appears
_EVERY = 0.1  # seconds between updates


def shown(items: Iterable[Item], paths: Sequence[str]) -> Iterator[Item]:
    """The items unchanged. After a second a bar shows the bytes and kernels read so far."""
    began = updated = time.monotonic()
    kernels = 0
    done: dict[str, int] = {}
    bar: Progress | None = None
    try:
        for item in items:
            if isinstance(item, Result):
                kernels += 1
                place = item.kernel.code_object
                end = (place.offset or 0) + place.size
                done[place.path] = max(end, done.get(place.path, 0))
            now = time.monotonic()
            if now - began > _PATIENCE and now - updated > _EVERY:
                updated = now
                if bar is None:
                    are_files = all(map(os.path.isfile, paths))
                    bar = _bar(sum(map(os.path.getsize, paths)) if are_files else None)
                    bar.start()
                task = bar.task_ids[0]
                bar.update(task, completed=sum(done.values()), kernels=counted(kernels, "kernel"))
            yield item
    finally:
        if bar is not None:
            bar.stop()


def _bar(total: int | None) -> Progress:
    """A bar of bytes and kernels; `total` is in bytes, None if unknown."""
    columns = (TextColumn("{task.fields[kernels]}"), TimeElapsedColumn())
    console = Console(stderr=True)
    # rich would print what goes to standard output meanwhile on standard error.
    bar = Progress(
        BarColumn(),
        DownloadColumn(),
        *columns,
        console=console,
        transient=True,
        redirect_stdout=False,
    )
    bar.add_task("", total=total, kernels="")
    return bar


@contextmanager
def counting_bar(noun: str) -> Iterator[Callable[[int, int], None]]:
    """A function `(done, total)` that updates a bar. The bar disappears at the end."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(noun))
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def scanned(total: int) -> Iterator[Callable[[int, int], None]]:
    """A function that updates a bar of `total` bytes. It takes the bytes just read and the number
    of kernels so far."""
    if not sys.stderr.isatty():
        yield lambda done, kernels: None
        return
    with _bar(total) as bar:
        yield lambda done, kernels: bar.update(
            bar.task_ids[0], advance=done, kernels=counted(kernels, "kernel")
        )
