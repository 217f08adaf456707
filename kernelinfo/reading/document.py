"""Files that are read whole: configurations, baselines, profiles."""

from __future__ import annotations

from pathlib import Path

from kernelinfo.errors import ReadError


def read_document(path: Path, most: int) -> bytes:
    """All bytes of a regular file of at most so many.

    Raises `ReadError` for what is larger, or no regular file: a FIFO would wait for a writer.
    Raises `OSError` where it cannot be read.
    """
    if path.exists() and not path.is_file():
        raise ReadError("is no regular file; give another file")
    if path.stat().st_size > most:
        raise ReadError(f"has more than {most} bytes; give another file")
    return path.read_bytes()
