"""The configuration of a project: `kernelinfo.toml`, or `[tool.kernelinfo]` of `pyproject.toml`."""

import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any, Literal, NamedTuple, TypeVar

from kernelinfo.config.keys import GATED, KEYS, OF_FILE, OF_TABLES, Key, ValueKind
from kernelinfo.config.keys import MEASURES as MEASURES
from kernelinfo.config.keys import Bound as Bound
from kernelinfo.config.messages import say
from kernelinfo.errors import ConfigError, KernelinfoError, Message, ReadError, bug, did_you_mean
from kernelinfo.kernel import Severity
from kernelinfo.kernel.names import matching
from kernelinfo.kernel.record import Column
from kernelinfo.opening import FilePath
from kernelinfo.reading.messages import in_file
from kernelinfo.reading.paths import (
    CONFIGURATION_BYTES,
    CONFIGURATIONS,
    configurations,
    may_configure,
    read_document,
)
from kernelinfo.reading.target_id import runs_on
from kernelinfo.rules import BY_DEFAULT, Selection

ForKernels = TypeVar("ForKernels", "Budget", "Suppression")
ToolchainChange = Literal["report", "strict", "accept"]


class Budget(NamedTuple):
    """Bounds on the numbers of kernels, chosen by name and target."""

    kernel: str = "*"
    target: str | None = None
    bounds: tuple[tuple[Column, Bound], ...] = ()
    line: int | None = None
    """Line of the configuration, from 1; None if unknown."""


class Gate(NamedTuple):
    """Allowances: by how much each number may be worse than in the baseline."""

    allowances: tuple[tuple[Column, Bound], ...] = ()
    """(number, allowance) pairs; other numbers may get worse without limit."""
    toolchain_change: ToolchainChange = "report"
    new: Severity = "note"
    """Severity of kernels that the baseline does not have."""

    def __repr__(self) -> str:
        """One line with the keys of the configuration."""
        allowed = ", ".join(f"{number.key} {allowance}" for number, allowance in self.allowances)
        return f"Gate({allowed}; toolchain-change {self.toolchain_change}; new {self.new})"


class Suppression(NamedTuple):
    """A suppression: findings that do not count."""

    rule: str
    kernel: str
    reason: str
    target: str | None = None
    until: date | None = None
    """Last day of the suppression; None if it does not expire."""
    line: int | None = None


def entries_for(
    entries: Sequence[ForKernels], name: str, symbol: str, target: str
) -> list[ForKernels]:
    """The budgets or suppressions that apply to a kernel, by its name and target id."""
    fitting = matching(tuple(entry.kernel for entry in entries), name, symbol)
    return [
        entry
        for entry in entries
        if entry.kernel in fitting and (entry.target is None or runs_on(target, entry.target))
    ]


# TOML values -> Python values; all errors of a file are collected.

KeyPath = tuple[str | int, ...]
"""Keys and array indices from the top: `("budget", 1, "kernel")`."""


ConfigComplaints = list[tuple[KeyPath, Message]]
"""(key, message) of each error of a file. The message has the form `what was found; what to
write`."""


def read_values(
    stated: Any, keys: tuple[Key, ...], path: KeyPath, complaints: ConfigComplaints
) -> dict[str, Any]:
    """The value of each key that is set or has a default. Errors are added to `complaints`."""
    names = [key.name for key in keys]
    spellings = {name for key in keys for name in key.names}
    for name in stated.keys() - spellings:
        near = did_you_mean(name.replace("_", "-"), names)
        hint = near or say("config-keys-known", names=", ".join(names))
        complaints.append(((*path, name), say("config-key-unknown", hint=hint)))
    read = {}
    for key in keys:
        if key.older in stated and key.name in stated:
            complaints.append(((*path, key.older), say("config-key-twice", name=key.name)))
        name = key.stated_name(stated)
        if name is not None:
            read[key.name] = _value(stated[name], key, (*path, name), complaints)
        elif key.required:
            expected = key.kind.expected
            complaints.append((path, say("config-key-missing", name=key.name, expected=expected)))
        elif key.keys and not key.array:
            read[key.name] = read_values({}, key.keys, (*path, key.name), complaints)
        elif key.default is not None:
            read[key.name] = _value(key.default, key, (*path, key.name), complaints)
    return read


def _value(stated: Any, key: Key, path: KeyPath, complaints: ConfigComplaints) -> Any:
    """The value of a key: a single value, an array, or a table of values by name."""
    if key.name_kind and isinstance(stated, dict):
        return tuple(
            (
                _scalar(name, key.name_kind, (*path, name), complaints),
                _scalar(item, key.kind, (*path, name), complaints),
            )
            for name, item in stated.items()
        )
    if key.array and isinstance(stated, list):
        if not key.keys or all(isinstance(item, dict) for item in stated):
            items = enumerate(stated)
            return tuple(_element(item, key, (*path, index), complaints) for index, item in items)
    elif not (key.array or key.table):
        return _element(stated, key, path, complaints)
    complaints.append((path, say("config-value", value=stated, expected=key.array or key.table)))
    return None


def _element(stated: Any, key: Key, path: KeyPath, complaints: ConfigComplaints) -> Any:
    """One value of a key. `path` leads to the key, or to the array that holds the value."""
    if not key.keys or not isinstance(stated, dict):
        return _scalar(stated, key.kind, path, complaints)
    if not key.array:
        return read_values(stated, key.keys, path, complaints)
    bounds = [inner.name for inner in key.keys if inner.one_of]
    unbounded = {name for inner in key.keys if not inner.one_of for name in inner.names}
    if bounds and stated.keys() <= unbounded:  # otherwise a key may be misspelled
        complaints.append((path, say("budget-without-bounds", names=", ".join(bounds))))
    return read_values(stated, key.keys, path, complaints) | {"path": path}


def _scalar(stated: Any, kind: ValueKind, path: KeyPath, complaints: ConfigComplaints) -> Any:
    message = say("config-value", value=stated, expected=kind.expected)
    try:
        if _fits(stated, kind):
            return kind.read(stated)
    except KernelinfoError as error:
        message = error.message
    except ValueError:
        pass
    complaints.append((path, message))
    return None


def _fits(stated: Any, kind: ValueKind) -> bool:
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


def _gate(values: dict[str, Any]) -> Gate:
    allowed = ((measure, values[key]) for key, measure in GATED)
    return Gate(
        tuple((measure, allowance) for measure, allowance in allowed if allowance is not None),
        values["toolchain-change"],
        values["new"],
    )


class Configuration(NamedTuple):
    """All settings of a project, with their defaults."""

    file: FilePath | None = None
    paths: tuple[str, ...] = ()
    """Files, folders and globs, relative to the current folder."""
    targets: tuple[str, ...] = ()
    """Ids of the targets to check; empty for all."""
    required_targets: tuple[str, ...] = ()
    """Ids of the targets that each library must have code for."""
    baseline: FilePath | None = None
    strict_baseline: bool = False
    instructions: bool = False
    """True: the code of every kernel is read, that of objects by llvm-objdump."""
    fail_on: Severity = "warning"
    min_kernels: int = 1
    """Least number of kernels in the whole build; fewer are a problem."""
    selection: Selection = BY_DEFAULT
    workgroup_sizes: tuple[tuple[str, int], ...] = ()
    budgets: tuple[Budget, ...] = ()
    gate: Gate = _gate(read_values({}, KEYS, (), [])["gate"])
    suppressions: tuple[Suppression, ...] = ()

    def asks_for(self, target: str) -> bool:
        """True if code for a target id is to be checked."""
        return not self.targets or any(runs_on(target, checked) for checked in self.targets)


def read_config(path: FilePath) -> Configuration:
    """The configuration of a file. Raises `ConfigError`, with a line for each error."""
    file = read_file(path)
    if file is None:
        raise ConfigError(in_file(path, say("config-table-missing", file=OWN)))
    return _configuration(file)


def find_config(folder: str) -> Configuration:
    """The configuration of the nearest file in a folder or above; the defaults without one.

    `folder` is an absolute path. Raises `ConfigError`.
    """
    files = (read_file(os.path.relpath(path)) for path in configurations(folder))
    file = next(filter(None, files), None)
    return _configuration(file) if file else Configuration()


def shadowed_by(file: FilePath) -> str | None:
    """The path of a `pyproject.toml` whose [tool.kernelinfo] is ignored, because `file` is a
    `kernelinfo.toml` next to it. None without one."""
    path = os.path.join(os.path.dirname(file), SHARED)
    is_shadowed = os.path.basename(file) == OWN and os.path.isfile(path) and read_file(path)
    return path if is_shadowed else None


def _configuration(file: "ConfigFile") -> Configuration:
    complaints: ConfigComplaints = []
    values = read_values(file.table, KEYS, (), complaints)
    if complaints:
        complaints.sort(key=lambda entry: file.lines.get(entry[0]) or 0)
        lines = [*dict.fromkeys(_located(file, *complaint) for complaint in complaints)]
        raise ConfigError(Message("\n".join(lines), lines[0].code))

    def next_to_file(path: str) -> str:
        return os.path.relpath(os.path.join(os.path.dirname(file.path), path))

    return Configuration(
        file=file.path,
        paths=tuple(next_to_file(path) for path in values["paths"]),
        targets=values["target"],
        required_targets=values["targets"],
        baseline=next_to_file(values["baseline"]) if "baseline" in values else None,
        strict_baseline=values["strict-baseline"],
        instructions=values["instructions"],
        fail_on=values["fail-on"],
        min_kernels=values["expect"]["min-kernels"],
        selection=Selection(values["select"], values["ignore"], values["severity"]),
        workgroup_sizes=values["workgroup-size"],
        budgets=tuple(
            Budget(
                kernel=entry["kernel"],
                target=entry.get("target"),
                bounds=tuple((m, entry[m.key]) for m in MEASURES if m.key in entry),
                line=file.lines.get(entry["path"]),
            )
            for entry in values["budget"]
        ),
        gate=_gate(values["gate"]),
        suppressions=tuple(
            Suppression(line=file.lines.get(entry.pop("path")), **entry)
            for entry in values["suppress"]
        ),
    )


def _located(file: "ConfigFile", path: KeyPath, message: Message) -> Message:
    if len(path) > 1 and path[-1] in OF_FILE:
        value: Any = file.table
        for key in path:
            value = value[key]
        if path[-1] not in OF_TABLES or isinstance(value, bool):
            header = f"[[{path[0]}]]" if isinstance(path[-2], int) else f"[{path[-2]}]"
            message = say("config-key-below", table=header)
    line = file.lines.get(path)
    place = f"{file.path}:{line}" if line else file.path
    located = say("config-line", place=place, key=spelled(path), reason=message)
    return Message(located.replace("\n", r"\n"), located.code)


OWN, SHARED = CONFIGURATIONS
_SHARED_TABLE = ("tool", "kernelinfo")
"""Keys that lead to the project's table in `SHARED`."""


class ConfigFile(NamedTuple):
    """A configuration file as written."""

    path: str
    table: dict[str, Any]
    lines: dict[KeyPath, int]
    """Line of each key, from 1; keys whose line is unknown are left out."""


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
        return ConfigFile(path, document, lines_of(text))
    tool = document.get("tool", {})
    table = tool.get("kernelinfo") if isinstance(tool, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise ConfigError(in_file(path, say("config-table-no-table", value=table)))
    lines = {key[2:]: line for key, line in lines_of(text).items() if key[:2] == _SHARED_TABLE}
    return ConfigFile(path, table, lines)


# Lines of keys in a TOML text: tomllib does not report them.


def lines_of(text: str) -> dict[KeyPath, int]:
    """Key path -> line, from 1, of each key, table and array element in valid TOML.

    Elements inside a multi-line value are left out, since their lines are unknown.
    """
    lines: dict[KeyPath, int] = {}
    lengths: dict[KeyPath, int] = {}
    """Length so far of each array of tables."""
    table: KeyPath = ()
    for line, length, statement in _statements(text):
        stated = tomllib.loads(statement)
        if statement.lstrip().startswith("["):
            table = _header(stated, lengths)
            paths = [table]
        else:
            paths = [*_paths(stated, table)]
        for path in paths:
            if length == 1 or not any(isinstance(part, int) for part in path[len(table) :]):
                for end in range(1, len(path) + 1):  # the first mention of a table counts
                    lines.setdefault(path[:end], line)
    return lines


_TOKENS = (
    r'"""(?:\\.|[^\\"]|"(?!""))*+"{0,5}'
    r"|'{3}(?:[^']|'(?!''))*+'{0,5}"
    r'|"(?:\\.|[^"\\\n])*+"?'
    r"|'[^'\n]*+'?|#[^\n]*+|[\[\]{}\n]"
)
"""Strings, comments, brackets and ends of lines in valid TOML."""


def _statements(text: str) -> Iterator[tuple[int, int, str]]:
    """(first line, number of lines, text) of each header and each key with its value.

    A statement ends with the line that closes its last bracket or string.
    """
    start, first, line, depth = 0, 1, 1, 0
    for token in re.finditer(_TOKENS, f"{text}\n", re.DOTALL):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        line += token[0].count("\n")
        if token[0] == "\n" and depth == 0:
            statement = text[start : token.end()]
            if statement.strip() and not statement.lstrip().startswith("#"):
                yield first, line - first, statement
            start, first = token.end(), line


def _header(stated: dict[str, Any], lengths: dict[KeyPath, int]) -> KeyPath:
    """The key path of the table that `[a.b]` or `[[a.b]]` opens. Arrays on the way continue with
    their last element."""
    path: KeyPath = ()
    inside: Any = stated
    while inside:
        if isinstance(inside, list):
            lengths[path] = lengths.get(path, 0) + 1
            return (*path, lengths[path] - 1)
        if path in lengths:
            path = (*path, lengths[path] - 1)
        ((key, inside),) = inside.items()
        path = (*path, key)
    return path


def _paths(value: Any, path: KeyPath) -> Iterator[KeyPath]:
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in inside:
        yield (*path, key)
        if isinstance(member, (dict, list)):
            yield from _paths(member, (*path, key))
