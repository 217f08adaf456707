"""KI401: kernels that the instruction cache does not hold."""

from __future__ import annotations

import pytest

from kernelinfo import Kernel, load
from kernelinfo.hardware import targets
from kernelinfo.rules import BY_DEFAULT
from kernelinfo.rules.compilation import code_exceeds_icache

from ..conftest import FIXTURES


def messages_of(target: str, code_bytes: int | None) -> list[str]:
    report = load(FIXTURES / "assembly" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s")
    kernel: Kernel = report.kernels[0]
    traits = kernel.traits._replace(target=targets.find(target))
    one = kernel._replace(traits=traits, code_bytes=code_bytes)
    return [remark.message for remark in code_exceeds_icache(one, one.occupancy())]


def test_it_does_not_speak_unasked() -> None:
    assert "KI401" not in {rule.number for rule in BY_DEFAULT.rules()}


@pytest.mark.parametrize(
    ("target", "code_bytes"),
    [("gfx90a", 32 << 10), ("gfx942", 64 << 10), ("gfx90a", None), ("gfx702", 1 << 20)],
)
def test_code_that_fits_or_a_size_that_nobody_has_published(
    target: str, code_bytes: int | None
) -> None:
    assert messages_of(target, code_bytes) == []


def test_one_instruction_more_than_the_cache_holds() -> None:
    message = "32772 bytes of code; the instruction cache of 2 CUs holds 32768"
    assert messages_of("gfx90a", (32 << 10) + 4) == [message]
