"""What the project has decided: `kernelinfo.toml`, or `[tool.kernelinfo]` of `pyproject.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, cast, get_args

from kernelinfo.errors import ConfigError, OptionError
from kernelinfo.rules import Selection
from kernelinfo.rules.remark import Severity

_OWN, _SHARED = "kernelinfo.toml", "pyproject.toml"
SEVERITIES: tuple[Severity, ...] = get_args(Severity)


def read_config(path: Path) -> Selection:
    """Which rules the file chooses. Raises `ConfigError`."""
    table = _table(path)
    if table is None:
        raise ConfigError(f"{path}: has no [tool.kernelinfo]; add it, or write {_OWN}")
    for key in table.keys() - {"select", "ignore", "severity"}:
        raise ConfigError(f"{path}: {key}: unknown key; known are select, ignore and severity")
    severity = table.get("severity", {})
    if not isinstance(severity, dict) or not all(s in SEVERITIES for s in severity.values()):
        raise ConfigError(f'{path}: severity: {severity!r}; write {{ KI201 = "warning" }}')
    found = Selection(
        select=_names(path, table, "select"),
        ignore=_names(path, table, "ignore"),
        severities=tuple((name, cast(Severity, level)) for name, level in severity.items()),
    )
    for key, part in (
        ("select", Selection(select=found.select)),
        ("ignore", Selection(ignore=found.ignore)),
        ("severity", Selection(severities=found.severities)),
    ):
        try:
            part.rules()
        except OptionError as error:
            raise ConfigError(f"{path}: {key}: {error}") from None
    return found


def find_config(folder: Path) -> Path | None:
    """The nearest file that configures, from `folder` upwards."""
    for place in (folder, *folder.parents):
        if (own := place / _OWN).is_file():
            return own
        if (shared := place / _SHARED).is_file() and _table(shared) is not None:
            return shared
    return None


def _table(path: Path) -> dict[str, Any] | None:
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; give another file") from None
    except ValueError as error:
        raise ConfigError(f"{path}: {error}; write valid TOML") from None
    if path.name != _SHARED:
        return document
    tool = document.get("tool", {})
    table = tool.get("kernelinfo") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{path}: tool.kernelinfo: {table!r}; write a table")
    return table


def _names(path: Path, table: dict[str, Any], key: str) -> tuple[str, ...]:
    names = table.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ConfigError(f'{path}: {key}: {names!r}; write a list such as ["KI101", "KI2"]')
    return tuple(names)
