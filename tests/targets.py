"""Targets as `kernelinfo arch` lists them."""

from __future__ import annotations

import json

import kernelinfo
from kernelinfo import Target

from .test_golden import run

KNOWN: dict[str, Target] = {
    row["name"]: kernelinfo.arch(row["name"]).target
    for row in json.loads(run("arch", "--format", "json")[0])["targets"]
}
"""Target by name."""
DEVICES = [name for name, target in KNOWN.items() if not target.members]
"""Names of those that are no generic targets."""
