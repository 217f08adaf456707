"""One task of a scan: read its files, write their rows as one part."""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from tempfile import TemporaryDirectory
from typing import NamedTuple

from kernelinfo import __version__
from kernelinfo.analysis import Analysis
from kernelinfo.analysis.inputs import Events, RunEvent, compiled_later, each, noted, read_inputs
from kernelinfo.analysis.kernels import conflicting_entry
from kernelinfo.analysis.options import Options
from kernelinfo.analysis.parallel import Rows
from kernelinfo.errors import KernelinfoError, bug
from kernelinfo.fleet.acceptance import KnownProblem
from kernelinfo.fleet.dataset import (
    PROBLEMS,
    Dataset,
    DatasetRow,
    append_lines,
    opened_row,
    write_lines,
)
from kernelinfo.fleet.listing import InputFile, ScanTask
from kernelinfo.fleet.messages import say
from kernelinfo.fleet.remote import UNFETCHED, Opened, opened
from kernelinfo.kernel import Repeat, Result
from kernelinfo.kernel.names import demangle
from kernelinfo.reading.blob import BY_DEFAULT, Blob, Bounds, Found, Note, Problem

if sys.platform != "win32":
    import resource

HELD_BYTES = 160 << 20
"""Limit of decompressed code in a worker's memory, unless `--bound memory=N` sets another."""
_WORKER_BYTES = 512_000_000
_OWN_BYTES = _WORKER_BYTES - HELD_BYTES  # memory of a worker besides decompressed code
_TOGETHER = 8  # neighbouring code objects of a shared file for one worker
_MOST_BYTES = 40 << 20  # JSON rows per file; DuckDB can write these within its memory
_MOST_NAMES = 1 << 16  # demangled names kept for the next task
Labels = tuple[tuple[str, str], ...]  # (name, value) of a build
_one_at_a_time = threading.Lock()
"""Lock around tasks: several threads of one worker would multiply its memory."""


class ScanRequest(NamedTuple):
    """Settings of a scan, the same for all its tasks."""

    urls: tuple[str, ...]
    dataset: Dataset
    build: str
    options: Options
    rows: Rows  # kernels -> JSON lines
    timeout: float = 60  # seconds per file
    shard: str = ""  # name of the part of the build that this scan writes; empty for all of it
    labels: Labels = ()
    accepted: frozenset[KnownProblem] = frozenset()  # problems that are known
    accepts_all: bool = False  # True if the problems of this scan become the accepted ones
    roots: tuple[str, ...] = ()  # local paths of the scan, on the machine that started it
    archives: tuple[str, ...] = ()  # relative paths of kpack archives that host libraries may name
    scratch: str | None = None  # folder for temporary files; None: the worker chooses
    version: str = __version__

    @property
    def memory(self) -> int:
        """Limit of memory of a local process, in bytes."""
        return self.options.bounds.memory + _OWN_BYTES

    def accepts(self, problem: KnownProblem) -> bool:
        """True if the problem does not make the scan fail."""
        return self.accepts_all or problem in self.accepted

    def written_options(self, **settings: float) -> str:
        """Options that differ from the defaults, and `settings`, as JSON for `inputs`."""
        default = Options()._asdict()
        given = {k: v for k, v in self.options._asdict().items() if v != default[k]}
        return json.dumps(given | settings, default=_named, sort_keys=True)

    def is_done(self, file: InputFile, row: DatasetRow) -> bool:
        """True if a row of `inputs` says that the file was read with these options, or given up
        after this `--timeout` or a longer one."""
        expected = self.input_row(file)
        if seconds := _given_up_after(row.get("Options")):
            expected["Options"] = self.written_options(timeout=max(seconds, self.timeout))
        return file.modified is not None and expected.items() <= row.items()

    def input_row(self, file: InputFile) -> DatasetRow:
        """The row of `inputs` for a file, without address and part. A file with an equal row in the
        dataset is done, also if it was read from another root."""
        return {
            "Path": file.path,
            "Size": file.size,
            "Modified": file.modified,
            "Kernelinfo_Version": self.version,
            "Options": self.written_options(),
        }

    def write(
        self, part: str, problems: Iterable[DatasetRow] = (), inputs: Iterable[DatasetRow] = ()
    ) -> None:
        """Write a part without kernels."""
        with _folder(self) as scratch:
            write_lines(scratch, "problems", problems)
            write_lines(scratch, "inputs", inputs)
            self.dataset.write_part(self.build, part, scratch)


def _given_up_after(options: str | None) -> float | None:
    """The `--timeout` in seconds of a file that was given up; None for any other file."""
    match = re.search(r'"timeout": ([0-9]+(?:\.[0-9]+)?)', options or "")
    return float(match[1]) if match else None


def _named(value: object) -> str:
    """A value of the options as text. A function's `repr` would differ from run to run."""
    return str(getattr(value, "__qualname__", repr(value)))


def bounded(bounds: Bounds) -> Bounds:
    """The bounds, with 160 MiB of memory unless the user set a limit."""
    return bounds._replace(memory=HELD_BYTES) if bounds.memory == BY_DEFAULT.memory else bounds


class ScanTaskDone(NamedTuple):
    """The outcome of one task."""

    task: ScanTask
    kernels: int
    notes: tuple[Note, ...]
    fetched: frozenset[str]  # addresses of files read; the next run reads the others again
    given_up: bool = False  # True if the task ended its worker: a longer --timeout reads it again


def read(task: ScanTask, request: ScanRequest) -> ScanTaskDone:
    """Read the files of a task and write its part. Unread inputs become rows of `problems`.

    Raises `KernelinfoError` if this machine has another version of kernelinfo than the scan.
    """
    if request.version != __version__:
        other = say("worker-version", worker=__version__, version=request.version)
        raise KernelinfoError(other)
    with _one_at_a_time, _without_cycles(), _folder(request) as scratch:
        reading = _ScanReading(task, request, scratch)
        write_lines(scratch, "opened", reading.opened_rows())
        names = (f"{task.part}.{task.share}.{number}" for number in count())
        for file in task.files:
            with _limited(request.timeout):
                for text in reading.rows(file):
                    if append_lines(scratch, "kernels", text) > _MOST_BYTES:
                        request.dataset.write_part(request.build, next(names), scratch)
        done = reading.done()
        write_lines(scratch, "problems", reading.problem_rows())
        if task.shares == 1:
            write_lines(scratch, "inputs", input_rows(request, [done]))
        request.dataset.write_part(request.build, next(names), scratch)
        if demangle.cache_info().currsize > _MOST_NAMES:
            demangle.cache_clear()  # a fleet has more names than a worker's memory holds
        return done


def _folder(request: ScanRequest) -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="kernelinfo-", dir=request.scratch)


class ScanWorker:
    """Work of one local process, whose memory is limited."""

    def __init__(self, request: ScanRequest) -> None:
        self._request = request

    def work(self, task: ScanTask) -> ScanTaskDone:
        """The outcome of a task. The process ends if it runs out of memory."""
        _limit_memory(self._request.memory)
        try:
            return read(task, self._request)
        except MemoryError:
            os._exit(1)

    def parts(self, task: ScanTask) -> list[ScanTask]:
        """The task cut into one task per unit."""
        return task.by_unit()

    def given_up(self, task: ScanTask) -> ScanTaskDone:
        """The outcome of a task that ends its worker, by the function `given_up`."""
        return given_up(task, self._request)


def _limit_memory(limit: int) -> None:
    """Make allocations beyond `limit` bytes fail, if the system supports limits."""
    with suppress(ValueError, OSError):
        if sys.platform != "win32":
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def given_up(task: ScanTask, request: ScanRequest) -> ScanTaskDone:
    """Write one row of `problems` per file of a task that ends its worker. Returns the outcome,
    without kernels."""
    memory = request.memory >> 20
    message = say("worker-ended", seconds=f"{request.timeout:g}", memory=memory)
    addresses = frozenset(file.address for file in task.files)
    done = ScanTaskDone(task, 0, (), addresses, given_up=True)
    request.write(
        f"{task.part}.{task.share}.ended",
        (problem_row(Problem("", message), file.address, file.path) for file in task.files),
        input_rows(request, [done]) if task.shares == 1 else (),
    )
    return done


def input_rows(request: ScanRequest, shares: Sequence[ScanTaskDone]) -> Iterator[DatasetRow]:
    """Rows of `inputs` that mark the files of a task, or of all shares of one, as done.

    A file that could not be fetched has no `Modified`, so the next run reads it again. The options
    of a file that was given up have the `--timeout`.
    """
    task = shares[0].task
    fetched = frozenset.intersection(*(share.fetched for share in shares))
    limit = {"timeout": float(request.timeout)} if any(done.given_up for done in shares) else {}
    for file in task.files:
        row = request.input_row(file) | {"Url": file.address, "Part": task.part}
        row["Options"] = request.written_options(**limit)
        yield row if file.address in fetched else row | {"Modified": None}


def problem_row(problem: Problem, url: str, path: str) -> DatasetRow:
    where = (url, path, problem.member, problem.offset, problem.line)
    return dict(zip(PROBLEMS, (*where, problem.message, problem.code, __version__), strict=True))


class _ScanReading:
    def __init__(self, task: ScanTask, request: ScanRequest, scratch: str) -> None:
        self._task, self._request = task, request
        bounds, seconds = request.options.bounds, request.timeout
        with _limited(seconds * (2 + len(task.files))):
            places = (request.roots, request.archives, scratch)
            openings = list(opened(task.files, *places, bounds, seconds))
        self._opened = dict(zip(task.files, openings, strict=True))
        readable = [opening for opening in openings if isinstance(opening, Opened)]
        self._files = {opening.path: opening.file for opening in readable}
        among = {path for opening in readable for path in opening.among}
        self._analysis = Analysis(request.options, sorted(among))
        self._events, self._kernels = Events(), 0
        self._problems = [opening for opening in openings if isinstance(opening, Problem)]
        self._lost = {problem.path for problem in self._problems}

    def rows(self, file: InputFile) -> Iterator[str]:
        """Kernels of a file as JSON lines, one text per code object."""
        opened = self._opened[file]
        if isinstance(opened, Problem):
            return
        try:
            blobs = self._share(opened.blobs(self._request.options.bounds))
            for item in read_inputs(blobs, self._events, self._read, self._request.options):
                if isinstance(item, Problem):
                    self._problems.append(item)
                    self._lost |= {file.address} if item.code == UNFETCHED else set()
                else:
                    self._kernels += len(item)
                    yield "".join(self._request.rows(item))
        except MemoryError:
            self._problems.append(Problem(opened.path, say("worker-memory")))
        except Exception as error:  # our bug must cost one file only
            self._problems.append(Problem(opened.path, bug(error)))

    def _read(self, blob: Blob) -> Iterator[list[Result] | Problem | Note | RunEvent]:
        """The results of a code object in one list, with problems, notes and events."""
        results = []
        for item in self._analysis.results(blob):
            if isinstance(item, Result):
                results.append(item)
            elif not isinstance(item, Repeat):
                yield item
        yield results

    def _share(self, items: Iterable[Found]) -> Iterator[Found]:
        """Blobs of this task's share of a file. The first share also takes problems and notes."""
        task, number = self._task, 0
        for item in items:
            if not isinstance(item, Blob):
                if task.share == 0:
                    yield item
                continue
            if number // _TOGETHER % task.shares == task.share:
                yield item
            else:
                # The analysis compares later entries with this one.
                conflicting_entry(item, self._analysis.entries)
            number += 1

    def done(self) -> ScanTaskDone:
        self._problems += each(self._events, "missing")
        fetched = frozenset(file.address for file in self._task.files) - self._lost
        spirv = ((file, self._events["spirv", file]) for file in each(self._events, "spirv"))
        spirv_notes = (Note(file, compiled_later(count)) for file, count in spirv)
        notes = (*noted(self._events), *spirv_notes)
        addressed = tuple(note._replace(path=self._files[note.path].address) for note in notes)
        return ScanTaskDone(self._task, self._kernels, addressed, fetched)

    def opened_rows(self) -> Iterator[DatasetRow]:
        for path, file in self._files.items():
            yield opened_row(path, file.path, file.address)

    def problem_rows(self) -> Iterator[DatasetRow]:
        files = self._files | {file.address: file for file in self._task.files}
        for problem in self._problems:
            file = files.get(problem.path, self._task.files[0])
            yield problem_row(problem, file.address, file.path)


@contextmanager
def _without_cycles() -> Iterator[None]:
    """Switch the garbage collector off: it takes a third of the time, and kernels have no
    cycles."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """End this process if the block takes longer than `seconds`, even inside a C library."""
    if sys.platform == "win32":
        with open(os.devnull, "w") as nowhere:
            faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
            try:
                yield
            finally:
                faulthandler.cancel_dump_traceback_later()
        return
    # faulthandler would hang in a forked process whose parent uses it for a limit, too.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
