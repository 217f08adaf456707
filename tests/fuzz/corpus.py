"""Inputs that fuzzers found before: one tar per reader, with branches that its seeds miss."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).with_name("corpus")
"""Packed together they take a tenth: most are one seed with a few bytes changed."""
_LARGEST = 16 << 10
"""Bytes of one input: larger ones are slow and say little."""
_SECONDS = 900


def kept(reader: str) -> list[bytes]:
    """The inputs of one reader, the smallest first."""
    if not _path(reader).exists():
        return []
    with tarfile.open(_path(reader)) as packed:
        files = (packed.extractfile(entry) for entry in packed)
        return [file.read() for file in files if file]


def lay_out(reader: str, seeds: Sequence[bytes], folder: Path) -> None:
    """Put its seeds, and what is kept, into a folder where a fuzzer begins."""
    folder.mkdir(parents=True, exist_ok=True)
    for data in (*seeds, *kept(reader)):
        (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


def keep(reader: str, seeds: Sequence[bytes], found: Path) -> None:
    """Keep, of what fuzzers found, the smallest inputs that take all that its seeds do not."""
    with tempfile.TemporaryDirectory() as merged, tempfile.TemporaryDirectory() as small:
        named = {hashlib.sha1(data).hexdigest(): data for data in seeds}
        for name, data in named.items():
            Path(merged, name).write_bytes(data)
        for path in found.iterdir():
            if path.stat().st_size <= _LARGEST and path.name not in named:
                Path(small, path.name).write_bytes(path.read_bytes())
        command = [sys.executable, "-m", "tests.fuzz", "--reader", reader, "--", merged, small]
        subprocess.run([*command, "-merge=1"], capture_output=True, check=True, timeout=_SECONDS)
        added = [path.read_bytes() for path in Path(merged).iterdir() if path.name not in named]
    FOLDER.mkdir(exist_ok=True)
    with tarfile.open(_path(reader), "w:xz", preset=9) as packed:
        for data in sorted(added, key=lambda data: (len(data), data)):
            entry = tarfile.TarInfo(hashlib.sha1(data).hexdigest()[:12])
            entry.size = len(data)
            packed.addfile(entry, io.BytesIO(data))


def _path(reader: str) -> Path:
    return FOLDER / f"{reader}.tar.xz"
