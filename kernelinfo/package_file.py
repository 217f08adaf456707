"""Files that lie next to the modules."""

from __future__ import annotations

import sys

from kernelinfo.light_typing import Any


def read_package_file(path: str) -> bytes:
    """The bytes at a path in the package, zipped or not. Raises `OSError`.

    importlib.resources does the same and takes 8 ms to import.
    """
    loader: Any = sys.modules[__name__].__spec__.loader  # type: ignore[union-attr]
    data: bytes = loader.get_data(path)
    return data
