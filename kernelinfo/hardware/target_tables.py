"""The tables of targets.toml: from the module that the build writes, or from TOML in a checkout."""

from __future__ import annotations

import typing
from functools import cache
from os.path import dirname, join
from typing import Any

from kernelinfo.errors import TargetsError
from kernelinfo.package_file import read_package_file

try:
    from kernelinfo.hardware.target_literals import TABLES
except ImportError:  # a checkout
    TABLES = None

Tables = dict[str, dict[str, Any]]
"""Target's name → its table, in the order of the file."""
ARE_CHECKED = TABLES is not None
"""True if a build wrote the tables: the build has checked them for contradictions."""


@cache
def tables() -> Tables:
    """The tables of all targets; references to shared topics are resolved."""
    if ARE_CHECKED:
        found: Tables = TABLES
        return found
    return read_tables(read_package_file(join(dirname(__file__), "targets.toml")).decode())


def read_tables(text: str) -> Tables:
    """The tables of all targets from the text of targets.toml, as `tables` returns them."""
    import tomllib  # not needed in an installed copy

    whole = tomllib.loads(text)
    targets = {name: own for name, own in whole.items() if name.startswith("gfx")}
    for own in targets.values():
        for topic, value in own.items():
            if isinstance(value, str) and value in whole.get(topic, ()):
                own[topic] = whole[topic][value]
    return targets


def literals(text: str) -> str:
    """Python source of the module `target_literals`, from the text of targets.toml."""
    return f"TABLES = {read_tables(text)!r}\n"


def check_types(kind: Any, value: Any, where: str) -> None:
    """Checks the type of a value from TOML. Raises `TargetsError` with `where` if it is wrong.

    A named tuple needs a table of its fields, a tuple a list, any other kind a value of exactly
    this type. `X | None` needs an X: TOML has no None.
    """
    if type(None) in typing.get_args(kind):
        kind = next(one for one in typing.get_args(kind) if one is not type(None))
    if hasattr(kind, "_fields"):
        if not isinstance(value, dict):
            raise TargetsError(f"{where}: a table was expected, not {value!r}")
        names = set(kind._fields)
        needed = names - kind._field_defaults.keys()
        if wrong := sorted((value.keys() - names) | (needed - value.keys())):
            raise TargetsError(f"{where}: missing or unknown: {', '.join(wrong)}")
        types = typing.get_type_hints(kind)
        for key, one in value.items():
            check_types(types[key], one, f"{where} {key}")
    elif typing.get_origin(kind) is tuple:
        if not isinstance(value, list):
            raise TargetsError(f"{where}: a list was expected, not {value!r}")
        for one in value:
            check_types(typing.get_args(kind)[0], one, where)
    elif typing.get_origin(kind) is typing.Literal:
        if value not in typing.get_args(kind):
            raise TargetsError(f"{where}: {value!r} is none of {typing.get_args(kind)}")
    elif type(value) is not kind:
        raise TargetsError(f"{where}: {kind.__name__} was expected, not {value!r}")
    elif kind is str and not value.strip():
        raise TargetsError(f"{where}: is empty")
