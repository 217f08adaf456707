"""Helpers for tests of scans: the tool as a process, rows of a dataset and of a report."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import kernelinfo as api

from ..conftest import FIXTURES

OBJECTS = FIXTURES / "code_object"
_COLUMNS = json.loads(Path(api.__path__[0], "render", "row-schema.json").read_text("utf-8"))[
    "required"
]
_ADDED = ("Path", "Url", "Kernelinfo_Version")


def kernelinfo(*arguments: object, **environment: str) -> tuple[str, str, int]:
    """Standard output, standard error and exit code of the command line."""
    done = subprocess.run(
        [sys.executable, "-m", "kernelinfo", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=600,
    )
    return done.stdout, done.stderr, done.returncode


def scan(*arguments: object, to: object, build: str = "b", **environment: str) -> str:
    """The one line of a scan that reads everything."""
    given = ("--workers", 2) if "--scheduler" not in arguments else ()
    out, err, code = kernelinfo(
        "scan", *arguments, "--to", to, "--build", build, *given, **environment
    )
    assert (err, code) == ("", 0)
    return out


def rows(dataset: object, build: str = "b", table: str = "kernels") -> list[dict[str, Any]]:
    """All rows of a table of one build."""
    import duckdb

    with duckdb.connect() as connection:
        files = f"{dataset}/{table}/Build={build}/*.parquet"
        query = "SELECT * FROM read_parquet($files, hive_partitioning=false)"
        found = connection.execute(query, {"files": files})
        names = [column[0] for column in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def comparable(found: list[dict[str, Any]]) -> list[str]:
    """Rows in an order of their own, but for what says where the file lies.

    A dataset has the columns of instructions also if they are not counted.
    """
    kept = (
        {k: v for k, v in row.items() if k not in _ADDED and not (k not in _COLUMNS and v is None)}
        for row in found
    )
    return sorted(json.dumps(row, sort_keys=True) for row in kept)


def reported(*paths: object) -> list[str]:
    """The rows of one machine's report."""
    out, _, _ = kernelinfo(*paths, "--format", "jsonl")
    return comparable([json.loads(line) for line in out.splitlines()])


@contextmanager
def process(
    *command: object, folder: Path | None = None, quiet: bool = False
) -> Iterator[subprocess.Popen[str]]:
    """A process of Python that runs meanwhile; one that says much is better `quiet`."""
    with subprocess.Popen(
        [sys.executable, *map(str, command)],
        stdout=subprocess.DEVNULL if quiet else subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        start_new_session=True,
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def descendants(pid: int) -> list[int]:
    """The processes that a process started, and those that they started."""
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def many_objects(folder: Path, count: int) -> Path:
    """A folder with so many code objects, each under a name of its own."""
    objects = [path for path in sorted(OBJECTS.iterdir()) if path.suffix in (".co", ".out")]
    for number in range(count):
        source = objects[number % len(objects)]
        place = folder / f"{number % 16:02}" / f"{number:05}{source.suffix}"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(source.read_bytes())
    return folder


def one_compilation(folder: Path) -> Path:
    """A folder with what hipcc's --save-temps leaves of one source, which counts once."""
    folder.mkdir()
    name = "occupancy-hip-amdgcn-amd-amdhsa-gfx90a"
    shutil.copy(FIXTURES / "src" / "occupancy.hip", folder)
    for source in (f"assembly/{name}.s", f"code_object/{name}.out"):
        shutil.copy(FIXTURES / source, folder)
    return folder
