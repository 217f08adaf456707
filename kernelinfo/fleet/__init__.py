"""Many builds at once: read by the workers of dask into one Parquet dataset, asked by DuckDB."""

from __future__ import annotations

import atexit
import gc
from importlib.util import find_spec

from kernelinfo.errors import KernelinfoError

_LIBRARIES = ("distributed", "duckdb", "fsspec")


def require_libraries() -> None:
    """Make ready for the libraries of the extra `fleet`.

    They leave cycles behind, and DuckDB complains of those that are left at the end. Raises
    `KernelinfoError` where one is not installed.
    """
    missing = [name for name in _LIBRARIES if find_spec(name) is None]
    if missing:
        install = "pip install 'kernelinfo[fleet]'"
        raise KernelinfoError(f"{', '.join(missing)} not installed; run {install}")
    gc.enable()
    atexit.register(gc.unfreeze)
