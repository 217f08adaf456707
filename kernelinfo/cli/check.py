"""`kernelinfo check [PATH...]`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

import kernelinfo.gate as gate
from kernelinfo.analysis import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.cli import console, options, write_report
from kernelinfo.cli.messages import CANNOT_ANSWER, complain, say
from kernelinfo.cli.project import configuration, with_project
from kernelinfo.config import OWN, Configuration, read_file, shadowed_by
from kernelinfo.errors import OptionError
from kernelinfo.gate.baseline import updating, write_baseline
from kernelinfo.gate.outcome import Outcome, Scope
from kernelinfo.kernel import Severity, counted
from kernelinfo.kernel.report import Report
from kernelinfo.opening import FilePath, check_below
from kernelinfo.pressure import code_for_rules, with_instructions
from kernelinfo.reading.containers import files
from kernelinfo.render import Renderer, View
from kernelinfo.render.check import render_text, render_update, verdict


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
    """Check kernels for CI: rules, budgets, a baseline.

    Examples:
      kernelinfo check build/                         # only the rules
      kernelinfo check build/ --baseline base.json --update-baseline
      kernelinfo check build/ --baseline base.json    # against that build
      kernelinfo check build/ --baseline base.json --tighten  # pin what got better
      kernelinfo check --show-config                  # the keys in force
    """
    query = options.choice(
        kernels, exclude, target, member, where, bound, deep=deep, all_copies=all_copies, arch=arch
    )
    query = options.with_launch(query, workgroup_size, dynamic_lds, no_trap=no_trap_handler)
    project = configuration(select=select, ignore=ignore, severity=severity, config=config)
    view = console.make_view(
        names=names, color=color, width=width, output=output, top=top, quiet=quiet
    )
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
        from kernelinfo.render.check.documents import render_config  # with all formats

        file = read_file(project.file) if project.file else None
        stated = {key: value for key, value in given.items() if value not in (None, [], (), {})}
        console.write(render_config(file, stated), output)
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
    is_whole = format in console.DOCUMENTS
    query = with_project(query, project)._replace(
        instructions=is_whole,
        positions=is_whole,
        is_gate=True,
        spirv=True,
        read_for_rules=code_for_rules,
    )
    if instructions or gate.asks_for_instructions(checked):
        query = with_instructions(query)
    in_part = checked.paths if subset or is_part(checked.paths, project.paths) else ()
    scope = Scope(in_part, query, may_hold_none=subset)
    if subset:
        items = analyse(checked.paths, query, required=False)
    else:
        items = write_report.read(checked.paths, query, jobs)
    report = Report.of(console.shown(console.Problems(verbose=verbose).watch(items), checked.paths))
    if tighten or update_baseline:
        pins = (
            gate.pin_improvements
            if tighten
            else partial(gate.pin, accepts=not strict, renames=renames)
        )
        write_update(partial(pins, report), checked, scope, min_kernels, view, output)
        return
    with console.waiting("checking"):
        outcome = gate.check(
            report,
            checked,
            scope=scope,
            at_least=min_kernels,
            accepts=not strict,
            renames=renames,
        )
        outcome = gate.locate(outcome, query)
    for problem in outcome.problems[len(report.problems) :]:
        console.tell(problem)
    if project.file and (other := shadowed_by(project.file)):
        complain(say("config-ignored", other=other, file=project.file))
    for remark in outcome.remarks:
        complain(remark)
    write_outcome(outcome, view._replace(selection=selection), format, output)
    if not outcome.answered:
        sys.exit(CANNOT_ANSWER)
    if outcome.failed and not exit_zero:
        sys.exit(console.CLAIM)


# The files and texts that a check writes.


def _of_kernels(render: Renderer, outcome: Outcome, view: View) -> Iterator[str]:
    """The report in the format of `render`, with the findings of the gate."""
    return render(outcome.report.results, view)


_MARKDOWN = console.late("check.documents", "render_markdown")
OUTPUTS: Mapping[str, Renderer] = {
    **{name: partial(_of_kernels, render) for name, render in write_report.OUTPUTS.items()},
    "text": render_text,
    "json": console.late("check.documents", "render_json"),
    "markdown": _MARKDOWN,
    "html": console.late("check.documents", "render_html"),
    "sarif": console.late("check.services", "render_sarif"),
    "github": console.late("check.services", "render_github"),
    "gitlab": console.late("check.services", "render_gitlab"),
    "junit": console.late("check.services", "render_junit"),
}
"""A format without a function of its own is the report's."""


def write_outcome(outcome: Outcome, view: View, format: str | None, output: str | None) -> None:
    """Write the outcome of a check; without a format as text, or for GitHub Actions if it runs
    there.

    With `output`, standard error gets the verdict, too. On GitHub Actions without a format, the
    summary of the step gets the outcome as Markdown.
    """
    on_github = os.environ.get("GITHUB_ACTIONS") == "true"
    render = OUTPUTS[format or ("github" if on_github else "text")]
    console.write(render(outcome, view), output, color=view.color)
    for line in verdict(outcome, view) if output is not None else ():
        complain(line)
    if on_github and format is None and (summary := os.environ.get("GITHUB_STEP_SUMMARY")):
        _add_to(summary, _MARKDOWN(outcome, view))


def write_first_configuration(paths: Sequence[str], options: Options) -> None:
    """Write `kernelinfo.toml` for the kernels of the paths into the current folder.

    Raises `OptionError` if the file exists or the paths have no kernel.
    """
    if os.path.lexists(OWN):
        raise OptionError(say("config-exists", file=OWN))
    problems = console.Problems()
    report = Report.of(console.shown(problems.watch(analyse(paths, options)), paths))
    if not report.results:
        problems.exit()
        raise OptionError(say("config-without-kernels", names=", ".join(paths)))
    console.write([gate.write_configuration(report)], OWN)
    kernels = counted(len(report.results), "kernel")
    accept = "`kernelinfo check --update-baseline` accepts what there is today"
    console.write([f"{OWN}: written for {kernels}; edit it, then {accept}\n"], None)
    problems.exit()


def is_built(paths: Sequence[str]) -> bool:
    """True if any path has a file, or a folder that cannot be read."""
    return any(os.path.lexists(file.path) for path in paths for file in files.find(path))


def is_part(paths: Sequence[str], configured: Sequence[str]) -> bool:
    """True if the command line's paths differ from the configuration's; False if the configuration
    has none."""
    given, stated = ({os.path.abspath(path) for path in names} for names in (paths, configured))
    return bool(stated) and given != stated


def _add_to(summary: str, pieces: Iterator[str]) -> None:
    try:
        check_below(summary)
        with open(summary, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(pieces)
    except OSError as error:
        raise OptionError(say("summary-unwritable", path=summary, error=error.strerror)) from None


def write_update(
    pin: Callable[[FilePath, Configuration, Scope, int | None], gate.Update],
    project: Configuration,
    scope: Scope,
    at_least: int | None,
    view: View,
    output: str | None,
) -> None:
    """Write the baseline that `pin` makes, and what changed in it. Raises `OptionError` without a
    baseline."""
    if project.baseline is None:
        raise OptionError(say("baseline-not-named"))
    with updating(project.baseline), console.waiting("writing the baseline"):
        update = pin(project.baseline, project, scope, at_least)
        write_baseline(project.baseline, update.pinned)
    console.write(render_update(update, project.baseline, view), output, color=view.color)
