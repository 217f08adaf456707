"""Fleets: a scan reads many builds into one Parquet dataset, and DuckDB queries it.

Needs the libraries of an extra."""

from __future__ import annotations

import atexit
import gc
from importlib.util import find_spec

from kernelinfo.errors import KernelinfoError
from kernelinfo.fleet.messages import say

_LIBRARIES = {"fleet": ("duckdb", "fsspec"), "cluster": ("distributed",)}


def require_libraries(*extras: str) -> None:
    """Prepare the interpreter for the libraries of the extras: `fleet`, `cluster`.

    DuckDB reports reference cycles that remain at exit as leaks, so the garbage collector runs
    again and unfreezes its objects at exit. Raises `KernelinfoError` if a library is not installed.
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
