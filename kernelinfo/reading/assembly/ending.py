"""Tell assembly of the compiler's that breaks off before its end."""

from __future__ import annotations

from collections.abc import Iterable

from kernelinfo.reading.assembly.kernel_text import KernelText
from kernelinfo.reading.facts import ReadWarnings


class Ending:
    """The metadata with which the compiler ends a module for HSA, listing all its kernels."""

    def __init__(self) -> None:
        self.is_due = False
        self.is_there = False

    def check(self, kernels: Iterable[KernelText], last_line: int, warnings: ReadWarnings) -> None:
        """Note a module that breaks off, or has kernels that its metadata does not list."""
        described = [kernel for kernel in kernels if kernel.directives] if self.is_due else []
        if described and not self.is_there:
            warnings.add("no metadata ends the module: it is cut off; build it again", last_line)
            return
        for kernel in described:
            if kernel.directives and not kernel.metadata[1]:
                message = f"kernel {kernel.symbol!r}: not in the module's metadata; build it again"
                warnings.add(message, kernel.directives.line)
