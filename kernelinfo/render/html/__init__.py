"""The report as one HTML page that fetches nothing: templates, styles and scripts of this folder.

Charts are the page's own SVG: a charting library would be several times as large as all of it, and
would not give hatching, labels for screen readers, print, and both colour schemes by CSS.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jinja2 import Environment, PackageLoader

from kernelinfo import __version__
from kernelinfo.kernel import Item, Report
from kernelinfo.render import View
from kernelinfo.render.html.dataset import dataset

SCRIPTS = (
    "model.js",
    "steps.js",
    "occupancy.js",
    "words.js",
    "dom.js",
    "report.js",
    "chart.js",
    "curves.js",
    "unit.js",
    "whatif.js",
    "verdict.js",
    "resources.js",
    "kernel.js",
    "filters.js",
    "table.js",
    "columns.js",
    "scatter.js",
    "fleet.js",
    "main.js",
)
"""In the order of loading: each uses those above it."""


def render(items: Iterable[Item], view: View) -> Iterator[str]:
    report = Report.of(items)
    environment = Environment(loader=PackageLoader("kernelinfo.render", "html"), autoescape=True)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    page = environment.get_template("page.html")
    yield from page.generate(
        version=__version__,
        kernels=len(report.results),
        scripts=SCRIPTS,
        report=dataset(report, view.names),
    )
