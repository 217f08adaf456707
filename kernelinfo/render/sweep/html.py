"""A sweep as one HTML page: for each kernel its table, with bars that show the cost of waves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from jinja2 import Environment, PackageLoader

from kernelinfo import __version__
from kernelinfo.kernel import Result
from kernelinfo.render import View
from kernelinfo.render.names import name_of, printable
from kernelinfo.render.sweep.rows import HEADING, LEGEND, SweepRow, rows
from kernelinfo.render.sweep.words import about, trade
from kernelinfo.variants.nouns import Sweep, SweptKernel

_QUANTITIES: dict[str, Callable[[Result], int | None]] = {
    "VGPR": lambda result: result.kernel.used.vgprs,
    "spills": lambda result: result.kernel.spills.registers,
    "code": lambda result: result.kernel.code_bytes,
}
"""Columns with a bar in each cell."""


def render(sweeps: Iterable[Sweep], view: View) -> Iterator[str]:
    """The page. It has no script and fetches nothing."""
    environment = Environment(loader=PackageLoader("kernelinfo", "render"), autoescape=True)
    template = environment.get_template("sweep/page.html")
    yield from template.generate(
        version=__version__,
        heading=HEADING,
        legend=LEGEND,
        inputs=(_input(one, view) for one in sweeps),
    )


def _input(sweep: Sweep, view: View) -> dict[str, object]:
    folder, slash, file = printable(sweep.file.path).rpartition("/")
    _, *lines = about(sweep)  # the first one is the path and the target
    return {
        "folder": folder + slash,
        "file": file,
        "target": sweep.target_id,
        "about": [line.split(maxsplit=1) for line in lines],
        "kernels": (_kernel(kernel, view) for kernel in sweep.kernels),
    }


def _kernel(kernel: SweptKernel, view: View) -> dict[str, object]:
    found = rows(kernel)
    return {
        "name": name_of(kernel, view.names),
        "rows": list(zip(found, _cells(found), strict=True)),
        "trade": trade(kernel),
        "lines": kernel.lines,
        "notes": kernel.notes,
    }


def _cells(found: Sequence[SweepRow]) -> list[list[tuple[str, float | None]]]:
    """Cells of each row: text, and for its bar the share in % of the column's largest value.

    A column of zeros, or of one variant, has no bars."""
    results = [row.variants[0].result for row in found]
    shares: dict[str, list[float | None]] = {}
    for name, of in _QUANTITIES.items():
        values = [(of(result) or 0) if result else None for result in results]
        most = max((value for value in values if value is not None), default=0)
        if most and len(found) > 1:
            shares[name] = [None if value is None else 100 * value / most for value in values]
    return [
        [
            (text, shares[name][index] if name in shares else None)
            for name, text in zip(HEADING, row.cells, strict=False)
        ]
        for index, row in enumerate(found)
    ]
