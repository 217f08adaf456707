"""Names of libraries without versions."""

from __future__ import annotations

import pytest

from kernelinfo.kernel.library import library_of


@pytest.mark.parametrize(
    ("path", "library"),
    [
        ("/usr/lib/x86_64-linux-gnu/librocsparse.so.0.1", "librocsparse.so"),
        ("librocsparse.so", "librocsparse.so"),
        ("libfoo-2.6.1.so", "libfoo.so"),
        ("torch.libs/librocblas-1a2b3c4d.so.4.1.60400", "librocblas.so"),
        ("libLLVM-19.so", "libLLVM-19.so"),
        ("libgemm-gfx90a.so", "libgemm-gfx90a.so"),
        ("dist/torch-2.9.1+rocm7.1-cp311-cp311-manylinux_2_28_x86_64.whl", "torch"),
        ("bitsandbytes-0.51.0.dev0-py3-none-manylinux_2_24_x86_64.whl", "bitsandbytes"),
        ("flash_attn-2.8.3-1-cp312-cp312-linux_x86_64.whl", "flash_attn"),
        ("librocsparse0_5.5.1+dfsg-2_amd64.deb", "librocsparse0"),
        ("rocrand-devel-3.3.0.60400-47.el9.x86_64.rpm", "rocrand-devel"),
        ("pytorch-gpu-2.4.1-cuda118_py312.conda", "pytorch-gpu"),
        ("composable-kernel-1.2.0.tar.gz", "composable-kernel"),
        ("images.zip", "images.zip"),
        ("TensileLibrary_Type_HH_gfx90a.co", "TensileLibrary_Type_HH_gfx90a.co"),
        ("Kernels.so-000-gfx90a.hsaco", "Kernels.so-000-gfx90a.hsaco"),
        ("a/occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s", "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"),
        (r"C:\app\bin\hipblas.dll", "hipblas.dll"),
        ("-", "-"),
        ("builds/.so", ".so"),
    ],
)
def test_a_library_s_name_has_no_version(path: str, library: str) -> None:
    assert library_of(path) == library
