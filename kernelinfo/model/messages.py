"""What the model refuses: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import wording

MESSAGES = {
    "launch-counts": "counts of registers and bytes must be whole numbers: {error}",
    "launch-count-negative": "{least}: counts of registers and bytes must not be negative",
    "launch-wave-size": "{target} has no waves of {lanes} lanes, only {known}",
    "launch-mode": "{target} has only {per} mode",
    "launch-workitems": "the workgroup size must be a whole number: {error}",
    "launch-grid": "grid of {grid} workgroups: give at least 1",
    "launch-agprs": "{target} has no AGPRs; {agprs} were given",
    "launch-empty": (
        "workgroup of {workitems} workitems and {dynamic_lds} bytes of dynamic LDS: give at least "
        "1 workitem and 0 bytes"
    ),
    "launch-blocks": "{target} in wave{lanes} has no dynamic VGPR blocks of {block}, {only}",
    "blocks-known": "only of {known}",
    "blocks-none": "nor of any other size",
}

say = wording(MESSAGES)
