"""Commands that read no kernels: `arch`, `limits`, `rules`, `vectors`, `cmake-dir` and `mcp`."""

from __future__ import annotations

import gc
import os
from importlib.util import find_spec
from itertools import chain
from typing import Annotated

import typer

from kernelinfo import __version__
from kernelinfo.cli import console, options
from kernelinfo.cli.messages import say
from kernelinfo.errors import KernelinfoError, OptionError
from kernelinfo.hardware import targets
from kernelinfo.model import calculator
from kernelinfo.model import vectors as test_vectors
from kernelinfo.opening import only_below
from kernelinfo.render import json, tables
from kernelinfo.render.hardware import render_constants, render_limits, render_targets, rules_table

ARCH_SCHEMA = "kernelinfo/arch/1"
LIMITS_SCHEMA = "kernelinfo/limits/1"
_OF_RULES = {format: tables.WRITERS[format] for format in ("text", "json")}
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def arch(
    *,
    gfx: options.NamedTarget = None,
    arch: options.SameTarget = None,
    format: Annotated[str, options.format_option(tables.WRITERS)] = "text",
    output: options.Output = None,
    color: options.Color = "auto",
    width: options.Width = None,
) -> None:
    """Show the hardware constants of a target, with sources.

    Without a target, one line for each known target.

    Examples:
      kernelinfo arch                                 # all targets
      kernelinfo arch gfx942
      kernelinfo arch MI300X
      kernelinfo arch gfx1100 --format json
    """
    view = console.make_view(color=color, width=width, output=output)
    gfx = options.one_target(gfx, arch)
    names = targets.known() if gfx is None else (gfx,)
    hardware = [targets.find(name) for name in names]
    text = render_targets(hardware, view) if gfx is None else render_constants(hardware[0], view)
    table = tables.of_records([*map(json.as_json, hardware)], ARCH_SCHEMA, "targets", text=text)
    console.write(tables.WRITERS[format](table, view), output, color=view.color)


def limits(
    *,
    gfx: options.NamedTarget = None,
    arch: options.SameTarget = None,
    workgroup_size: int = typer.Option(
        256,
        "--workgroup-size",
        "--block",
        metavar="N|XxYxZ",
        parser=options.parse_workgroup,
        help="Set the workitems of a workgroup.",
    ),
    wave: options.Wave = None,
    cu_mode: options.CuMode = False,
    dynamic_vgpr_block: options.DynamicVgprBlock = 0,
    no_trap_handler: options.NoTrapHandler = False,
    format: Annotated[str, options.format_option(tables.WRITERS)] = "text",
    output: options.Output = None,
    color: options.Color = "auto",
    width: options.Width = None,
) -> None:
    """Show the most registers and LDS for each occupancy.

    The table has the VGPRs, SGPRs and LDS that a kernel may use at each number of waves per SIMD.
    The staircase shows waves against VGPRs.

    Examples:
      kernelinfo limits gfx942
      kernelinfo limits MI250X --block 1024
      kernelinfo limits gfx1100 --wave 64 --cu-mode
      kernelinfo limits gfx1201 --format csv
    """
    view = console.make_view(color=color, width=width, output=output)
    if (name := options.one_target(gfx, arch)) is None:
        raise OptionError(say("limits-without-target"))
    target = calculator.arch(name)
    rungs = target.limits(
        workgroup_size=workgroup_size,
        wave_size=wave,
        wgp_mode=False if cu_mode else None,
        trap_handler=not no_trap_handler,
        dynamic_vgpr_block=dynamic_vgpr_block,
    )
    about = f"{name} ({target.target.family}), workgroups of {workgroup_size}"
    text = render_limits(rungs, f"{about}: the most for each step", view)
    records = [rung._asdict() for rung in rungs]
    table = tables.of_records(records, LIMITS_SCHEMA, "steps", {"target": target.target.name}, text)
    console.write(tables.WRITERS[format](table, view), output, color=view.color)


def rules(
    *,
    format: Annotated[str, options.format_option(_OF_RULES)] = "text",
    output: options.Output = None,
    width: options.Width = None,
) -> None:
    """List every rule with its severity.

    Examples:
      kernelinfo rules
      kernelinfo rules --format json
      kernelinfo explain KI302                        # one rule in full
    """
    view = console.make_view(width=width, output=output)
    console.write(_OF_RULES[format](rules_table(view), view), output, color=view.color)


def vectors(*, output: options.Output = None) -> None:
    """Write test vectors for other occupancy models.

    Each line is one case as JSON: a target, the amounts that a kernel uses, and the occupancy. The
    lines before the cases hold the constants of the hardware.

    Examples:
      kernelinfo vectors                              # on standard output
      kernelinfo vectors -o kernelinfo-vectors.jsonl
      kernelinfo explain numbers                      # the fields, a model in C
    """
    about = {
        "schema": test_vectors.SCHEMA,
        "kernelinfo": __version__,
        "license": test_vectors.LICENSE,
    }
    console.write(
        tables.json_lines(chain([about], test_vectors.hardware(), test_vectors.vectors())), output
    )


def cmake_dir(*, output: options.Output = None) -> None:
    """Print the folder of the CMake package.

    Examples:
      kernelinfo cmake-dir
      kernelinfo cmake-dir -o where.txt
      cmake -S . -B build -Dkernelinfo_DIR="$(kernelinfo cmake-dir)"
      kernelinfo explain build                        # what it is for
    """
    console.write([os.path.join(_PACKAGE, "cmake") + "\n"], output)


def mcp(
    *,
    root: str = typer.Option(".", metavar="DIR", help="Read files below DIR only."),
    seconds: float = typer.Option(
        120, "--timeout", metavar="SECONDS", min=1, help="End an answer that takes longer."
    ),
) -> None:
    """Answer a coding agent's questions, by MCP.

    The Model Context Protocol runs over standard input and output. Tools: report, explain,
    pressure, diff, calc, limits, arch and rules. They only read, and run no compiler. The server
    ends with its input. Needs the extra `mcp`.

    Examples:
      kernelinfo mcp                           # an agent starts it, and ends it
      kernelinfo mcp --root build              # files below one folder only
      kernelinfo mcp --timeout 600             # for large libraries
      claude mcp add kernelinfo -- kernelinfo mcp
    """
    if not os.path.isdir(root):
        raise OptionError(say("root-no-folder", root=root))
    if find_spec("mcp") is None:
        raise KernelinfoError(say("mcp-missing"))
    # The SDK: 2,800 million instructions, for this command alone.
    from kernelinfo.agents.server import serve

    gc.enable()  # the event loop makes reference cycles, and runs for days
    with only_below(root):
        serve(root, seconds)
