"""The project of a command line: its configuration, and its sources, compiled before the analysis
reads them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from kernelinfo.analysis.options import Options
from kernelinfo.cli.messages import say
from kernelinfo.compile import Settings, make_absolute
from kernelinfo.config import Configuration, find_config, read_config
from kernelinfo.config.keys import SEVERITIES
from kernelinfo.errors import OptionError
from kernelinfo.kernel import Severity
from kernelinfo.opening import FilePath
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.containers import files
from kernelinfo.reading.containers.files import Seen
from kernelinfo.reading.messages import in_file
from kernelinfo.reading.paths import SOURCE_SUFFIXES, is_source
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


_OF_NO_BUILD = (".hip", ".cu", ".cl")
"""Suffixes of sources that builds do not leave among their outputs."""


def settings_of(
    arch: Sequence[str] | None,
    compiler: str | None,
    compile_commands: str | None,
    flags: Sequence[str] | None,
) -> Settings:
    """The settings for compiling sources, from the options. Relative paths in `flags` are relative
    to the current folder."""
    folder = os.getcwd() if flags else ""
    absolute = make_absolute(flags or (), folder)
    return Settings(tuple(dict.fromkeys(arch or ())), absolute, compiler, compile_commands)


def with_sources(
    paths: Sequence[str], options: Options, settings: Settings, *, quiet: bool = False
) -> tuple[list[str], Options]:
    """The paths and options of an analysis, with the assembly of the sources that are compiled.

    Sources are compiled if every path is a source; a glob means the sources that it matches.
    Otherwise the one target of `settings` applies to inputs that do not name one. Raises
    `OptionError` if something that compiling needs is missing, or if compiler options are given
    without a source.
    """
    sources = sources_to_compile(paths, settings)
    if sources is None:
        return [*paths], without_sources(paths, options, settings)
    from kernelinfo.cli.compiling import compile_now  # processes take a tenth of a small report

    return sources, options._replace(compiled=compile_now(sources, settings, quiet=quiet))


def sources_to_compile(paths: Sequence[str], settings: Settings) -> list[str] | None:
    """The sources that the paths name or match; None if one of them is something else.

    Raises `OptionError` if the target to compile for is missing.
    """
    sources = _sources(paths)
    if sources and not (settings.targets or settings.compile_commands):
        raise OptionError(say("source-alone", source=sources[0]))
    return sources


def _sources(paths: Sequence[str]) -> list[str] | None:
    """The sources that the paths name or match; None if one of them is something else."""
    sources, seen = list[str](), Seen()
    for path in paths:
        if not path.endswith(SOURCE_SUFFIXES) or os.path.isdir(path):
            return None
        for file in files.find_once(path, seen):
            if isinstance(file, Problem) or not is_source(file.path):
                return None
            if not file.is_repeated:
                sources.append(file.path)
    return sources or None


def refuse_missing_sources(paths: Sequence[str]) -> None:
    """Raise `OptionError` for a source that does not exist: no build will make it."""
    for path in paths:
        for file in files.find(path) if path.endswith(_OF_NO_BUILD) else ():
            if isinstance(file, Problem):
                raise OptionError(in_file(path, file.message))
            if not os.path.lexists(file.path):
                raise OptionError(say("source-not-there", path=file.path))


def without_sources(paths: Sequence[str], options: Options, settings: Settings) -> Options:
    """The options for inputs that are not compiled, with --arch as the target of inputs that name
    none.

    Raises `OptionError` for options that only sources take, and for a source among other inputs.
    """
    given = {
        "--compile-commands": settings.compile_commands,
        "--compiler": settings.compiler,
        "--": settings.flags,
    }
    source = next((path for path in paths if path.endswith(_OF_NO_BUILD)), None)
    if source is not None and is_source(source) and (settings.targets or any(given.values())):
        raise OptionError(say("source-among-inputs", source=source))
    for option, value in given.items():
        if value:
            raise OptionError(say("option-for-sources", option=option))
    if len(settings.targets) > 1:
        several = " and ".join(settings.targets)
        raise OptionError(say("targets-for-sources", several=several))
    return options._replace(arch=settings.targets[0] if settings.targets else None)
