"""Several processes find what one finds, in the same order."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from functools import partial
from io import BytesIO, TextIOWrapper
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from kernelinfo import Options, Problem
from kernelinfo.analysis import analyse, parallel
from kernelinfo.analysis.inputs import Events, add, conclusions
from kernelinfo.errors import Message
from kernelinfo.render import View

from ..conftest import FIXTURES
from ..messages import code_of, does_line_match
from ..messages import refused as refused_to_read
from ..outputs import outputs
from ..test_golden import run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")

nightly = partial(pytest.param, marks=pytest.mark.nightly)

PATHS = ["container", "code_object", "broken", "assembly/odd-clang22-gfx90a.s", "../grammars"]
WHOLE_PATHS = [str(FIXTURES / path) for path in PATHS]


def outcome(*arguments: str, command: tuple[str, ...] = ()) -> tuple[str, list[str], int]:
    format = () if "--format" in arguments or command else ("--format", "jsonl")
    out, err, code = run(*command, *PATHS, *format, *arguments)
    return out, sorted(err.splitlines()), code


def test_the_answer_is_the_same() -> None:
    alone = outcome("--jobs", "1", "--verbose")
    assert alone[2] == 2
    assert any(does_line_match(line, "file-without-kernels ../grammars") for line in alone[1])
    assert any(does_line_match(line, "object-read code-object … gfx90a") for line in alone[1])
    for processes in ("2", "5"):
        assert outcome("--jobs", processes, "--verbose") == alone


@pytest.mark.parametrize(
    "format", ["csv", *(nightly(name) for name in ("text", "json", "markdown"))]
)
def test_every_format_is_the_same(format: str) -> None:
    alone = outcome("--jobs", "1", "--format", format)
    assert outcome("--jobs", "3", "--format", format) == alone


def test_check_is_the_same() -> None:
    alone, several = (outcome("--jobs", jobs, command=("check",)) for jobs in ("1", "3"))
    assert several == alone


def test_standard_input_is_read_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    data = (FIXTURES / "container" / "libtwo.so").read_bytes()
    answers = []
    for jobs in ("1", "4"):
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(data)))
        answers.append(run("-", "--format", "jsonl", "--jobs", jobs))
    assert answers[0][0]
    assert answers[1] == answers[0]
    assert parallel.processes(list(parallel.tasks(["-"])), 4) == 1


def test_many_small_files_are_worth_several_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (FIXTURES / "code_object" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.out").read_bytes()
    for number in range(600):
        (tmp_path / f"{number}.co").write_bytes(code)
    many = list(parallel.tasks([str(tmp_path)]))
    assert sum(len(task.files) for task in many) == 600
    monkeypatch.setattr(parallel, "_cores", lambda: 64)
    assert parallel.processes(many, 0) == 2
    assert parallel.processes(many[:3], 0) == 1
    assert parallel.processes(many[:3], 3) == 3
    monkeypatch.setattr(parallel, "_cores", lambda: 1)
    assert parallel.processes(many, 0) == 1


rows = partial(outputs("report")["jsonl"], view=View())


def spread(tasks: list[parallel.ReadTask]) -> tuple[str, list[str]]:
    """The rows that three processes write, and their problems."""
    pieces = list(parallel.spread(tasks, Options(), 3, rows))
    text = "".join(piece for piece in pieces if isinstance(piece, str))
    return text, [f"{one.path}: {one.message}" for one in pieces if isinstance(one, Problem)]


def test_files_that_come_while_others_are_read_move_none(tmp_path: Path) -> None:
    """Each process opens files by the same list, whenever it comes to them."""
    code = (FIXTURES / "code_object" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.out").read_bytes()
    for number in range(100, 200):
        (tmp_path / f"{number}.co").write_bytes(code)
    found = list(parallel.tasks([str(tmp_path)]))
    (tmp_path / "000.co").write_bytes(code)
    paths = [json.loads(line)["Path"] for line in spread(found)[0].splitlines()]
    names = [str(tmp_path / f"{number}.co") for number in range(100, 200)]
    assert paths == [name for name in names for _ in range(4)]


def test_filters_count_over_all_processes() -> None:
    out, err, code = outcome("--jobs", "3", "-k", "nobody")
    assert (out, code) == ("", 2)
    assert any(does_line_match(line, "choice-of-none code_object … -k nobody") for line in err)
    assert outcome("--jobs", "1", "-k", "nobody") == (out, err, code)


def work() -> list[parallel.ReadTask]:
    return list(parallel.tasks(WHOLE_PATHS))


@pytest.fixture(params=["whole files", "two code objects of a file at once"])
def granularity(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param != "whole files":
        monkeypatch.setattr(parallel, "_SHARED_BYTES", 0)
        monkeypatch.setattr(parallel, "_MOST_FILES", 1)
        monkeypatch.setattr(parallel, "_SHARED_BLOBS", 2)


@pytest.mark.usefixtures("granularity")
def test_several_processes_write_what_one_writes() -> None:
    assert spread(work())[0] == "".join(rows(analyse(WHOLE_PATHS, Options())))


def killed_at(
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    once: Path | None = None,
    start: int = 0,
    number: int = signal.SIGKILL,
) -> None:
    """Whichever process comes to that file is killed; only the first one if `once`."""
    do = parallel.ReadWorker.work

    def work(self: parallel.ReadWorker, task: parallel.ReadTask) -> parallel.ReadTaskDone:
        is_the_file = any(one.path.endswith(name) for one in task.files)
        if is_the_file and task.start >= start and not (once and once.exists()):
            if once:
                once.touch()
            os.kill(os.getpid(), number)
        return do(self, task)

    monkeypatch.setattr(parallel.ReadWorker, "work", work)


@pytest.mark.usefixtures("granularity")
@pytest.mark.parametrize(
    "name",
    [
        "container/libtwo.so",
        *(nightly(name) for name in ("tiny-v4-clang15-gfx90a.co", ".lark")),
    ],
)
def test_a_process_killed_once_costs_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole = spread(work())
    killed_at(name, monkeypatch, once=tmp_path / "killed")
    assert spread(work()) == whole
    assert (tmp_path / "killed").exists()


def test_a_process_killed_in_the_middle_of_an_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody else would write the rest of its 8 MB."""
    do, send = parallel.ReadWorker.work, Connection._send  # type: ignore[attr-defined]
    long, read = "x" * (8 << 20), [""]

    def work(self: parallel.ReadWorker, task: parallel.ReadTask) -> parallel.ReadTaskDone:
        read[0] = task.files[0].path
        pieces, events, is_last = do(self, task)
        return [*pieces, long], events, is_last

    def send_half(self: Connection, data: bytes) -> None:
        if len(data) > len(long) and read[0].endswith(".out"):
            send(self, data[: len(long) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        send(self, data)

    monkeypatch.setattr(parallel.ReadWorker, "work", work)
    monkeypatch.setattr(parallel, "_MOST_FILES", 1)
    monkeypatch.setattr(Connection, "_send", send_half)
    tasks = list(parallel.tasks([str(FIXTURES / "code_object")]))
    pieces = list(parallel.spread(tasks, Options(), 3))
    problems = [piece for piece in pieces if isinstance(piece, Problem)]
    named = [one.path for one in problems if one.code == "process-ended"]
    files = sorted(str(path) for path in (FIXTURES / "code_object").iterdir())
    assert named == [path for path in files if path.endswith(".out")]
    assert pieces.count(long) + len(named) == len(tasks) == len(files)


def test_a_file_that_ends_its_process_is_named_and_the_run_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Even by a signal that the process which started it blocks meanwhile."""
    text, problems = spread(work())
    killed_at("container/libtwo.so", monkeypatch, number=signal.SIGTERM)
    less, more = spread(work())
    [message] = [one for one in more if code_of(one) == "process-ended"]
    assert message.startswith(f"{FIXTURES / 'container' / 'libtwo.so'}: ")
    assert less == "".join(
        line for line in text.splitlines(keepends=True) if '/libtwo.so"' not in line
    )
    assert [one for one in more if one != message] == problems


@pytest.mark.parametrize("start", [0, 2])
def test_a_shared_file_that_ends_its_process_is_left(
    start: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "_SHARED_BYTES", 0)
    monkeypatch.setattr(parallel, "_SHARED_BLOBS", 2)
    path = str(FIXTURES / "container" / "libwrapped.so")
    whole = spread(list(parallel.tasks([path])))[0].splitlines()
    killed_at("libwrapped.so", monkeypatch, start=start)
    text, problems = spread(list(parallel.tasks([path])))
    assert text.splitlines() == whole[: 2 * start]
    assert len(problems) == 1


def test_while_another_thread_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A forked process would have the locks of that thread."""
    monkeypatch.delattr(os, "fork")
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        assert spread(work())[0] == "".join(rows(analyse(WHOLE_PATHS, Options())))
    finally:
        end.set()
        thread.join()


def test_no_process_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = parallel.spread(work(), Options(), 3, rows)
    next(pieces)
    pieces.close()  # type: ignore[attr-defined]
    assert multiprocessing.active_children() == []


def test_a_killed_run_ends_its_processes(tmp_path: Path) -> None:
    """Whatever they do then: here they sleep."""
    code = (FIXTURES / "code_object" / "handwritten.co").read_bytes()
    for number in range(64):
        (tmp_path / f"{number}.co").write_bytes(code)
    program = (
        "import os, time\n"
        "from kernelinfo.analysis import parallel\n"
        "from kernelinfo.analysis.options import Options\n"
        "parallel.ReadWorker.work = lambda self, task: os.write(1, b'.') and time.sleep(1000)\n"
        f"tasks = list(parallel.tasks([{str(tmp_path)!r}]))\n"
        "list(parallel.spread(tasks, Options(), 2))\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as child:
        assert child.stdout
        assert child.stdout.read(2) == b"..", "two processes work"
        child.kill()
        assert child.stdout.read() == b"", "the pipe ends with the last process that has it"


def test_where_no_process_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refused)
    with refused_to_read("process-not-started"):
        spread(work())


def test_host_files_without_archives_are_counted_over_all_processes() -> None:
    events, more = Events(), Events()
    for each, name in ((events, "liba.so"), (more, "libb.so"), (more, "libc.so")):
        add(each, "missing", Problem(name, Message("no archive", "kpack-missing")))
    events.update(more)
    [problem] = conclusions([("lib", events)], Options())
    assert isinstance(problem, Problem)
    assert problem.path == "liba.so"
    assert problem.message.endswith("(and for 2 more)")
