"""Documents other than code: saved reports, profiles, configurations, Triton's JSON."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from kernelinfo import Options
from kernelinfo.compare.builds import read_build
from kernelinfo.compare.profile import read as read_profile
from kernelinfo.config import read_config
from kernelinfo.errors import KernelinfoError
from kernelinfo.reading.containers.triton import read_sidecar

from ..conftest import FIXTURES

PAGE = FIXTURES.parent / "kernelinfo" / "manual" / "gate.md"


def _in_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes], None]:
    """Reads a file of that name with the bytes in it; `KernelinfoError` is an answer."""

    def of_bytes(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder, suppress(KernelinfoError):
            path = Path(folder, name)
            path.write_bytes(data)
            read(path)

    return of_bytes


saved_report = _in_file("saved.json", lambda path: read_build(str(path), Options()))
configuration = _in_file("kernelinfo.toml", read_config)
profile = _in_file("profile.csv", read_profile)
sidecar = _in_file("kernel.json", lambda path: read_sidecar(str(path.with_suffix(".hsaco"))))


_SIDECAR = {
    "name": "dot",
    "target": {"backend": "hip", "arch": "gfx942", "warp_size": 64},
    "num_warps": 4,
    "shared": 4096,
}
SIDECARS = [
    json.dumps(_SIDECAR).encode(),
    json.dumps(_SIDECAR | {"shared": None}).encode(),
    json.dumps(_SIDECAR | {"target": 3}).encode(),
    json.dumps(_SIDECAR | {"name": 3}).encode(),
    b"[]",
    b"{",
    b"[" * 100_000,
    b" " * (2 << 20),
]
_SAVED = (FIXTURES / "expected" / "code_object" / "handwritten.co.json").read_bytes()
ODD_NUMBERS = [
    re.sub(rb"(?<=_bytes\": )\d+", number, _SAVED, count=1)
    for number in (b"9" * 4000, b"1e999", b"NaN", b"-5", b"1.5", b"18446744073709551616")
]
"""Saved reports with what is no number of bytes."""
CONFIGURATIONS = [
    text.encode() for text in re.findall(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
]
