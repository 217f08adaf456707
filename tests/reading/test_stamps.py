"""The compiler's stamp among several, from stamps of released builds."""

from __future__ import annotations

import subprocess
from itertools import permutations
from pathlib import Path

import pytest

from kernelinfo import load

REPOSITORY = "https://github.com/RadeonOpenCompute/llvm-project"
ROCM_7 = f"AMD clang version 20.0.0git ({REPOSITORY} roc-7.0.2 25385 e1e1e1)"
ROCM_7_1 = f"AMD clang version 20.0.0git ({REPOSITORY} roc-7.1.0 25425 1b0ead)"
LIBRARY = f"clang version 20.0.0git ({REPOSITORY} roc-7.1.0 25425 1b0ead)"
LLD = "Linker: AMD LLD 20.0.0 (roc-7.1.0)"


SOURCE = """\
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
.text
.globl {name}
.p2align 8
.type {name},@function
{name}:
  s_endpgm
.rodata
.amdhsa_kernel {name}
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 8
  .amdhsa_accum_offset 8
.end_amdhsa_kernel
"""
ASSEMBLER = ("llvm-mc-22", "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj")
NAMES = ("Debian clang version 15.0.5", "Debian clang version 15.0.7", "Debian clang version 3.9")


@pytest.mark.needs("llvm-22", "lld-22")
@pytest.mark.parametrize("order", list(permutations(NAMES)))
def test_every_stamp_of_a_linked_object_is_kept(order: tuple[str, ...], tmp_path: Path) -> None:
    objects = []
    for number, stamp in enumerate(order):
        text = SOURCE.format(name=f"k{number}") + f'.ident "{stamp}"\n'
        assembled = tmp_path / f"{number}.o"
        subprocess.run(
            [*ASSEMBLER, "-o", str(assembled)],
            input=text.encode(),
            check=True,
        )
        objects.append(str(assembled))
    linked = tmp_path / "k.co"
    subprocess.run(["ld.lld-22", "-shared", *objects, "-o", str(linked)], check=True)
    code_object = load(linked).kernels[0].code_object
    assert set(NAMES) < set(code_object.stamps)
    assert len(code_object.stamps) == len(NAMES) + 1
    assert code_object.compiler == "Debian clang version 15.0.7"


def test_the_newest_is_the_compiler_in_whatever_order() -> None:
    for stamps, compiler in (
        ((), None),
        ((LLD,), None),
        ((LIBRARY, LLD), None),
        ((LIBRARY, LLD, ROCM_7_1), ROCM_7_1),
        ((ROCM_7, ROCM_7_1), ROCM_7_1),
        (("clang version 15.0.5", "clang version 15.0.7"), "clang version 15.0.7"),
        (("clang version 9.0.1", "clang version 19.1.7 (x)"), "clang version 19.1.7 (x)"),
        (("hand", "clang version 9.0.1"), "clang version 9.0.1"),
        (("hand",), "hand"),
        (("hand", f"clang version {'9' * 5000}.0.0"), "hand"),
        (NAMES, NAMES[1]),
    ):
        for order in permutations(stamps):
            idents = "".join(f'.ident "{stamp}"\n' for stamp in [*order, "", *order])
            found = load((SOURCE.format(name="k") + idents).encode()).kernels[0].code_object
            assert (found.compiler, found.stamps) == (compiler, tuple(sorted(stamps)))
