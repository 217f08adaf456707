"""Analyses by several processes; each task is a few files or code objects.

It pays if processes return finished rows. Passing kernels as objects takes as long as reading them
again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.inputs import Events, conclusions, read_inputs
from kernelinfo.analysis.kernels import conflicting_entry
from kernelinfo.analysis.messages import say
from kernelinfo.analysis.options import Options
from kernelinfo.analysis.pool import Pool
from kernelinfo.kernel import Item, Result
from kernelinfo.reading import containers
from kernelinfo.reading.blob import Again, Blob, Found, Note, Problem, SpirV
from kernelinfo.reading.containers import files
from kernelinfo.reading.containers.files import File, Seen

Rows = Callable[[Iterable[Item]], Iterator[str]]
"""Kernels -> text. Texts of successive kernels join; the function can be pickled."""
Piece = str | Item

_WORTH_BYTES = 32 << 20
_WORTH_TASKS = 16
"""Bytes or tasks that justify one more process."""
_MOST_FILES = 16
_MOST_BYTES = 1 << 20
"""Most files and bytes of one task, unless a single file is larger."""
_SHARED_BYTES = 64 << 20
"""Size above which processes share the code objects of a file. Each has to open and decompress it,
so smaller files are not shared."""
_SHARED_BLOBS = 4
"""Code objects of a shared file in one task."""
_ENDED = say("process-ended")


class ReadTask(NamedTuple):
    """Work for one process: some small files, one larger file, or a part of a shared file."""

    path: str
    """The path as given by the user."""
    files: tuple[File | Problem | Again, ...]
    bytes: int
    start: int = 0
    stop: int | None = None
    """Index of the first code object after the part; None for whole files."""


class ReadTaskDone(NamedTuple):
    """The outcome of one task."""

    pieces: list[Piece]
    events: Events
    is_last: bool
    """True if no code object of the files is left."""


def tasks(paths: Iterable[str]) -> Iterator[ReadTask]:
    """Tasks for all files of the paths, each file once. Each folder is listed once, so that the
    tasks are fixed."""
    seen = Seen()
    for path in paths:
        waiting: list[File | Problem | Again] = []
        size = 0
        for file in files.find_once(path, seen):
            file_size = files.size(file) if isinstance(file, File) else 0
            if waiting and (len(waiting) == _MOST_FILES or size + file_size > _MOST_BYTES):
                yield ReadTask(path, tuple(waiting), size)
                waiting, size = [], 0
            waiting.append(file)
            size += file_size
        yield ReadTask(path, tuple(waiting), size)


def processes(work: list[ReadTask], jobs: int) -> int:
    """Number of processes: `jobs`, or for 0 as many as the work justifies."""
    if os.name != "posix" or any(files.is_read_once(task.path) for task in work):
        return 1
    if jobs:
        return jobs
    # A text is never shared, however large.
    texts = (task for task in work if all(file.path.endswith(".s") for file in task.files))
    size = sum(task.bytes for task in work) - sum(task.bytes for task in texts)
    worth = max(len(work) // _WORTH_TASKS, size // _WORTH_BYTES)
    return max(1, min(worth, _cores()))


def _cores() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # on Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spread(
    work: list[ReadTask], options: Options, jobs: int, rows: Rows | None = None
) -> Iterator[Piece]:
    """Results, problems and notes in the order of one process; with `rows` kernels are text.

    A file that kills its process is a problem, and the run goes on. Raises `KernelinfoError` if no
    process can be started, and the errors of `Analysis`.
    """
    paths = tuple(dict.fromkeys(task.path for task in work))
    return shared_out(work, options, jobs, ReadWorker(options, paths, rows))


def shared_out(
    work: list[ReadTask], options: Options, jobs: int, worker: ReadWorker, at_once: int = 0
) -> Iterator[Any]:
    """The pieces of all tasks, in the order of one process; see `spread`.

    A process gets `at_once` code objects of a large file at a time, by default four.
    """
    events = {task.path: Events() for task in work}
    ended: set[int] = set()
    pool = Pool(jobs, worker)
    try:
        for task, done in pool.outcomes(_shared(work, ended, at_once or _SHARED_BLOBS)):
            if task.stop is not None and id(task.files) in ended:
                continue
            if done.is_last:
                ended.add(id(task.files))
            events[task.path].update(done.events)
            yield from done.pieces
    finally:
        pool.end()
    yield from conclusions([*events.items()], options)


def _shared(work: list[ReadTask], ended: set[int], at_once: int) -> Iterator[ReadTask]:
    """The tasks; a large file comes in parts until the caller adds it to `ended`, as its number of
    code objects is unknown."""
    for task in work:
        if task.bytes <= _SHARED_BYTES:
            yield task
            continue
        start = 0
        while id(task.files) not in ended:
            yield task._replace(start=start, stop=start + at_once)
            start += at_once


class ReadWorker:
    """Work of one process. It reads a shared file once and keeps its place between tasks."""

    def __init__(self, options: Options, among: Sequence[str], rows: Rows | None = None) -> None:
        self._options, self._among, self._rows = options, among, rows
        self.analysis = Analysis(options, among)
        self._files: tuple[File | Problem | Again, ...] = ()
        """The shared file that is open."""
        self._blobs: Iterator[Found] = iter(())
        """Blobs of that file from index `_next` on."""
        self._next = 0

    def work(self, task: ReadTask) -> ReadTaskDone:
        """The outcome of a task: results and problems of its files or code objects."""
        events = Events()
        blobs = self._open(task) if task.stop is None else self._share(task, task.stop)
        items = [*read_inputs(blobs, events, self.read, self._options)]
        pieces: list[Piece] = [
            item._replace(blob=None) if isinstance(item, SpirV) else item for item in items
        ]
        if self._rows:
            rows = "".join(self._rows(item for item in items if isinstance(item, Result)))
            pieces = [*(item for item in items if isinstance(item, Problem | Note)), rows]
        return ReadTaskDone(pieces, events, task.stop is None or self._next < task.stop)

    def read(self, blob: Blob) -> Iterator[Any]:
        """All that a run reads from one blob."""
        return self.analysis.results(blob)

    def parts(self, task: ReadTask) -> list[ReadTask]:
        """One task for each file of the task."""
        return [task._replace(files=(file,)) for file in task.files]

    def given_up(self, part: ReadTask) -> ReadTaskDone:
        """The outcome of a file that kills its process: one problem."""
        problem = Problem(part.files[0].path, _ENDED)
        return ReadTaskDone([problem], Events({("problem", ""): 1}), is_last=True)

    def _share(self, task: ReadTask, stop: int) -> Iterator[Found]:
        if self._files != task.files or self._next > task.start:
            self._files, self._blobs, self._next = task.files, self._open(task), 0
        for blob in islice(self._blobs, stop - self._next):
            self._next += 1
            if self._next > task.start:
                yield blob
            elif isinstance(blob, Blob):
                # The analysis compares later code objects with it.
                conflicting_entry(blob, self.analysis.entries)

    def _open(self, task: ReadTask) -> Iterator[Found]:
        return chain.from_iterable(
            containers.open_file(file, among=self._among, within=self._options.bounds)
            for file in task.files
        )
