"""A first configuration for a build tree, from the outputs in it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from kernelinfo.kernel import Kernel
from kernelinfo.kernel.report import Report

_HIP = "-hip-amdgcn-"
"""Part of the names that hipcc --save-temps gives to device code."""
_TEXT = """\
# For `kernelinfo check`; `kernelinfo explain gate` describes every key.
paths    = {paths}  # outputs of the build, relative to this file
target   = {targets}  # each must be built
baseline = "kernelinfo.baseline.json"  # made by `kernelinfo check --update-baseline`
fail-on  = "warning"  # on what is new: --update-baseline accepts the findings of today
expect   = {{ min-kernels = {count} }}  # nine tenths of today's: fewer cannot be all

# [workgroup-size]    # what the host launches
# "saxpy*" = 256

# [[budget]]          # the first that matches counts
# kernel = "gemm_*"
# vgpr-spill = 0
# waves = 2
"""


def first_configuration(report: Report) -> str:
    """Text of a `kernelinfo.toml` that covers the kernels of a report."""
    kernels = report.kernels
    count = len({(one.code_object, one.symbol) for one in kernels})
    return _TEXT.format(
        paths=json.dumps(sorted({_pattern(one.code_object.path) for one in kernels})),
        targets=json.dumps(sorted(_targets(kernels))),
        count=count - count // 10,
    )


def _targets(kernels: Iterable[Kernel]) -> set[str]:
    return {one.code_object.target for one in kernels if one.code_object.target}


def _pattern(path: str) -> str:
    """A glob for files like this one below its top folder: `build/**/*-hip-amdgcn-*.s`."""
    top, separator, _ = os.path.relpath(path).replace(os.sep, "/").partition("/")
    name, suffix = os.path.splitext(os.path.basename(path))
    if _HIP in name:
        name, suffix = "", f"{_HIP}*{suffix}"
    elif ".so" in name + suffix:
        suffix = ".so*"  # libfoo.so.1.2, too
    return f"{top}/**/*{suffix}" if separator else f"*{suffix}"
