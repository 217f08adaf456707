"""The JSON Schema of the configuration's keys, which the package ships as config-schema.json."""

from __future__ import annotations

from datetime import date
from typing import Any

from kernelinfo.config.keys import KEYS, Key, KeyTable, Many, NamedTables, Scalar

_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", date: "string"}


def schema() -> dict[str, Any]:
    """The schema of `kernelinfo.toml`, or of `[tool.kernelinfo]`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "kernelinfo configuration",
        "description": "kernelinfo.toml, or [tool.kernelinfo] of pyproject.toml.",
        **_table(KEYS),
    }


def _table(keys: tuple[Key, ...]) -> dict[str, Any]:
    required = [key.name for key in keys if key.required]
    return {
        "type": "object",
        "properties": {name: _key(key, name) for key in keys for name in key.names},
        "additionalProperties": False,
        **({"required": required} if required else {}),
    }


def _key(key: Key, name: str) -> dict[str, Any]:
    if name == key.older:
        about = f"The older name of {key.name}."
        return {"description": about, "deprecated": True, **_value(key.kind)}
    default = {} if key.default is None else {"default": key.default}
    return {"description": key.about, **_value(key.kind), **default}


def _value(kind: Scalar | Many | NamedTables | KeyTable) -> dict[str, Any]:
    match kind:
        case Scalar():
            return _scalar(kind)
        case Many():
            return {"type": "array", "items": _scalar(kind.of)}
        case NamedTables():
            return {"type": "object", "additionalProperties": _scalar(kind.of)}
        case KeyTable(array=True):
            one_of = [{"required": [name]} for name in kind.one_of]
            return {
                "type": "array",
                "items": _table(kind.keys) | ({"anyOf": one_of} if one_of else {}),
            }
        case KeyTable():
            return _table(kind.keys)


def _scalar(kind: Scalar) -> dict[str, Any]:
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
