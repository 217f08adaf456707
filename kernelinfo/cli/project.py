"""The configuration of a project, overridden by options of the command line."""

from __future__ import annotations

import os
from contextlib import suppress

from kernelinfo.analysis.options import Options
from kernelinfo.cli.messages import say
from kernelinfo.config import Configuration, find_config, read_config
from kernelinfo.config.keys import SEVERITIES
from kernelinfo.errors import OptionError
from kernelinfo.kernel import Severity
from kernelinfo.opening import FilePath
from kernelinfo.rules import Selection


def configuration(
    select: list[str] | None = None,
    ignore: list[str] | None = None,
    severity: list[str] | None = None,
    config: FilePath | None = None,
) -> Configuration:
    """The configuration of `config` or of the nearest file, with the rules that options select.

    Raises `OptionError` for an unknown rule or severity, and `ConfigError`.
    """
    project = Configuration()
    if config is not None:
        project = read_config(os.path.relpath(config))
    else:
        with suppress(FileNotFoundError):  # the current folder was deleted
            project = find_config(os.getcwd())
    selection = Selection(
        select=_names(select) or project.selection.select,
        ignore=_names(ignore) or project.selection.ignore,
        severities=project.selection.severities + tuple(_severity(text) for text in severity or ()),
    )
    selection.rules()
    return project._replace(selection=selection)


def with_project(query: Options, project: Configuration) -> Options:
    """The options of an analysis with the project's rules and workgroup sizes."""
    return query._replace(selection=project.selection, workgroup_sizes=project.workgroup_sizes)


def _names(options: list[str] | None) -> tuple[str, ...]:
    return tuple(name.strip() for option in options or () for name in option.split(","))


def _severity(text: str) -> tuple[str, Severity]:
    name, _, level = text.partition("=")
    for severity in SEVERITIES:
        if level == severity:
            return name, severity
    raise OptionError(say("severity-malformed", text=text))
