"""SPIR-V beside code for the hardware, and alone, from Python."""

from __future__ import annotations

from pathlib import Path

import kernelinfo

from ..containers import GFX90A, OBJECT, bundle
from ..messages import refused

SPIRV = "hip-spirv64-amd-amdhsa--amdgcnspirv", b"\x03\x02\x23\x07code"


def test_python_reads_what_there_is(tmp_path: Path) -> None:
    mixed, alone = tmp_path / "mix.hipfb", tmp_path / "alone.hipfb"
    mixed.write_bytes(bundle(SPIRV, (GFX90A, OBJECT)) * 2)
    alone.write_bytes(bundle(SPIRV))
    assert len(kernelinfo.load(mixed)) == 4
    assert kernelinfo.diff(mixed, mixed).gone == ()
    with refused("spirv 1"):
        kernelinfo.load(alone)
