"""`kernelinfo diff OLD NEW`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from kernelinfo.analysis.options import Options
from kernelinfo.cli import options
from kernelinfo.cli.output import CANNOT_ANSWER, CLAIM, complain, make_view, tell, write
from kernelinfo.compare import Comparison
from kernelinfo.compare.builds import compare_paths
from kernelinfo.render import DIFF_FORMATS
from kernelinfo.render.diff import renderer

FailOn = Literal["regression", "change"]

FailOnOption = Annotated[
    FailOn | None,
    typer.Option(
        help="Exit with 1 for a regression: waves lost, spills or scratch gained, a kernel "
        "gone; or for any change: a kernel affected, gone or new. Without it, never.",
    ),
]

_SIDE = "A file, folder or glob of code, or a report saved as JSON, JSON lines or CSV."


EXAMPLES = """\
Examples:
  kernelinfo diff before.s after.s
  kernelinfo diff before.s after.s --fail-on regression    # for CI
  kernelinfo diff before/ after/ --format markdown         # for a pull request
  kernelinfo before.s --format json -o saved.json
  kernelinfo diff saved.json after.s
"""


def command(
    old: Annotated[str, typer.Argument(metavar="OLD", help=_SIDE)],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The other build, likewise.")],
    across_targets: Annotated[
        bool,
        typer.Option("--across-targets", help="Pair kernels by name whatever their target."),
    ] = False,
    loose: Annotated[
        bool,
        typer.Option(
            "--loose",
            help="Also pair kernels whose base name alone is the same and unique; marked as such.",
        ),
    ] = False,
    fail_on: FailOnOption = None,
    arch: options.Arch = None,
    target: options.Targets = None,
    run_as: options.RunAs = None,
    workgroup_size: options.WorkgroupSize = None,
    dynamic_lds: options.DynamicLds = None,
    no_trap_handler: options.NoTrapHandler = False,
    kernel: options.Kernels = None,
    exclude: options.Exclude = None,
    bound: options.Bound = None,
    deep: options.Deep = False,
    format: Annotated[str, options.format_option(DIFF_FORMATS)] = "text",
    output: options.Output = None,
    names: options.Names = "full",
    color: options.Color = "auto",
    width: options.Width = None,
    top: options.Top = 50,
    quiet: options.Quiet = False,
) -> None:
    """Compare two builds: what moved, and why.

    Kernels are paired, also across renames; those affected stand first, each with what moved and
    the limit that it moved under. A report saved before stands for the build it was made of.
    """
    view = make_view(names=names, color=color, width=width, output=output, top=top, quiet=quiet)
    wanted = Options(
        bounds=options.chosen_bounds(bound, deep),
        arch=arch,
        run_as=run_as,
        workgroup_size=workgroup_size,
        dynamic_lds_bytes=dynamic_lds,
        trap_handler=not no_trap_handler,
        kernels=tuple(kernel or ()),
        exclude=tuple(exclude or ()),
        targets=tuple(target or ()),
    )
    comparison = compare_paths(old, new, wanted, across_targets=across_targets, loose=loose)
    for problem in comparison.problems:
        tell(problem)
    for note in comparison.notes:
        complain(f"note: {note}")
    if comparison.pairs or (comparison.gone and comparison.new):
        write(renderer(format)(comparison, view), output)
    if comparison.problems:
        raise typer.Exit(CANNOT_ANSWER)
    if fails(comparison, fail_on):
        raise typer.Exit(CLAIM)


def fails(comparison: Comparison, fail_on: FailOn | None) -> bool:
    """True if a comparison has what the user asked to be failed for."""
    if fail_on == "regression":
        return bool(comparison.gone) or any(pair.regressed for pair in comparison.pairs)
    if fail_on == "change":
        apart = comparison.gone or comparison.new
        return bool(apart) or any(pair.affected for pair in comparison.pairs)
    return False
