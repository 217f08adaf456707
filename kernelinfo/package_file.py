"""Data files of the package."""

from __future__ import annotations

import sys


def read_package_file(path: str) -> bytes:
    """The bytes of a file in the package, zipped or not. Raises `OSError`.

    importlib.resources does the same and takes 8 ms to import.
    """
    data: bytes = sys.modules[__name__].__spec__.loader.get_data(path)  # type: ignore[union-attr]
    return data
