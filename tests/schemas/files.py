"""The files of the package that hold schemas."""

from __future__ import annotations

from .documents import DOCUMENTS
from .generator import Schema, document
from .tables import by_columns, configuration


def schemas() -> dict[str, Schema]:
    """Path in the package → the schema."""
    made = {f"render/{path}": document(*of) for path, of in DOCUMENTS.items()}
    by_columns(made["render/report"]["properties"]["kernels"]["items"])
    made["config/config"] = configuration()
    return {f"{path}-schema.json": schema for path, schema in made.items()}
