"""`kernelinfo report PATH...`."""

from __future__ import annotations

from typing import Annotated

import typer

from kernelinfo.analysis.options import Options
from kernelinfo.cli import completion, options, selection
from kernelinfo.cli.output import make_view
from kernelinfo.cli.project import configuration
from kernelinfo.cli.write_report import write_report
from kernelinfo.kernel import Kernel
from kernelinfo.kernel.ordering import checked
from kernelinfo.occupancy.limits import RESOURCES, Resource

EXAMPLES = """\
Examples:
  kernelinfo kernels.s
  kernelinfo build/ -k 'vgpr*' -k 'lds*'          # some kernels of a folder
  kernelinfo build/ --target MI210 --sort vgpr    # a target, the largest first
  kernelinfo kernels.s --block 256 --as gfx942    # what if it ran there
  kernelinfo libapp.so --format jsonl -o kernels.jsonl
"""


def _resource(name: str) -> Resource:
    """The resource of that name in any case."""
    for resource in RESOURCES:
        if name.casefold() == resource:
            return resource
    raise typer.BadParameter(f"{name!r} is not one of {', '.join(RESOURCES)}")


def command(
    paths: options.Paths,
    arch: options.Arch = None,
    target: options.Targets = None,
    run_as: options.RunAs = None,
    workgroup_size: options.WorkgroupSize = None,
    dynamic_lds: options.DynamicLds = None,
    no_trap_handler: options.NoTrapHandler = False,
    kernel: options.Kernels = None,
    exclude: options.Exclude = None,
    limited_by: Annotated[
        list[str] | None,
        typer.Option(
            "--limited-by",
            metavar="|".join(RESOURCES),
            parser=_resource,
            autocompletion=completion.resources,
            help="Show kernels that this limits. Repeatable.",
        ),
    ] = None,
    spilling: Annotated[
        bool, typer.Option("--spilling", help="Show kernels that spill registers.")
    ] = False,
    bound: options.Bound = None,
    deep: options.Deep = False,
    select: selection.Select = None,
    ignore: selection.Ignore = None,
    severity: selection.Severities = None,
    config: selection.Config = None,
    format: options.Format = "text",
    output: options.Output = None,
    names: options.NamesOrShort = None,
    color: options.Color = "auto",
    width: options.Width = None,
    top: options.Top = 50,
    sort: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            parser=checked,
            autocompletion=completion.columns,
            help="Sort by a column: amounts from the largest, waves and names from the least.",
        ),
    ] = None,
    jobs: options.Jobs = 0,
    unique: Annotated[
        bool, typer.Option("--unique", help="Count equal code objects once.")
    ] = False,
    all_copies: options.AllCopies = False,
    arguments: Annotated[
        bool,
        typer.Option(
            "--arguments", help="Read each kernel's arguments for json: names, sizes, offsets."
        ),
    ] = False,
    source_lines: Annotated[
        bool,
        typer.Option(
            "--source-lines",
            help="Read debug information of code objects for jsonl and json; takes long for many.",
        ),
    ] = False,
    quiet: options.Quiet = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="List on standard error what is read.")
    ] = False,
    group: Annotated[
        bool, typer.Option("--group", help="Put the targets of one kernel together.")
    ] = False,
) -> None:
    """Show what limits each kernel, one row a kernel.

    Each row shows what is allocated, how many waves fit and what limits them. The next steps and
    the findings follow. A library's many kernels are sorted, the worst first, and what holds of
    several stands once.
    """
    view = make_view(
        names=names,
        color=color,
        width=width,
        output=output,
        top=top,
        group=group,
        quiet=quiet,
        is_sorted=sort is not None,
    )
    project = configuration(select, ignore, severity, config)
    wanted = Options(
        bounds=options.chosen_bounds(bound, deep),
        arch=arch,
        run_as=run_as,
        workgroup_size=workgroup_size,
        dynamic_lds_bytes=dynamic_lds,
        trap_handler=not no_trap_handler,
        locate=_every if source_lines else None,
        arguments=_every if arguments else None,
        selection=project.selection,
        workgroup_sizes=project.workgroup_sizes,
        kernels=tuple(kernel or ()),
        exclude=tuple(exclude or ()),
        targets=tuple(target or ()),
        limited_by=tuple(map(_resource, limited_by or ())),
        spilling=spilling,
        unique=unique,
        all_copies=all_copies,
    )
    write_report(paths, wanted, view, format, output, jobs=jobs, verbose=verbose, sort_by=sort)


def _every(kernel: Kernel) -> bool:
    return True
