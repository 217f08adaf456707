"""Source lines that ask the compiler for a row of a sweep.

A line is offered only for attributes that were compiled and gave the row. It replaces the kernel's
own attributes of the same kinds: `__launch_bounds__` states workgroup size and waves,
`amdgpu_waves_per_eu` only waves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from shlex import quote

from kernelinfo.variants.nouns import (
    SIZES,
    WAVES,
    Asked,
    Language,
    Line,
    SweptKernel,
    Variant,
    measures,
    notable,
)


def of_its_row(kernel: SweptKernel) -> Iterator[Variant]:
    """Variants to write as lines: equal to the first notable step, or the only variant.

    Variants without effect are left out. All have the strategy of that first variant.
    """
    steps = notable(kernel)
    base = kernel.variants[0].result
    wishes = {variant.asked._replace(or_more=False) for variant in kernel.variants[1:]}
    if not base or not (steps or len(wishes) == 1):
        return
    first = steps[0].variant if steps else kernel.variants[1]
    if not first.result or measures(first.result) == measures(base):
        return
    for variant in kernel.variants[1:]:
        is_same = variant.result and measures(variant.result) == measures(first.result)
        if is_same and not variant.is_ignored and variant.asked.strategy == first.asked.strategy:
            yield variant


def lines(
    asked: Asked,
    language: Language,
    declared: Mapping[str, str],
    options: tuple[str, ...],
    *,
    has_required_size: bool,
) -> Iterator[Line]:
    """Every way to write a variant in the source; none if the language cannot express it.

    `declared` are the kernel's own attributes in the IR, `options` are LLVM options.
    """
    written = " ".join(f"-mllvm {quote(option)}" for option in (*options, *asked.options))
    attributes = {**declared, **asked.attributes(has_required_size=has_required_size)}
    waves = attributes.get(WAVES) if asked.waves or asked.launch_bounds else None
    bounds = re.fullmatch(r"1,(\d+)", attributes.get(SIZES, ""))
    asks_for_size = asked.launch_bounds is not None and not has_required_size
    if language == "Triton":
        # Triton sets "N,N" for waves_per_eu=N (backends/amd/compiler.py, make_llir).
        if asked.waves and not asks_for_size and not written:
            yield Line(language, f"waves_per_eu={asked.waves}", "")
        return
    per_eu = f"__attribute__((amdgpu_waves_per_eu({_arguments(waves)})))" if waves else ""
    if not asks_for_size:
        if per_eu or written:
            yield Line(language, per_eu, written)
    elif language == "OpenCL":
        size = f"__attribute__((amdgpu_flat_work_group_size(1, {asked.launch_bounds})))"
        yield Line(language, f"{size} {per_eu}".rstrip(), written)
    if language == "HIP" and bounds and (waves or asks_for_size):
        if waves is None or waves.isdecimal():
            text = f"__launch_bounds__({bounds[1]}{f', {waves}' if waves else ''})"
            yield Line(language, text, written)
        elif asks_for_size:
            yield Line(language, f"__launch_bounds__({bounds[1]}) {per_eu}", written)


def _arguments(attribute: str) -> str:
    """`5, 5` for the attribute `5,5`."""
    return ", ".join(part.strip() for part in attribute.split(","))
