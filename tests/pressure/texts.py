"""Assembly texts around the bodies that tests write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..test_golden import run

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


TWO_RANGES = module(
    """\tv_mov_b32_e32 v1, v0
\ts_branch .LBB0_2
.LBB0_1:
\tv_add_u32_e32 v3, v2, v1
\tv_add_u32_e32 v1, v3, v1
\ts_branch .LBB0_2
.LBB0_9:
\tv_mov_b32_e32 v9, v0
\ts_branch .LBB0_3
.LBB0_2:
\tv_mov_b32_e32 v2, v1
\ts_cbranch_scc1 .LBB0_1
\ts_cbranch_scc0 .LBB0_9
.LBB0_3:
\tglobal_store_dword v1, v1, s[0:1]
"""
)
"""A loop whose body stands before its header, with a block of no loop between them."""


def measured(folder: Path, *bodies: str, target: str = "gfx90a") -> list[dict[str, Any]]:
    """What `pressure --format json` says of kernels k0, k1, … with these bodies."""
    names = [f"k{number}" for number in range(len(bodies))]
    functions = "".join(map(function, names, bodies)) + "".join(map(descriptor, names))
    text = f"{HEAD}{functions}{metadata(names)}".replace("gfx90a", target)
    path = folder / "many.s"
    path.write_text(text if target == "gfx90a" else re.sub(r"\t\t.amdhsa_accum.*\n", "", text))
    found = kernels(path)
    assert [kernel["symbol"] for kernel in found] == names
    return found


def kernels(path: Path, *words: str) -> list[dict[str, Any]]:
    """The kernels of `pressure --format json`."""
    out, _, _ = run("pressure", str(path), *words, "--format", "json")
    found: list[dict[str, Any]] = json.loads(out)["kernels"] if out else []
    return found
