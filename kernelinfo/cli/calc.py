"""`kernelinfo calc --arch GFX --vgpr N ...`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import typer

from kernelinfo.cli import console, naming, options
from kernelinfo.cli.messages import say
from kernelinfo.errors import LaunchError, OptionError
from kernelinfo.hardware import products
from kernelinfo.hardware.targets import Target
from kernelinfo.model import compilers, curves, occupancy
from kernelinfo.model.calculator import Arch
from kernelinfo.model.curves import VARIABLES, CurveVariable, best_sizes, curve
from kernelinfo.model.limits import Demand, Launch
from kernelinfo.render import Renderer, View, hardware, tables
from kernelinfo.render.explain import render_numbers
from kernelinfo.render.json import as_json, occupancy_document
from kernelinfo.render.notes import Notes, device_notes


def _offered(incomplete: str) -> naming.Offers:
    return naming.offer_list(incomplete, ((variable, "") for variable in VARIABLES))


CALC_SCHEMA, CURVE_SCHEMA = "kernelinfo/calc/1", "kernelinfo/curve/1"


def _page(target: Target, demand: Demand, launch: Launch, view: View) -> Iterator[str]:
    """The what-if page of the numbers, with a curve for each."""
    from kernelinfo.render.html import render_given

    title = hardware.curve_title(target, demand, launch, ())
    return render_given(occupancy(target, demand, launch), title, view)


OUTPUTS: Mapping[str, Renderer] = {**tables.WRITERS, "html": _page}


def command(
    *,
    gfx: options.NamedTarget = None,
    arch: Annotated[
        str | None, options.target_option("--arch", "Set the target, unless --device does.")
    ] = None,
    device: options.Device = None,
    vgpr: int = typer.Option(0, metavar="N", min=0, help="Set the architectural VGPRs per lane."),
    agpr: int = typer.Option(0, metavar="N", min=0, help="Set the AGPRs per lane."),
    sgpr: int = typer.Option(0, metavar="N", min=0, help="Set the SGPRs per wave, VCC included."),
    lds: int = typer.Option(
        0, metavar="BYTES", parser=options.parse_bytes, help="Set the LDS per workgroup."
    ),
    dynamic_lds: options.DynamicLds = None,
    scratch: int = typer.Option(
        0, metavar="BYTES", parser=options.parse_bytes, help="Set the scratch per lane."
    ),
    workgroup_size: Launch | None = typer.Option(
        None,
        "--workgroup-size",
        "--block",
        metavar="N|XxYxZ|MIN..MAX",
        parser=options.parse_sizes,
        help="Set the workitems of a workgroup, 256 by default; show best and worst of a range.",
    ),
    grid: options.Grid = None,
    wave: options.Wave = None,
    cu_mode: options.CuMode = False,
    dynamic_vgpr_block: options.DynamicVgprBlock = 0,
    no_trap_handler: options.NoTrapHandler = False,
    vary: str | None = typer.Option(
        None,
        metavar="WHAT[,WHAT]",
        autocompletion=_offered,
        help=f"Draw the curve over {', '.join(VARIABLES)}, or the grid of two of them.",
    ),
    best: bool = typer.Option(
        False, "--best", help="List the workgroup sizes that reach the most waves."
    ),
    as_llvm: int | None = typer.Option(
        None,
        metavar="VERSION",
        min=compilers.FIRST,
        max=compilers.MAIN,
        help="Print the occupancy that this version of LLVM prints; 24 is main.",
    ),
    as_hip: Literal["before", "after"] | None = typer.Option(
        None, help="Print the result of HIP's occupancy function, before or after 2026's fixes."
    ),
    format: Annotated[str, options.format_option(OUTPUTS)] = "text",
    output: options.Output = None,
    color: options.Color = "auto",
    width: options.Width = None,
) -> None:
    """Compute the occupancy of given numbers.

    Numbers that are not given, such as LDS and scratch, are 0. Workgroups have 256 workitems.

    Examples:
      kernelinfo calc --arch gfx90a --vgpr 122 --sgpr 70
      kernelinfo calc --arch gfx942 --lds 20k --vary vgpr      # the curve
      kernelinfo calc --arch gfx1100 --vgpr 96 --best          # the sizes to launch
      kernelinfo calc --device MI300X --vgpr 122 --grid 3000   # a whole product
      kernelinfo calc MI300X --vgpr 122 -o what-if.html        # a page with sliders
    """
    view = console.make_view(color=color, width=width, output=output)
    target, product = products.choose(options.one_target(gfx, arch), device)
    if grid is not None and product is None:
        raise OptionError(say("grid-without-product", grid=grid))
    demand = Arch(target).demand(
        vgprs=vgpr,
        agprs=agpr,
        sgprs=sgpr,
        lds_bytes=lds,
        scratch_bytes_per_lane=scratch,
        wave_size=wave,
        wgp_mode=False if cu_mode else None,
        dynamic_vgpr_block=dynamic_vgpr_block,
    )
    launch = (workgroup_size or Launch(256))._replace(
        dynamic_lds_bytes=dynamic_lds or 0, trap_handler=not no_trap_handler
    )
    if format == "html":
        if vary is not None or best or grid is not None or as_llvm or as_hip:
            raise OptionError(say("html-of-curves"))
        console.write(OUTPUTS[format](target, demand, launch, view), output, color=view.color)
        return
    if vary is not None or best:
        if grid is not None or as_llvm is not None or as_hip is not None:
            raise OptionError(say("vary-excludes"))
        if vary is not None and launch.smallest_size is not None:
            raise OptionError(say("vary-of-range"))
        given = {
            "vgpr": bool(vgpr or agpr),
            "sgpr": bool(sgpr),
            "lds": bool(lds),
            "workgroup-size": launch.smallest_size is None and workgroup_size is not None,
        }
        variables = _variables(vary, best, given)
        table = _curve(target, demand, launch, variables, best, view)
        console.write(OUTPUTS[format](table, view), output, color=view.color)
        return
    result = occupancy(target, demand, launch)
    notes: Notes = []
    record: dict[str, Any] = {"target": target.name, "workgroup_size": launch.workgroup_size}
    record |= occupancy_document(result)
    if product is not None:
        filling = curves.fill(product, result, grid)
        notes += device_notes(filling, result.per)
        record["device"] = as_json(filling)
    if as_llvm is not None:
        sizes = launch.smallest_size or launch.workgroup_size, launch.workgroup_size
        trap_handler = launch.trap_handler
        printed = compilers.printed(target, as_llvm, demand, sizes, trap_handler=trap_handler)
        numbers = (
            f"Occupancy: {printed.waves_per_simd}, NumVGPRsForWavesPerEU: {printed.vgprs}, "
            f"NumSGPRsForWavesPerEU: {printed.sgprs}"
        )
        notes.append(("LLVM", f"{as_llvm} prints {numbers}"))
        record["llvm"] = {"version": as_llvm, **printed._asdict()}
    if as_hip is not None:
        blocks = compilers.max_active_blocks(target, demand, launch, fixed=as_hip == "after")
        returns = f"hipOccupancyMaxActiveBlocksPerMultiprocessor returns {blocks}"
        notes.append(("HIP", f"{returns} {as_hip} its fixes of 2026"))
        record["hip"] = {"fixes": as_hip, "max_active_blocks": blocks}
    table = tables.of_records(
        [record], CALC_SCHEMA, text=render_numbers(target, result, view, notes)
    )
    console.write(OUTPUTS[format](table, view), output, color=view.color)


def _variables(vary: str | None, best: bool, given: dict[str, bool]) -> list[CurveVariable]:
    """The variables that --vary or --best names. Raises `OptionError` for unknown names, repeated
    names, or variables that another option sets."""
    if vary is not None and best:
        raise OptionError(say("best-varies"))
    names = ["workgroup-size"] if vary is None else vary.split(",")
    variables = [variable for name in names for variable in VARIABLES if variable == name.strip()]
    if len(variables) != len(names) or not 1 <= len(set(variables)) == len(variables) <= 2:
        raise OptionError(say("vary-names", vary=vary, names=", ".join(VARIABLES)))
    for name in variables:
        if given[name]:
            option = "--best" if best else f"--vary {name}"
            raise OptionError(say("vary-given", asked=option, name=name))
    return variables


def _curve(
    target: Target,
    demand: Demand,
    launch: Launch,
    variables: list[CurveVariable],
    best: bool,
    view: View,
) -> tables.Table:
    if best:
        points = best_sizes(target, demand, launch)
        if not points:
            raise LaunchError(say("workgroup-size-none"))
    else:
        points = curve(target, demand, launch, variables)
    per = target.domain(demand.wgp_mode).per
    title = hardware.curve_title(target, demand, launch, variables)
    if best:
        text = hardware.render_sizes(f"{title}: the best sizes", points, per, view)
    else:
        text = hardware.render_curve(title, variables, points, per, view)
    return tables.of_records(
        hardware.point_documents(target.name, variables, points), CURVE_SCHEMA, "points", text=text
    )
