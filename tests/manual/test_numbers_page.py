"""`kernelinfo explain numbers`: what its table says of files that cannot tell a number."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernelinfo import Kernel, load
from tests.conftest import FIXTURES
from tests.test_golden import run

METADATA = """\
.amdgpu_metadata
---
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .vgpr_count: {vgprs}
    .agpr_count: 0
    .sgpr_count: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .max_flat_workgroup_size: 256
    .wavefront_size: 64
{more}amdhsa.target: amdgcn-amd-amdhsa--{target}
amdhsa.version: [1, 2]
...
.end_amdgpu_metadata
"""
DIRECTIVES = """\
.amdhsa_kernel k
  .amdhsa_next_free_vgpr 64
  .amdhsa_next_free_sgpr 8
  {accum_offset}
.end_amdhsa_kernel
"""
DYNAMIC_LDS = "    .args: [{.value_kind: dynamic_shared_pointer}]\n"


def text(
    target: str = "gfx90a", *, directives: bool = True, metadata: bool = True, more: str = ""
) -> Kernel:
    source = f'.amdgcn_target "amdgcn-amd-amdhsa--{target}"\n'
    if directives:
        offset = ".amdhsa_accum_offset 64" if target == "gfx90a" else ""
        source += DIRECTIVES.format(accum_offset=offset)
    if metadata:
        source += METADATA.format(vgprs=64, target=target, more=more)
    (kernel,) = load(source.encode()).kernels
    return kernel


def is_exact(kernel: Kernel) -> bool:
    return kernel.occupancy().exact


CLAIMS: dict[str, Callable[[], bool]] = {
    "workgroup size of the launch": lambda: (
        text().occupancy().launch.workgroup_size == 256
        and text(metadata=False).occupancy().launch.workgroup_size == 1024
    ),
    "LDS sized at launch": lambda: is_exact(text()) and not is_exact(text(more=DYNAMIC_LDS)),
    "scratch of recursion": lambda: not is_exact(text(more="    .uses_dynamic_stack: true\n")),
    "VGPRs that are allocated": lambda: not is_exact(text(directives=False)),
    "VGPRs that are used": lambda: (
        text(metadata=False).numbers.vgprs is None and is_exact(text(metadata=False))
    ),
    "spills |": lambda: text().numbers.vgpr_spills is None,
    "the compiler's own occupancy": lambda: text().traits.numbers.compiler_waves_per_simd is None,
    "the device": lambda: not is_exact(text("gfx9-generic")),
    "the compiler |": lambda: text().code_object.compiler is None,
    "source line": lambda: text().source is None,
}


@pytest.mark.parametrize("row", CLAIMS)
def test_a_row_of_the_table_holds(row: str) -> None:
    out, _, _ = run("explain", "numbers")
    assert f"| {row}" in out
    assert CLAIMS[row]()


def test_what_holds_no_registers_is_a_problem() -> None:
    _, err, code = run("broken/bitcode.o")
    assert code == 2
    assert "bitcode" in err


def test_the_arch_vgprs_beside_agprs_are_a_multiple_of_4_in_an_object() -> None:
    kernels = load(FIXTURES / "code_object" / "variety-clang22-gfx90a.co").kernels
    demands = [kernel.traits.demand for kernel in kernels]
    with_agprs = [demand.arch_vgprs for demand in demands if demand is not None and demand.agprs]
    assert with_agprs
    assert all(count is not None and count % 4 == 0 for count in with_agprs)
