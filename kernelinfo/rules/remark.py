"""What a rule yields: a fact about one kernel in words."""

from __future__ import annotations

from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "note"]


class Remark(NamedTuple):
    message: str
    hint: str = ""
    """What to do, where there is something to do."""
    severity: Severity | None = None
    """Where it differs from the rule's own."""
