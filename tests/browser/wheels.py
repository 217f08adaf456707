"""A wheel of six libraries, some for several targets, in two versions."""

from __future__ import annotations

import zipfile
from pathlib import Path

from ..conftest import FIXTURES

_LIBRARIES = {
    "libvariety.so": ("variety", ("gfx906", "gfx90a")),
    "libvariety_for_instinct_accelerators.so": ("variety", ("gfx90a",)),
    "libspills.so": ("spills", ("gfx90a",)),
    "liboccupancy.so.1": ("occupancy", ("gfx90a",)),
    "libwords.so": ("words", ("gfx90a",)),
    "libtiny.so": ("tiny", ("gfx90a",)),
}
"""File → (fixture, targets) of a wheel; each target is a member of its own."""
_COMPILERS = {"1.0": ("clang15", "clang19", "v5-clang19"), "2.0": ("clang22", "v6-clang22")}


def wheel(folder: Path, version: str) -> Path:
    """A wheel of six libraries, by older compilers (1.0) or a newer one (2.0)."""
    made = folder / f"tensor_kernels-{version}+rocm7.1-cp312-cp312-manylinux_2_28_x86_64.whl"
    objects = FIXTURES / "code_object"
    with zipfile.ZipFile(made, "w") as archive:
        for library, (sample, targets) in _LIBRARIES.items():
            for target in targets:
                names = (f"{sample}-{by}-{target}.co" for by in _COMPILERS[version])
                found = next((one for name in names if (one := objects / name).exists()), None)
                if found:
                    member = f"tensor_kernels/lib/{library}/hipv4-amdgcn-amd-amdhsa--{target}"
                    archive.write(found, member)
    return made
