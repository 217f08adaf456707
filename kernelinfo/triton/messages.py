"""What kernels of Triton tell users: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import wording

MESSAGES = {
    "triton-other-gpu": "no code object for an AMD GPU in {kinds}; compile for a hip target",
    "triton-missing": "Triton is not installed; run pip install triton",
    "triton-old": "Triton is too old; install 3.4 or newer",
    "triton-other-vendor": "backend {backend} is not AMD's; give GPUTarget('hip', …)",
    "config-not-compiled": "does not compile: {error}",
    "argument-hint": "{name}: unknown hint {hint!r} of {kind}; give one of {known}",
    "argument-without-type": (
        "{name} has no type; add it to `signature`, as in {{{name!r}: '*fp16'}}"
    ),
    "config-cannot-start": "cannot start: {obstacles}",
    "config-limited": "limited to {waves} by {limits}, fewer than {at_least:g}",
    "config-spills": "{registers} spilled",
    "compiled-unreadable": "{error}",
}

say = wording(MESSAGES)
