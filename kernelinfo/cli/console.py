"""Writing to standard output and files; progress and problems on standard error; exit codes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from itertools import chain, islice
from types import ModuleType
from typing import Any, TypeVar

from kernelinfo.atomic_write import atomic_write
from kernelinfo.cli.messages import CANNOT_ANSWER, complain, give_up, say
from kernelinfo.errors import OptionError
from kernelinfo.kernel import Kernel, Result, counted
from kernelinfo.kernel.names import KernelName
from kernelinfo.reading.blob import Blob, Note, Problem
from kernelinfo.reading.facts import Module
from kernelinfo.render import NameStyle, Renderer, View
from kernelinfo.render.paint import harmless, without_hashes

CLAIM = 1  # a finding or change that the user asked to fail for

DOCUMENTS = ("json", "html")
"""Formats whose output is one document with all facts, including instructions by class."""

_T = TypeVar("_T")
_PIPED_WIDTH = 100
_USUAL_WIDTH = 80  # of a terminal that does not tell it
_PATIENCE = 0.1  # seconds that text may wait in a batch; saves system calls
_MOST_WAITING = 1 << 16  # characters of a batch


def make_view(
    *,
    names: NameStyle | None = None,
    color: str = "auto",
    width: int | None = None,
    output: str | None = None,
    **fields: Any,
) -> View:
    """The view for the output: a terminal, a pipe or a file. `fields` are further fields of
    `View`."""
    if color not in ("auto", "always", "never"):
        raise OptionError(say("color-unknown", color=color))
    terminal = output is None and sys.stdout.isatty()
    is_bounded = terminal or width is not None
    if width is None and terminal:
        width = _columns()
    forced = os.environ.get("FORCE_COLOR", "0") not in ("", "0")  # force-color.org
    may_color = terminal and os.environ.get("TERM") != "dumb"
    may_color = (may_color or forced) and not os.environ.get("NO_COLOR")
    return View(
        names=names or "full",
        width=width or _PIPED_WIDTH,
        fold=is_bounded,
        color=color == "always" or (color == "auto" and may_color),
        may_shorten=is_bounded and names is None,
        **fields,
    )


def _columns() -> int:
    """The number of columns of the terminal. `shutil` could tell it, but imports all archive
    formats."""
    stated = os.environ.get("COLUMNS", "")
    if stated.isdecimal() and int(stated):
        return int(stated)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or _USUAL_WIDTH
    except OSError:
        return _USUAL_WIDTH


def write(pieces: Iterable[str], output: str | None, *, color: bool = False) -> None:
    """Write text to standard output or a file, piece by piece.

    A file appears under its name once it is complete. Control characters are escaped in all
    formats, so that names of an input cannot act on a terminal; on standard output, which a CI
    service may parse, its commands are escaped, too. If the reader closes the pipe, the rest is
    dropped and the caller's exit code stays. Raises `OptionError` if a file cannot be written, and
    `OSError` if standard output cannot.
    """
    if output is not None:
        if output.startswith("-"):  # the value is missing and this is the next option
            raise OptionError(say("output-is-option", output=output))
        try:
            with atomic_write(os.path.realpath(output)) as file:
                for batch in _gathered(pieces):
                    file.write(harmless(batch, color=color).encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise OptionError(
                say("output-unwritable", output=output, error=error.strerror)
            ) from None
        return
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        for batch in _gathered(pieces):
            sys.stdout.write(without_hashes(harmless(batch, color=color)))
            sys.stdout.flush()
    except BrokenPipeError:
        give_up(sys.stdout)


def late(module: str, name: str = "render") -> Renderer:
    """A function of a module of `kernelinfo.render`; the module is imported when the function is
    first called."""
    return partial(_render, module, name)


def _render(module: str, name: str, *answer: Any, **settings: Any) -> Iterator[str]:
    renderer: Renderer = getattr(import_module(f"kernelinfo.render.{module}"), name)
    return renderer(*answer, **settings)


def check_has_blocks(format: str, run_as: Sequence[str]) -> None:
    """Check that the format can have one report per target. Raises `OptionError`."""
    if run_as[1:] and format in DOCUMENTS:
        message = say("format-without-blocks", targets=",".join(run_as), format=format)
        raise OptionError(message)


def labelled(blocks: Iterable[tuple[str, Iterable[str]]], format: str) -> Iterator[str]:
    """The tables of several targets, one after the other; `blocks` are pairs of target and table.

    Rows of CSV and JSON lines, each one piece, get a column `as`, and CSV has one heading. Text and
    Markdown have a line with the target before each table.
    """
    between, has_heading = "", False
    for target, pieces in blocks:
        if format == "csv":
            for number, piece in enumerate(pieces):
                if number:
                    yield f"{target},{piece}"
                elif not has_heading:
                    yield f"as,{piece}"
                    has_heading = True
        elif format == "jsonl":
            yield from (f'{{"as":"{target}",{piece[1:]}' for piece in pieces)
        else:
            yield f"{between}as {target}\n"
            yield from pieces
            between = "\n"


def _gathered(pieces: Iterable[str]) -> Iterator[str]:
    """The text, in batches. A batch ends with the piece that brings it to 65,536 characters or
    more, or that comes over 0.1 s after the batch before."""
    batch: list[str] = []
    waiting = 0
    written = time.monotonic()
    for piece in pieces:
        batch.append(piece)
        waiting += len(piece)
        if waiting >= _MOST_WAITING or time.monotonic() - written > _PATIENCE:
            yield "".join(batch)
            batch.clear()
            waiting = 0
            written = time.monotonic()
    yield "".join(batch)


class Problems:
    """Prints the problems and notes of a run on standard error; `found` is true after a problem."""

    def __init__(self, *, verbose: bool = False) -> None:
        self.found = False
        self._told: set[Problem | Note] = set()
        self._verbose = verbose
        """True prints a line for each code object read."""

    def watch(self, items: Iterable[_T]) -> Iterator[_T]:
        """The items, unchanged; problems and notes among them are printed."""
        code_object = None
        for item in items:
            if isinstance(item, Result):
                if self._verbose and item.kernel.code_object is not code_object:
                    code_object = item.kernel.code_object
                    read = say("object-read", kind=code_object.kind, target=code_object.target)
                    tell(Problem(code_object.path, read, code_object.member, code_object.offset))
            elif isinstance(item, Problem | Note):
                self.print(item)
            yield item

    def reported(self, pieces: Iterable[str | Problem | Note]) -> Iterator[str]:
        """The text of a mixed stream; its problems and notes are printed on standard error."""
        return (piece for piece in self.watch(pieces) if isinstance(piece, str))

    def print(self, remark: Problem | Note) -> None:
        """Print a problem or note on standard error; repeated ones only once."""
        self.found = self.found or isinstance(remark, Problem)
        if remark not in self._told:
            self._told.add(remark)
            tell(remark)

    def exit(self) -> None:
        """Exit with code 2 if a problem was printed."""
        if self.found:
            sys.exit(CANNOT_ANSWER)


def tell(remark: Problem | Note) -> None:
    """Print a problem or note on standard error: path, member, line or offset, message."""
    place = remark.path
    if remark.member:
        place += f" › {remark.member}"
    if isinstance(remark, Problem) and remark.line is not None:
        place += f":{remark.line}"
    elif isinstance(remark, Problem) and remark.offset:
        offset = f" at 0x{remark.offset:x}"
        place = place.removesuffix(offset) + offset
    complain(f"{place}: {remark.message}")


_EVERY = 0.1  # seconds between updates


def read_with(item: object) -> tuple[str, int, int]:
    """(path, offset in bytes up to which the file has been read, number of kernels) of an item of a
    run; the offset is 0 if unknown.

    An item is a result, a name, rows of kernels as text, or a code object with its module.
    """
    match item:
        case Result(kernel=Kernel(code_object=place)):
            return place.path, (place.offset or 0) + place.size, 1
        case (Blob(path=path, offset=offset, data=data), Module(kernels=kernels)):
            return path, (offset or 0) + len(data), len(kernels)
        case KernelName():
            return "", 0, 1
        case str():
            return "", 0, item.count("\n")
    return "", 0, 0


def shown(
    items: Iterable[_T],
    paths: Sequence[str],
    read_with: Callable[[_T], tuple[str, int, int]] = read_with,
    *,
    streams: bool = False,
) -> Iterator[_T]:
    """The items unchanged. After 0.4 s a progress bar shows the bytes and kernels read so far, and
    the elapsed time, which also advances while no item arrives. Without `paths` the bar shows no
    bytes.

    With `streams` the results are printed as they arrive: on a terminal the first one replaces the
    bar.
    """
    if not sys.stderr.isatty():
        return iter(items)
    if streams and sys.stdout.isatty():
        return _shown_until_the_first(items)
    return _shown(items, paths, read_with)


def _shown_until_the_first(items: Iterable[_T]) -> Iterator[_T]:
    waiting_for = iter(items)
    with waiting("reading"):
        first = [*islice(waiting_for, 1)]
    yield from chain(first, waiting_for)


def _shown(
    items: Iterable[_T], paths: Sequence[str], read_with: Callable[[_T], tuple[str, int, int]]
) -> Iterator[_T]:
    kernels = 0
    ends: dict[str, int] = {}
    updated = 0.0
    are_files = all(map(os.path.isfile, paths))
    total = sum(map(os.path.getsize, paths)) if are_files else None
    with bar(lambda bars: bars.of_bytes(total) if paths else bars.of_time("")) as update:
        for item in items:
            path, end, count = read_with(item)
            kernels += count
            ends[path] = max(end, ends.get(path, 0))
            if (now := time.monotonic()) - updated > _EVERY:
                updated = now
                update(completed=sum(ends.values()) or None, kernels=counted(kernels, "kernel"))
            yield item


@contextmanager
def bar(make: Callable[[ModuleType], Any]) -> Iterator[Callable[..., None]]:
    """A function that updates the fields of a progress bar. `make` creates the bar, given the
    module `screen`.

    The bar appears after 0.4 s and disappears at the end. Nothing is drawn if standard error is not
    a terminal.
    """
    if not sys.stderr.isatty():
        yield lambda **fields: None
        return
    from kernelinfo.cli import screen  # rich: 30 ms, for terminals alone

    with screen.drawn(make(screen)) as update:
        yield update


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """After 0.4 s, show what the program is doing, and for how long."""
    with bar(lambda bars: bars.of_time(what)):
        yield
