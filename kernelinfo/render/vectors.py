"""Test vectors of the occupancy model as JSON, one record per line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from kernelinfo import __version__
from kernelinfo.model.vectors import LICENSE, SCHEMA


def render_vectors(
    hardware: Iterable[dict[str, Any]], vectors: Iterable[dict[str, Any]]
) -> Iterator[str]:
    """One line about the file, then the constants of the hardware, then the cases."""
    about = {"schema": SCHEMA, "kernelinfo": __version__, "license": LICENSE}
    for records in ([about], hardware, vectors):
        for record in records:
            yield json.dumps(record, separators=(",", ":")) + "\n"
