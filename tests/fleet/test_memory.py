"""The memory of a worker is bounded, whatever it reads."""

from __future__ import annotations

import gzip
import mmap
import os
import time
from pathlib import Path

from ..conftest import require
from ..messages import codes
from .scans import OBJECTS, descendants, kernelinfo, process, rows

require("duckdb")


def test_of_a_large_library(tmp_path: Path) -> None:
    library = Path("/usr/lib/x86_64-linux-gnu/librocsparse.so.0")
    require("librocsparse")
    command = ("-m", "kernelinfo", "scan", library, "--to", tmp_path, "--build", "b")
    largest = 0
    with process(*command, "--workers", 2) as running:
        while running.poll() is None:
            largest = max([largest, *map(_resident, descendants(running.pid))])
            time.sleep(0.05)
        out, _ = running.communicate()
    assert (running.returncode, "88 137 kernels" in out) == (0, True), out
    assert largest < library.stat().st_size / 2


def _resident(pid: int) -> int:
    """Bytes; 0 of a process that has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * mmap.PAGESIZE
    except OSError:
        return 0


def test_what_does_not_fit_names_the_bound(tmp_path: Path) -> None:
    noise = os.urandom(1 << 20).hex().encode() + b"\n"
    folder = tmp_path / "objects"
    folder.mkdir()
    with gzip.open(folder / "large.s.gz", "wb", compresslevel=1) as file:
        file.write(b'.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n')
        for _ in range(100):
            file.write(b"; " + noise)
    (folder / "small.co").write_bytes((OBJECTS / "handwritten.co").read_bytes())
    _, err, code = kernelinfo("scan", folder, "--to", tmp_path / "fleet", "--build", "b")
    assert (code, codes(err)) == (2, ["compressed-too-large"])
    assert {row["Path"] for row in rows(tmp_path / "fleet")} == {"small.co"}
