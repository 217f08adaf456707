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
from kernelinfo.model import Occupancy
from kernelinfo.render import View
from kernelinfo.render.html.dataset import CodePieces, PagePiece, given_pieces, pieces

_SCRIPTS = (
    *("pieces.js", "model.js", "steps.js", "occupancy.js", "words.js", "dom.js", "address.js"),
    *("places.js", "report.js", "chart.js", "curves.js", "unit.js", "whatif.js", "outcome.js"),
    *("findings.js", "resources.js", "kernel.js", "controls.js", "filters.js", "blocks.js"),
    *("table.js", "columns.js", "histogram.js", "scatter.js", "problems.js", "fleet.js", "main.js"),
)
TABLE_SCRIPTS = (
    *("pieces.js", "words.js", "dom.js", "address.js", "places.js", "chart.js", "blocks.js"),
    *("table.js", "controls.js"),
)
"""Scripts of a page with a table that filters and sorts."""


def render(
    items: Iterable[Item],
    view: View,
    parts: Mapping[str, Mapping[Any, Any]] | None = None,
    code: CodePieces | None = None,
    scripts: Sequence[str] = (),
) -> Iterator[str]:
    """The page of a report, written while the items come.

    `parts` maps the name of a further script to its data. `pressure`: curves of live registers by
    kernel number. `gate`: the outcome of a check. `code` makes pieces of kernels' code, which the
    further `scripts` draw."""
    parts = parts or {}
    scripts = (*_SCRIPTS[:-1], *(f"{part}.js" for part in parts), *scripts, _SCRIPTS[-1])
    return page(pieces(items, view, parts, code), scripts)


def render_given(occupancy: Occupancy, title: str, view: View) -> Iterator[str]:
    """The what-if page of given numbers, without a file."""
    return page(given_pieces(occupancy, title, view), _SCRIPTS)


def page(pieces: Iterable[PagePiece], scripts: Sequence[str]) -> Iterator[str]:
    """A page with its data in pieces and the scripts, in the order of their dependencies."""
    environment = Environment(loader=PackageLoader("kernelinfo.render", "html"), autoescape=True)
    template = environment.get_template("page.html")
    yield from template.generate(version=__version__, scripts=scripts, pieces=pieces)
