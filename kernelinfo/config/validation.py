"""TOML values -> Python values; all errors of a file are collected."""

from __future__ import annotations

import re
from typing import Any

from kernelinfo.config.keys import Key, KeyTable, Many, NamedTables, Scalar
from kernelinfo.config.lines import KeyPath
from kernelinfo.config.messages import say
from kernelinfo.errors import KernelinfoError, Message, did_you_mean


class Validation:
    """Reader of values by their keys; collects errors."""

    def __init__(self) -> None:
        self.complaints: list[tuple[KeyPath, Message]] = []
        """(key, message) of each error. The message has the form `what was found; what to
        write`."""

    def table(self, stated: Any, keys: tuple[Key, ...], path: KeyPath) -> dict[str, Any]:
        """Key -> value, for keys that are set or have a default."""
        names = [key.name for key in keys]
        known = {name for key in keys for name in key.names}
        for name in stated.keys() - known:
            near = did_you_mean(name.replace("_", "-"), names)
            hint = near or say("config-keys-known", names=", ".join(names))
            self._complain((*path, name), say("config-key-unknown", hint=hint))
        read = {}
        for key in keys:
            if key.older in stated and key.name in stated:
                self._complain((*path, key.older), say("config-key-twice", name=key.name))
            name = key.stated_name(stated)
            if name is not None:
                read[key.name] = self._value(stated[name], key.kind, (*path, name))
            elif key.required:
                assert isinstance(key.kind, Scalar)
                expected = key.kind.expected
                self._complain(path, say("config-key-missing", name=key.name, expected=expected))
            elif isinstance(key.kind, KeyTable) and not key.kind.array:
                read[key.name] = self.table({}, key.kind.keys, (*path, key.name))
            elif key.default is not None:
                read[key.name] = self._value(key.default, key.kind, (*path, key.name))
        return read

    def _value(
        self, stated: Any, kind: Scalar | Many | NamedTables | KeyTable, path: KeyPath
    ) -> Any:
        match kind:
            case Scalar():
                return self._scalar(stated, kind, path)
            case Many() if isinstance(stated, list):
                return tuple(
                    self._scalar(one, kind.of, (*path, index)) for index, one in enumerate(stated)
                )
            case NamedTables() if isinstance(stated, dict):
                return tuple(
                    (
                        self._scalar(name, kind.name, (*path, name)),
                        self._scalar(one, kind.of, (*path, name)),
                    )
                    for name, one in stated.items()
                )
            case KeyTable(array=False) if isinstance(stated, dict):
                return self.table(stated, kind.keys, path)
            case KeyTable(array=True) if isinstance(stated, list) and all(
                isinstance(one, dict) for one in stated
            ):
                return tuple(
                    self._element(one, kind, (*path, index)) for index, one in enumerate(stated)
                )
        self._complain(path, say("config-value", value=stated, expected=kind.expected))
        return None

    def _element(self, stated: Any, kind: KeyTable, path: KeyPath) -> dict[str, Any]:
        """One table of an array, with its key path under `path`."""
        others = {name for key in kind.keys for name in key.names} - {*kind.one_of}
        if kind.one_of and stated.keys() <= others:  # otherwise a key may be misspelled
            self._complain(path, say("budget-without-bounds", names=", ".join(kind.one_of)))
        return self.table(stated, kind.keys, path) | {"path": path}

    def _scalar(self, stated: Any, kind: Scalar, path: KeyPath) -> Any:
        message = say("config-value", value=stated, expected=kind.expected)
        try:
            if _fits(stated, kind):
                return kind.read(stated)
        except KernelinfoError as error:
            message = error.message
        except ValueError:
            pass
        self._complain(path, message)
        return None

    def _complain(self, path: KeyPath, message: Message) -> None:
        self.complaints.append((path, message))


def _fits(stated: Any, kind: Scalar) -> bool:
    # Python counts True as a number.
    if not isinstance(stated, kind.types) or (isinstance(stated, bool) and bool not in kind.types):
        return False
    if isinstance(stated, (int, float)) and kind.least is not None:
        return stated >= kind.least
    if isinstance(stated, str) and kind.pattern and not re.search(kind.pattern, stated):
        return False
    return not kind.choices or stated in kind.choices


def spelled(path: KeyPath) -> str:
    """A key path as text: `budget[1].waves`."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")
