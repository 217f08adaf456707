"""Documents other than code: saved reports, baselines, profiles, configurations, Triton's JSON."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from kernelinfo import diff
from kernelinfo.config import read_config

from ..conftest import FIXTURES
from ..test_golden import run
from . import user_files
from .promise import BUG, refused

OBJECT = "code_object/tiny-v6-clang22-gfx90a.co"
PAGE = FIXTURES.parent / "kernelinfo" / "manual" / "gate.md"


def _in_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes], None]:
    """Reads a file of that name with the bytes in it; a `KernelinfoError` is an answer."""

    def of_bytes(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder, refused():
            path = Path(folder, name)
            path.write_bytes(data)
            read(path)

    return of_bytes


saved_report = _in_file("saved.json", lambda path: diff(str(path), str(path)))


def _baseline(path: Path) -> None:
    """A baseline that is read can be written with what is pinned now, and read again."""
    code = _asked("check", OBJECT, "--baseline", str(path), "--update-baseline")
    if code == 0:
        assert _asked("check", OBJECT, "--baseline", str(path)) == 0


def _asked(*words: str) -> int:
    _, err, code = run(*words)
    assert BUG not in err, err
    return code


def _sidecar(path: Path) -> None:
    shutil.copy(FIXTURES / OBJECT, path.with_suffix(".hsaco"))
    _asked(str(path.with_suffix(".hsaco")))


baseline = _in_file("baseline.json", _baseline)
configuration = _in_file("kernelinfo.toml", read_config)
profile = _in_file("profile.csv", lambda path: _asked("compare-profile", str(path), OBJECT))
compile_commands = _in_file("compile_commands.json", user_files.compile_commands)
sidecar = _in_file("kernel.json", _sidecar)


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
_SAVED = run("code_object/handwritten.co", "--format", "json")[0].encode()
ODD_NUMBERS = [
    re.sub(rb"(?<=_bytes\": )\d+", number, _SAVED, count=1)
    for number in (b"9" * 4000, b"1e999", b"NaN", b"-5", b"1.5", b"18446744073709551616")
]
"""Saved reports with what is no number of bytes."""
_LINE = {"symbol": "_Z1aPi", "waves": 4, "limited-by": "vgpr", "vgpr": [100, 112]}
_ON = [{"target": ["gfx90a:xnack+", "gfx942"]}, {"target": "gfx1100", "waves": 3.5, "agpr": None}]
_BASELINE = {
    "schema": "kernelinfo/baseline/2",
    "toolchain": ["clang version 19.1.7"],
    "kernels": {"lib.so › {target}": [_LINE | {"on": _ON, "accepted": {"KI101": "warning"}}]},
}
BASELINES = [
    json.dumps(_BASELINE).encode(),
    json.dumps(_BASELINE, indent=1).encode(),
    gzip.compress(json.dumps(_BASELINE).encode(), mtime=0),
    b"""{
 "schema": "kernelinfo/baseline/2",
 "toolchain": [],
 "kernels": {
  "a-{target}.s": [
   {"symbol":"_Za", "name":"a(int)", "vgpr":[100, 112], "target":"gfx90a"},
   {"symbol":"_Zb", "vgpr":[100, 112], "target":["gfx90a", "gfx90a"]}
  ]
 }
}
""",
]
CONFIGURATIONS = [
    text.encode() for text in re.findall(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
]
