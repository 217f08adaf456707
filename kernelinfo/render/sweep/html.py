"""A sweep as one HTML page: for each kernel its table and charts of the cost of waves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from jinja2 import Environment, PackageLoader

from kernelinfo import __version__
from kernelinfo.kernel import Result
from kernelinfo.render import View
from kernelinfo.render.names import name_of
from kernelinfo.render.sweep.rows import HEADING, LEGEND, SweepRow, rows
from kernelinfo.render.sweep.words import about, trade
from kernelinfo.render.words import number
from kernelinfo.variants.nouns import Sweep, SweptKernel

_WIDTH, _HEIGHT, _TOP = 320, 150, 16
"""Width and height of a chart, and space above its highest bar, in SVG units."""
_QUANTITIES: dict[str, Callable[[Result], int | None]] = {
    "VGPRs used": lambda result: result.kernel.used.vgprs,
    "spilled VGPRs": lambda result: result.kernel.spills.vgprs,
    "code, bytes": lambda result: result.kernel.code_bytes,
}


def render(sweeps: Iterable[Sweep], view: View) -> Iterator[str]:
    """The page. It has no script and fetches nothing."""
    environment = Environment(loader=PackageLoader("kernelinfo", "render"), autoescape=True)
    template = environment.get_template("sweep/page.html")
    yield from template.generate(
        version=__version__,
        heading=HEADING,
        legend=LEGEND,
        inputs=[
            {
                "about": list(about(one)),
                "kernels": [_kernel(kernel, view) for kernel in one.kernels],
            }
            for one in sweeps
        ],
        chart={"width": _WIDTH, "height": _HEIGHT},
    )


def _kernel(kernel: SweptKernel, view: View) -> dict[str, object]:
    found = rows(kernel)
    return {
        "name": name_of(kernel, view.names),
        "rows": found,
        "trade": trade(kernel),
        "lines": kernel.lines,
        "notes": kernel.notes,
        "charts": _charts(found),
    }


def _charts(found: Sequence[SweepRow]) -> list[dict[str, object]]:
    """A chart for each quantity against waves/SIMD; none if only one variant was compiled."""
    compiled = [
        (result.occupancy.waves_per_simd, row, result)
        for row in found
        if (result := row.variants[0].result) and result.occupancy
    ]
    compiled.sort(key=lambda one: one[0])
    return [
        {"title": title, "bars": _bars([(w, row, of(result) or 0) for w, row, result in compiled])}
        for title, of in _QUANTITIES.items()
        if len(compiled) > 1
    ]


def _bars(values: Sequence[tuple[float, SweepRow, int]]) -> list[dict[str, object]]:
    """A bar for each value, with its row and waves."""
    most = max(value for _, _, value in values) or 1
    step = _WIDTH / len(values)
    return [
        {
            "x": index * step + step / 8,
            "y": _HEIGHT - (_HEIGHT - _TOP) * value / most,
            "width": step * 3 / 4,
            "height": (_HEIGHT - _TOP) * value / most,
            "waves": number(waves),
            "value": value,
            "row": row,
        }
        for index, (waves, row, value) in enumerate(values)
    ]
