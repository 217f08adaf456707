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
from typing import TYPE_CHECKING, NamedTuple

from kernelinfo.analysis.counts import PathCounts
from kernelinfo.analysis.parallel import Done, Task, Worker
from kernelinfo.errors import KernelinfoError
from kernelinfo.reading.blob import Problem

if TYPE_CHECKING:
    from multiprocessing.context import ForkContext, ForkServerContext

_ENDED = "the process that read it was ended, maybe for want of memory; read it alone"


class _Process(NamedTuple):
    process: BaseProcess
    pipe: Connection
    """Takes tasks, and gives a `Done` or the exception for each."""

    def begin(self, task: Task) -> None:
        with suppress(OSError):  # killed while it was idle: its answer is the end of the pipe
            self.pipe.send(task)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


class _Turn:
    """A task, and its outcome as soon as there is one."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.outcome: list[Done] | None = None
        """Several where the process was killed and the files were read one by one."""


class Pool:
    """`jobs` processes with a copy of the worker each; new ones after one of them was killed."""

    def __init__(self, jobs: int, worker: Worker) -> None:
        self._jobs, self._worker = jobs, worker
        self._idle: list[_Process] = []
        self._busy: dict[Connection, tuple[_Process, _Turn]] = {}

    def outcomes(self, tasks: Iterator[Task]) -> Iterator[tuple[Task, Done]]:
        """Each task with its outcome, in the order of `tasks`; at most 2 × `jobs` are taken ahead.

        If a process is killed, the files of its task are read one by one, each as an outcome of
        its own. Raises `KernelinfoError` if no process can be started, and what a worker raises.
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
                if turns[0].outcome is not None:
                    break
                self._receive()
            turn = turns.popleft()
            yield from ((turn.task, done) for done in turn.outcome or ())

    def end(self) -> None:
        """End all processes, whatever they do."""
        for process in (*self._idle, *(process for process, _ in self._busy.values())):
            process.end()

    def _begin(self, turn: _Turn) -> None:
        process = self._idle.pop() if self._idle else self._started()
        self._busy[process.pipe] = process, turn
        process.begin(turn.task)

    def _receive(self) -> None:
        """Wait until at least one process answers or ends, and keep the outcomes."""
        for pipe in wait(list(self._busy)):
            assert isinstance(pipe, Connection)
            process, turn = self._busy.pop(pipe)
            done = _answer(process)
            turn.outcome = [done] if done else [*map(self._done_alone, turn.task.by_file())]
            if done:
                self._idle.append(process)

    def _done_alone(self, task: Task) -> Done:
        """A file that ends the one process that reads it is a problem."""
        process = self._started()
        process.begin(task)
        if done := _answer(process):
            process.end()
            return done
        counts, problem = PathCounts(task.path), Problem(task.files[0].path, _ENDED)
        counts.lists(problem)
        return Done([problem], counts, is_last=True)

    def _started(self) -> _Process:
        # A thread that another one holds a lock for would wait for it forever in a forked process.
        context: ForkContext | ForkServerContext = (
            multiprocessing.get_context("fork")
            if threading.active_count() == 1
            else multiprocessing.get_context("forkserver")
        )
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._worker), daemon=True)
        try:
            process.start()
        except OSError as error:
            message = f"no process can be started: {error.strerror}; try again with --jobs 1"
            raise KernelinfoError(message) from None
        theirs.close()  # or the pipe would not end with the process
        return _Process(process, ours)


def _answer(process: _Process) -> Done | None:
    """The outcome of the task that a process has; None if the process ended before. Raises what the
    task raised."""
    came: Done | Exception | None = None
    with suppress(EOFError, OSError):
        came = process.pipe.recv()
    if not isinstance(came, Done):
        process.end()
    if isinstance(came, Exception):
        raise came
    return came


def _serve(pipe: Connection, worker: Worker) -> None:
    """Answer tasks until the parent ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
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
