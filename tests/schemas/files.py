"""The files of the package that hold schemas."""

from __future__ import annotations

from typing import Any

import kernelinfo.render.diff.data as diff
import kernelinfo.render.pressure.data as pressure
from kernelinfo.cli import calc, reference
from kernelinfo.cli import compare_profile as profile
from kernelinfo.render import bytes, hardware, json, matrix, rows, sweep, watch
from kernelinfo.render.diff import text as diff_text
from kernelinfo.render.trend import writers as trend

from . import documents as keys
from .generator import Schema, document
from .tables import by_columns, configuration

DOCUMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "report": (json.SCHEMA, keys.REPORT),
    "counts": (rows.SCHEMA, keys.SUMMED),
    "matrix": (matrix.SCHEMA, keys.MATRIX),
    "bytes": (bytes.SCHEMA, keys.BYTES),
    "columns": (rows.COLUMNS_SCHEMA, keys.CHOSEN),
    "limits": (reference.LIMITS_SCHEMA, keys.LIMITS),
    "arch": (reference.ARCH_SCHEMA, keys.ARCH),
    "calc": (calc.CALC_SCHEMA, keys.CALC),
    "curve": (calc.CURVE_SCHEMA, keys.CURVE),
    "rules": (hardware.RULES_SCHEMA, keys.RULES),
    "compare-profile": (profile.SCHEMA, keys.LAUNCHES),
    "diff/diff": (diff.SCHEMA, keys.DIFF),
    "diff/diff-targets": (diff_text.TARGETS_SCHEMA, keys.DIFF_TARGETS),
    "diff/diff-counts": (diff_text.COUNTS_SCHEMA, keys.SUMMED_IN_BOTH),
    "pressure/pressure": (pressure.SCHEMA, keys.PRESSURE),
    "row": ("kernelinfo/row/1", keys.ROW),
    "pressure/pressure-row": ("kernelinfo/pressure-row/1", keys.PRESSURE_ROW),
    "trend/trend": (trend.SCHEMA, keys.TREND),
    "watch/watch": (watch.SCHEMA, keys.LOOK),
    "sweep/sweep": (sweep.SCHEMA, keys.SWEEP),
}
"""Path below `render/` → name of the schema, and keys."""


def schemas() -> dict[str, Schema]:
    """Path in the package → the schema."""
    made = {f"render/{path}": document(*of) for path, of in DOCUMENTS.items()}
    by_columns(made["render/report"]["properties"]["kernels"]["items"])
    made["config/config"] = configuration()
    return {f"{path}-schema.json": schema for path, schema in made.items()}
