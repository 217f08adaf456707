"""Assembly texts around the bodies that tests write."""

from __future__ import annotations

from collections.abc import Iterable

HEAD = '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\n\t.amdhsa_code_object_version 5\n'


def function(name: str, body: str) -> str:
    """One function as LLVM prints it. `s_endpgm` follows its body."""
    return (
        f"\t.text\n\t.globl\t{name}\n\t.p2align\t8\n\t.type\t{name},@function\n{name}:\n{body}"
        f"\ts_endpgm\n.Lfunc_end_{name}:\n\t.size\t{name}, .Lfunc_end_{name}-{name}\n"
    )


def descriptor(name: str) -> str:
    """Descriptor directives of a kernel limited by VGPRs."""
    return f"""\t.section\t.rodata,"a",@progbits
\t.amdhsa_kernel {name}
\t\t.amdhsa_user_sgpr_count 2
\t\t.amdhsa_next_free_vgpr 256
\t\t.amdhsa_next_free_sgpr 16
\t\t.amdhsa_accum_offset 256
\t.end_amdhsa_kernel
\t.text
"""


def metadata(names: Iterable[str]) -> str:
    """Metadata at the end of a compiler's text."""
    kernels = "".join(
        f"""  - .agpr_count: 0
    .group_segment_fixed_size: 0
    .max_flat_workgroup_size: 256
    .name: '{name}'
    .private_segment_fixed_size: 0
    .sgpr_count: 16
    .symbol: '{name}.kd'
    .vgpr_count: 256
    .wavefront_size: 64
"""
        for name in names
    )
    return (
        f"\t.amdgpu_metadata\n---\namdhsa.kernels:\n{kernels}"
        "amdhsa.target: amdgcn-amd-amdhsa--gfx90a\namdhsa.version:\n  - 1\n  - 2\n...\n"
        "\t.end_amdgpu_metadata\n"
    )


def module(body: str, name: str = "k") -> str:
    """A whole text with one kernel."""
    return HEAD + function(name, body) + descriptor(name) + metadata([name])
