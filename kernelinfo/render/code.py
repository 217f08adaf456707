"""What a kernel's instructions are, in a line."""

from __future__ import annotations

from kernelinfo.reading.facts import Code
from kernelinfo.render.words import plural


def code_parts(code: Code) -> list[str]:
    """Instructions by kind, as many as are written; what there is none of is left out."""
    counted = (
        (code.memory, "memory"),
        (code.scratch, "scratch"),
        (code.lds, "LDS"),
    )
    parts = [f"uses the matrix cores: {code.matrix} MFMA or WMMA"] if code.matrix else []
    parts += [plural(count, f"{kind} instruction") for count, kind in counted if count]
    if code.barriers:
        parts.append(plural(code.barriers, "barrier"))
    if code.calls:
        parts.append(plural(code.calls, "call"))
    if code.spills or code.reloads:
        parts.append(f"spilling: {plural(code.spills or 0, 'store')}")
        parts.append(plural(code.reloads or 0, "reload"))
    if code.agpr_moves:
        parts.append(f"{plural(code.agpr_moves, 'move')} of spills to AGPRs and back")
    parts += [
        f"{loop.spills + loop.reloads} of these in loop {loop.header} at depth {loop.depth}"
        for loop in code.loops or ()
    ]
    return parts
