"""What the model refuses: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import wording

MESSAGES = {
    "launch-counts": "counts of registers and bytes: {error}",
    "launch-count-negative": "{least}: no count of registers or bytes is negative",
    "launch-wave-size": "{target} has no waves of {lanes} lanes, only {known}",
    "launch-mode": "{target} has no choice of mode, only its {per}",
    "launch-workitems": "workitems of a workgroup: {error}",
    "launch-grid": "grid of {grid} workgroups: give at least 1",
    "launch-agprs": "{target} has no AGPRs, not {agprs}",
    "launch-empty": (
        "workgroup of {workitems} workitems and {dynamic_lds} bytes of dynamic LDS: give at least "
        "1 workitem and 0 bytes"
    ),
    "launch-blocks": "{target} in wave{lanes} has no dynamic VGPR blocks of {block}, {only}",
    "blocks-known": "only of {known}",
    "blocks-none": "none at all",
}

say = wording(MESSAGES)
