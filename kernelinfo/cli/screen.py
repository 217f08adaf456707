"""Looks drawn in place on a terminal. The terminal is afterwards as it was before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
        found = lines(self._size.width, self._size.height)
        text = Text("\n").join(Text.from_ansi(line.rstrip("\n")) for line in found)
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
