"""`kernelinfo trend DIR|URL`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from kernelinfo.analysis.options import Options
from kernelinfo.cli.diff import FAIL_ON, FailOn, fails
from kernelinfo.cli.options import format_option, takes
from kernelinfo.cli.output import CANNOT_ANSWER, CLAIM, complain, write
from kernelinfo.fleet import require_libraries
from kernelinfo.render import TREND_FORMATS, View, renderer
from kernelinfo.render.words import plural

if TYPE_CHECKING:
    from kernelinfo.fleet.history import Trend

EXAMPLES = """
  kernelinfo trend fleet
  kernelinfo trend fleet --since 2026-11-17 --target gfx942 -k 'gemm*'
  kernelinfo trend fleet --builds 7.1,7.2 --fail-on regression
  kernelinfo trend s3://ci/fleet --format html -o trend.html
"""


@takes("target kernels exclude format output names color width top quiet")
def command(
    dataset: str = typer.Argument(
        metavar="DIR|URL", help="The dataset that `kernelinfo scan` made."
    ),
    since: str | None = typer.Option(None, metavar="BUILD", help="Begin with this build."),
    builds: str | None = typer.Option(
        None,
        metavar="A,B,…",
        help="Compare these builds in this order; all by default, 7.10 behind 7.9.",
    ),
    moved: bool = typer.Option(
        False, "--moved", help="List kernels whose registers, LDS or code alone moved, too."
    ),
    fail_on: FailOn | None = FAIL_ON,
    format: str = format_option(TREND_FORMATS),
    *,
    wanted: Options,
    view: View,
    output: str | None,
) -> None:
    """Show how kernels moved from build to build.

    Neighbouring builds are compared as `diff` compares two, across renames; the worst first. Each
    kernel has a curve, a bar a build: of its occupancy, or of the spills or scratch that moved.
    """
    require_libraries()
    from kernelinfo.fleet.dataset import Dataset
    from kernelinfo.fleet.trend import ask

    named = builds.split(",") if builds else ()
    found = ask(Dataset(dataset), wanted, named, since, moved=moved)
    write(renderer(f"trend.{format}")(found, view), output, color=view.color)
    _exit(found, fails(found.whole, fail_on))


def _exit(found: Trend, fails: bool) -> None:
    unread = [build for build in found.builds if build.problems]
    for build in unread:
        problems = plural(build.problems, "problem")
        complain(f"{found.dataset}: {problems} in {build.name}: kernels may be missing there")
    if unread:
        raise typer.Exit(CANNOT_ANSWER)
    if fails:
        raise typer.Exit(CLAIM)
