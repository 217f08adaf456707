"""A configuration file: its table, and the lines of its keys."""

from __future__ import annotations

import os
import tomllib
from typing import Any, NamedTuple

from kernelinfo.config.lines import KeyPath, lines_of
from kernelinfo.config.messages import say
from kernelinfo.errors import ConfigError, ReadError, bug
from kernelinfo.opening import FilePath
from kernelinfo.reading.messages import in_file
from kernelinfo.reading.paths import (
    CONFIGURATION_BYTES,
    CONFIGURATIONS,
    may_configure,
    read_document,
)

OWN, SHARED = CONFIGURATIONS


class ConfigFile(NamedTuple):
    """A configuration file as written."""

    path: str
    lines: dict[KeyPath, int]
    """Line of each key, from 1; keys whose line is unknown are left out."""
    table: dict[str, Any]
    inside: KeyPath
    """Keys that lead from the file's top to its table."""

    def line(self, path: KeyPath) -> int | None:
        """The line of a key, from 1; None if the key is not set or its line is unknown."""
        return self.lines.get(self.inside + path)


def read_file(path: FilePath) -> ConfigFile | None:
    """The configuration file; None for a `pyproject.toml` without `[tool.kernelinfo]`. Raises
    `ConfigError`."""
    path = os.fspath(path)
    try:
        return _read_file(path)
    except Exception as error:
        raise ConfigError(in_file(path, bug(error))) from error


def _read_file(path: str) -> ConfigFile | None:
    shared = os.path.basename(path) == SHARED
    try:
        data = read_document(path, CONFIGURATION_BYTES)
        if shared and not may_configure(data):  # it may even be invalid TOML
            return None
        text = data.decode()
        document = tomllib.loads(text)
    except OSError as error:
        if os.path.islink(path) and not os.path.exists(path):
            raise ConfigError(in_file(path, say("config-link-broken"))) from None
        message = say("config-unreadable", error=error.strerror)
        raise ConfigError(in_file(path, message)) from None
    except ReadError as error:
        raise ConfigError(in_file(path, error.message)) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(in_file(path, say("config-invalid", error=error))) from None
    if not shared:
        return ConfigFile(path, lines_of(text), document, ())
    tool = document.get("tool", {})
    table = tool.get("kernelinfo") if isinstance(tool, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise ConfigError(in_file(path, say("config-table-no-table", value=table)))
    return ConfigFile(path, lines_of(text), table, ("tool", "kernelinfo"))
