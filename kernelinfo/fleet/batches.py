"""Files -> tasks of about equal size, with files that belong together in one."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from kernelinfo.analysis.copies import ASSEMBLY
from kernelinfo.fleet.listing import InputFile, is_local
from kernelinfo.light_typing import NamedTuple

_LEAST_BYTES, _MOST_BYTES = 4 << 20, 256 << 20  # of a task
_TASKS_A_WORKER = 8
_FILE_BYTES = 64 << 10  # what it costs to open a file, as if it were that much longer
SHARED_BYTES = 512 << 20
"""A larger file goes to several workers, each of which takes some of its code objects."""
_SHARES_A_WORKER = 4
"""Where there are as many files for each worker, none is shared: each share opens the file."""


class Task(NamedTuple):
    """What a worker reads at a time, and writes as one part."""

    part: str
    files: tuple[InputFile, ...]
    share: int = 0
    shares: int = 1  # into how many tasks the one file is cut

    def by_unit(self) -> list[Task]:
        """The same, what belongs together on its own; of a share of a file the share."""
        if self.shares > 1:
            return [self]
        together = units(self.files)
        return [
            self._replace(part=f"{self.part}-{number:05}", files=unit)
            for number, unit in enumerate(together)
        ]


def units(files: Iterable[InputFile]) -> list[tuple[InputFile, ...]]:
    """Files that are read together: of one folder, whose names are equal up to the first dot.

    So are a code object and Triton's JSON. Copies of one compilation are known by the assemblies
    next to them: a folder of a store that has some is fetched as one.
    """
    listed = [(posixpath.dirname(file.url), file) for file in files]
    with_assembly = {
        folder for folder, file in listed if file.url.endswith(ASSEMBLY) and not is_local(file.url)
    }
    found: dict[tuple[str, str], list[InputFile]] = {}
    for folder, file in listed:
        stem = posixpath.basename(file.url).partition(".")[0]
        found.setdefault((folder, "" if folder in with_assembly else stem), []).append(file)
    return [tuple(unit) for unit in found.values()]


def tasks(together: Iterable[tuple[InputFile, ...]], workers: int, run: str) -> list[Task]:
    """The units as tasks, the largest first; `run` begins the names of their parts."""
    waiting = sorted(together, key=_cost, reverse=True)
    total = sum(map(_cost, waiting))
    room = min(max(total // (workers * _TASKS_A_WORKER), _LEAST_BYTES), _MOST_BYTES)
    shared = max(SHARED_BYTES, total // (workers * _SHARES_A_WORKER))
    found: list[Task] = []
    for number, files in enumerate(_filled(waiting, room)):
        part, shares = f"{run}-{number:06}", 1
        if len(files) == 1:
            shares = -(-files[0].size // shared) or 1
        found += [Task(part, files, share, shares) for share in range(shares)]
    return found


def _filled(waiting: Iterable[tuple[InputFile, ...]], room: int) -> Iterator[tuple[InputFile, ...]]:
    batch: list[InputFile] = []
    taken = 0
    for unit in waiting:
        if batch and taken + _cost(unit) > room:
            yield tuple(batch)
            batch, taken = [], 0
        batch += unit
        taken += _cost(unit)
    if batch:
        yield tuple(batch)


def _cost(unit: tuple[InputFile, ...]) -> int:
    return sum(file.size + _FILE_BYTES for file in unit)
