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
    "findings.js",
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
    items: Iterable[Item], view: View, parts: Mapping[str, Mapping[Any, Any]] | None = None
) -> Iterator[str]:
    """The page; `parts` holds what further scripts draw, each under the name of its script.

    `pressure` has the curve of live registers of some kernels, by their number; `gate` the outcome
    of a check.
    """
    report = Report.of(items)
    parts = parts or {}
    scripts = (*SCRIPTS[:-1], *(f"{part}.js" for part in parts), SCRIPTS[-1])
    data = dataset(report, view)
    yield from page({**data, **parts}, scripts, len(report.results))
