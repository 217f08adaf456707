"""Assembly whose code touches one register more than its descriptor allocates, and the same that
does not: VGPRs, AGPRs and SGPRs, in the kernel, in what it calls, and beyond tail calls."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

_GRANULES = {"gfx900": 4, "gfx908": 4, "gfx90a": 8, "gfx942": 8, "gfx1030": 16, "gfx1100": 24}
"""VGPRs that the hardware allocates at a time, in waves of 32 lanes where there are such (LLVM
AMDGPUBaseInfo.cpp, getVGPRAllocGranule)."""
_ACCUM = ("gfx90a", "gfx942")
"""AGPRs follow the VGPRs in one file."""
_SGPRS, _EXTRA_SGPRS = 16, 6
"""SGPRs that gfx9 allocates at a time, and those of VCC, flat scratch and XNACK (AMDGPUUsage,
"SGPRs")."""
PLACES = ("kernel", "swappc", "call", "tail", "branch", "chain", "chain to a tail")


class Unallocated(NamedTuple):
    """A text with the kernels `over`, which touches a register too many, and `fits`."""

    text: str
    register: str
    """The register that is not allocated."""
    callee: str
    """The function that touches it; empty for the kernel."""


def unallocated(random: Random) -> Unallocated:
    """A random text."""
    target = random.choice([*_GRANULES])
    kinds = "v" if target.startswith("gfx1") else "vs" if target == "gfx900" else "vas"
    kind, place = random.choice(kinds), random.choice(PLACES)
    granule, sgprs = _GRANULES[target], random.randint(48, 90)
    vgprs, agprs = random.randint(49, 120), random.randint(1, 60)
    accum = target in _ACCUM
    offset = -(-vgprs // 4) * 4
    declared = offset + agprs if accum else vgprs
    allocated = -(-declared // granule) * granule
    most = {
        "v": offset if accum else allocated,
        "a": allocated - offset if accum else allocated,
        "s": -(-(sgprs + _EXTRA_SGPRS) // _SGPRS) * _SGPRS,
    }[kind]
    if kind == "s":
        most = min(most, 101)  # s101 is the last that code can name
        sgprs = most - _EXTRA_SGPRS - most % _SGPRS
        most = -(-(sgprs + _EXTRA_SGPRS) // _SGPRS) * _SGPRS
    directives = [f"next_free_vgpr {declared}", f"next_free_sgpr {sgprs}", "user_sgpr_count 4"]
    directives += [f"accum_offset {offset}"] * accum
    directives += ["wavefront_size32 1"] * target.startswith("gfx1")
    kernels, descriptors = [], []
    for name, index in (("over", most), ("fits", most - 1)):
        kernels += _functions(name, place, _touching(kind, index))
        block = "".join(f"\t\t.amdhsa_{one}\n" for one in directives)
        descriptors += [f"\t.p2align 6\n\t.amdhsa_kernel {name}\n{block}\t.end_amdhsa_kernel\n"]
    head = f'\t.amdgcn_target "amdgcn-amd-amdhsa--{target}"\n\t.text\n'
    text = "".join([head, *kernels, "\t.section .rodata\n", *descriptors])
    callee = {"kernel": "", "chain": "over_leaf", "chain to a tail": "over_leaf"}
    return Unallocated(text, f"{kind}{most}", callee.get(place, "over_far"))


def _touching(kind: str, index: int) -> str:
    source = {"v": "v_mov_b32 v{}, v0", "a": "v_accvgpr_write_b32 a{}, v0", "s": "s_mov_b32 s{}, 0"}
    return f"\t{source[kind].format(index)}\n"


def _functions(name: str, place: str, touching: str) -> list[str]:
    far, leaf = f"{name}_far", f"{name}_leaf"
    returns, ends = "\ts_setpc_b64 s[30:31]\n", "\ts_endpgm\n"
    calls = _address(far, 4) + "\ts_swappc_b64 s[30:31], s[4:5]\n" + ends
    begin = {
        "kernel": touching + ends,
        "call": f"\ts_call_b64 s[30:31], {far}\n{ends}",
        "tail": _address(far, 6) + "\ts_setpc_b64 s[6:7]\n",
        "branch": f"\ts_branch {far}\n",
    }.get(place, calls)
    kept = "\tv_writelane_b32 v40, s30, 0\n\tv_writelane_b32 v40, s31, 1\n"
    given = "\tv_readlane_b32 s30, v40, 0\n\tv_readlane_b32 s31, v40, 1\n"
    middle = {
        "kernel": returns,
        "tail": touching + ends,
        "branch": touching + ends,
        "chain": kept + _address(leaf, 8) + "\ts_swappc_b64 s[30:31], s[8:9]\n" + given + returns,
        "chain to a tail": _address(leaf, 8) + "\ts_setpc_b64 s[8:9]\n",
    }.get(place, touching + returns)
    last = touching + returns if place.startswith("chain") else returns
    return [
        f"\t.p2align 8\n\t.type {label},@function\n{label}:\n{code}.L{label}:\n"
        f"\t.size {label}, .L{label}-{label}\n"
        for label, code in ((name, begin), (far, middle), (leaf, last))
    ]


def _address(function: str, low: int) -> str:
    return (
        f"\ts_getpc_b64 s[{low}:{low + 1}]\n\ts_add_u32 s{low}, s{low}, {function}@rel32@lo+4\n"
        f"\ts_addc_u32 s{low + 1}, s{low + 1}, {function}@rel32@hi+12\n"
    )
