"""Where output goes, and what the exit code says."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from kernelinfo.atomic_write import atomic_write
from kernelinfo.errors import OptionError
from kernelinfo.kernel import Item, Repeat, Result
from kernelinfo.reading.blob import Note, Problem
from kernelinfo.render import View
from kernelinfo.render.names import printable
from kernelinfo.render.paint import harmless, without_commands, without_hashes

if TYPE_CHECKING:
    from kernelinfo.render.name_style import NameStyle

CLAIM = 1  # something of the kernels that the user asked to be failed for
CANNOT_ANSWER = 2  # unreadable or partly read input, an unknown target, no kernel, wrong usage

_PIPED_WIDTH = 100
_PATIENCE = 0.1  # seconds that what is known may wait, lest each piece be a call of the system
_MOST_WAITING = 1 << 16  # characters


def make_view(
    *,
    names: NameStyle | None = None,
    color: str = "auto",
    width: int | None = None,
    output: str | None = None,
    **others: Any,
) -> View:
    """The view for a terminal, a pipe or a file; `others` are further fields of it."""
    if color not in ("auto", "always", "never"):
        raise OptionError(f"--color {color}: give auto, always or never")
    terminal = output is None and sys.stdout.isatty()
    if width is None and terminal:
        from shutil import get_terminal_size  # which imports every kind of archive

        width = get_terminal_size().columns
    wanted = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return View(
        names=names or "full",
        width=width or _PIPED_WIDTH,
        fold=terminal,
        color=color == "always" or (color == "auto" and wanted),
        may_shorten=terminal and names is None,
        **others,
    )


def write(pieces: Iterable[str], output: str | None, *, color: bool = False) -> None:
    """Write each piece as it comes; a file takes its name when it is complete.

    Nothing of an input acts on a terminal, in any format. On standard output, which a CI service
    may show, names are no commands either.
    Where the reader has left, the rest is not written; the exit code stays the caller's. Raises
    `OptionError` where the file cannot be written, and `OSError` where standard output cannot.
    """
    if output is not None:
        if output.startswith("-"):  # the value was forgotten, and the next option follows
            raise OptionError(f"-o {output}: is an option; give a file, such as ./{output}")
        try:
            with atomic_write(os.path.realpath(output)) as file:
                for piece in pieces:
                    file.write(harmless(piece, color=color).encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise OptionError(f"{output}: {error.strerror}; give another file") from None
        return
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        for known in _gathered(pieces):
            sys.stdout.write(without_hashes(harmless(known, color=color)))
            sys.stdout.flush()
    except BrokenPipeError:
        give_up(sys.stdout)


def _gathered(pieces: Iterable[str]) -> Iterator[str]:
    """Batches of the pieces: flushed at 64 KiB or after 0.1 s."""
    known: list[str] = []
    waiting = 0
    written = time.monotonic()
    for piece in pieces:
        known.append(piece)
        waiting += len(piece)
        if waiting >= _MOST_WAITING or time.monotonic() - written > _PATIENCE:
            yield "".join(known)
            known.clear()
            waiting = 0
            written = time.monotonic()
    yield "".join(known)


def give_up(stream: TextIO) -> None:
    """What a stream still holds cannot be written; the interpreter would complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def shown(items: Iterable[Item], paths: Sequence[str]) -> Iterator[Item]:
    """The same items; on a terminal, progress in bytes and kernels is shown meanwhile."""
    if not sys.stderr.isatty():
        return iter(items)
    from kernelinfo.cli.progress import shown

    return shown(items, paths)


class Problems:
    """Passes a stream through and prints its problems to standard error."""

    def __init__(self, *, verbose: bool = False) -> None:
        self.found = False
        self._told: set[Problem | Note] = set()
        self._verbose = verbose
        """Tell of each code object that it is read, too."""

    def watch(self, items: Iterable[Item]) -> Iterator[Item]:
        code_object = None
        for item in items:
            if isinstance(item, Result):
                if self._verbose and item.kernel.code_object is not code_object:
                    code_object = item.kernel.code_object
                    read = f"read as {code_object.kind} for {code_object.target}"
                    tell(Problem(code_object.path, read, code_object.member, code_object.offset))
            elif not isinstance(item, Repeat):
                self.print(item)
            yield item

    def reported(self, pieces: Iterable[str | Problem | Note]) -> Iterator[str]:
        """Pass text through; print the problems and notes between it to standard error."""
        for piece in pieces:
            if isinstance(piece, Problem | Note):
                self.print(piece)
            else:
                yield piece

    def print(self, remark: Problem | Note) -> None:
        """A line on standard error; one that stands there does not come again."""
        self.found = self.found or isinstance(remark, Problem)
        if remark not in self._told:
            self._told.add(remark)
            tell(remark)

    def exit(self) -> None:
        """Ends the program where something could not be answered."""
        if self.found:
            sys.exit(CANNOT_ANSWER)


def tell(remark: Problem | Note) -> None:
    """One line on standard error: path, place, what was found."""
    place = remark.path
    if remark.member:
        place += f" › {remark.member}"
    if isinstance(remark, Problem) and remark.line is not None:
        place += f":{remark.line}"
    elif isinstance(remark, Problem) and remark.offset:
        at = f" at 0x{remark.offset:x}"
        place = place.removesuffix(at) + at
    complain(f"{place}: {remark.message}")


def complain(line: str) -> None:
    """A line on standard error. Where that takes none, the exit code still tells."""
    try:
        print(without_commands(printable(line)), file=sys.stderr)
    except OSError:
        give_up(sys.stderr)
