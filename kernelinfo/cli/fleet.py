"""`kernelinfo scan URL... --to DIR --build NAME` and `kernelinfo trend DIR|URL`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated

import typer

import kernelinfo.fleet as fleet
from kernelinfo.cli import compiling, console, diff, naming, options, project
from kernelinfo.cli.messages import CANNOT_ANSWER, complain, say
from kernelinfo.errors import KernelinfoError, OptionError
from kernelinfo.fleet.history import By, Trend
from kernelinfo.kernel import counted
from kernelinfo.pressure import with_instructions
from kernelinfo.render import Renderer
from kernelinfo.render.names import several
from kernelinfo.render.trend.writers import render_markdown, render_text


def scan(
    *,
    urls: list[str] | None = typer.Argument(
        None, metavar="URL...", help="Files, folders, globs, or URLs that fsspec reads: s3://…"
    ),
    to: str = typer.Option(..., "--to", metavar="DIR|URL", help="Write the dataset there."),
    build: str | None = typer.Option(None, metavar="NAME", help="Set the name of this build."),
    shard: str = typer.Option(
        "", metavar="NAME", help="Scan one part of a build, such as a job of a CI matrix."
    ),
    label: list[str] | None = typer.Option(
        None, metavar="NAME=VALUE,…", help="Label the build: commit=1a2b3c. Repeatable."
    ),
    wait: bool = typer.Option(
        False, "--wait", help="Wait for another scan of this build, instead of ending with 2."
    ),
    accept_problems: str | None = typer.Option(
        None, metavar="FILE", help="Accept the problems that FILE lists; new ones still end with 2."
    ),
    update: bool = typer.Option(
        False,
        "--update",
        help="Write the build's problems to the file of --accept-problems; with --shard, add them.",
    ),
    remove: list[str] | None = typer.Option(
        None, metavar="BUILD", help="Delete this build from the dataset; read nothing. Repeatable."
    ),
    scheduler: str | None = typer.Option(
        None,
        metavar="tls://HOST:PORT",
        help="Use the workers of a dask cluster; by default processes of this machine.",
    ),
    workers: int | None = typer.Option(
        None,
        metavar="N",
        min=1,
        help="Start N workers; by default one for each core.",
    ),
    timeout: float = typer.Option(
        60, metavar="SECONDS", min=0.1, help="Give up a file that takes longer."
    ),
    dry_run: bool = typer.Option(
        False, "--dry-run", help="List files, sizes and the work to do; read nothing."
    ),
    target: options.Targets = None,
    member: options.Members = None,
    where: options.Where = None,
    arch: options.Arch = None,
    workgroup_size: options.WorkgroupSize = None,
    dynamic_lds: options.DynamicLds = None,
    no_trap_handler: options.NoTrapHandler = False,
    kernels: options.Kernels = None,
    exclude: options.Exclude = None,
    bound: options.Bound = None,
    deep: options.Deep = False,
    config: options.Config = None,
    instructions: options.Instructions = False,
    quiet: options.Quiet = False,
) -> None:
    """Read a fleet of builds into one Parquet dataset.

    Several processes or machines read the files where they lie. Files that the dataset already has
    are not read again, so the next run completes one that ended early. The build becomes what the
    URLs hold now: files that are no longer there leave it. A file that cannot be read is a row of
    the table `problems`. Query the dataset with `kernelinfo trend` or SQL.

    Examples:
      kernelinfo scan build/ --to fleet --build 2026-11-22 --label commit=1a2b3c
      kernelinfo scan s3://nightly/7.1 --to s3://ci/fleet --build 7.1
      kernelinfo scan https://host/lib/ --to fleet --build 7.1 --dry-run
      kernelinfo scan build/ --to fleet --build 7.1 --scheduler tls://head:8786
      kernelinfo scan --to fleet --remove 2026-11-17
    """
    query = options.choice(kernels, exclude, target, member, where, bound, deep=deep, arch=arch)
    query = options.with_launch(query, workgroup_size, dynamic_lds, no_trap=no_trap_handler)
    if instructions:
        query = with_instructions(query)
    fleet.require_libraries("fleet", *(["cluster"] if scheduler else []))
    from kernelinfo.cli import run_scan  # imports the libraries of the extra

    if remove:
        run_scan.remove(to, remove, alone=not urls and build is None)
        return
    if build is None or not urls:
        raise OptionError(say("scan-without-build"))
    if scheduler is not None and workers is not None:
        raise OptionError(say("scan-workers"))
    if update and accept_problems is None:
        raise OptionError(say("scan-update"))
    is_added_to = bool(shard and accept_problems and os.path.exists(accept_problems))
    configured = project.configuration(config=config)
    request = run_scan.request(
        urls,
        to,
        build,
        project.with_project(query, configured),
        shard=shard,
        labels=options.parse_labels(label or ()),
        accept_problems=None if update and not is_added_to else accept_problems,
        accepts_all=update,
        timeout=timeout,
    )
    if dry_run:
        run_scan.list_work(request)
        return
    compiling.end_on_signals()
    done = run_scan.run(request, scheduler, workers, wait=wait, quiet=quiet)
    if update and accept_problems is not None:
        run_scan.accept(accept_problems, request, done)
    run_scan.leave(request, done)


def _offered(ctx: typer.Context, incomplete: str) -> naming.Offers:
    """Kernels of the datasets on the command line, for completion."""
    with suppress(KernelinfoError):
        kernels = [kernel for path in naming.paths(ctx) for kernel in fleet.kernel_names(path)]
        return naming.named(kernels, incomplete)
    return []


OUTPUTS: Mapping[str, Renderer] = {
    "text": render_text,
    "json": console.late("trend.writers", "render_json"),
    "csv": console.late("trend.writers", "render_csv"),
    "markdown": render_markdown,
    "html": console.late("trend.writers", "render_html"),
}


def trend(
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
    fail_on: diff.FailOn | None = diff.FAIL_ON,
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

    Examples:
      kernelinfo trend fleet
      kernelinfo trend fleet --since 2026-11-17 --target gfx942 -k 'gemm*'
      kernelinfo trend fleet --builds 7.1,7.2 --fail-on regression
      kernelinfo trend fleet --by library
      kernelinfo trend s3://ci/fleet --format html -o trend.html
    """
    view = console.make_view(
        names=names, color=color, width=width, output=output, top=top, quiet=quiet
    )
    with console.waiting("comparing builds"):
        result = fleet.trend(
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
    console.write(OUTPUTS[format](result, view), output, color=view.color)
    _exit(result, diff.fails(result.whole, fail_on))


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
        raise typer.Exit(console.CLAIM)
