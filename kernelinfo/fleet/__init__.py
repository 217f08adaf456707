"""Fleets: a scan reads many builds into one Parquet dataset, and DuckDB queries it.

The libraries of the extra `fleet`, and of `cluster` for a scheduler, are loaded when a scan or a
trend is asked for."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING

from kernelinfo.analysis.options import Options
from kernelinfo.errors import KernelinfoError
from kernelinfo.fleet.messages import say
from kernelinfo.render import View, rows

if TYPE_CHECKING:
    from kernelinfo.fleet.history import By, Trend
    from kernelinfo.fleet.scanning import Scanned

_LIBRARIES = {"fleet": ("duckdb", "fsspec"), "cluster": ("distributed",)}


def require_libraries(*extras: str) -> None:
    """Prepare the interpreter for the libraries of the extras: `fleet`, `cluster`.

    DuckDB reports reference cycles that remain at exit as leaks, so the garbage collector is
    switched on here, and frozen objects are unfrozen at exit. Raises `KernelinfoError` if a library
    is not installed.
    """
    missing = [
        (extra, name) for extra in extras for name in _LIBRARIES[extra] if find_spec(name) is None
    ]
    if missing:
        names = ", ".join(name for _, name in missing)
        lacking = ",".join(dict.fromkeys(extra for extra, _ in missing))
        raise KernelinfoError(say("libraries-missing", names=names, extras=lacking))
    gc.enable()
    atexit.register(gc.unfreeze)


def scan(
    *urls: str,
    to: str,
    build: str,
    shard: str = "",
    labels: Mapping[str, str] | None = None,
    options: Options | None = None,
    accept_problems: str | None = None,
    timeout: float = 60,
    workers: int | None = None,
    scheduler: str | None = None,
    wait: bool = False,
) -> Scanned:
    """Read files, folders, globs or URLs into a build of the dataset at `to`; returns the build.

    `options` choose kernels, launch and bounds. `accept_problems` is a file of known problems.
    `timeout` is in seconds per file. `workers` processes of this machine do the work, or those of
    the dask `scheduler` at an address. With `wait` the scan waits for another scan of the build to
    finish. `record.problems` of the result lists what could not be read. Raises `KernelinfoError`:
    no file is found, the dataset cannot be written, another scan writes the build, an extra is
    missing.
    """
    require_libraries("fleet", *(["cluster"] if scheduler else []))
    from kernelinfo.fleet import scanning  # the libraries of the extra

    request = scanning.make_request(
        urls,
        to,
        build,
        options or Options(),
        shard=shard,
        accept_problems=accept_problems,
        rows=partial(rows.render_jsonl, view=View()),
        timeout=timeout,
        labels=tuple((labels or {}).items()),
    )
    return scanning.scan(request, scheduler, workers, wait=wait)


def trend(
    dataset: str,
    *,
    builds: Sequence[str] = (),
    since: str | None = None,
    options: Options | None = None,
    moved: bool = False,
    by: By | None = None,
    may_be_first: bool = False,
) -> Trend:
    """How kernels of a dataset moved from build to build, as `kernelinfo trend` shows it.

    `builds` are compared in the given order, by default all in natural order of their names (7.9
    before 7.10), starting with `since`. `options` choose kernels. With `moved` the result includes
    kernels that moved only within the hardware's steps. `by` groups all kernels of the first and
    last build, with sums for each group. Raises `KernelinfoError`: the dataset cannot be read, an
    extra is missing, or the dataset has a single build and `may_be_first` is False.
    """
    result: Trend = _movers().ask(
        dataset,
        options or Options(),
        builds,
        since,
        moved=moved,
        by=by,
        may_be_first=may_be_first,
    )
    return result


def kernel_names(dataset: str) -> list[tuple[str, str, str | None]]:
    """(name, symbol, member) of each kernel of the dataset's last build, sorted by name.

    Raises `KernelinfoError` as `trend` does.
    """
    names: list[tuple[str, str, str | None]] = _movers().kernel_names(dataset)
    return names


def _movers() -> ModuleType:
    require_libraries("fleet")
    from kernelinfo.fleet import movers  # DuckDB

    return movers
