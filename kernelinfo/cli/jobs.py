"""Several processes for one long answer: each takes every n-th run of code objects.

Worth it where a process can hand over finished text. To hand over kernels as objects takes as
long as to read them again.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby

from kernelinfo import ingest
from kernelinfo.analysis import Analysis, Tally
from kernelinfo.errors import KernelinfoError
from kernelinfo.kernel import Item
from kernelinfo.light_typing import TYPE_CHECKING, NamedTuple
from kernelinfo.model import Blob, Problem
from kernelinfo.options import Options

if TYPE_CHECKING:
    from typing import BinaryIO

Render = Callable[[Iterable[Item]], Iterator[str]]

_WORTHWHILE_BYTES = 64 << 20
_RUN = 8
"""Code objects that one process takes one after the other."""
_PIPE_BYTES = 1 << 20
"""A process that is ahead of the others goes on until so much waits to be taken."""


class _Share(NamedTuple):
    """What came of one run."""

    text: str
    problems: list[Problem]
    tally: Tally


class _Process(NamedTuple):
    id: int
    pipe: BinaryIO
    """Of its shares."""


def worthwhile(paths: list[str]) -> int:
    """How many processes are worth it for these paths."""
    # Of a directory, each process would open every file.
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
    """A process that works on every `parts`-th run, of which `taken` are done already."""
    import pickle  # few reports are worth several processes

    reading, writing = os.pipe()
    _widen(writing)
    if child := os.fork():
        os.close(writing)
        return _Process(child, os.fdopen(reading, "rb"))
    os.close(reading)
    # Whatever happens here, nothing of the parent's may be run or flushed twice.
    try:
        with os.fdopen(writing, "wb") as pipe:
            for share in _shares(paths, options, render, parts, part, taken):
                pickle.dump(share, pipe)
                pipe.flush()  # or its last bytes would wait for the next share, and all for them
            pickle.dump(None, pipe)
    finally:
        os._exit(0)
    raise AssertionError


def _widen(pipe: int) -> None:
    try:
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    except (ImportError, AttributeError, OSError):
        return  # only Linux does, and not beyond what the user may have


def _shares(
    paths: list[str], options: Options, render: Render, parts: int, part: int, taken: int
) -> Iterator[_Share]:
    analysis = Analysis(options)
    for turn, (path, run) in enumerate(_runs(paths)):
        if turn % parts != part or turn // parts < taken:
            for blob in run:
                if isinstance(blob, Blob):
                    analysis.beside(blob)
        else:
            tally = Tally(path)
            items = [item for blob in run for item in analysis.of_blob(blob, tally)]
            problems = [item for item in items if isinstance(item, Problem)]
            yield _Share("".join(render(items)), problems, tally)


def _runs(paths: list[str]) -> Iterator[tuple[str, Iterator[Blob | Problem]]]:
    """Path and blobs of each, which are opened one by one."""
    for path in paths:
        numbered = enumerate(ingest.open_paths([path]))
        for _, run in groupby(numbered, lambda at: at[0] // _RUN):
            yield path, (blob for _, blob in run)


def _next(pipe: BinaryIO) -> _Share | None:
    """The next share of a process; None after its last. Raises `EOFError` where it was ended."""
    import pickle

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
