"""Several processes for one long answer: each takes every n-th code object.

Worth it where a process can hand over finished text. To hand over kernels as objects takes as
long as to read them again.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import BinaryIO, NamedTuple

from kernelinfo import ingest
from kernelinfo.analysis import Analysis, Tally
from kernelinfo.errors import KernelinfoError
from kernelinfo.kernel import Item
from kernelinfo.model import Blob, Problem
from kernelinfo.options import Options

Render = Callable[[Iterable[Item]], Iterator[str]]

_WORTHWHILE_BYTES = 64 << 20


class _Share(NamedTuple):
    """What came of one code object."""

    text: str
    problems: list[Problem]
    tally: Tally


class _Process(NamedTuple):
    id: int
    pipe: BinaryIO
    """Of its shares."""


def worthwhile(paths: list[str]) -> int:
    """How many processes are worth it for these paths."""
    if not hasattr(os, "fork") or not all(os.path.isfile(path) for path in paths):
        return 1
    # An assembly text is one share, which a second process would only hold on to.
    shared = (path for path in paths if not path.endswith(".s"))
    many = sum(map(os.path.getsize, shared)) >= _WORTHWHILE_BYTES
    return (os.cpu_count() or 1) if many else 1


def spread(
    paths: list[str], options: Options, render: Render, jobs: int
) -> Iterator[str | Problem]:
    """The text and the problems of all paths, in the order in which one process would give them.

    What a process leaves behind that is ended from outside, another takes up. Raises
    `KernelinfoError` where that one is ended at the same place.
    """
    start = partial(_start, paths, options, render, jobs)
    processes = [start(part) for part in range(jobs)]
    tallies = {path: Tally(path) for path in paths}
    turn = 0
    try:
        while True:
            part, taken = turn % jobs, turn // jobs
            try:
                share = _next(processes[part].pipe)
            except EOFError:
                _end(processes[part])
                processes[part] = start(part, taken)
                share = _again(processes[part].pipe)
            if share is None:
                break
            tally = tallies[share.tally.path]
            tally.found += share.tally.found
            tally.passed_over += share.tally.passed_over
            tally.problems += share.tally.problems
            yield from share.problems
            yield share.text
            turn += 1
    finally:
        for process in processes:
            _end(process)
    yield from filter(None, (tally.verdict() for tally in tallies.values()))


def _end(process: _Process) -> None:
    """Of which nothing more is awaited."""
    process.pipe.close()
    os.kill(process.id, signal.SIGKILL)
    os.waitpid(process.id, 0)


def _start(
    paths: list[str], options: Options, render: Render, parts: int, part: int, taken: int = 0
) -> _Process:
    """A process that works on every `parts`-th code object, of which `taken` are done already."""
    reading, writing = os.pipe()
    if child := os.fork():
        os.close(writing)
        return _Process(child, os.fdopen(reading, "rb"))
    os.close(reading)
    # Whatever happens here, nothing of the parent's may be run or flushed twice.
    try:
        with os.fdopen(writing, "wb") as pipe:
            for share in _shares(paths, options, render, parts, part, taken):
                pickle.dump(share, pipe)
            pickle.dump(None, pipe)
    finally:
        os._exit(0)
    raise AssertionError


def _shares(
    paths: list[str], options: Options, render: Render, parts: int, part: int, taken: int
) -> Iterator[_Share]:
    analysis = Analysis(options)
    number = -1
    for path in paths:
        for blob in ingest.open_paths([path]):
            number += 1
            if number % parts != part or number // parts < taken:
                if isinstance(blob, Blob):
                    analysis.beside(blob)
            else:
                tally = Tally(path)
                items = list(analysis.of_blob(blob, tally))
                problems = [item for item in items if isinstance(item, Problem)]
                yield _Share("".join(render(items)), problems, tally)


def _next(pipe: BinaryIO) -> _Share | None:
    """The next share of a process; None after its last. Raises `EOFError` where it was ended."""
    try:
        share: _Share | None = pickle.load(pipe)
    except pickle.UnpicklingError as error:
        raise EOFError from error
    return share


def _again(pipe: BinaryIO) -> _Share | None:
    try:
        return _next(pipe)
    except EOFError:
        message = "a process of its own ended early, twice; try again with --jobs 1"
        raise KernelinfoError(message) from None
