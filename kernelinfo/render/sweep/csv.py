"""A sweep as CSV, one row per variant: the request, then the columns of the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kernelinfo.kernel.record import NAMES, record
from kernelinfo.render import View
from kernelinfo.render.names import name_of
from kernelinfo.render.tables import WRITERS, Table
from kernelinfo.variants.nouns import Sweep, SweptKernel, Variant

_ASKED = (
    *("Asked_Waves", "Asked_Or_More", "Asked_Launch_Bounds", "Asked_Strategy"),
    *("Ignored", "Error"),
)


def render(sweeps: Iterable[Sweep], view: View) -> Iterator[str]:
    """The heading, then the variants of each kernel, as compiled first."""
    rows = (
        (*variant.asked, variant.is_ignored, variant.error, *_report(kernel, variant, view))
        for sweep in sweeps
        for kernel in sweep.kernels
        for variant in kernel.variants
    )
    return WRITERS["csv"](Table((*_ASKED, *NAMES), rows), view)


def _report(kernel: SweptKernel, variant: Variant, view: View) -> tuple[object, ...]:
    """The kernel's columns. A variant that failed has only the names."""
    names = (name_of(kernel, view.names), kernel.symbol)
    if variant.result:
        return names + tuple(record(variant.result).values())[len(names) :]
    return names + (None,) * (len(NAMES) - len(names))
