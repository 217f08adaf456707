"""Processes that do tasks; one that is killed costs the file that it was reading, and no other.

Each has pipes of its own, which end with it, in the middle of an answer too. In the one queue of
`concurrent.futures` half an answer of a killed process is waited for without end. No process has a
socket: another user of the machine could not talk to it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from kernelinfo.errors import KernelinfoError

if TYPE_CHECKING:
    from multiprocessing.context import ForkContext, SpawnContext
    from typing import Any

    Pipe = Connection[Any, Any]

Task = TypeVar("Task")
Done = TypeVar("Done")
Gives = TypeVar("Gives", covariant=True)


class Worker(Protocol[Task, Gives]):
    """The part of one process."""

    def work(self, task: Task, /) -> Gives:
        """The outcome of a task."""

    def parts(self, task: Task, /) -> Iterable[Task]:
        """The task cut up. If its process is killed, each part is done in a process of its own."""

    def given_up(self, part: Task, /) -> Gives:
        """The outcome of a part whose own process was killed."""


class _Process:
    def __init__(self, process: BaseProcess, tasks: Pipe, answers: Pipe) -> None:
        self._process, self._tasks, self.answers = process, tasks, answers

    def begin(self, task: object) -> None:
        with suppress(OSError):  # killed while it was idle: its answer is the end of the pipe
            self._tasks.send(task)

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._tasks.close()
        self.answers.close()


class _Turn(Generic[Task, Done]):
    """A task or a part of one, and its outcome as soon as there is one."""

    def __init__(self, asked: Task, part: Task | None = None) -> None:
        self.asked = asked
        self.task = asked if part is None else part
        self.is_part = part is not None
        self.outcome: list[Done] = []
        """Empty until it is known."""


class Pool(Generic[Task, Done]):
    """`jobs` processes with a copy of the worker each; new ones after one of them was killed."""

    def __init__(self, jobs: int, worker: Worker[Task, Done]) -> None:
        self._jobs, self._worker = jobs, worker
        self._idle: list[_Process] = []
        self._waiting: deque[_Turn[Task, Done]] = deque()
        self._busy: dict[Pipe, tuple[_Process, _Turn[Task, Done]]] = {}

    def outcomes(self, tasks: Iterator[Task]) -> Iterator[tuple[Task, Done]]:
        """Each task with its outcome, in the order of `tasks`; at most 2 × `jobs` are taken ahead.

        If a process is killed, the task comes once for each of its parts, with the outcome of that.
        Raises `KernelinfoError` if no process can be started, and what a worker raises.
        """
        turns: list[_Turn[Task, Done]] = []
        while True:
            room = 2 * self._jobs - len(turns)
            new = [_Turn[Task, Done](task) for task in islice(tasks, max(0, room))]
            turns += new
            self._waiting += new
            if not turns:
                return
            while turns and not turns[0].outcome:
                for turn, parts in self._receive():
                    if not turn.outcome:
                        at = turns.index(turn)
                        turns[at : at + 1] = parts
            for turn in turns[:1]:
                yield turn.asked, turn.outcome[0]
            del turns[:1]

    def completed(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Done]]:
        """The same, in the order in which the outcomes come."""
        self._waiting += map(_Turn[Task, Done], tasks)
        while self._waiting or self._busy:
            for turn, _ in self._receive():
                yield from ((turn.asked, done) for done in turn.outcome)

    def end(self) -> None:
        """End all processes, whatever they do."""
        for process in (*self._idle, *(process for process, _ in self._busy.values())):
            process.end()

    def _begin(self, turn: _Turn[Task, Done]) -> None:
        process = self._idle.pop() if self._idle and not turn.is_part else self._started()
        self._busy[process.answers] = process, turn
        process.begin(turn.task)

    def _receive(self) -> list[tuple[_Turn[Task, Done], list[_Turn[Task, Done]]]]:
        """Begin what waits, and wait until at least one process answers or ends. The turns that are
        over, with the turns of their parts where the process ended."""
        while self._waiting and len(self._busy) < self._jobs:
            self._begin(self._waiting.popleft())
        ready = [pipe for pipe in wait([*self._busy]) if isinstance(pipe, Connection)]
        return [self._over(pipe) for pipe in ready]

    def _over(self, answers: Pipe) -> tuple[_Turn[Task, Done], list[_Turn[Task, Done]]]:
        process, turn = self._busy.pop(answers)
        parts: list[_Turn[Task, Done]] = []
        try:
            is_done, came = process.answers.recv()
        except (EOFError, OSError):
            process.end()
            if turn.is_part:
                turn.outcome = [self._worker.given_up(turn.task)]
            else:
                parts = [_Turn(turn.asked, part) for part in self._worker.parts(turn.task)]
                self._waiting.extendleft(reversed(parts))
            return turn, parts
        if not is_done:
            process.end()
            raise came
        turn.outcome = [came]
        if turn.is_part:
            process.end()
        else:
            self._idle.append(process)
        return turn, parts

    def _started(self) -> _Process:
        # A thread that another one holds a lock for would wait for it forever in a forked process.
        # `forkserver` would listen on a socket.
        context: ForkContext | SpawnContext = (
            multiprocessing.get_context("fork")
            if hasattr(os, "fork") and threading.active_count() == 1
            else multiprocessing.get_context("spawn")
        )
        their_tasks, our_tasks = context.Pipe(duplex=False)
        our_answers, their_answers = context.Pipe(duplex=False)
        ends = (their_tasks, their_answers, self._worker)
        process = context.Process(target=_serve, args=ends, daemon=True)
        try:
            with _signals_wait():
                process.start()
        except OSError as error:
            message = f"no process can be started: {error.strerror}; try again with --jobs 1"
            raise KernelinfoError(message) from None
        their_tasks.close()
        their_answers.close()  # or the pipe would not end with the process
        return _Process(process, our_tasks, our_answers)


_ENDING = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)  # Windows has no SIGHUP
]


@contextmanager
def _signals_wait() -> Iterator[None]:
    """Hold signals back. Python loses an exception of their handlers in its callbacks of a fork."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(tasks: Pipe, answers: Pipe, worker: Worker[object, object]) -> None:
    """Answer tasks until the parent ends this process."""
    for number in _ENDING:  # the parent's own ways to end are not ours
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            came: tuple[bool, object] = True, worker.work(tasks.recv())
        except Exception as error:
            came = False, error
        answers.send(came)


def _end_with_parent() -> None:
    """A parent that is killed ends its processes too."""
    if parent := multiprocessing.parent_process():
        wait([parent.sentinel])
        os._exit(1)
