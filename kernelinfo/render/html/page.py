"""One HTML file out of the template, styles and scripts of this folder, and what they show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader

from kernelinfo import __version__

TABLE_SCRIPTS = ("words.js", "dom.js", "address.js", "chart.js", "table.js", "controls.js")
"""Of a page whose table can be filtered and sorted."""


def page(data: Mapping[str, Any], scripts: Sequence[str], kernels: int) -> Iterator[str]:
    """The page that holds `data` as JSON, and the scripts, each of which uses those before it."""
    environment = Environment(loader=PackageLoader("kernelinfo.render", "html"), autoescape=True)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    template = environment.get_template("page.html")
    yield from template.generate(version=__version__, kernels=kernels, scripts=scripts, data=data)
