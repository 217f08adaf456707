"""A pool of processes. A process that is killed costs only the file that it was reading.

Each process has its own pipes, which close with it even in the middle of an answer.
`concurrent.futures` has one queue for all and waits forever for the second half of an answer. loky
does not, but one killed process costs the answers of all (323 of 400 by 40 kills), and it starts in
0.5 s, this in 0.01 s. No process has a socket, so other users of the machine cannot reach it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from kernelinfo.analysis.messages import say
from kernelinfo.errors import KernelinfoError
from kernelinfo.waiting import wait_in_turns

if TYPE_CHECKING:
    from multiprocessing.context import ForkContext, SpawnContext
    from typing import Any

    Pipe = Connection[Any, Any]

_SAFE_PATH = "PYTHONSAFEPATH"

Task = TypeVar("Task")
Done = TypeVar("Done")
Gives = TypeVar("Gives", covariant=True)


class Worker(Protocol[Task, Gives]):
    """Work of one process."""

    def work(self, task: Task, /) -> Gives:
        """The outcome of a task."""

    def parts(self, task: Task, /) -> Iterable[Task]:
        """The task in parts. If its process is killed, each part gets a new process."""

    def given_up(self, part: Task, /) -> Gives:
        """The outcome of a part whose process was killed, too."""


class _Process:
    def __init__(self, process: BaseProcess, tasks: Pipe, answers: Pipe) -> None:
        self._process, self._tasks, self.answers = process, tasks, answers

    def begin(self, task: object) -> None:
        with suppress(OSError):  # killed while idle: its pipe of answers ends
            self._tasks.send(task)

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._tasks.close()
        self.answers.close()


class _Turn(Generic[Task, Done]):
    """A task or a part of one, with its outcome once it is known."""

    def __init__(self, whole: Task, part: Task | None = None) -> None:
        self.whole = whole
        self.task = whole if part is None else part
        self.is_part = part is not None
        self.outcome: list[Done] = []
        """One outcome, or empty while it is unknown."""


class Pool(Generic[Task, Done]):
    """At most `jobs` processes with a copy of the worker each. A killed process is replaced."""

    def __init__(self, jobs: int, worker: Worker[Task, Done]) -> None:
        self._jobs, self._worker = jobs, worker
        self._idle: list[_Process] = []
        self._waiting: deque[_Turn[Task, Done]] = deque()
        self._busy: dict[Pipe, tuple[_Process, _Turn[Task, Done]]] = {}

    def outcomes(self, tasks: Iterator[Task]) -> Iterator[tuple[Task, Done]]:
        """(task, outcome) in the order of `tasks`; at most 2 × `jobs` tasks are taken ahead.

        If a process is killed, its task comes once per part, with that part's outcome. Raises
        `KernelinfoError` if no process can be started, and errors of the worker.
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
                        index = turns.index(turn)
                        turns[index : index + 1] = parts
            for turn in turns[:1]:
                yield turn.whole, turn.outcome[0]
            del turns[:1]

    def completed(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Done]]:
        """(task, outcome) in the order of completion."""
        self._waiting += map(_Turn[Task, Done], tasks)
        while self._waiting or self._busy:
            for turn, _ in self._receive():
                yield from ((turn.whole, done) for done in turn.outcome)

    def end(self) -> None:
        """Kill all processes, busy or idle."""
        for process in (*self._idle, *(process for process, _ in self._busy.values())):
            process.end()

    def _begin(self, turn: _Turn[Task, Done]) -> None:
        process = self._idle.pop() if self._idle and not turn.is_part else self._started()
        self._busy[process.answers] = process, turn
        process.begin(turn.task)

    def _receive(self) -> list[tuple[_Turn[Task, Done], list[_Turn[Task, Done]]]]:
        """Start waiting turns, then wait for an answer or the end of a process.

        Returns the turns that ended. A turn whose process was killed comes with the turns of its
        parts.
        """
        while self._waiting and len(self._busy) < self._jobs:
            self._begin(self._waiting.popleft())
        ready = wait_in_turns(partial(wait, [*self._busy]))
        return [self._over(pipe) for pipe in ready if isinstance(pipe, Connection)]

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
                parts = [_Turn(turn.whole, part) for part in self._worker.parts(turn.task)]
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
        # With threads a forked process could wait forever for a lock that another thread held.
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
            with signals_wait(), _safe_path():
                process.start()
        except OSError as error:
            message = say("process-not-started", error=error.strerror)
            raise KernelinfoError(message) from None
        their_tasks.close()
        their_answers.close()  # so that the pipe ends with the process
        return _Process(process, our_tasks, our_answers)


ENDING_SIGNALS = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)  # Windows has no SIGHUP
]


@contextmanager
def signals_wait() -> Iterator[None]:
    """Block the signals that end this process while it starts another one or makes a folder. An
    exception of their handlers would be lost within Python's callbacks of a fork, or would lose the
    name of the folder."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _safe_path() -> Iterator[None]:
    """A Python that is started meanwhile takes no module of the current folder, which a spawned one
    would by its `-c`."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


def _serve(tasks: Pipe, answers: Pipe, worker: Worker[object, object]) -> None:
    """Answer tasks until the parent ends this process."""
    for number in ENDING_SIGNALS:  # the parent's handlers are not for this process
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING_SIGNALS)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            came: tuple[bool, object] = True, worker.work(tasks.recv())
        except Exception as error:
            came = False, error
        answers.send(came)


def _end_with_parent() -> None:
    """Wait until the parent ends, then exit at once."""
    if parent := multiprocessing.parent_process():
        wait([parent.sentinel])
        os._exit(1)
