"""The schemas that are made of a table: of the columns of a record, of the configuration's keys."""

from __future__ import annotations

from datetime import date
from typing import Any

from kernelinfo.compare.summary import KernelNumbers
from kernelinfo.config.keys import KEYS, Key, ValueKind
from kernelinfo.kernel.record import BY_FIELD, BY_NAME, COLUMNS, INSTRUCTIONS, Column

from .generator import DIALECT, Raw, Schema

_SIGNED = {"Next_Change"}
_PERCENT = {"Occupancy_Percent"}


def value_of(column: Column) -> Raw:
    """The values of a column."""
    made: Schema = {
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
    return Raw(made)


def compared() -> dict[str, Raw]:
    """The fields of `KernelNumbers`. Those of instructions are absent if they are not counted."""
    counted = {column.field for column in INSTRUCTIONS}
    made = {}
    for name in KernelNumbers._fields:
        column = BY_FIELD.get(name) or BY_NAME[name.capitalize()]  # limiters, exact
        part = " null, too, where it is only a part of the amount." if column.unless else ""
        is_stated = column.type == "array"
        value = value_of(column._replace(about=column.about + part, is_stated=is_stated))
        made[f"{name}?" if name in counted else name] = value
    return made


def by_columns(kernel: Schema) -> None:
    """Gives keys of a kernel's document what the column says that is read from them: a text, if
    they have none of their own, values and bounds."""
    for column in COLUMNS:
        node = kernel
        for key in column.document.split("."):
            node = node.get("properties", {}).get(key, {})
        node |= {key: of for key, of in value_of(column).schema.items() if node and key not in node}


_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", date: "string"}


def configuration() -> Schema:
    """`kernelinfo.toml`, or `[tool.kernelinfo]`."""
    return {
        "$schema": DIALECT,
        "title": "kernelinfo configuration",
        "description": "kernelinfo.toml, or [tool.kernelinfo] of pyproject.toml.",
        **_table(KEYS),
    }


def _table(keys: tuple[Key, ...]) -> Schema:
    required = [key.name for key in keys if key.required]
    return {
        "type": "object",
        "properties": {name: _key(key, name) for key in keys for name in key.names},
        "additionalProperties": False,
        **({"required": required} if required else {}),
    }


def _key(key: Key, name: str) -> Schema:
    if name == key.older:
        about = f"The older name of {key.name}."
        return {"description": about, "deprecated": True, **_value(key)}
    default = {} if key.default is None else {"default": key.default}
    return {"description": key.about, **_value(key), **default}


def _value(key: Key) -> Schema:
    item = _table(key.keys) if key.keys else _scalar(key.kind)
    if key.table:
        return {"type": "object", "additionalProperties": item}
    if one_of := [{"required": [inner.name]} for inner in key.keys if inner.one_of]:
        item["anyOf"] = one_of
    return {"type": "array", "items": item} if key.array else item


def _scalar(kind: ValueKind) -> dict[str, Any]:
    names = list(dict.fromkeys(_TYPES[one] for one in kind.types))
    if "number" in names:
        names.remove("integer")
    schema: dict[str, Any] = {"type": names[0] if len(names) == 1 else names}
    if kind.choices:
        schema["enum"] = list(kind.choices)
    if kind.pattern:
        schema["pattern"] = kind.pattern
    if kind.least is not None:
        schema["minimum"] = kind.least
    return schema
