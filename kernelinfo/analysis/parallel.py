"""Several processes for one long answer, each given a few files or code objects at a time.

It pays where a process can hand over finished rows. To hand over kernels as objects takes about as
long as to read them again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.counts import PathCounts, conclusions
from kernelinfo.analysis.options import Options
from kernelinfo.kernel import Item, Result
from kernelinfo.light_typing import NamedTuple
from kernelinfo.reading import containers
from kernelinfo.reading.blob import Blob, Found, Note, Problem
from kernelinfo.reading.containers import files
from kernelinfo.reading.containers.files import File

Rows = Callable[[Iterable[Item]], Iterator[str]]
"""The text of kernels, that of one behind that of another. It can be pickled."""
Piece = str | Item

_WORTH_BYTES = 32 << 20
_WORTH_BATCHES = 16
"""The work for which it is worth to start a process."""
_MOST_FILES = 16
_MOST_BYTES = 1 << 20
"""What one process takes at a time, if that is more than one file."""
_SHARED_BYTES = 64 << 20
"""The code objects of larger files are shared. Not of smaller ones: each process has to open them,
and decompress what is compressed."""
_SHARED_BLOBS = 4
"""Code objects of a shared file that one process takes at a time."""


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


class Task(NamedTuple):
    """What one process does at a time: a batch, or some code objects of a shared file."""

    batch: Batch
    start: int = 0
    stop: int | None = None
    """The first that is not taken; None takes all."""

    def by_file(self) -> list[Task]:
        """The same, each file on its own."""
        return [self._replace(batch=self.batch._replace(files=(one,))) for one in self.batch.files]


class Done(NamedTuple):
    """The outcome of one task."""

    pieces: list[Piece]
    counts: PathCounts
    is_last: bool
    """True if nothing of the batch is left."""


def batches(paths: Sequence[str]) -> Iterator[Batch]:
    """All files of these paths, found once: one that comes or goes meanwhile moves no other."""
    among = tuple(paths)
    for path in paths:
        waiting: list[File | Problem] = []
        size = 0
        for file in files.find(path):
            more = 0 if isinstance(file, Problem) else files.size(file)
            if waiting and (len(waiting) == _MOST_FILES or size + more > _MOST_BYTES):
                yield Batch(path, tuple(waiting), size, among)
                waiting, size = [], 0
            waiting.append(file)
            size += more
        yield Batch(path, tuple(waiting), size, among)


def processes(work: list[Batch], asked: int) -> int:
    """The number `asked` for, or for 0 as many as are worth it."""
    if os.name != "posix" or any(batch.path == files.STANDARD_INPUT for batch in work):
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
    work: list[Batch], options: Options, jobs: int, rows: Rows | None = None
) -> Iterator[Piece]:
    """What one process would find, in its order; kernels as text if `rows` writes them.

    A file that ends its process is a `Problem`, and the run goes on. Raises `KernelinfoError` if no
    process can be started, and what `Analysis` raises.
    """
    from kernelinfo.analysis.pool import Pool

    Analysis(options)  # a wrong option is reported here, not by each process
    counts = {batch.path: PathCounts(batch.path) for batch in work}
    ended: set[int] = set()
    pool = Pool(jobs, options, rows)
    try:
        for task, done in pool.outcomes(_tasks(work, ended)):
            if task.stop is not None and id(task.batch) in ended:
                continue
            if done.is_last:
                ended.add(id(task.batch))
            counts[task.batch.path].add(done.counts)
            yield from done.pieces
    finally:
        pool.end()
    yield from conclusions(counts.values(), options)


def _tasks(work: list[Batch], ended: set[int]) -> Iterator[Task]:
    """A shared file, whose code objects nobody has counted, gives tasks until it has `ended`."""
    for batch in work:
        if not batch.is_shared:
            yield Task(batch)
            continue
        start = 0
        while id(batch) not in ended:
            yield Task(batch, start, start + _SHARED_BLOBS)
            start += _SHARED_BLOBS


class Worker:
    """The part of one process: an analysis that goes through a shared file once."""

    def __init__(self, options: Options, rows: Rows | None) -> None:
        self._options = options
        self._rows = rows
        self._analysis: Analysis | None = None
        self._batch: Batch | None = None
        self._blobs: Iterator[Found] = iter(())
        """Of that shared file, from code object number `_next` on."""
        self._next = 0

    def work(self, task: Task) -> Done:
        """What the task's files or code objects hold."""
        self._analysis = analysis = self._analysis or Analysis(self._options, task.batch.among)
        counts = PathCounts(task.batch.path)
        blobs = self._open(task.batch) if task.stop is None else self._share(task)
        items = [item for blob in blobs for item in analysis.analyse_blob(blob, counts)]
        pieces: list[Piece] = [*items]
        if self._rows:
            rows = "".join(self._rows(item for item in items if isinstance(item, Result)))
            pieces = [*(item for item in items if isinstance(item, Problem | Note)), rows]
        return Done(pieces, counts, task.stop is None or self._next < task.stop)

    def _share(self, task: Task) -> Iterator[Found]:
        if self._batch != task.batch or self._next > task.start:
            self._batch, self._blobs, self._next = task.batch, self._open(task.batch), 0
        assert task.stop is not None
        for blob in islice(self._blobs, task.stop - self._next):
            self._next += 1
            if self._next > task.start:
                yield blob
            elif isinstance(blob, Blob) and self._analysis:
                # Later code objects of the file are compared with it.
                self._analysis.conflicting_entry(blob)

    def _open(self, batch: Batch) -> Iterator[Found]:
        return chain.from_iterable(
            containers.open_file(file, among=batch.among, within=self._options.bounds)
            for file in batch.files
        )
