"""The promise for every input: an answer or a clear problem, soon, and harmless to show."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from kernelinfo import KernelinfoError, Options, Problem, Result, analyse
from kernelinfo.errors import MESSAGES
from kernelinfo.kernel import Item
from kernelinfo.render import View

from ..outputs import outputs

SECONDS = 5
_FOLDER = TemporaryDirectory()
_FILE = Path(_FOLDER.name, "file")
BUG = MESSAGES["bug"].partition("{")[0]
"""Part of each message on an exception that nobody expected, and of no other one."""


class Answer(NamedTuple):
    """Results and problems that the command line shows."""

    results: list[Result]
    problems: list[Problem]

    @property
    def exit(self) -> int:
        return 2 if self.problems else 0


def answer(data: bytes, *, show: bool = True) -> Answer:
    """The answer for these bytes; raises where the promise is broken."""
    start = time.process_time()
    _FILE.write_bytes(data)
    items: list[Item] = list(analyse([str(_FILE)], Options()))
    results = [item for item in items if isinstance(item, Result)]
    problems = [item for item in items if isinstance(item, Problem)]
    assert results or problems, "silence"
    for problem in problems:
        assert problem.message
        assert BUG not in problem.message, problem.message
        assert "\n" not in problem.message, problem.message
        assert len(problem.message) < 10_000, problem.message[:100]
    for format, render in outputs("report").items() if show else ():
        shown = "".join(render(iter(items), View()))
        assert is_harmless(shown), format
        if format == "json":
            json.loads(shown)
    took = time.process_time() - start
    assert took < SECONDS, f"{took} s"
    return Answer(results, problems)


@contextmanager
def refused() -> Iterator[None]:
    """The block may refuse its input in words, unless they tell a bug."""
    try:
        yield
    except KernelinfoError as error:
        if BUG in str(error):
            raise


def is_harmless(text: str) -> bool:
    """Whether nothing in it acts on a terminal."""
    return all(character.isprintable() or character == "\n" for character in text)
