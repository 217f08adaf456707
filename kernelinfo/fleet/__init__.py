"""Fleets: a scan reads many builds into one Parquet dataset, and DuckDB queries it.

>>> from kernelinfo import fleet
>>> fleet.scan("build/", to="fleet", build="2026-11-22", labels={"commit": "1a2b3c"})
>>> [pair.why for pair in fleet.trend("fleet").whole.pairs if pair.regressed]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from kernelinfo.fleet.extras import require_libraries

if TYPE_CHECKING:
    from kernelinfo.fleet.api import scan, trend

__all__ = ["scan", "trend"]


def __getattr__(name: str) -> object:
    """`scan` or `trend`, imported on first use with the libraries of the extra `fleet`."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require_libraries()
    noun: object = getattr(import_module(f"{__name__}.api"), name)
    globals()[name] = noun
    return noun
