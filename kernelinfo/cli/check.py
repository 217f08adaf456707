"""`kernelinfo check [PATH...]`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from kernelinfo.analysis import analyse
from kernelinfo.cli import options
from kernelinfo.cli.complaints import CANNOT_ANSWER, complain
from kernelinfo.cli.messages import say
from kernelinfo.cli.output import CLAIM, DOCUMENTS, Problems, make_view, shown, tell, waiting, write
from kernelinfo.cli.project import configuration
from kernelinfo.cli.write_check import (
    OUTPUTS,
    is_built,
    is_part,
    write_first_configuration,
    write_outcome,
    write_update,
)
from kernelinfo.cli.write_report import read
from kernelinfo.config import shadowed_by
from kernelinfo.config.file import read_file
from kernelinfo.errors import OptionError
from kernelinfo.gate import asks_for_instructions, check, locate
from kernelinfo.gate.outcome import Scope
from kernelinfo.gate.pinning import pin, pin_improvements
from kernelinfo.kernel import Severity
from kernelinfo.kernel.report import Report
from kernelinfo.pressure import code_for_rules, with_instructions
from kernelinfo.render.check.documents import render_config

EXAMPLES = """
  kernelinfo check build/                         # only the rules
  kernelinfo check build/ --baseline base.json --update-baseline
  kernelinfo check build/ --baseline base.json    # against that build
  kernelinfo check build/ --baseline base.json --tighten  # pin what got better
  kernelinfo check --show-config                  # the keys in force
"""


def command(
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
    tighten: bool = typer.Option(
        False, "--tighten", help="Pin only what got better, and findings that ended."
    ),
    rename: list[str] | None = typer.Option(
        None,
        "--rename",
        metavar="OLD=NEW",
        help="Compare the new kernel NEW with the pinned kernel OLD, which is gone. OLD= says that "
        "it has no successor.",
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
            OUTPUTS, "Choose the output format; text, and on GitHub Actions github."
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
    query = options.choice(kernels, exclude, target, member, where)._replace(
        arch=arch,
        workgroup_size=workgroup_size,
        dynamic_lds_bytes=dynamic_lds,
        trap_handler=not no_trap_handler,
        all_copies=all_copies,
        bounds=options.bounds(bound, deep=deep),
    )
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
    if init:
        write_first_configuration(paths or ["."], query)
        return
    checked = project._replace(
        paths=tuple(paths or project.paths),
        baseline=baseline or project.baseline,
        strict_baseline=strict_baseline or project.strict_baseline,
        fail_on=fail_on or project.fail_on,
    )
    if not checked.paths:
        raise OptionError(say("check-without-paths"))
    if tighten and update_baseline:
        raise OptionError(say("check-tighten-or-update"))
    if tighten and rename:
        raise OptionError(say("check-tighten-or-rename"))
    if rename and checked.baseline is None:
        raise OptionError(say("baseline-not-named"))
    if if_built and not (update_baseline or tighten) and not is_built(checked.paths):
        complain(say("check-not-built", names=", ".join(checked.paths)))
        return
    renames = tuple(rename or ())
    is_whole = format in DOCUMENTS
    query = query._replace(
        selection=selection,
        workgroup_sizes=project.workgroup_sizes,
        instructions=is_whole,
        positions=is_whole,
        is_gate=True,
        spirv=True,
        read_for_rules=code_for_rules,
    )
    if instructions or asks_for_instructions(checked):
        query = with_instructions(query)
    in_part = checked.paths if subset or is_part(checked.paths, project.paths) else ()
    scope = Scope(in_part, query, may_hold_none=subset)
    if subset:
        items = analyse(checked.paths, query, required=False)
    else:
        items = read(checked.paths, query, jobs)
    report = Report.of(shown(Problems(verbose=verbose).watch(items), checked.paths))
    if tighten or update_baseline:
        pins = pin_improvements if tighten else partial(pin, accepts=not strict, renames=renames)
        write_update(partial(pins, report), checked, scope, min_kernels, view, output)
        return
    with waiting("checking"):
        outcome = check(
            report,
            checked,
            scope=scope,
            at_least=min_kernels,
            accepts=not strict,
            renames=renames,
        )
        if any(claim.result.kernel.code_object.kind == "code-object" for claim in outcome.failing):
            outcome = locate(outcome, query)
    for problem in outcome.problems[len(report.problems) :]:
        tell(problem)
    if project.file and (other := shadowed_by(project.file)):
        complain(say("config-ignored", other=other, file=project.file))
    for remark in outcome.remarks:
        complain(remark)
    write_outcome(outcome, view._replace(selection=selection), format, output)
    if not outcome.answered:
        sys.exit(CANNOT_ANSWER)
    if outcome.failed and not exit_zero:
        sys.exit(CLAIM)
