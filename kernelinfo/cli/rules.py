"""`kernelinfo rules`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from inspect import cleandoc
from typing import Annotated, Literal

import typer

from kernelinfo.cli import options
from kernelinfo.cli.output import write
from kernelinfo.rules import ALL

EXAMPLES = """\
Examples:
  kernelinfo rules
  kernelinfo rules --format json
  kernelinfo explain KI302                        # one of them in full
"""


def command(
    format: Annotated[
        Literal["text", "json"], typer.Option("--format", help="Choose the output format.")
    ] = "text",
    output: options.Output = None,
) -> None:
    """List every rule with its severity."""
    write(_text() if format == "text" else _json(), output)


def _text() -> Iterator[str]:
    width = max(len(rule.name) for rule in ALL)
    for rule in ALL:
        on = rule.severity if rule.on else "off"
        yield f"{rule.number}  {rule.name:<{width}}  {on:<7}  {rule.summary}\n"


def _json() -> Iterator[str]:
    rows = [
        {
            "rule": rule.number,
            "name": rule.name,
            "severity": rule.severity,
            "on": rule.on,
            "summary": rule.summary,
            "documentation": cleandoc(rule.documentation),
        }
        for rule in ALL
    ]
    yield json.dumps(rows, indent=1) + "\n"
