"""`kernelinfo check [PATH...]`."""

from __future__ import annotations

from pathlib import Path

import typer

from kernelinfo.analysis.options import Options
from kernelinfo.cli.fast_start import BASELINE_OPTION, EXIT_ZERO_OPTION
from kernelinfo.cli.options import format_option, takes
from kernelinfo.cli.output import write
from kernelinfo.cli.write_check import write_check
from kernelinfo.gate.config import Configuration
from kernelinfo.render import CHECK_FORMATS, View
from kernelinfo.rules.severity import Severity

EXAMPLES = """
  kernelinfo check build/                         # the rules alone
  kernelinfo check build/ --baseline base.json --update-baseline
  kernelinfo check build/ --baseline base.json    # against what was
  kernelinfo check --show-config                  # what is in force
"""


@takes(
    "arch target workgroup_size dynamic_lds no_trap_handler kernels exclude all_copies bound deep",
    "select ignore severity config format output jobs names color width top quiet verbose",
)
def command(
    paths: list[str] | None = typer.Argument(
        None, metavar="[PATH]...", help="Check these instead of the configuration's `paths`."
    ),
    baseline: Path | None = typer.Option(
        None, *BASELINE_OPTION, metavar="FILE", help="Compare with FILE, made by --update-baseline."
    ),
    update_baseline: bool = typer.Option(
        False, "--update-baseline", help="Pin this build, and list what that changes."
    ),
    strict_baseline: bool = typer.Option(
        False, "--strict-baseline", help="Fail on improvements, too."
    ),
    fail_on: Severity | None = typer.Option(None, help="Set the mildest severity that fails."),
    exit_zero: bool = typer.Option(
        False, *EXIT_ZERO_OPTION, help="Exit with 0 instead of 1; never instead of 2."
    ),
    min_kernels: int | None = typer.Option(
        None, metavar="N", min=0, help="Fail with 2 if fewer kernels are found."
    ),
    subset: bool = typer.Option(
        False,
        "--subset",
        help="The paths are some files of many, as pre-commit gives them: what is not for "
        "AMD GPUs is passed over, and nothing is missed that is elsewhere.",
    ),
    show_config: bool = typer.Option(
        False, "--show-config", help="Show the settings in force and where each comes from."
    ),
    format: str | None = format_option(
        CHECK_FORMATS, None, "Choose the output format; text, and on GitHub Actions github."
    ),
    top: int = typer.Option(
        50, metavar="N", min=0, help="Show at most N findings of each rule; 0 shows all."
    ),
    quiet: bool = typer.Option(False, "-q", "--quiet", help="Show the outcome alone."),
    *,
    wanted: Options,
    project: Configuration,
    view: View,
    select: list[str] | None,
    ignore: list[str] | None,
    severity: list[str] | None,
    output: str | None,
    jobs: int,
    verbose: bool,
) -> None:
    """Check kernels for CI: rules, budgets, a baseline."""
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
        from kernelinfo.gate.config.file import read_file
        from kernelinfo.render.config import render_config

        file = read_file(project.file) if project.file else None
        write(render_config(file, {key: value for key, value in given.items() if value}), output)
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
        min_kernels=min_kernels,
        subset=subset,
        jobs=jobs,
        verbose=verbose,
    )
