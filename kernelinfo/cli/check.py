"""`kernelinfo check [PATH...]`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelinfo.analysis.options import Options
from kernelinfo.cli import options, selection
from kernelinfo.cli.fast_start import BASELINE_OPTION, EXIT_ZERO_OPTION
from kernelinfo.cli.output import make_view, write
from kernelinfo.cli.project import configuration
from kernelinfo.cli.write_check import write_check
from kernelinfo.render import CHECK_FORMATS
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
        typer.Option(
            *BASELINE_OPTION, metavar="FILE", help="Compare with FILE, made by --update-baseline."
        ),
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
        bool,
        typer.Option(*EXIT_ZERO_OPTION, help="Exit with 0 instead of 1; never instead of 2."),
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
        from kernelinfo.gate.config.file import read_file
        from kernelinfo.render.config import render_config

        file = read_file(own.file) if own.file else None
        write(render_config(file, {key: value for key, value in given.items() if value}), output)
        return
    project = own._replace(
        paths=tuple(paths or own.paths),
        baseline=baseline or own.baseline,
        strict_baseline=strict_baseline or own.strict_baseline,
        fail_on=fail_on or own.fail_on,
    )
    wanted = Options(
        bounds=options.chosen_bounds(bound, deep),
        arch=arch,
        workgroup_size=workgroup_size,
        dynamic_lds_bytes=dynamic_lds,
        trap_handler=not no_trap_handler,
        kernels=tuple(kernel or ()),
        exclude=tuple(exclude or ()),
        targets=tuple(target or ()),
        all_copies=all_copies,
    )
    write_check(
        own,
        project,
        wanted,
        view,
        format,
        output,
        exit_zero=exit_zero,
        update_baseline=update_baseline,
        min_kernels=min_kernels,
        subset=subset,
        jobs=jobs,
        verbose=verbose,
    )
