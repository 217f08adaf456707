"""What a call of the Python API costs: `python -m tests.benchmarks.calls`.

A row is the least CPU time of one call, of five rounds. The goals are 20 µs for an occupancy and
0.3 ms for a small code object.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import kernelinfo

from ..conftest import FIXTURES

CODE = FIXTURES / "code_object" / "handwritten.co"


def cost(call: Callable[[], object], count: int) -> float:
    """Least CPU time of a call in µs, of five rounds with `count` calls each."""
    rounds = []
    for _ in range(5):
        begun = time.process_time()
        for _ in range(count):
            call()
        rounds.append((time.process_time() - begun) / count * 1e6)
    return min(rounds)


def main() -> None:
    """Print the load of the machine and a row for each call."""
    data = CODE.read_bytes()
    kernel = kernelinfo.load(data)[0]
    arch = kernelinfo.arch("gfx942")
    calls: list[tuple[str, Callable[[], object], int]] = [
        (
            'kernelinfo.occupancy("gfx942", …)',
            lambda: kernelinfo.occupancy("gfx942", vgprs=128, lds_bytes=32768, workgroup_size=256),
            2000,
        ),
        (
            "Arch.occupancy(…)",
            lambda: arch.occupancy(vgprs=128, lds_bytes=32768, workgroup_size=256),
            2000,
        ),
        ("kernel.waves_per_simd", lambda: kernel.waves_per_simd, 2000),
        (f"kernelinfo.load, {len(data)} bytes", lambda: kernelinfo.load(data), 200),
    ]
    print(f"load {os.getloadavg()[0]:.1f}")
    for name, call, count in calls:
        print(f"{name:36} {cost(call, count):8.1f} µs")


if __name__ == "__main__":
    main()
