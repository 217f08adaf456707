"""Processes that do tasks; one that is killed costs the file that it was reading, and no other."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait

from kernelinfo.analysis.counts import PathCounts
from kernelinfo.analysis.options import Options
from kernelinfo.analysis.parallel import Done, Rows, Task, Worker
from kernelinfo.errors import KernelinfoError
from kernelinfo.reading.blob import Problem

_ENDED = "the process that read it was ended, maybe for want of memory; read it alone"
_ALONE = "try again with --jobs 1"


class Pool:
    """`jobs` processes with a worker each; new ones after one of them was killed."""

    def __init__(self, jobs: int, options: Options, rows: Rows | None) -> None:
        self._jobs = jobs
        self._arguments = options, rows
        self._others = multiprocessing.active_children()
        self._executor = self._started(jobs)
        self._alone: ProcessPoolExecutor | None = None
        self.is_broken = False
        """True while tasks are left that a killed process did not finish."""

    def submit(self, task: Task) -> Future[Done]:
        """Begin a task. Raises `KernelinfoError` if no process can be started."""
        if self.is_broken:
            self._end_alone()
            self._executor, self.is_broken = self._started(self._jobs), False
        try:
            return self._executor.submit(_work, task)
        except BrokenProcessPool as error:
            self.is_broken = True
            future: Future[Done] = Future()
            future.set_exception(error)
            return future
        except OSError as error:
            message = f"no process can be started: {error.strerror}; {_ALONE}"
            raise KernelinfoError(message) from None

    def outcomes(self, task: Task, future: Future[Done]) -> Iterator[Done]:
        """What came of a task, of which the files are done one by one if a process was killed."""
        try:
            yield future.result()
        except BrokenProcessPool:
            self.is_broken = True
            self._executor.shutdown()
            yield from map(self._done_alone, task.by_file())

    def end(self) -> None:
        """End all processes, whatever they do."""
        for process in multiprocessing.active_children():
            if process not in self._others:
                process.kill()
        self._executor.shutdown(cancel_futures=True)
        self._end_alone()

    def _done_alone(self, task: Task) -> Done:
        """A file that ends the one process that reads it is a problem."""
        self._alone = self._alone or self._started(1)
        try:
            return self._alone.submit(_work, task).result()
        except BrokenProcessPool:
            self._end_alone()
            counts = PathCounts(task.batch.path)
            counts.problems = 1
            return Done([Problem(task.batch.files[0].path, _ENDED)], counts, is_last=True)

    def _end_alone(self) -> None:
        if self._alone:
            self._alone.shutdown(cancel_futures=True)
            self._alone = None

    def _started(self, jobs: int) -> ProcessPoolExecutor:
        # A thread that another one holds a lock for would wait for it forever in a forked process.
        method = "fork" if threading.active_count() == 1 else "forkserver"
        context = multiprocessing.get_context(method)
        try:
            return ProcessPoolExecutor(jobs, context, _begin, self._arguments)
        except OSError as error:  # no semaphores
            message = f"no process can be started: {error.strerror}; {_ALONE}"
            raise KernelinfoError(message) from None


_worker: Worker | None = None
"""Of this process, if it is one of a pool."""


def _begin(options: Options, rows: Rows | None) -> None:
    """Make this process one of a pool."""
    global _worker
    _worker = Worker(options, rows)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that is killed ends its processes too."""
    if parent := multiprocessing.parent_process():
        wait([parent.sentinel])
        os._exit(1)


def _work(task: Task) -> Done:
    assert _worker is not None
    return _worker.work(task)
