"""The report as one HTML page that fetches nothing, from the templates and scripts of this folder.

Charts are SVG of our own. A charting library would be several times as large as the page, without
hatching, labels for screen readers, print, and both colour schemes by CSS.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader

from kernelinfo import __version__
from kernelinfo.kernel import Item
from kernelinfo.kernel.report import Report
from kernelinfo.render import View
from kernelinfo.render.html.dataset import dataset

_SCRIPTS = (
    *("model.js", "steps.js", "occupancy.js", "words.js", "dom.js", "address.js", "report.js"),
    *("chart.js", "curves.js", "unit.js", "whatif.js", "outcome.js", "findings.js", "resources.js"),
    *("kernel.js", "controls.js", "filters.js", "table.js", "columns.js", "scatter.js"),
    *("problems.js", "fleet.js", "main.js"),
)
TABLE_SCRIPTS = ("words.js", "dom.js", "address.js", "chart.js", "table.js", "controls.js")
"""Scripts of a page with a table that filters and sorts."""


def render(
    items: Iterable[Item], view: View, parts: Mapping[str, Mapping[Any, Any]] | None = None
) -> Iterator[str]:
    """The page of a report. `parts` maps the name of a further script to its data.

    `pressure`: curves of live registers by kernel number. `gate`: the outcome of a check."""
    report, parts = Report.of(items), parts or {}
    scripts = (*_SCRIPTS[:-1], *(f"{part}.js" for part in parts), _SCRIPTS[-1])
    return page({**dataset(report, view), **parts}, scripts, len(report.results))


def page(data: Mapping[str, Any], scripts: Sequence[str], kernels: int) -> Iterator[str]:
    """A page with `data` as JSON and the scripts, in the order of their dependencies."""
    environment = Environment(loader=PackageLoader("kernelinfo.render", "html"), autoescape=True)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    template = environment.get_template("page.html")
    yield from template.generate(version=__version__, kernels=kernels, scripts=scripts, data=data)
