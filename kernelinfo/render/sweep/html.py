"""A sweep as one HTML page: of each kernel its table, and waves against what they cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from jinja2 import Environment, PackageLoader

from kernelinfo import __version__
from kernelinfo.kernel import Result
from kernelinfo.light_typing import NamedTuple
from kernelinfo.render import View
from kernelinfo.render.names import styled
from kernelinfo.render.sweep.rows import HEADING, LEGEND, Row, rows
from kernelinfo.render.sweep.words import about, how_to_write, trade
from kernelinfo.render.words import number
from kernelinfo.sweep.variants import AS_COMPILED, Sweep, SweptKernel

_WIDTH, _HEIGHT, _TOP = 320, 150, 16
"""Of a chart and of the room above its highest bar, in SVG's units."""


class Bar(NamedTuple):
    """One row in a chart."""

    x: float
    y: float
    width: float
    height: float
    waves: str
    value: int
    label: str
    is_compiled: bool


class Chart(NamedTuple):
    """One quantity against waves/SIMD."""

    title: str
    bars: tuple[Bar, ...]


def render(sweep: Sweep, view: View) -> Iterator[str]:
    """The page, which fetches nothing and has no script."""
    environment = Environment(loader=PackageLoader("kernelinfo", "render"), autoescape=True)
    template = environment.get_template("sweep/page.html")
    yield from template.generate(
        version=__version__,
        about=list(about(sweep)),
        heading=HEADING,
        legend=LEGEND,
        kernels=[_kernel(sweep, kernel, view) for kernel in sweep.kernels],
        chart={"width": _WIDTH, "height": _HEIGHT},
    )


def _kernel(sweep: Sweep, kernel: SweptKernel, view: View) -> dict[str, object]:
    found = rows(kernel)
    return {
        "name": styled(kernel.name, kernel.symbol, view.names),
        "rows": [(row.variants[0].asked == AS_COMPILED, row) for row in found],
        "trade": trade(kernel),
        "write": list(how_to_write(sweep, kernel)),
        "notes": kernel.notes,
        "charts": _charts(found),
    }


def _charts(found: Sequence[Row]) -> list[Chart]:
    made = [(row, row.variants[0].result) for row in found]
    compiled = [(row, result) for row, result in made if result and result.occupancy]
    compiled.sort(key=lambda one: one[1].occupancy.waves_per_simd if one[1].occupancy else 0)
    return [
        Chart(title, _bars([(row, result, value(result)) for row, result in compiled]))
        for title, value in _QUANTITIES.items()
        if len(compiled) > 1
    ]


_QUANTITIES: dict[str, Callable[[Result], int]] = {
    "VGPRs used": lambda result: result.kernel.used.vgprs or 0,
    "spilled VGPRs": lambda result: result.kernel.spills.vgprs or 0,
    "code, bytes": lambda result: result.kernel.code_bytes or 0,
}


def _bars(values: Sequence[tuple[Row, Result, int]]) -> tuple[Bar, ...]:
    most = max(value for _, _, value in values) or 1
    step = _WIDTH / len(values)
    bars = []
    for index, (row, result, value) in enumerate(values):
        height = (_HEIGHT - _TOP) * value / most
        waves = number(result.occupancy.waves_per_simd) if result.occupancy else "?"
        corner = (index * step + step / 8, _HEIGHT - height, step * 3 / 4, height)
        is_compiled = row.variants[0].asked == AS_COMPILED
        bars.append(Bar(*corner, waves, value, row.label, is_compiled))
    return tuple(bars)
