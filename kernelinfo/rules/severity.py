"""How much a finding matters."""

from __future__ import annotations

from typing import Literal

Severity = Literal["error", "warning", "note"]
