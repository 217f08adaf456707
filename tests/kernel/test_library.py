"""Names of libraries without versions."""

from __future__ import annotations

import json
from pathlib import Path

from ..conftest import FIXTURES
from ..test_golden import run

LIBRARIES = {
    "usr/lib/x86_64-linux-gnu/librocsparse.so.0.1": "librocsparse.so",
    "b/librocsparse.so": "librocsparse.so",
    "libfoo-2.6.1.so": "libfoo.so",
    "torch.libs/librocblas-1a2b3c4d.so.4.1.60400": "librocblas.so",
    "libLLVM-19.so": "libLLVM-19.so",
    "libgemm-gfx90a.so": "libgemm-gfx90a.so",
    "dist/torch-2.9.1+rocm7.1-cp311-cp311-manylinux_2_28_x86_64.whl": "torch",
    "bitsandbytes-0.51.0.dev0-py3-none-manylinux_2_24_x86_64.whl": "bitsandbytes",
    "flash_attn-2.8.3-1-cp312-cp312-linux_x86_64.whl": "flash_attn",
    "librocsparse0_5.5.1+dfsg-2_amd64.deb": "librocsparse0",
    "rocrand-devel-3.3.0.60400-47.el9.x86_64.rpm": "rocrand-devel",
    "pytorch-gpu-2.4.1-cuda118_py312.conda": "pytorch-gpu",
    "composable-kernel-1.2.0.tar.gz": "composable-kernel",
    "images.zip": "images.zip",
    "TensileLibrary_Type_HH_gfx90a.co": "TensileLibrary_Type_HH_gfx90a.co",
    "Kernels.so-000-gfx90a.hsaco": "Kernels.so-000-gfx90a.hsaco",
    "a/occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s": "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s",
}


def test_a_librarys_name_has_no_version(tmp_path: Path) -> None:
    code = (FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co").read_bytes()
    for path in LIBRARIES:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(code)
    words = ("--all-copies", "--format", "jsonl")
    out, _, _ = run("report", *LIBRARIES, *words, folder=tmp_path)
    assert {one["Path"]: one["Library"] for one in map(json.loads, out.splitlines())} == LIBRARIES
