"""`kernelinfo trend DIR|URL`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated

import typer

from kernelinfo.cli import completion, options
from kernelinfo.cli.complaints import CANNOT_ANSWER, complain
from kernelinfo.cli.diff import FAIL_ON, FailOn, fails
from kernelinfo.cli.messages import say
from kernelinfo.cli.output import CLAIM, late, make_view, waiting, write
from kernelinfo.errors import KernelinfoError
from kernelinfo.fleet.api import kernel_names, trend
from kernelinfo.fleet.history import By, Trend
from kernelinfo.kernel import counted
from kernelinfo.render import Renderer
from kernelinfo.render.names import several
from kernelinfo.render.trend.writers import render_markdown, render_text

EXAMPLES = """
  kernelinfo trend fleet
  kernelinfo trend fleet --since 2026-11-17 --target gfx942 -k 'gemm*'
  kernelinfo trend fleet --builds 7.1,7.2 --fail-on regression
  kernelinfo trend fleet --by library
  kernelinfo trend s3://ci/fleet --format html -o trend.html
"""


def _offered(ctx: typer.Context, incomplete: str) -> completion.Offers:
    """Kernels of the datasets on the line, for completion."""
    with suppress(KernelinfoError):
        kernels = [kernel for path in completion.paths(ctx) for kernel in kernel_names(path)]
        return completion.named(kernels, incomplete)
    return []


OUTPUTS: Mapping[str, Renderer] = {
    "text": render_text,
    "json": late("trend.writers", "render_json"),
    "csv": late("trend.writers", "render_csv"),
    "markdown": render_markdown,
    "html": late("trend.writers", "render_html"),
}


def command(
    *,
    dataset: str = typer.Argument(
        metavar="DIR|URL", help="The dataset that `kernelinfo scan` made."
    ),
    since: str | None = typer.Option(None, metavar="BUILD", help="Begin with this build."),
    builds: str | None = typer.Option(
        None,
        metavar="A,B,…",
        help="Compare these builds in this order; by default all, 7.10 after 7.9.",
    ),
    moved: bool = typer.Option(
        False, "--moved", help="Also list kernels of which only registers, LDS or code moved."
    ),
    by: By | None = typer.Option(
        None, help="Sum up all kernels of the first and last build, instead of listing kernels."
    ),
    fail_on: FailOn | None = FAIL_ON,
    target: options.Targets = None,
    member: options.Members = None,
    where: options.Where = None,
    kernels: Annotated[list[str] | None, options.kernels_option(_offered)] = None,
    exclude: Annotated[list[str] | None, options.exclude_option(_offered)] = None,
    format: Annotated[str, options.format_option(OUTPUTS)] = "text",
    output: options.Output = None,
    names: options.FittingNames = None,
    color: options.Color = "auto",
    width: options.Width = None,
    top: options.Top = 50,
    quiet: options.Quiet = False,
) -> None:
    """Show how kernels moved from build to build.

    Neighbouring builds are compared as `diff` compares two, across renames, the worst first. Each
    kernel has a bar for each build: its occupancy, or the spills or scratch that moved.
    """
    view = make_view(names=names, color=color, width=width, output=output, top=top, quiet=quiet)
    with waiting("comparing builds"):
        result = trend(
            dataset,
            builds=builds.split(",") if builds else (),
            since=since,
            options=options.choice(kernels, exclude, target, member, where),
            moved=moved,
            by=by,
            may_be_first=fail_on is not None,
        )
    for line in result.unmatched:
        complain(say("choice-of-these-builds", dataset=result.dataset, line=line))
    write(OUTPUTS[format](result, view), output, color=view.color)
    _exit(result, fails(result.whole, fail_on))


def _exit(trend: Trend, fails: bool) -> None:
    unread = trend.builds[-1].problems
    for build in trend.builds:
        if build.problems or build.gaps:
            problems = counted(build.problems or build.accepted_problems, "problem")
            gap = say("trend-gap", gaps=several(build.gaps)) if build.gaps else ""
            dataset, name = trend.dataset, build.name
            complain(say("trend-problems", dataset=dataset, problems=problems, build=name, gap=gap))
    for name in trend.unfinished:
        complain(say("trend-unfinished", dataset=trend.dataset, name=name))
    if unread or trend.unfinished:
        raise typer.Exit(CANNOT_ANSWER)
    if len(trend.builds) == 1:
        first = trend.builds[0].name
        complain(say("trend-first", dataset=trend.dataset, first=first))
    if fails:
        raise typer.Exit(CLAIM)
