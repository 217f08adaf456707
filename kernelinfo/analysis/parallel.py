"""Analyses by several processes; each task is a few files or code objects.

It pays if processes return finished rows. Passing kernels as objects takes as long as reading them
again."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.inputs import Events, conclusions, read_inputs
from kernelinfo.analysis.kernels import conflicting_entry
from kernelinfo.analysis.messages import say
from kernelinfo.analysis.options import Options
from kernelinfo.errors import KernelinfoError
from kernelinfo.kernel import Item, Result
from kernelinfo.reading import containers
from kernelinfo.reading.blob import Blob, File, Found, Note, Problem, SpirV
from kernelinfo.reading.containers import files
from kernelinfo.waiting import wait_in_turns

if TYPE_CHECKING:
    from multiprocessing.context import ForkContext, SpawnContext

    Pipe = Connection[Any, Any]

_SAFE_PATH = "PYTHONSAFEPATH"

Task = TypeVar("Task")
Done = TypeVar("Done")


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
    """A task or part of a task, with its outcome once that is known."""

    def __init__(self, whole: Task, part: Task | None = None) -> None:
        self.whole = whole
        self.task = whole if part is None else part
        self.is_part = part is not None
        self.outcome: list[Done] = []
        """One outcome, or empty while it is unknown."""


class Pool(Generic[Task, Done]):
    """At most `jobs` processes with a copy of `work` each. A killed process is replaced."""

    def __init__(
        self,
        jobs: int,
        work: Callable[[Task], Done],
        parts: Callable[[Task], Iterable[Task]],
        given_up: Callable[[Task], Done],
    ) -> None:
        """Processes call `work` for each task. If a process is killed, a new process works on each
        of the task's `parts`. If that process is killed, too, `given_up` makes the outcome of the
        part."""
        self._jobs, self._work, self._parts, self._given_up = jobs, work, parts, given_up
        self._idle: list[_Process] = []
        self._waiting: deque[_Turn[Task, Done]] = deque()
        self._busy: dict[Pipe, tuple[_Process, _Turn[Task, Done]]] = {}

    def outcomes(self, tasks: Iterator[Task]) -> Iterator[tuple[Task, Done]]:
        """(task, outcome) in the order of `tasks`; at most 2 × `jobs` tasks are started ahead.

        The task of a killed process is yielded once per part, with that part's outcome. Raises
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

        Returns the turns that ended. A turn whose process was killed is returned with the turns of
        its parts.
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
                turn.outcome = [self._given_up(turn.task)]
            else:
                parts = [_Turn(turn.whole, part) for part in self._parts(turn.task)]
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
        ends = (their_tasks, their_answers, self._work)
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
    """Block the signals that end this process while it starts another process or creates a folder.
    Python would lose an exception that a signal handler raises then, or the name of the folder."""
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
    """Keep Python processes that start in this block from importing modules of the current folder;
    a process spawned with `-c` would."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


def _serve(tasks: Pipe, answers: Pipe, work: Callable[[object], object]) -> None:
    """Answer tasks until the parent ends this process."""
    for number in ENDING_SIGNALS:  # the parent's handlers are not for this process
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING_SIGNALS)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            came: tuple[bool, object] = True, work(tasks.recv())
        except Exception as error:
            came = False, error
        answers.send(came)


def _end_with_parent() -> None:
    """Wait until the parent ends, then exit at once."""
    if parent := multiprocessing.parent_process():
        wait([parent.sentinel])
        os._exit(1)


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
    files: tuple[File | Problem, ...]
    bytes: int
    start: int = 0
    stop: int | None = None
    """Index of the first code object after the part; None for whole files."""


ReadTaskDone = tuple[list[Piece], Events, bool]
"""The pieces and events of one task, and true if no code object of its files is left."""


def tasks(paths: Iterable[str]) -> Iterator[ReadTask]:
    """Tasks for all files of the paths, each file once. Each folder is listed only once, so that
    the tasks do not change."""
    seen = files.Seen()
    for path in paths:
        waiting: list[File | Problem] = []
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
    """Number of processes: `jobs`, or for 0 as many as the work justifies. 1 on Windows, and if an
    input can be read only once."""
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
    """Results, problems and notes, in the order in which a single process would give them; with
    `rows`, kernels come as text.

    A file that kills its process is a problem, and the run goes on. Raises `KernelinfoError` if no
    process can be started, and the errors of `Analysis`.
    """
    paths = tuple(dict.fromkeys(task.path for task in work))
    return shared_out(work, options, jobs, ReadWorker(options, paths, rows))


def shared_out(
    work: list[ReadTask], options: Options, jobs: int, worker: ReadWorker, at_once: int = 0
) -> Iterator[Any]:
    """The pieces of all tasks, in the order of a single process; see `spread`.

    A process gets `at_once` code objects of a large file at a time, by default four.
    """
    events = {task.path: Events() for task in work}
    ended: set[int] = set()
    pool = Pool(jobs, worker.work, _by_file, _given_up)
    try:
        parts = _shared(work, ended, at_once or _SHARED_BLOBS)
        for task, (pieces, events_of_task, is_last) in pool.outcomes(parts):
            if task.stop is not None and id(task.files) in ended:
                continue
            if is_last:
                ended.add(id(task.files))
            events[task.path].update(events_of_task)
            yield from pieces
    finally:
        pool.end()
    yield from conclusions([*events.items()], options)


def _shared(work: list[ReadTask], ended: set[int], at_once: int) -> Iterator[ReadTask]:
    """The tasks. A large file gives one part after another until the caller adds the `id` of the
    task's `files` to `ended`: nobody knows the number of its code objects in advance."""
    for task in work:
        if task.bytes <= _SHARED_BYTES:
            yield task
            continue
        start = 0
        while id(task.files) not in ended:
            yield task._replace(start=start, stop=start + at_once)
            start += at_once


def _by_file(task: ReadTask) -> list[ReadTask]:
    """One task for each file of the task."""
    return [task._replace(files=(file,)) for file in task.files]


def _given_up(part: ReadTask) -> ReadTaskDone:
    """The outcome of a file that kills its process: one problem."""
    return [Problem(part.files[0].path, _ENDED)], Events({("problem", ""): 1}), True


class ReadWorker:
    """The work of one process. A shared file is opened once; the next task continues where the last
    one ended."""

    def __init__(
        self,
        options: Options,
        among: Sequence[str],
        rows: Rows | None = None,
        read: Callable[[Analysis, Blob, Events], Iterator[Any]] = Analysis.results,
    ) -> None:
        """`read` yields everything that a run reads from one blob."""
        self._options, self._among, self._rows = options, among, rows
        self._analysis = Analysis(options, among)
        self._read = partial(read, self._analysis)
        self._files: tuple[File | Problem, ...] = ()
        """The shared file that is open."""
        self._blobs: Iterator[Found] = iter(())
        """Blobs of that file from index `_next` on."""
        self._next = 0

    def work(self, task: ReadTask) -> ReadTaskDone:
        """The outcome of a task: results and problems of its files or code objects."""
        events = Events()
        blobs = self._open(task) if task.stop is None else self._share(task, task.stop)
        items = [*read_inputs(blobs, events, self._read, self._options)]
        pieces: list[Piece] = [
            item._replace(blob=None) if isinstance(item, SpirV) else item for item in items
        ]
        if self._rows:
            rows = "".join(self._rows(item for item in items if isinstance(item, Result)))
            pieces = [*(item for item in items if isinstance(item, Problem | Note)), rows]
        return pieces, events, task.stop is None or self._next < task.stop

    def _share(self, task: ReadTask, stop: int) -> Iterator[Found]:
        if self._files != task.files or self._next > task.start:
            self._files, self._blobs, self._next = task.files, self._open(task), 0
        for blob in islice(self._blobs, stop - self._next):
            self._next += 1
            if self._next > task.start:
                yield blob
            elif isinstance(blob, Blob):
                # The analysis compares later code objects with it.
                conflicting_entry(blob, self._analysis.entries)

    def _open(self, task: ReadTask) -> Iterator[Found]:
        return chain.from_iterable(
            containers.open_file(file, among=self._among, within=self._options.bounds)
            for file in task.files
        )
