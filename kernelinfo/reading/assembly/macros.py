"""Bodies of macros and repetitions, which only the assembler expands: what they state is no fact.

.macro KERNEL name
.amdhsa_kernel \\name
.endm
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kernelinfo.reading.assembly.scan import BUNDLE, INFO, Text, decode, is_directive, line_at

UNEXPANDED = "unexpanded"
"""The kind of a body that states a kernel; the mark stands where the body begins."""

_BEGINS = {"macro", "rept", "irp", "irpc"}
_ENDS = {"endm", "endr"}
_KERNEL = {"amdhsa_kernel", "amd_kernel_code_t", INFO}


def outside_macros(text: Text, marks: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The marks of `scan.marks` outside such bodies.

    A body that states a kernel gives one mark of its own, `UNEXPANDED`. One without an end reaches
    to the end of the text, or of its part of a bundle.
    """
    depth = start = 0
    states_kernel = False
    for offset, kind in marks:
        if kind in _BEGINS or kind in _ENDS:
            if is_directive(text, offset):
                start = start if depth else offset
                depth = max(depth + (1 if kind in _BEGINS else -1), 0)
        elif kind == BUNDLE:
            depth = 0
        elif depth:
            states_kernel |= kind in _KERNEL
        if states_kernel and not depth:
            yield start, UNEXPANDED
            states_kernel = False
        if not depth and kind not in _BEGINS and kind not in _ENDS:
            yield offset, kind
    if states_kernel:
        yield start, UNEXPANDED


def complaint(text: Text, offset: int) -> str:
    """What to say of the body that begins at `offset`."""
    begins = decode(line_at(text, offset)[:60].strip())
    return (
        f"kernels made by `{begins}` are not read: only the assembler expands it; "
        "give the object assembled from this text"
    )
