"""Runs test files in forks of one process that has imported all but the product.

`python -m tests.mutants.server` in a copy of the tree: each line of standard input is a `Request`
as JSON, each line of standard output the `Answer`.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import resource
import select
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_IMPORTED_ONCE = (
    *("pytest", "_pytest.assertion.rewrite", "hypothesis", "jsonschema", "msgpack", "rich.console"),
    *("rich.table", "rich.progress", "jinja2", "yaml", "elftools.elf.elffile", "lark", "re2"),
    *("typer", "click", "markdown_it"),
)
_WALL = 600
"""Seconds after which a run that waits for ever is ended; one that computes ends by its limit."""


class Request(NamedTuple):
    """Tests to run in one process until the first fails."""

    tests: list[str]
    seconds: int  # limit of CPU time
    without: list[str] = []  # noqa: RUF012 - tests to leave out
    record: str = ""  # a file for the names of entered functions; then no failure ends the run
    whole: bool = False  # the tests of other tiers, too


class Answer(NamedTuple):
    """The end of a request."""

    code: int  # pytest's exit code; negative: the signal that ended it, which a limit sent
    seconds: float  # of CPU, with all its children
    failed: str  # the first test that failed


def main() -> None:
    """Answer until standard input ends."""
    for name in _IMPORTED_ONCE:
        with suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        print(json.dumps(_answer(Request(**json.loads(line)))._asdict()), flush=True)


def _answer(request: Request) -> Answer:
    with tempfile.NamedTemporaryFile("r", errors="replace") as log:
        before = os.times()
        pid = os.fork()
        if not pid:
            _run(request, log.name)
        code = _end_of(pid)
        after = os.times()
        children = (after.children_user + after.children_system) - (
            before.children_user + before.children_system
        )
        failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", log.read(), re.M)
    return Answer(code, round(children, 1), failed[1] if failed else "")


def _end_of(pid: int) -> int:
    """Exit code of a process. Its group is killed with it, or after too long a time."""
    end = os.pidfd_open(pid)
    select.select([end], [], [], _WALL)
    os.close(end)
    with suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _run(request: Request, log: str) -> None:
    """Run pytest and end this process."""
    os.setpgid(0, 0)
    output = os.open(log, os.O_WRONLY)
    for stream, number in ((os.open(os.devnull, os.O_RDONLY), 0), (output, 1), (output, 2)):
        os.dup2(stream, number)
    resource.setrlimit(resource.RLIMIT_CPU, (request.seconds, request.seconds + 5))
    options = ["-q", "-n0", "-p", "no:cacheprovider", "--tb=no", "-rfE"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    if request.whole:
        options += ["-m", ""]
    for test in request.without:
        options += ["--deselect", test]
    if request.record:
        from tests.mutants import recording

        recording.begin(request.record, str(Path.cwd()))
    else:
        options.append("-x")
    import pytest

    code = 1
    try:  # whatever a mutant raises, this process must not go on as the server
        code = int(pytest.main([*options, *request.tests]))
        sys.stdout.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
