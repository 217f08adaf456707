"""Values of `--names`."""

from __future__ import annotations

from typing import Literal

NameStyle = Literal["short", "full", "mangled"]
