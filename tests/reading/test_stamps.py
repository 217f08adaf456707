"""The compiler's stamp among several, from stamps of released builds."""

from __future__ import annotations

import subprocess
from itertools import permutations
from pathlib import Path

import pytest

from kernelinfo import load
from kernelinfo.reading.target_id import compiler_of, compilers, distinct

REPOSITORY = "https://github.com/RadeonOpenCompute/llvm-project"
ROCM_7 = f"AMD clang version 20.0.0git ({REPOSITORY} roc-7.0.2 25385 e1e1e1)"
ROCM_7_1 = f"AMD clang version 20.0.0git ({REPOSITORY} roc-7.1.0 25425 1b0ead)"
LIBRARY = f"clang version 20.0.0git ({REPOSITORY} roc-7.1.0 25425 1b0ead)"
LLD = "Linker: AMD LLD 20.0.0 (roc-7.1.0)"


@pytest.mark.parametrize(
    ("stamps", "compiler"),
    [
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
    ],
)  # fmt: skip
def test_the_newest_is_the_compiler_in_whatever_order(
    stamps: tuple[str, ...], compiler: str | None
) -> None:
    for order in permutations(stamps):
        assert compiler_of(order) == compiler
        assert distinct([*order, "", *order]) == tuple(sorted(stamps))
    assert LLD not in compilers(stamps)


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


def test_text_keeps_every_ident() -> None:
    text = SOURCE.format(name="k") + "".join(f'.ident "{name}"\n' for name in NAMES)
    code_object = load(text.encode()).kernels[0].code_object
    assert code_object.stamps == tuple(sorted(NAMES))
    assert code_object.compiler == "Debian clang version 15.0.7"
