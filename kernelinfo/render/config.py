"""The effective configuration as TOML; each key names its origin."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from kernelinfo.config.file import ConfigFile, KeyPath
from kernelinfo.config.keys import KEYS, Key, KeyTable

_BARE = re.compile(r"[A-Za-z0-9_-]+")  # a key that needs no quotes


def render_config(file: ConfigFile | None, options: Mapping[str, Any]) -> Iterator[str]:
    """Lines with every key. `options` holds the keys that the command line overrides."""
    yield f"# {file.path if file else 'no file: what holds by default'}\n"
    stated = file.table if file else {}
    for key in sorted(KEYS, key=lambda key: isinstance(key.kind, KeyTable)):
        if not isinstance(key.kind, KeyTable):
            yield from _line(key, stated, (), file, options)
            continue
        inside = stated.get(key.name, [] if key.kind.array else {})
        for index, table in enumerate(inside if key.kind.array else [inside]):
            path: KeyPath = (key.name, index) if key.kind.array else (key.name,)
            yield f"\n[[{key.name}]]\n" if key.kind.array else f"\n[{key.name}]\n"
            for inner in key.kind.keys:
                yield from _line(inner, table, path, file, options)


def _line(
    key: Key,
    stated: Mapping[str, Any],
    path: KeyPath,
    file: ConfigFile | None,
    options: Mapping[str, Any],
) -> Iterator[str]:
    if key.name in options:
        value, origin = options[key.name], "command line"
    elif (name := key.stated_name(stated)) is not None:
        line = file.line((*path, name)) if file else None
        value, origin = stated[name], f"line {line}" if line else "file"
    elif key.default is not None:
        value, origin = key.default, "default"
    else:
        return
    yield f"{key.name} = {_toml(value)}  # {origin}\n"


def _toml(value: Any) -> str:
    """A value as TOML. Strings and numbers are spelled as in JSON."""
    if isinstance(value, dict):
        keys = {key: key if _BARE.fullmatch(key) else _toml(key) for key in value}
        inside = ", ".join(f"{keys[key]} = {_toml(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return value.isoformat() if isinstance(value, date) else json.dumps(value, ensure_ascii=False)
