"""`kernelinfo check [PATH...]`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from kernelinfo.analysis import analyse_some
from kernelinfo.analysis.options import Options
from kernelinfo.cli import options, progress, selection
from kernelinfo.cli.output import CANNOT_ANSWER, CLAIM, Problems, complain, make_view, tell, write
from kernelinfo.cli.project import configuration
from kernelinfo.cli.write_report import read
from kernelinfo.errors import OptionError
from kernelinfo.gate import check
from kernelinfo.gate.baseline import updating, write_baseline
from kernelinfo.gate.config import Configuration, shadowed_by
from kernelinfo.gate.config.file import read_file
from kernelinfo.gate.location import located
from kernelinfo.gate.outcome import Outcome
from kernelinfo.gate.pinning import pin
from kernelinfo.gate.scope import Scope
from kernelinfo.kernel import Report
from kernelinfo.render import CHECK_FORMATS, SHOW_INSTRUCTIONS, View
from kernelinfo.render.check import check_renderer
from kernelinfo.render.check.pinned import render_update
from kernelinfo.render.config import render_config
from kernelinfo.rules.severity import Severity

EXAMPLES = """\
Examples:
  kernelinfo check build/                         # the rules alone
  kernelinfo check build/ --baseline base.json --update-baseline
  kernelinfo check build/ --baseline base.json    # against what was
  kernelinfo check --show-config                  # what is in force
"""


def command(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH]...", help="Check these instead of the configuration's `paths`."
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Compare with FILE, made by --update-baseline."),
    ] = None,
    update_baseline: Annotated[
        bool, typer.Option("--update-baseline", help="Pin this build, and list what that changes.")
    ] = False,
    strict_baseline: Annotated[
        bool, typer.Option("--strict-baseline", help="Fail on improvements, too.")
    ] = False,
    fail_on: Annotated[
        Severity | None, typer.Option(help="Set the mildest severity that fails.")
    ] = None,
    exit_zero: Annotated[
        bool, typer.Option("--exit-zero", help="Exit with 0 instead of 1; never instead of 2.")
    ] = False,
    min_kernels: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Fail with 2 if fewer kernels are found.")
    ] = None,
    subset: Annotated[
        bool,
        typer.Option(
            "--subset",
            help="The paths are some files of many, as pre-commit gives them: what is not for "
            "AMD GPUs is passed over, and nothing is missed that is elsewhere.",
        ),
    ] = False,
    show_config: Annotated[
        bool,
        typer.Option("--show-config", help="Show the settings in force and where each comes from."),
    ] = False,
    arch: options.Arch = None,
    target: options.Targets = None,
    workgroup_size: options.WorkgroupSize = None,
    dynamic_lds: options.DynamicLds = None,
    no_trap_handler: options.NoTrapHandler = False,
    kernel: options.Kernels = None,
    exclude: options.Exclude = None,
    all_copies: options.AllCopies = False,
    bound: options.Bound = None,
    deep: options.Deep = False,
    select: selection.Select = None,
    ignore: selection.Ignore = None,
    severity: selection.Severities = None,
    config: selection.Config = None,
    format: Annotated[
        str | None,
        options.format_option(
            CHECK_FORMATS, "Choose the output format; text, and on GitHub Actions github."
        ),
    ] = None,
    output: options.Output = None,
    jobs: options.Jobs = 0,
    names: options.Names = "full",
    color: options.Color = "auto",
    width: options.Width = None,
    top: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Show at most N findings of each rule; 0 shows all."),
    ] = 50,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Show the outcome alone.")] = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="List on standard error what is read.")
    ] = False,
) -> None:
    """Check kernels for CI: rules, budgets, a baseline."""
    view = make_view(names=names, color=color, width=width, output=output, top=top, quiet=quiet)
    own = configuration(select, ignore, severity, config)
    given = {
        "paths": paths,
        "baseline": baseline and str(baseline),
        "strict-baseline": strict_baseline or None,
        "fail-on": fail_on,
        "min-kernels": min_kernels,
        "select": select and own.selection.select,
        "ignore": ignore and own.selection.ignore,
        "severity": severity and dict(own.selection.severities),
    }
    if show_config:
        write(_shown(own, {key: value for key, value in given.items() if value}), output)
        return
    project = own._replace(
        paths=tuple(paths or own.paths),
        baseline=baseline or own.baseline,
        strict_baseline=strict_baseline or own.strict_baseline,
        fail_on=fail_on or own.fail_on,
    )
    if not project.paths:
        raise OptionError("nothing to check; give a path, or `paths` in kernelinfo.toml")
    wanted = Options(
        bounds=options.chosen_bounds(bound, deep),
        arch=arch,
        workgroup_size=workgroup_size,
        workgroup_sizes=project.workgroup_sizes,
        dynamic_lds_bytes=dynamic_lds,
        trap_handler=not no_trap_handler,
        selection=project.selection,
        kernels=tuple(kernel or ()),
        exclude=tuple(exclude or ()),
        targets=tuple(target or ()),
        all_copies=all_copies,
        instructions=format in SHOW_INSTRUCTIONS,
    )
    part = subset or _names_part(paths, own)
    scope = Scope(
        project.paths if part else (),
        wanted.kernels,
        wanted.exclude,
        wanted.targets,
        may_hold_none=subset,
    )
    items = analyse_some(project.paths, wanted) if subset else read(project.paths, wanted, jobs)
    watched = Problems(verbose=verbose).watch(items)
    report = Report.of(progress.shown(watched, project.paths))
    if update_baseline:
        _update(report, project, scope, min_kernels, view, output)
        return
    outcome = check(report, project, scope=scope, at_least=min_kernels)
    outcome = located(outcome, wanted.bounds)
    for problem in outcome.problems[len(report.problems) :]:
        tell(problem)
    for remark in (*_unread_configuration(own), *outcome.remarks):
        complain(remark)
    view = view._replace(selection=project.selection)
    on_github = os.environ.get("GITHUB_ACTIONS") == "true"
    write(check_renderer(format or ("github" if on_github else "text"))(outcome, view), output)
    if on_github and format is None and (summary := os.environ.get("GITHUB_STEP_SUMMARY")):
        _add_to(summary, check_renderer("markdown")(outcome, view))
    _exit(outcome, exit_zero)


def _names_part(paths: list[str] | None, project: Configuration) -> bool:
    """True if the command line names other paths than the configuration."""
    if not (paths and project.paths):
        return False
    given, own = ({os.path.abspath(path) for path in one} for one in (paths, project.paths))
    return given != own


def _unread_configuration(project: Configuration) -> Iterator[str]:
    if project.file and (other := shadowed_by(project.file)):
        yield f"note: {other}: [tool.kernelinfo] is not read where {project.file} is; keep one"


def _add_to(summary: str, pieces: Iterator[str]) -> None:
    try:
        with open(summary, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(pieces)
    except OSError as error:
        raise OptionError(f"$GITHUB_STEP_SUMMARY, {summary}: {error.strerror}") from None


def _exit(outcome: Outcome, exit_zero: bool) -> None:
    if not outcome.answered:
        raise typer.Exit(CANNOT_ANSWER)
    if outcome.failed and not exit_zero:
        raise typer.Exit(CLAIM)


def _update(
    report: Report,
    project: Configuration,
    scope: Scope,
    at_least: int | None,
    view: View,
    output: str | None,
) -> None:
    if project.baseline is None:
        raise OptionError("--update-baseline needs a file; give --baseline, or `baseline` in TOML")
    with updating(project.baseline):
        update = pin(report, project.baseline, project, scope, at_least)
        write_baseline(project.baseline, update.pinned)
    write(render_update(update, project.baseline, view), output)


def _shown(project: Configuration, given: dict[str, Any]) -> Iterator[str]:
    return render_config(read_file(project.file) if project.file else None, given)
