"""What the gate costs beside a report: `python -m tests.benchmarks.gate`."""

from __future__ import annotations

import re
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..conftest import FIXTURES

_SOURCE = FIXTURES / "assembly" / "occupancy-clang22-gfx90a.s"
_KERNEL = re.compile(r"_Z(\d+)(empty|vgprbound|ldsbound|sgprbound)iPd")
_KERNELS = 10_000
_CONFIGURATION = """\
paths = ["build"]
baseline = "pinned.json"
fail-on = "error"
[workgroup-size]
"none*" = 64
"re:nothing_.*" = 64
[[budget]]
kernel = "flash_*<*, 256, *>"
waves = 2
[[budget]]
scratch = "<=64"
[[suppress]]
rule = "KI106"
kernel = "sgprbound*"
reason = "measured"
"""


def write_kernels(folder: Path) -> None:
    """One assembly text, four kernels each, under names of their own."""
    text = _SOURCE.read_text("utf-8")
    (folder / "build").mkdir()
    for number in range(_KERNELS // 4):

        def renamed(name: re.Match[str], number: int = number) -> str:
            own = f"{name[2]}{number:05}"
            return f"_Z{len(own)}{own}iPd"

        (folder / "build" / f"{number:05}.s").write_text(_KERNEL.sub(renamed, text), "utf-8")


def seconds(folder: Path, *arguments: str) -> float:
    """CPU time of a run: a shared machine's clock says little."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "kernelinfo", *arguments], cwd=folder, stdout=subprocess.PIPE
    )
    assert done.returncode == 0, done.stdout.decode()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ratios(folder: Path, pairs: int) -> Sequence[float]:
    """Of `check` to `report`, each pair one after the other."""
    return [seconds(folder, "check") / seconds(folder, "report", "build") for _ in range(pairs)]


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "kernelinfo.toml").write_text(_CONFIGURATION)
        write_kernels(folder)
        seconds(folder, "check", "--update-baseline")
        found = ratios(folder, 3)
        print(f"check / report, {_KERNELS} kernels with a baseline: {statistics.median(found):.2f}")


if __name__ == "__main__":
    main()
