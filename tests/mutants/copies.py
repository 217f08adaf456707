"""Copies of the tree, each with a process that runs tests in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from .mutations import Mutant
from .reach import NO_TESTS, Reach
from .server import Answer, Request

ROOT = Path(__file__).parents[2]
_MOST = 200  # seconds of CPU of tests, as recorded, which takes three times as long
_SECONDS = 60  # of CPU, after which tests that do not end are ended
_RECORDING = 100  # of CPU, for one test file
_PASSED = (0, NO_TESTS)
_NO_SUCH_TEST = 4  # pytest's exit code


class Verdict(NamedTuple):
    """What became of a mutant."""

    mutant: Mutant
    line: int
    killer: str  # a test, or what else ended the tests; empty: it survived
    files: int  # test files that ran


class Copy:
    """A copy of the tree. Its process ends with the `with` block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "kernelinfo"
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True, text=True).stdout
        # Parse tables are made by an installation; the repository has none.
        tables = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("grammars/*.tables")]
        for name in (*filter(None, names.split("\0")), *tables):
            if (ROOT / name).is_file():
                (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self._folder / name)
        self._stamp = 1_700_000_000
        self._passing: set[str] = set()
        self._failing: set[str] = set()
        """Tests that pass or fail without a mutant."""

    def __enter__(self) -> Copy:
        environment = os.environ | {"PYTHONPATH": str(self._folder), "CI": "1"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.mutants.server"],
            cwd=self._folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._server.kill()
        self._server.communicate()

    def record(self, test: str) -> tuple[Answer, list[str]]:
        """Run a test file, and list the functions that it enters."""
        names = self._folder.with_name("entered")
        names.write_text("")
        answer = self._tested(Request([test], _RECORDING, record=str(names)))
        return answer, names.read_text("utf-8").splitlines()

    def verdict(self, mutant: Mutant, reach: Reach) -> Verdict:
        """Run the tests that reach a mutant until one fails."""
        line, files, killer = mutant.line((ROOT / mutant.file).read_text("utf-8")), 0, ""
        for batch in reach.batches(mutant, _MOST):
            files += len(batch)
            if killer := self._killer(batch, mutant):
                break
        return Verdict(mutant, line, killer, files)

    @contextmanager
    def _mutated(self, mutant: Mutant) -> Iterator[None]:
        """The copy with the mutant. Python knows its bytecode by a time of change of its own."""
        path = self._folder / mutant.file
        before = path.stat()
        whole = path.read_bytes()
        mutated = mutant.mutated(whole.decode())
        assert mutated is not None
        path.write_bytes(mutated.encode())
        self._stamp += 1
        os.utime(path, (self._stamp, self._stamp))
        try:
            yield
        finally:
            path.write_bytes(whole)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def _killer(self, tests: Sequence[str], mutant: Mutant) -> str:
        """The first test that fails with the mutant alone, or what else ended the tests then."""
        while True:
            with self._mutated(mutant):
                answer = self._tested(Request([*tests], _SECONDS, sorted(self._failing)))
            if answer.code in _PASSED:
                return ""
            if self._passes([answer.failed] if "::" in answer.failed else tests):
                return answer.failed or f"code {answer.code}, {answer.seconds} s: {' '.join(tests)}"
            if "::" not in answer.failed:
                return ""
            self._failing.add(answer.failed)

    def _passes(self, tests: Sequence[str]) -> bool:
        """True if tests pass without a mutant, or cannot be run alone."""
        name = " ".join(tests)
        if name not in self._passing:
            request = Request([*tests], _SECONDS, sorted(self._failing))
            if self._tested(request).code not in (*_PASSED, _NO_SUCH_TEST):
                return False
            self._passing.add(name)
        return True

    def _tested(self, request: Request) -> Answer:
        """The answer; tests of a room that has none in the default tier run whole."""
        answer = self._answer(request)
        rooms = {test.split("/")[1] for test in request.tests}
        if answer.code == NO_TESTS and all((ROOT / "kernelinfo" / room).is_dir() for room in rooms):
            answer = self._answer(request._replace(whole=True))
        return answer

    def _answer(self, request: Request) -> Answer:
        assert self._server.stdin
        assert self._server.stdout
        print(json.dumps(request._asdict()), file=self._server.stdin, flush=True)
        return Answer(**json.loads(self._server.stdout.readline()))
