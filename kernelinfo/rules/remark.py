"""What a rule yields: a fact about one kernel in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Remark:
    message: str
    hint: str = ""
    """What to do, where there is something to do."""
    severity: Severity | None = None
    """Where it differs from the rule's own."""
