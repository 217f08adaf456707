"""Several processes for one long answer: each takes every n-th run of files or code objects.

Worth it where a process can hand over finished text. To hand over kernels as objects takes as
long as to read them again.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, islice

from kernelinfo.analysis import Analysis, PathCounts
from kernelinfo.analysis.options import Options
from kernelinfo.errors import KernelinfoError
from kernelinfo.kernel import Item
from kernelinfo.light_typing import TYPE_CHECKING, NamedTuple
from kernelinfo.reading import containers
from kernelinfo.reading.blob import Blob, Note, Problem
from kernelinfo.reading.containers import Found, files
from kernelinfo.reading.containers.files import File

if TYPE_CHECKING:
    from typing import BinaryIO

Render = Callable[[Iterable[Item]], Iterator[str]]

_WORTH_BYTES = 32 << 20
_WORTH_BATCHES = 16
"""Of work for which it is worth to start a process."""
_MOST_FILES = 16
_MOST_BYTES = 1 << 20
"""Of what one process takes at a time, where that is more than one file."""
_SHARED_BYTES = 64 << 20
"""Of a file from which on its code objects are shared. Not of smaller ones: each process has to
open them, and decompress what is compressed."""
_MOST_ITEMS = 256
"""Of which the text is handed over at once."""
_ALONE = "try again with --jobs 1"
_PIPE_BYTES = 1 << 20
"""A process that is ahead of the others goes on until so much waits to be taken."""


class Batch(NamedTuple):
    """Small files together, or a larger one."""

    path: str
    """As it was asked for."""
    files: tuple[File | Problem, ...]
    bytes: int
    among: tuple[str, ...]
    """All paths that the run reads."""

    @property
    def is_shared(self) -> bool:
        return self.bytes > _SHARED_BYTES

    @property
    def is_text(self) -> bool:
        return bool(self.files) and self.files[-1].path.endswith(".s")


class _Share(NamedTuple):
    """What came of one run, or of a part of it."""

    text: str
    problems: list[Problem]
    counts: PathCounts | None
    """Of the whole run, with its last share."""


class _Taken(NamedTuple):
    """What of a process's work is done already."""

    runs: int = 0
    shares: int = 0
    """Of the next run."""


_NOTHING = _Taken()


class _Process(NamedTuple):
    id: int
    pipe: BinaryIO
    """Of its shares."""


def batches(paths: list[str]) -> Iterator[Batch]:
    """All files of these paths, found once: one that comes or goes meanwhile moves no other."""
    among = tuple(paths)
    for path in paths:
        waiting: list[File | Problem] = []
        size = 0
        for file in files.find(path):
            more = 0 if isinstance(file, Problem) else files.size(file.path)
            if waiting and (len(waiting) == _MOST_FILES or size + more > _MOST_BYTES):
                yield Batch(path, tuple(waiting), size, among)
                waiting, size = [], 0
            waiting.append(file)
            size += more
        yield Batch(path, tuple(waiting), size, among)


def processes(work: list[Batch], asked: int) -> int:
    """As many as are `asked` for, or for 0 as many as are worth it."""
    if not hasattr(os, "fork") or any(batch.path == files.STANDARD_INPUT for batch in work):
        return 1  # nobody else can read what one has read from there
    if asked:
        return asked
    # One process alone reads a text, however large.
    size = sum(batch.bytes for batch in work if not batch.is_text)
    worth = max(len(work) // _WORTH_BATCHES, size // _WORTH_BYTES)
    return max(1, min(worth, _cores()))


def _cores() -> int:
    """Those that this process may run on."""
    if hasattr(os, "sched_getaffinity"):  # on Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spread(
    work: list[Batch], options: Options, render: Render, jobs: int
) -> Iterator[str | Problem | Note]:
    """The text and the problems of all work, in the order in which one process would give them.

    What a process leaves behind that is ended from outside, another takes up. Raises
    `KernelinfoError` where that one is ended at the same place, or none can be started.
    """
    start = partial(_start, work, options, render, jobs)
    running: list[_Process] = []
    counts_by_path = {batch.path: PathCounts(batch.path) for batch in work}
    turn = shares = 0
    try:
        for part in range(jobs):
            running.append(start(part))
        while True:
            part = turn % jobs
            try:
                share = _next(running[part].pipe)
            except EOFError:
                taken = _Taken(turn // jobs, shares)
                ended, running[part] = running[part], start(part, taken)
                _end(ended)
                share = _again(running[part].pipe)
            if share is None:
                break
            yield from share.problems
            yield share.text
            shares += 1
            if share.counts:
                counts_by_path[share.counts.path].add(share.counts)
                turn, shares = turn + 1, 0
    finally:
        for process in running:
            _end(process)
    for counts in counts_by_path.values():
        yield from counts.conclusions()


def _end(process: _Process) -> None:
    """Of which nothing more is awaited."""
    process.pipe.close()
    os.kill(process.id, signal.SIGKILL)
    os.waitpid(process.id, 0)


def _start(
    work: list[Batch],
    options: Options,
    render: Render,
    parts: int,
    part: int,
    taken: _Taken = _NOTHING,
) -> _Process:
    """A process that works on every `parts`-th run but for what is taken already."""
    import pickle  # few reports are worth several processes

    reading, writing = os.pipe()
    _widen(writing)
    try:
        child = os.fork()
    except OSError as error:
        raise KernelinfoError(f"no process can be started: {error.strerror}; {_ALONE}") from None
    if child:
        os.close(writing)
        return _Process(child, os.fdopen(reading, "rb"))
    os.close(reading)
    # Whatever happens here, nothing of the parent's may be run or flushed twice.
    try:
        with os.fdopen(writing, "wb") as pipe:
            shares = _shares(work, options, render, parts, part, taken.runs)
            for share in islice(shares, taken.shares, None):
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
    work: list[Batch], options: Options, render: Render, parts: int, part: int, taken: int
) -> Iterator[_Share]:
    analysis = Analysis(options)
    turn = 0
    for batch in work:
        for run in _runs(batch, options):
            if turn % parts == part and turn // parts >= taken:
                yield from _of_run(run, analysis, render, PathCounts(batch.path))
            elif batch.is_shared:
                # What later code objects of the same file are compared with.
                for blob in run:
                    if isinstance(blob, Blob):
                        analysis.conflicting_entry(blob)
            turn += 1


def _of_run(
    run: Iterable[Found], analysis: Analysis, render: Render, counts: PathCounts
) -> Iterator[_Share]:
    items = (item for blob in run for item in analysis.analyse_blob(blob, counts))
    more = True
    while more:
        some = list(islice(items, _MOST_ITEMS))
        more = len(some) == _MOST_ITEMS
        problems = [item for item in some if isinstance(item, Problem)]
        yield _Share("".join(render(some)), problems, None if more else counts)


def _runs(batch: Batch, options: Options) -> Iterator[Iterable[Found]]:
    """Blobs that one process takes together, opened as they are taken."""
    opened = partial(containers.open_file, among=batch.among, within=options.bounds)
    blobs = chain.from_iterable(map(opened, batch.files))
    if batch.is_shared:
        yield from ([blob] for blob in blobs)
    else:
        yield blobs


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
        raise KernelinfoError(f"a process of its own ended early, twice; {_ALONE}") from None
