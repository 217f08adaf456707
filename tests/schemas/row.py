"""The JSON Schema of a record, made of the table of columns."""

from __future__ import annotations

from typing import Any

from kernelinfo.kernel.record import COLUMNS, INSTRUCTIONS, Column

_SIGNED = {"Next_Change"}
_PERCENT = {"Occupancy_Percent"}


def row_schema() -> dict[str, Any]:
    """What render/row-schema.json has to be."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "kernelinfo/row/1",
        "title": "kernelinfo row",
        "type": "object",
        "description": "One kernel, as a line of --format jsonl and a row of CSV. null (in CSV an "
        "empty cell) means that the input does not say; 0 means zero.",
        "properties": {column.name: _property(column) for column in (*COLUMNS, *INSTRUCTIONS)},
        "required": [column.name for column in COLUMNS],
        "additionalProperties": False,
    }


def _property(column: Column) -> dict[str, Any]:
    made: dict[str, Any] = {
        "type": column.type if column.is_stated else [column.type, "null"],
        "description": column.about,
    }
    if column.type == "array":
        made["items"] = {"enum": [*column.choices]} if column.choices else {"type": "string"}
    elif column.choices:
        made["enum"] = [*column.choices, *([] if column.is_stated else [None])]
    elif column.type in ("integer", "number") and column.name not in _SIGNED:
        made["minimum"] = 0
    if column.name in _PERCENT:
        made["maximum"] = 100
    return made
