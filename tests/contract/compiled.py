"""Assembly of kernels with some numbers, as compilers write it: `compiled saxpy,vgpr=80 scale`."""

from __future__ import annotations

_DEFAULTS = {"vgpr": 64, "agpr": 0, "sgpr": 8, "lds": 0, "scratch": 0, "spill": 0}
_UNIFIED = ("gfx90a", "gfx942", "gfx950")
_DESCRIPTOR = """\
{name}:
  s_endpgm
.amdhsa_kernel {name}
  .amdhsa_next_free_vgpr {total}
  .amdhsa_next_free_sgpr {sgpr}
  {accum_offset}
  .amdhsa_group_segment_fixed_size {lds}
  .amdhsa_private_segment_fixed_size {scratch}
.end_amdhsa_kernel
"""
_METADATA = """\
  - .name: {name}
    .symbol: {name}.kd
    .private_segment_fixed_size: {scratch}
    .sgpr_spill_count: 0
    .vgpr_count: {total}
    .vgpr_spill_count: {spill}
"""


def assembly(*words: str) -> str:
    """Assembly text: a word for each kernel, and `target=`, `stamp=` or `metadata=no`."""
    options = dict(word.split("=", 1) for word in words if "=" in word.partition(",")[0])
    target, stamp = options.get("target", "gfx90a"), options.get("stamp", "clang version 19.1.7")
    kernels = [_stated(word, target) for word in words if "=" not in word.partition(",")[0]]
    parts = [f'.amdgcn_target "amdgcn-amd-amdhsa--{target}"\n']
    parts += [_DESCRIPTOR.format(**kernel) for kernel in kernels]
    if options.get("metadata") == "no":
        return "".join(parts)
    parts += [f'.ident "{one}"\n' for one in stamp.split("|")]
    parts += [".amdgpu_metadata\n---\namdhsa.kernels:\n"]
    parts += [_METADATA.format(**kernel) for kernel in kernels]
    parts += [f"amdhsa.target: amdgcn-amd-amdhsa--{target}\namdhsa.version: [1, 2]\n...\n"]
    return "".join([*parts, ".end_amdgpu_metadata\n"])


def _stated(word: str, target: str) -> dict[str, object]:
    """What a word says of its kernel: architectural VGPRs, and AGPRs behind them."""
    name, *values = word.split(",")
    stated = _DEFAULTS | {key: int(value) for key, _, value in (v.partition("=") for v in values)}
    assert stated.keys() == _DEFAULTS.keys(), word
    vgprs, agprs = stated["vgpr"], stated["agpr"]
    if not target.startswith(_UNIFIED):
        return stated | {"name": name, "total": max(vgprs, agprs), "accum_offset": ""}
    offset = max(4, -(-vgprs // 4) * 4)
    total = offset + agprs if agprs else vgprs
    return stated | {
        "name": name,
        "total": total,
        "accum_offset": f".amdhsa_accum_offset {offset}",
    }
