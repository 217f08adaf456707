"""The options that choose rules, over what the project's configuration chooses."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from kernelinfo.cli import completion
from kernelinfo.config import SEVERITIES, Configuration, find_config, read_config
from kernelinfo.errors import OptionError
from kernelinfo.rules import Selection
from kernelinfo.rules.severity import Severity

Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select",
        metavar="RULE,...",
        autocompletion=completion.rules,
        help="Only these rules: KI101, KI2, vgpr-spill.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore", metavar="RULE,...", autocompletion=completion.rules, help="Not these rules."
    ),
]
Severities = Annotated[
    list[str] | None,
    typer.Option(
        "--severity",
        metavar="RULE=LEVEL",
        autocompletion=completion.levels,
        help="note, warning or error for a rule. Repeatable.",
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Instead of the nearest kernelinfo.toml or [tool.kernelinfo] in pyproject.toml.",
    ),
]


def configuration(
    select: list[str] | None,
    ignore: list[str] | None,
    severity: list[str] | None,
    config: Path | None,
) -> Configuration:
    """What the project configures, with the command line's rules where that says something.

    Raises `OptionError` for a rule or severity that there is not, and `ConfigError`.
    """
    file = config or find_config(Path.cwd())
    own = read_config(os.path.relpath(file)) if file else Configuration()
    selection = Selection(
        select=_names(select) or own.selection.select,
        ignore=_names(ignore) or own.selection.ignore,
        severities=own.selection.severities + tuple(_severity(text) for text in severity or ()),
    )
    selection.rules()
    return replace(own, selection=selection)


def _names(options: list[str] | None) -> tuple[str, ...]:
    return tuple(name.strip() for option in options or () for name in option.split(","))


def _severity(text: str) -> tuple[str, Severity]:
    name, _, level = text.partition("=")
    for severity in SEVERITIES:
        if level == severity:
            return name, severity
    raise OptionError(f"--severity {text}: write RULE=error, RULE=warning or RULE=note")
