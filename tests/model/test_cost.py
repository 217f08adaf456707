"""A tuner asks thousands of times, so a call has to be cheap."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

import kernelinfo

from ..conftest import FIXTURES

CODE = FIXTURES / "code_object" / "handwritten.co"


def cost(call: Callable[[], object], count: int) -> float:
    """Least CPU time of a call in µs, out of five rounds."""
    rounds = []
    for _ in range(5):
        begun = time.process_time()
        for _ in range(count):
            call()
        rounds.append((time.process_time() - begun) / count * 1e6)
    return min(rounds)


@pytest.mark.slow
def test_a_call_costs_microseconds() -> None:
    """Bounds of a busy machine: twice what an idle one takes."""
    kernel = kernelinfo.load(CODE)[0]

    def asked() -> object:
        return kernelinfo.occupancy("gfx942", vgprs=128, lds_bytes=32768, workgroup_size=256)

    assert cost(asked, 1000) < 50
    assert cost(lambda: kernel.waves_per_simd, 1000) < 40
    data = CODE.read_bytes()
    assert cost(lambda: kernelinfo.load(data), 50) < 900
