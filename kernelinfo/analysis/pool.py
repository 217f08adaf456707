"""Processes that do tasks; one that is killed costs the file that it was reading, and no other.

Each has a pipe of its own, which ends with it, in the middle of an answer too. In the one queue of
`concurrent.futures` half an answer of a killed process is waited for without end.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from kernelinfo.analysis.counts import PathCounts
from kernelinfo.analysis.options import Options
from kernelinfo.analysis.parallel import Done, Rows, Task, Worker
from kernelinfo.errors import KernelinfoError
from kernelinfo.light_typing import NamedTuple
from kernelinfo.reading.blob import Problem

_ENDED = "the process that read it was ended, maybe for want of memory; read it alone"


class _Process(NamedTuple):
    process: BaseProcess
    pipe: Connection
    """Tasks go in, what came of them comes out."""

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


class _Turn:
    """A task and what came of it, once that is known."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.came: list[Done] | None = None


class Pool:
    """`jobs` processes with a worker each; new ones after one of them was killed."""

    def __init__(self, jobs: int, options: Options, rows: Rows | None) -> None:
        self._jobs = jobs
        self._arguments = options, rows
        self._idle: list[_Process] = []
        self._busy: dict[Connection, tuple[_Process, _Turn]] = {}

    def outcomes(self, tasks: Iterator[Task]) -> Iterator[tuple[Task, Done]]:
        """What comes of the tasks, in their order; each is asked for when it can soon be done.

        Of one whose process was killed the files are done one by one. Raises `KernelinfoError` if
        no process can be started, and what a worker raises.
        """
        turns: deque[_Turn] = deque()
        waiting: deque[_Turn] = deque()
        while True:
            new = [_Turn(task) for task in islice(tasks, 2 * self._jobs - len(turns))]
            turns += new
            waiting += new
            if not turns:
                return
            while True:
                while waiting and len(self._busy) < self._jobs:
                    self._begin(waiting.popleft())
                if turns[0].came is not None:
                    break
                self._receive()
            turn = turns.popleft()
            yield from ((turn.task, done) for done in turn.came or ())

    def end(self) -> None:
        """End all processes, whatever they do."""
        for process in (*self._idle, *(process for process, _ in self._busy.values())):
            process.end()

    def _begin(self, turn: _Turn) -> None:
        process = self._idle.pop() if self._idle else self._started()
        self._busy[process.pipe] = process, turn
        with suppress(OSError):  # killed while it was idle: nothing will come
            process.pipe.send(turn.task)

    def _receive(self) -> None:
        """Wait for what comes of some task."""
        for pipe in wait(list(self._busy)):
            assert isinstance(pipe, Connection)
            process, turn = self._busy.pop(pipe)
            done = _answer(process)
            turn.came = [done] if done else [*map(self._done_alone, turn.task.by_file())]
            if done:
                self._idle.append(process)

    def _done_alone(self, task: Task) -> Done:
        """A file that ends the one process that reads it is a problem."""
        process = self._started()
        with suppress(OSError):
            process.pipe.send(task)
        if done := _answer(process):
            process.end()
            return done
        counts = PathCounts(task.batch.path)
        counts.problems = 1
        return Done([Problem(task.batch.files[0].path, _ENDED)], counts, is_last=True)

    def _started(self) -> _Process:
        # A thread that another one holds a lock for would wait for it forever in a forked process.
        method = "fork" if threading.active_count() == 1 else "forkserver"
        context = multiprocessing.get_context(method)
        ours, theirs = context.Pipe()
        process: BaseProcess = context.Process(  # type: ignore[attr-defined]
            target=_serve, args=(theirs, *self._arguments), daemon=True
        )
        try:
            process.start()
        except OSError as error:
            message = f"no process can be started: {error.strerror}; try again with --jobs 1"
            raise KernelinfoError(message) from None
        theirs.close()  # or the pipe would not end with the process
        return _Process(process, ours)


def _answer(process: _Process) -> Done | None:
    """What comes of the task that a process has; None if it ends before. Raises what it raises."""
    came: Done | Exception | None = None
    with suppress(EOFError, OSError):
        came = process.pipe.recv()
    if not isinstance(came, Done):
        process.end()
    if isinstance(came, Exception):
        raise came
    return came


def _serve(pipe: Connection, options: Options, rows: Rows | None) -> None:
    """What a process of the pool does."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    worker = Worker(options, rows)
    while True:
        try:
            came: Done | Exception = worker.work(pipe.recv())
        except Exception as error:
            came = error
        pipe.send(came)


def _end_with_parent() -> None:
    """A parent that is killed ends its processes too."""
    if parent := multiprocessing.parent_process():
        wait([parent.sentinel])
        os._exit(1)
