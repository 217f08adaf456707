"""The files and texts that a check writes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from kernelinfo.analysis import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.cli.complaints import complain
from kernelinfo.cli.messages import say
from kernelinfo.cli.output import Problems, late, shown, waiting, write
from kernelinfo.cli.write_report import OUTPUTS as OF_REPORTS
from kernelinfo.config import Configuration
from kernelinfo.config.file import OWN
from kernelinfo.errors import OptionError
from kernelinfo.gate.baseline import updating, write_baseline
from kernelinfo.gate.outcome import Outcome, Scope
from kernelinfo.gate.pinning import Update, write_configuration
from kernelinfo.kernel import counted
from kernelinfo.kernel.report import Report
from kernelinfo.opening import FilePath, check_below
from kernelinfo.reading.containers import files
from kernelinfo.render import Renderer, View
from kernelinfo.render.check import render_text, render_update, verdict


def _of_kernels(render: Renderer, outcome: Outcome, view: View) -> Iterator[str]:
    """The report, with the findings of the gate."""
    return render(outcome.report.results, view)


_MARKDOWN = late("check.documents", "render_markdown")
OUTPUTS: Mapping[str, Renderer] = {
    **{name: partial(_of_kernels, render) for name, render in OF_REPORTS.items()},
    "text": render_text,
    "json": late("check.documents", "render_json"),
    "markdown": _MARKDOWN,
    "html": late("check.documents", "render_html"),
    "sarif": late("check.services", "render_sarif"),
    "github": late("check.services", "render_github"),
    "gitlab": late("check.services", "render_gitlab"),
    "junit": late("check.services", "render_junit"),
}
"""A format without a function of its own is the report's."""


def write_outcome(outcome: Outcome, view: View, format: str | None, output: str | None) -> None:
    """Write the outcome of a check; without a format as text, or for GitHub Actions if it runs
    there."""
    on_github = os.environ.get("GITHUB_ACTIONS") == "true"
    render = OUTPUTS[format or ("github" if on_github else "text")]
    write(render(outcome, view), output, color=view.color)
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
    problems = Problems()
    report = Report.of(shown(problems.watch(analyse(paths, options)), paths))
    if not report.results:
        problems.exit()
        raise OptionError(say("config-without-kernels", names=", ".join(paths)))
    write([write_configuration(report)], OWN)
    kernels = counted(len(report.results), "kernel")
    accept = "`kernelinfo check --update-baseline` accepts what there is today"
    write([f"{OWN}: written for {kernels}; edit it, then {accept}\n"], None)
    problems.exit()


def is_built(paths: Sequence[str]) -> bool:
    """True if any path has a file, or a folder that cannot be read."""
    return any(os.path.lexists(file.path) for path in paths for file in files.find(path))


def is_part(paths: Sequence[str], configured: Sequence[str]) -> bool:
    """True if the command line names other paths than the configuration."""
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
    pin: Callable[[FilePath, Configuration, Scope, int | None], Update],
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
    with updating(project.baseline), waiting("writing the baseline"):
        update = pin(project.baseline, project, scope, at_least)
        write_baseline(project.baseline, update.pinned)
    write(render_update(update, project.baseline, view), output, color=view.color)
