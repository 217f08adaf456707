"""The list of rules: one line per rule, or JSON with documentation."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc
from typing import Any

from kernelinfo.render import View
from kernelinfo.render.json import picked
from kernelinfo.render.records import render_document, render_table
from kernelinfo.rules import Rule, every_rule
from kernelinfo.rules.documented import Documented

SCHEMA = "kernelinfo/rules/1"


def render_rules(format: str, view: View) -> Iterator[str]:
    """Every rule with its severity."""
    if format == "text":
        rows = [(r.number, r.name, r.severity if r.on else "off", r.summary) for r in every_rule()]
        return render_table(rows[0], rows[1:], view)
    rules = [*map(rule_document, every_rule())]
    return render_document({"schema": SCHEMA, "rules": rules}, rules, format)


def rule_document(rule: Rule | Documented) -> dict[str, Any]:
    """JSON object of a rule with its documentation."""
    return {
        "rule": rule.number,
        **picked(rule, "name", "severity", "on", "summary"),
        "documentation": cleandoc(rule.documentation),
    }
