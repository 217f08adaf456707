"""The list of rules: one line each, or JSON with their documentation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from inspect import cleandoc
from typing import Literal

from kernelinfo.rules import ALL


def render_rules(format: Literal["text", "json"]) -> Iterator[str]:
    """Every rule with its severity."""
    return _text() if format == "text" else _json()


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
