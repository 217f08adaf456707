"""The configuration of a project: `kernelinfo.toml`, or `[tool.kernelinfo]` of `pyproject.toml`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import date
from typing import Any, Literal, NamedTuple, TypeVar

from kernelinfo.config.file import OWN, SHARED, ConfigFile, KeyPath, Validation, read_file, spelled
from kernelinfo.config.keys import GATED, KEYS
from kernelinfo.config.keys import MEASURES as MEASURES
from kernelinfo.config.keys import Allowance as Allowance
from kernelinfo.config.keys import Bound as Bound
from kernelinfo.config.messages import say
from kernelinfo.errors import ConfigError, Message
from kernelinfo.kernel import Severity
from kernelinfo.kernel.pattern import matching
from kernelinfo.kernel.record import Column
from kernelinfo.opening import FilePath
from kernelinfo.reading.messages import in_file
from kernelinfo.reading.paths import configurations
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
    """Allowances: how much worse than the baseline each number may be."""

    allowances: tuple[tuple[Column, Allowance], ...] = ()
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
    gate: Gate = _gate(Validation().table({}, KEYS, ())["gate"])
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


def _configuration(file: ConfigFile) -> Configuration:
    validation = Validation()
    values = validation.table(file.table, KEYS, ())
    if validation.complaints:
        complaints = sorted(validation.complaints, key=lambda entry: file.line(entry[0]) or 0)
        lines = [_located(file, *complaint) for complaint in complaints]
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
                line=file.line(entry["path"]),
            )
            for entry in values["budget"]
        ),
        gate=_gate(values["gate"]),
        suppressions=tuple(
            Suppression(line=file.line(entry.pop("path")), **entry) for entry in values["suppress"]
        ),
    )


def _located(file: ConfigFile, path: KeyPath, message: Message) -> Message:
    line = file.line(path)
    place = f"{file.path}:{line}" if line else file.path
    located = say("config-line", place=place, key=spelled(path), reason=message)
    return Message(located.replace("\n", r"\n"), located.code)
