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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from tempfile import TemporaryDirectory
from typing import NamedTuple

from kernelinfo import __version__
from kernelinfo.analysis import Analysis
from kernelinfo.analysis.inputs import Events, compiled_later, each, noted, read_inputs
from kernelinfo.analysis.kernels import conflicting_entry
from kernelinfo.analysis.options import Options
from kernelinfo.analysis.parallel import Rows
from kernelinfo.errors import KernelinfoError, bug
from kernelinfo.fleet.acceptance import accepted
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
from kernelinfo.fleet.remote import UNFETCHED, among, opened
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
    """Settings of a scan, shared by all its tasks. The methods carry out a task in a worker
    process."""

    urls: tuple[str, ...]
    dataset: Dataset
    build: str
    options: Options
    rows: Rows  # kernels -> JSON lines
    timeout: float = 60  # seconds per file
    shard: str = ""  # name of the part of the build that this scan writes; empty for all of it
    labels: Labels = ()
    accepted: frozenset[Problem] = frozenset()  # known problems, as `acceptance.accepted` has them
    accepts_all: bool = False  # True if the problems of this scan become the accepted ones
    roots: tuple[str, ...] = ()  # local paths of the scan, on the machine that started it
    archives: tuple[str, ...] = ()  # relative paths of kpack archives that host libraries may name
    scratch: str | None = None  # folder for temporary files; None: the worker chooses
    version: str = __version__

    @property
    def memory(self) -> int:
        """Limit of memory of a local process, in bytes."""
        return self.options.bounds.memory + _OWN_BYTES

    def accepts(self, path: str, problem: Problem) -> bool:
        """True if the problem of a file, `path` below its root, does not make the scan fail."""
        return self.accepts_all or accepted(path, problem) in self.accepted

    def written_options(self, **settings: float) -> str:
        """The options that differ from the defaults, and `settings`, as JSON for the table
        `inputs`."""
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
        dataset counts as read, even if it was read from another root."""
        return {
            "Path": file.path,
            "Size": file.size,
            "Modified": file.modified,
            "Kernelinfo_Version": self.version,
            "Options": self.written_options(),
        }

    def work(self, task: ScanTask) -> ScanTask:
        """The task, read in a local process whose memory is limited. The process ends if it runs
        out of memory."""
        _limit_memory(self.memory)
        try:
            return read(task, self)
        except MemoryError:
            os._exit(1)

    def parts(self, task: ScanTask) -> list[ScanTask]:
        """The task cut into one task per unit, each for a process of its own."""
        return task.by_unit()

    def given_up(self, task: ScanTask) -> ScanTask:
        """Write one row of `problems` per file of a task that killed its worker. Returns the task
        with this outcome."""
        seconds, memory = f"{self.timeout:g}", self.memory >> 20
        problem = Problem("", say("worker-ended", seconds=seconds, memory=memory))
        addresses = frozenset(file.address for file in task.files)
        done = task._replace(fetched=addresses, given_up=True)
        self.write(
            f"{task.part}.{task.share}.ended",
            (problem_row(problem, file.address, file.path) for file in task.files),
            input_rows(self, [done]) if task.shares == 1 else (),
        )
        return done

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
    """An option's value as text. The `repr` of a function would differ from run to run."""
    return str(getattr(value, "__qualname__", repr(value)))


def bounded(bounds: Bounds) -> Bounds:
    """The bounds, with 160 MiB of memory unless the user set a limit."""
    return bounds._replace(memory=HELD_BYTES) if bounds.memory == BY_DEFAULT.memory else bounds


def read(task: ScanTask, request: ScanRequest) -> ScanTask:
    """Read the files of a task and write its part. Unread inputs become rows of `problems`.

    Returns the task with its outcome. Raises `KernelinfoError` if this machine's version of
    kernelinfo differs from the scan's.
    """
    if request.version != __version__:
        other = say("worker-version", worker=__version__, version=request.version)
        raise KernelinfoError(other)
    with _one_at_a_time, _without_cycles(), _folder(request) as scratch:
        names = (f"{task.part}.{task.share}.{number}" for number in count())
        openings = _open(task, request, scratch)
        files = {opening[0]: file for file, opening in openings if not isinstance(opening, Problem)}
        rows = (opened_row(path, file.path, file.address) for path, file in files.items())
        write_lines(scratch, "opened", rows)
        together = {path for file in files.values() for path in among(file, request.roots, scratch)}
        analysis, events = Analysis(request.options, sorted(together)), Events()
        kernels, problems, lost = 0, list[Problem](), set[str]()
        for file, opening in openings:
            with _limited(request.timeout):
                for item in _read_file(opening, task, request, analysis, events):
                    if isinstance(item, Problem):
                        problems.append(item)
                        lost |= {file.address} if item.code == UNFETCHED else set()
                        continue
                    number, lines = item
                    kernels += number
                    if append_lines(scratch, "kernels", lines) > _MOST_BYTES:
                        request.dataset.write_part(request.build, next(names), scratch)
        problems += each(events, "missing")
        notes = tuple(note._replace(path=files[note.path].address) for note in _notes(events))
        fetched = frozenset(file.address for file in task.files) - lost
        done = task._replace(kernels=kernels, notes=notes, fetched=fetched)
        write_lines(scratch, "problems", _problem_rows(problems, files, task))
        if task.shares == 1:
            write_lines(scratch, "inputs", input_rows(request, [done]))
        request.dataset.write_part(request.build, next(names), scratch)
        if demangle.cache_info().currsize > _MOST_NAMES:
            demangle.cache_clear()  # a fleet has more names than a worker's memory holds
        return done


def _open(
    task: ScanTask, request: ScanRequest, scratch: str
) -> list[tuple[InputFile, tuple[str, Iterator[Found]] | Problem]]:
    """Each file of the task with its local path and content, or the problem of fetching it."""
    bounds, seconds = request.options.bounds, request.timeout
    with _limited(seconds * (2 + len(task.files))):
        places = (request.roots, request.archives, scratch)
        openings = opened(task.files, *places, bounds, seconds)
        return list(zip(task.files, openings, strict=True))


def _problem_rows(
    problems: Iterable[Problem], opened: Mapping[str, InputFile], task: ScanTask
) -> Iterator[DatasetRow]:
    """Rows of `problems`; problems of unknown paths go to the first file."""
    files = {**opened, **{file.address: file for file in task.files}}
    for problem in problems:
        file = files.get(problem.path, task.files[0])
        yield problem_row(problem, file.address, file.path)


def _folder(request: ScanRequest) -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="kernelinfo-", dir=request.scratch)


def _limit_memory(limit: int) -> None:
    """Make allocations beyond `limit` bytes fail, if the system supports limits."""
    with suppress(ValueError, OSError):
        if sys.platform != "win32":
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def input_rows(request: ScanRequest, shares: Sequence[ScanTask]) -> Iterator[DatasetRow]:
    """Rows of `inputs` that mark files as done. `shares` is one finished task, or all finished
    tasks that share a file.

    A file that could not be fetched has no `Modified`, so the next run reads it again. The options
    of a file that was given up include `--timeout`.
    """
    fetched = frozenset.intersection(*(share.fetched for share in shares))
    limit = {"timeout": float(request.timeout)} if any(done.given_up for done in shares) else {}
    for file in shares[0].files:
        row = request.input_row(file) | {"Url": file.address, "Part": shares[0].part}
        row["Options"] = request.written_options(**limit)
        yield row if file.address in fetched else row | {"Modified": None}


def problem_row(problem: Problem, url: str, path: str) -> DatasetRow:
    where = (url, path, problem.member, problem.offset, problem.line)
    return dict(zip(PROBLEMS, (*where, problem.message, problem.code, __version__), strict=True))


def _read_file(
    opening: tuple[str, Iterator[Found]] | Problem,
    task: ScanTask,
    request: ScanRequest,
    analysis: Analysis,
    events: Events,
) -> Iterator[tuple[int, str] | Problem]:
    """(number of kernels, their JSON lines) of each code object of a file, and problems."""
    if isinstance(opening, Problem):
        yield opening
        return
    path, blobs = opening

    def read_blob(blob: Blob, events: Events) -> Iterator[list[Result] | Problem | Note]:
        results = []
        for item in analysis.results(blob, events):
            if isinstance(item, Result):
                results.append(item)
            elif not isinstance(item, Repeat):
                yield item
        yield results

    try:
        share = _share(blobs, task, analysis)
        for item in read_inputs(share, events, read_blob, request.options):
            if isinstance(item, Problem):
                yield item
            else:
                yield len(item), "".join(request.rows(item))
    except MemoryError:
        yield Problem(path, say("worker-memory"))
    except Exception as error:  # our bug must cost one file only
        yield Problem(path, bug(error))


def _share(items: Iterable[Found], task: ScanTask, analysis: Analysis) -> Iterator[Found]:
    """The blobs in the task's share of a file. The first share also gets the problems and notes."""
    number = 0
    for item in items:
        if not isinstance(item, Blob):
            if task.share == 0:
                yield item
            continue
        if number // _TOGETHER % task.shares == task.share:
            yield item
        else:
            # The analysis compares later entries with this one.
            conflicting_entry(item, analysis.entries)
        number += 1


def _notes(events: Events) -> Iterator[Note]:
    yield from noted(events)
    for file in each(events, "spirv"):
        yield Note(file, compiled_later(events["spirv", file]))


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
