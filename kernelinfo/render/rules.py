"""The list of rules: one line per rule, or JSON with documentation."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc
from typing import Any

from kernelinfo.render import View
from kernelinfo.render.json import picked
from kernelinfo.render.paint import painted, table_lines
from kernelinfo.render.tables import Table, of_records
from kernelinfo.rules import Rule, every_rule
from kernelinfo.rules.documented import Documented

SCHEMA = "kernelinfo/rules/1"


def render_rules(view: View) -> Iterator[str]:
    """A line for each rule, with its severity."""
    rows = [(r.number, r.name, r.severity if r.on else "off", r.summary) for r in every_rule()]
    return painted(table_lines(rows, "tttd", view), view)


def rules_table(view: View) -> Table:
    """Every rule with its documentation; for people a line each."""
    records = [*map(rule_document, every_rule())]
    return of_records(records, SCHEMA, "rules", text=render_rules(view))


def rule_document(rule: Rule | Documented) -> dict[str, Any]:
    """JSON object of a rule with its documentation."""
    return {
        "rule": rule.number,
        **picked(rule, "name", "severity", "on", "summary"),
        "documentation": cleandoc(rule.documentation),
    }
