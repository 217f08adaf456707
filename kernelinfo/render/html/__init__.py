"""The report as one HTML page that fetches nothing: templates, styles and scripts of this folder.

Charts are the page's own SVG: a charting library would be several times as large as all of it, and
would not give hatching, labels for screen readers, print, and both colour schemes by CSS.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kernelinfo.kernel import Item, Report
from kernelinfo.render import View
from kernelinfo.render.html.dataset import dataset
from kernelinfo.render.html.page import page

SCRIPTS = (
    "model.js",
    "steps.js",
    "occupancy.js",
    "words.js",
    "dom.js",
    "address.js",
    "report.js",
    "chart.js",
    "curves.js",
    "unit.js",
    "whatif.js",
    "outcome.js",
    "resources.js",
    "kernel.js",
    "controls.js",
    "filters.js",
    "table.js",
    "columns.js",
    "scatter.js",
    "problems.js",
    "fleet.js",
    "main.js",
)


def render(
    items: Iterable[Item], view: View, pressure: Mapping[int, Mapping[str, Any]] | None = None
) -> Iterator[str]:
    """The page; `pressure` holds the curve of live registers of some kernels, by their number."""
    report = Report.of(items)
    data, scripts = dataset(report, view.names), list(SCRIPTS)
    if pressure:
        data |= {"pressure": pressure}
        scripts.insert(-1, "pressure.js")
    yield from page(data, scripts, len(report.results))
