"""A check: reads paths, writes the outcome, exits."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence

from kernelinfo.analysis import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.cli.output import (
    CANNOT_ANSWER,
    CLAIM,
    Problems,
    complain,
    shown,
    tell,
    waiting,
    write,
)
from kernelinfo.cli.wanted import with_instructions
from kernelinfo.cli.write_report import read
from kernelinfo.config import Configuration, shadowed_by
from kernelinfo.config.file import OWN
from kernelinfo.errors import OptionError
from kernelinfo.gate import asks_for_instructions, check
from kernelinfo.gate.baseline import updating, write_baseline
from kernelinfo.gate.beginning import first_configuration
from kernelinfo.gate.location import located
from kernelinfo.gate.pinning import pin
from kernelinfo.gate.scope import Scope
from kernelinfo.kernel import counted
from kernelinfo.kernel.report import Report
from kernelinfo.reading.containers import files
from kernelinfo.render import SHOW_INSTRUCTIONS, View
from kernelinfo.render.check import check_renderer
from kernelinfo.render.check.pinned import render_update
from kernelinfo.render.check.text import verdict


def write_check(
    own: Configuration,
    project: Configuration,
    options: Options,
    view: View,
    format: str | None = None,
    output: str | None = None,
    *,
    exit_zero: bool = False,
    update_baseline: bool = False,
    strict: bool = False,
    min_kernels: int | None = None,
    subset: bool = False,
    if_built: bool = False,
    jobs: int = 0,
    verbose: bool = False,
) -> None:
    """Check `project.paths`, write the outcome and exit with its code.

    `own` is the configuration alone; `project` includes the command line's options. Rules and
    workgroup sizes of `project` replace those in `options`.
    """
    paths = project.paths
    if not paths:
        raise OptionError("nothing to check; give a path, or `paths` in kernelinfo.toml")
    if if_built and not update_baseline and not _is_built(paths):
        complain(f"not checked: nothing is built, none of {', '.join(paths)} has a file")
        return
    is_whole = format in SHOW_INSTRUCTIONS
    options = options._replace(
        selection=project.selection,
        workgroup_sizes=project.workgroup_sizes,
        instructions=is_whole,
        positions=is_whole,
        is_gate=True,
    )
    if asks_for_instructions(project):
        options = with_instructions(options)
    is_part = subset or _is_part(paths, own.paths)
    scope = Scope(paths if is_part else (), options, may_hold_none=subset)
    items = analyse(paths, options, required=False) if subset else read(paths, options, jobs)
    report = Report.of(shown(Problems(verbose=verbose).watch(items), paths))
    if update_baseline:
        _update(report, project, scope, min_kernels, view, output, accepts=not strict)
        return
    with waiting("checking"):
        outcome = check(report, project, scope=scope, at_least=min_kernels, accepts=not strict)
        if any(one.result.kernel.code_object.kind == "code-object" for one in outcome.failing):
            outcome = located(outcome, options)
    for problem in outcome.problems[len(report.problems) :]:
        tell(problem)
    if own.file and (other := shadowed_by(own.file)):
        complain(f"note: {other}: [tool.kernelinfo] is ignored next to {own.file}; keep one")
    for remark in outcome.remarks:
        complain(remark)
    view = view._replace(selection=project.selection)
    on_github = os.environ.get("GITHUB_ACTIONS") == "true"
    write(
        check_renderer(format or ("github" if on_github else "text"))(outcome, view),
        output,
        color=view.color,
    )
    for line in verdict(outcome, view) if output is not None else ():
        complain(line)
    if on_github and format is None and (summary := os.environ.get("GITHUB_STEP_SUMMARY")):
        _add_to(summary, check_renderer("markdown")(outcome, view))
    if not outcome.answered:
        sys.exit(CANNOT_ANSWER)
    if outcome.failed and not exit_zero:
        sys.exit(CLAIM)


def write_first_configuration(paths: Sequence[str], options: Options) -> None:
    """Write `kernelinfo.toml` for the kernels of the paths into the current folder.

    Raises `OptionError` if the file exists or the paths have no kernel.
    """
    if os.path.lexists(OWN):
        raise OptionError(f"{OWN}: exists already; remove it, or edit it")
    problems = Problems()
    report = Report.of(shown(problems.watch(analyse(paths, options)), paths))
    if not report.results:
        problems.exit()
        raise OptionError(f"{', '.join(paths)}: no kernel; build first")
    write([first_configuration(report)], OWN)
    kernels = counted(len(report.results), "kernel")
    accept = "`kernelinfo check --update-baseline` accepts what there is today"
    write([f"{OWN}: written for {kernels}; edit it, then {accept}\n"], None)
    problems.exit()


def _is_built(paths: Sequence[str]) -> bool:
    """True if any path has a file, or a folder that cannot be read."""
    return any(os.path.lexists(found.path) for path in paths for found in files.find(path))


def _is_part(paths: Sequence[str], configured: Sequence[str]) -> bool:
    """True if the command line names other paths than the configuration."""
    given, own = ({os.path.abspath(path) for path in one} for one in (paths, configured))
    return bool(own) and given != own


def _add_to(summary: str, pieces: Iterator[str]) -> None:
    try:
        with open(summary, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(pieces)
    except OSError as error:
        raise OptionError(f"$GITHUB_STEP_SUMMARY, {summary}: {error.strerror}") from None


def _update(
    report: Report,
    project: Configuration,
    scope: Scope,
    at_least: int | None,
    view: View,
    output: str | None,
    *,
    accepts: bool,
) -> None:
    if project.baseline is None:
        raise OptionError("--update-baseline needs a file; give --baseline, or `baseline` in TOML")
    with updating(project.baseline), waiting("writing the baseline"):
        update = pin(report, project.baseline, project, scope, at_least, accepts=accepts)
        write_baseline(project.baseline, update.pinned)
    write(render_update(update, project.baseline, view), output, color=view.color)
