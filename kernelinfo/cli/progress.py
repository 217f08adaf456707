"""Progress bars on standard error, if that is a terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from kernelinfo.kernel import Result
from kernelinfo.rules.remark import counted

if TYPE_CHECKING:
    from rich.progress import Progress

_T = TypeVar("_T")
_PATIENCE = 1.0  # seconds before the bar appears
_EVERY = 0.1  # seconds between updates


def _itself(item: object) -> Result | None:
    return item if isinstance(item, Result) else None


def shown(
    items: Iterable[_T],
    paths: Sequence[str],
    result_of: Callable[[_T], Result | None] = _itself,
    *,
    streams: bool = False,
) -> Iterator[_T]:
    """The items unchanged. After a second a bar shows the bytes and kernels read so far.

    `streams` says that results are written as they come: on a terminal they replace the bar.
    """
    if not sys.stderr.isatty() or (streams and sys.stdout.isatty()):
        return iter(items)
    return _shown(items, paths, result_of)


def _shown(
    items: Iterable[_T], paths: Sequence[str], result_of: Callable[[_T], Result | None]
) -> Iterator[_T]:
    began = updated = time.monotonic()
    kernels = 0
    done: dict[str, int] = {}
    bar: Progress | None = None
    try:
        for item in items:
            if result := result_of(item):
                kernels += 1
                place = result.kernel.code_object
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


def _bars() -> ModuleType:
    """The module of bars. It imports rich, which takes 30 ms and is for terminals alone."""
    from kernelinfo.cli import bars

    return bars


def _bar(total: int | None) -> Progress:
    """A bar of bytes and kernels; `total` is in bytes, None if unknown."""
    bar: Progress = _bars().of_bytes(total)
    return bar


@contextmanager
def counting_bar(noun: str) -> Iterator[Callable[[int, int], None]]:
    """A function `(done, total)` that updates a bar. The bar disappears at the end."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    with _bars().of_items(noun) as bar:
        yield lambda done, total: bar.update(bar.task_ids[0], completed=done, total=total)


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
