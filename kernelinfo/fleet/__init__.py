"""Many builds at once: read by several processes into one Parquet dataset, asked by DuckDB."""

from __future__ import annotations

import atexit
import gc
from importlib.util import find_spec

from kernelinfo.errors import KernelinfoError

_LIBRARIES = {"fleet": ("duckdb", "fsspec"), "cluster": ("distributed",)}


def require_libraries(extra: str = "fleet") -> None:
    """Make ready for the libraries of an extra.

    They leave cycles behind, and DuckDB complains of those that are left at the end. Raises
    `KernelinfoError` where one is not installed.
    """
    missing = [name for name in _LIBRARIES[extra] if find_spec(name) is None]
    if missing:
        install = f"pip install 'kernelinfo[{extra}]'"
        raise KernelinfoError(f"{', '.join(missing)} not installed; run {install}")
    gc.enable()
    atexit.register(gc.unfreeze)
