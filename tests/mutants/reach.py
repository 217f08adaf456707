"""Which test files enter which functions, as recorded in `build/mutants.json`."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.near import reached_modules

from .mutations import Mutant, function_of

_INNER = re.compile(r"\.<locals>\.<\w+>")
"""Comprehensions and lambdas belong to the function around them."""
_FOLDERS = {"variants": "sweep"}
"""Rooms whose tests are in a folder of another name."""
_AT_ONCE = 20
"""Most seconds of CPU of test files that run in one process."""
_UNKNOWN = 3.0
"""Seconds of a test file that is not recorded."""
_ROWS = "tests/contract/test_rows.py"
"""Each of its tables counts as a test file."""
NO_TESTS = 5
"""pytest's exit code where no test is in the tier."""
_RAN = (0, 1)
"""pytest's exit codes where all pass or some fail."""


class Reached(NamedTuple):
    """What one test file does."""

    digest: str  # of its text
    code: int  # pytest's exit code
    seconds: float  # of CPU, recording included
    entered: list[str]  # `file:qualified name`


class Reach:
    """The test files, as far as they are recorded."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._file = root / "build" / "mutants.json"
        entries = json.loads(self._file.read_text("utf-8")) if self._file.exists() else {}
        present = {path.relative_to(root).as_posix() for path in root.glob("tests/**/test_*.py")}
        tables = [path.stem for path in root.glob("tests/contract/*.toml")]
        present = present - {_ROWS} | {f"{_ROWS}::test_rows[{table}]" for table in tables}
        self._files = {name: Reached(*entries[name]) for name in entries if name in present}
        self.unrecorded = sorted(
            name
            for name in present
            if name not in self._files or self._files[name].digest != self._digest(name)
        )
        """Test files that are new or have changed since they were recorded."""
        self._unknown = present - {*self._files}

    def add(self, name: str, code: int, seconds: float, entered: Iterable[str]) -> None:
        """Keep what a test file entered."""
        names = sorted({_INNER.sub("", function) for function in entered})
        self._files[name] = Reached(self._digest(name), code, seconds, names)
        self._unknown.discard(name)
        self._file.parent.mkdir(exist_ok=True)
        self._file.write_text(json.dumps(self._files), "utf-8")

    def batches(self, mutant: Mutant, most: float) -> Iterator[list[str]]:
        """Test files that reach a mutant, the likeliest first, `most` seconds of them.

        The first come alone: most mutants die by them.
        """
        batch: list[str] = []
        size, seconds, total = 1, 0.0, 0.0
        for name, cost in self._likeliest(mutant):
            if batch and (len(batch) >= size or seconds + cost > _AT_ONCE):
                yield batch
                batch, size, seconds = [], 2 * size, 0.0
            if not total or total + cost <= most:
                batch.append(name)
                seconds += cost
                total += cost
        if batch:
            yield batch

    def _likeliest(self, mutant: Mutant) -> Iterable[tuple[str, float]]:
        """Test files that enter the mutant's function, and seconds of each, the likeliest first.

        If none does, those that import its module. A file that is not recorded is taken to enter
        all of its room, of its namesakes and of what it imports; that of the goldens, everything.
        """
        text = (self._root / mutant.file).read_text("utf-8")
        function = f"{mutant.file}:{function_of(text, mutant.line(text))}"
        running = {name: one for name, one in self._files.items() if one.code in _RAN}
        entering = [name for name, one in running.items() if function in one.entered] or [
            name for name, one in running.items() if f"{mutant.file}:<module>" in one.entered
        ]
        parts = mutant.file.removesuffix(".py").removesuffix("/__init__").split("/")
        room = f"tests/{_FOLDERS.get(parts[1], parts[1])}/"
        folders = tuple(f"/{part}/" for part in parts[2:])
        found: list[tuple[int, float, str, float]] = []
        for name in {*entering, *self._unknown}:
            likeness = 2 * (parts[-1] in name) + name.startswith(room)
            likeness += 2 * (".".join(parts) in reached_modules(self._path(name)))
            likeness += any(folder in name for folder in folders)
            if name not in entering and not likeness and name.count("/") > 1:
                continue
            one = running.get(name)
            cost, functions = (one.seconds, len(one.entered)) if one else (_UNKNOWN, 1)
            found.append((-likeness, cost * functions, name, cost))
        return [(name, cost) for *_, name, cost in sorted(found)]

    def _path(self, name: str) -> Path:
        """Path of the Python of a test file or table."""
        return self._root / name.partition("::")[0]

    def _digest(self, name: str) -> str:
        _, _, table = name.removesuffix("]").partition("[")
        path = self._path(name).with_name(f"{table}.toml") if table else self._path(name)
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
