"""Bars that rich draws on standard error. They disappear at the end."""

from __future__ import annotations

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


def of_bytes(total: int | None) -> Progress:
    """A bar of bytes and kernels; `total` is in bytes, None if unknown."""
    columns = (DownloadColumn(), TextColumn("{task.fields[kernels]}"), TimeElapsedColumn())
    return _bar(total, *columns)


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
