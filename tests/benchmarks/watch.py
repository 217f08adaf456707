"""The two figures of `kernelinfo watch`: what looking costs, and how soon a row comes.

    python -m tests.benchmarks.watch [--python VENV/bin/python] [--files 3000] [--seconds 20]

The first is CPU time of a whole watch of unchanged files, in percent of one core. The second is the
time from the rename that ends a compilation to the last line of the look that shows its kernel: on
a busy machine it grows. The third does not: the interval between two looks at the files, and the
CPU time from the rename to that line.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FIXTURES = Path(__file__).parents[2] / "fixtures" / "assembly"
SMALL = FIXTURES / "tiny-v6-clang22-gfx90a.s"
INTERVAL = 0.2
"""Seconds between two looks at the files (the manual, "watch")."""
BUILDS = tuple(FIXTURES / f"occupancy-clang{version}-gfx90a.s" for version in (19, 22))
SAVES = 15


@contextmanager
def watched(python: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A watch of a folder, after its first look."""
    command = [python, "-m", "kernelinfo", "watch", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        to_end_of_look(process)
        yield process
    finally:
        process.kill()
        process.wait()


def to_end_of_look(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if re.match(r"look \d+ at ", line):
            return
    raise RuntimeError("watch ended")


def cpu_seconds(process: subprocess.Popen[str]) -> float:
    """CPU time of a process so far (proc(5), fields 14 and 15 of stat)."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cost(python: str, files: int, seconds: float) -> float:
    """Percent of a core that looking at unchanged files takes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(files):
            place = folder / f"part{number // 100}"
            place.mkdir(exist_ok=True)
            shutil.copy(SMALL, place / f"kernel{number}.s")
        with watched(python, folder) as process:
            before, began = cpu_seconds(process), time.monotonic()
            time.sleep(seconds)
            return 100 * (cpu_seconds(process) - before) / (time.monotonic() - began)


def delays(python: str) -> list[tuple[float, float]]:
    """Seconds, and CPU seconds, from the end of a compilation to the last line of its look."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder, built = Path(name) / "build", Path(name) / "built.s"
        folder.mkdir()
        shutil.copy(BUILDS[0], folder / "k.s")
        with watched(python, folder) as process:
            for number in range(SAVES):
                shutil.copy(BUILDS[(number + 1) % 2], built)
                time.sleep(0.7 + 0.013 * number)  # at any moment between two looks
                began, before = time.monotonic(), cpu_seconds(process)
                built.replace(folder / "k.s")
                to_end_of_look(process)
                found.append((time.monotonic() - began, cpu_seconds(process) - before))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--files", type=int, default=3000)
    parser.add_argument("--seconds", type=float, default=20)
    given = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    share = cost(given.python, given.files, given.seconds)
    print(f"looking at {given.files} files: {share:.2f} % of a core")
    found, cpu = zip(*delays(given.python), strict=True)
    print(
        f"from the compile's end to the look, {len(found)} times: "
        f"median {statistics.median(found):.2f} s, largest {max(found):.2f} s"
    )
    print(f"at most, on an idle core: {INTERVAL} s + {max(cpu):.2f} s of CPU time")


if __name__ == "__main__":
    main()
