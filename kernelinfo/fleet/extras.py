"""Libraries of the extras `fleet` and `cluster`."""

from __future__ import annotations

import atexit
import gc
from importlib.util import find_spec

from kernelinfo.errors import KernelinfoError

_LIBRARIES = {"fleet": ("duckdb", "fsspec"), "cluster": ("distributed",)}


def require_libraries(extra: str = "fleet") -> None:
    """Prepare the interpreter for the libraries of an extra: `fleet` or `cluster`.

    DuckDB reports reference cycles that remain at exit as leaks, so the garbage collector runs
    again and unfreezes its objects at exit. Raises `KernelinfoError` if a library is not installed.
    """
    missing = [name for name in _LIBRARIES[extra] if find_spec(name) is None]
    if missing:
        install = f"pip install 'kernelinfo[{extra}]'"
        raise KernelinfoError(f"{', '.join(missing)} not installed; run {install}")
    gc.enable()
    atexit.register(gc.unfreeze)
