"""`kernelinfo check [PATH...]`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelinfo.cli import options
from kernelinfo.cli.output import make_view, write
from kernelinfo.cli.project import configuration
from kernelinfo.cli.wanted import wanted_options, with_instructions
from kernelinfo.cli.write_check import write_check, write_first_configuration
from kernelinfo.config.file import read_file
from kernelinfo.kernel import Severity
from kernelinfo.render import CHECK_FORMATS
from kernelinfo.render.config import render_config

EXAMPLES = """
  kernelinfo check build/                         # only the rules
  kernelinfo check build/ --baseline base.json --update-baseline
  kernelinfo check build/ --baseline base.json    # against that build
  kernelinfo check --show-config                  # the keys in force
"""


def command(
    ctx: typer.Context,
    *,
    paths: list[str] | None = typer.Argument(
        None, metavar="[PATH]...", help="Check these instead of the configuration's `paths`."
    ),
    baseline: Path | None = typer.Option(
        None, "--baseline", metavar="FILE", help="Compare with FILE, made by --update-baseline."
    ),
    update_baseline: bool = typer.Option(
        False,
        "--update-baseline",
        help="Pin this build, accept its findings, and list the changes.",
    ),
    strict_baseline: bool = typer.Option(
        False, "--strict-baseline", help="Fail on improvements, too."
    ),
    strict: bool = typer.Option(
        False, "--strict", help="Fail on findings that the baseline accepts, too."
    ),
    fail_on: Severity | None = typer.Option(None, help="Set the mildest severity that fails."),
    exit_zero: bool = typer.Option(
        False, "--exit-zero", help="Exit with 0 instead of 1; never instead of 2."
    ),
    min_kernels: int | None = typer.Option(
        None, metavar="N", min=0, help="Fail with 2 if fewer kernels are found."
    ),
    subset: bool = typer.Option(
        False,
        "--subset",
        help="Take the paths for some files of many, as pre-commit gives them: pass over files "
        "for other processors, and miss no kernel of other files.",
    ),
    if_built: bool = typer.Option(
        False,
        "--if-built",
        help="Exit with 0 if none of the paths has a file, as before a push that built nothing.",
    ),
    init: bool = typer.Option(
        False, "--init", help="Write a kernelinfo.toml for the compiler output in the paths."
    ),
    show_config: bool = typer.Option(
        False, "--show-config", help="Show the settings in force and the source of each."
    ),
    arch: options.Arch = None,
    target: options.Targets = None,
    member: options.Members = None,
    where: options.Where = None,
    workgroup_size: options.WorkgroupSize = None,
    dynamic_lds: options.DynamicLds = None,
    no_trap_handler: options.NoTrapHandler = False,
    kernels: options.Kernels = None,
    exclude: options.Exclude = None,
    all_copies: options.AllCopies = False,
    bound: options.Bound = None,
    deep: options.Deep = False,
    select: options.Select = None,
    ignore: options.Ignore = None,
    severity: options.Severity = None,
    config: options.Config = None,
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
    top: int = typer.Option(
        50, metavar="N", min=0, help="Show at most N findings of each rule; 0 shows all."
    ),
    instructions: options.Instructions = False,
    quiet: bool = typer.Option(False, "-q", "--quiet", help="Show only the outcome."),
    verbose: options.Verbose = False,
) -> None:
    """Check kernels for CI: rules, budgets, a baseline."""
    wanted = wanted_options(ctx.params)
    project = configuration(select=select, ignore=ignore, severity=severity, config=config)
    view = make_view(names=names, color=color, width=width, output=output, top=top, quiet=quiet)
    selection = project.selection
    given = {
        "paths": paths,
        "baseline": baseline and str(baseline),
        "strict-baseline": strict_baseline or None,
        "fail-on": fail_on,
        "min-kernels": min_kernels,
        "select": select and selection.select,
        "ignore": ignore and selection.ignore,
        "severity": severity and dict(selection.severities),
    }
    if show_config:
        file = read_file(project.file) if project.file else None
        stated = {key: value for key, value in given.items() if value not in (None, [], (), {})}
        write(render_config(file, stated), output)
        return
    if instructions:
        wanted = with_instructions(wanted)
    if init:
        write_first_configuration(paths or ["."], wanted)
        return
    checked = project._replace(
        paths=tuple(paths or project.paths),
        baseline=baseline or project.baseline,
        strict_baseline=strict_baseline or project.strict_baseline,
        fail_on=fail_on or project.fail_on,
    )
    write_check(
        project,
        checked,
        wanted,
        view,
        format,
        output,
        exit_zero=exit_zero,
        update_baseline=update_baseline,
        strict=strict,
        min_kernels=min_kernels,
        subset=subset,
        if_built=if_built,
        jobs=jobs,
        verbose=verbose,
    )
