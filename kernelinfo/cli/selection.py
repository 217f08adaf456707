"""The options that choose rules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelinfo.cli import completion
from kernelinfo.cli.fast_start import CONFIG_OPTION

Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select",
        metavar="RULE,...",
        autocompletion=completion.rules,
        help="Apply only these rules: KI101, KI2, vgpr-spill.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore", metavar="RULE,...", autocompletion=completion.rules, help="Skip these rules."
    ),
]
Severities = Annotated[
    list[str] | None,
    typer.Option(
        "--severity",
        metavar="RULE=LEVEL",
        autocompletion=completion.levels,
        help="Set note, warning or error for a rule. Repeatable.",
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        *CONFIG_OPTION,
        metavar="FILE",
        help="Read FILE instead of the nearest kernelinfo.toml or pyproject.toml.",
    ),
]
