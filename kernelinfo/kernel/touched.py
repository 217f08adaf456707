"""Registers that a kernel's code touches."""

from __future__ import annotations

from typing import NamedTuple


class TouchedRegisters(NamedTuple):
    """Registers that a kernel touches, its callees' included: the highest of each class plus one.

    Only of code that was read whole: each instruction is known and names its registers, and each
    call leads to a function that was read.
    """

    vgprs: int  # the highest VGPR plus one
    agprs: int  # the highest AGPR plus one
    sgprs: int
    """The highest SGPR plus one; VCC, flat scratch and XNACK left out."""
    entry_vgprs: int
    """VGPRs that the hardware sets at the kernel's entry; 0 if that is not known."""
    entry_sgprs: int
    """SGPRs that it may set there; 0 if that is not known."""
    callees: tuple[str, str, str] = ("", "", "")
    """Symbol of the callee that touches the highest VGPR, AGPR and SGPR; empty for the kernel."""
    unwritten: tuple[str, ...] = ()
    """Ranges of registers that every path reads before anything writes them."""
