"""`kernelinfo explain PATH KERNEL` and `kernelinfo explain RULE`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from inspect import cleandoc
from itertools import chain, groupby, islice
from typing import Literal

import typer

import kernelinfo.manual as manual
import kernelinfo.rules as rules
from kernelinfo.analysis import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.cli import completion, options
from kernelinfo.cli.naming import choosing, every_name, in_order, listed
from kernelinfo.cli.output import Problems, make_view, write
from kernelinfo.cli.project import configuration
from kernelinfo.cli.values import separate
from kernelinfo.cli.wanted import wanted_options
from kernelinfo.cli.write_report import check_readable_again
from kernelinfo.compile.ir import input_of
from kernelinfo.errors import OptionError, did_you_mean
from kernelinfo.hardware.targets import Device
from kernelinfo.kernel import Item, Kernel, Result
from kernelinfo.model import devices
from kernelinfo.pressure.measure import Look, Measured, measure_again
from kernelinfo.render import View, format_module, renderer
from kernelinfo.render.explain import render_kernel
from kernelinfo.render.notes import Notes
from kernelinfo.render.pressure.html import dataset
from kernelinfo.render.pressure.text import loops_table
from kernelinfo.render.pressure.words import in_short, shared
from kernelinfo.render.sweep.words import invitation

EXAMPLES = """
  kernelinfo explain kernels.s vgprbound
  kernelinfo explain kernels.s 'sgpr*' --block 512
  kernelinfo explain kernels.s vgprbound --device MI250 --grid 1000
  kernelinfo explain KI106                        # one rule
  kernelinfo explain                              # the topics of the manual
"""


def command(
    *,
    path: str | None = typer.Argument(
        None,
        metavar="PATH|RULE|TOPIC",
        autocompletion=completion.subjects,
        help="A file, a rule such as KI101, or a page of the manual; by default the list of pages.",
    ),
    kernel: str | None = typer.Argument(
        None,
        metavar="KERNEL",
        autocompletion=completion.kernels,
        help="A kernel's name, with or without parameters, or a glob.",
    ),
    arch: options.Arch = None,
    target: options.Targets = None,
    member: options.Members = None,
    where: options.Where = None,
    bound: options.Bound = None,
    deep: options.Deep = False,
    run_as: options.RunAs = None,
    workgroup_size: options.WorkgroupSize = None,
    dynamic_lds: options.DynamicLds = None,
    device: options.Device = None,
    grid: options.Grid = None,
    no_trap_handler: options.NoTrapHandler = False,
    select: options.Select = None,
    ignore: options.Ignore = None,
    severity: options.Severity = None,
    config: options.Config = None,
    format: options.Format = "text",
    output: options.Output = None,
    names: options.Names = "full",
    color: options.Color = "auto",
    width: options.Width = None,
) -> None:
    """Explain one kernel, one rule, or a topic of the manual.

    A kernel: the resources that it uses, the hardware's allocation, the source of each number, the
    next step, and the counters that a profiler should show. A rule: its finding, its reason and its
    mend.
    """
    wanted = wanted_options(
        arch=arch,
        target=target,
        member=member,
        where=where,
        workgroup_size=workgroup_size,
        dynamic_lds=dynamic_lds,
        no_trap_handler=no_trap_handler,
        bound=bound,
        deep=deep,
    )
    view = make_view(names=names, color=color, width=width, output=output)
    if path is None:
        topics = manual.topics()
        width = max(map(len, topics))
        write((f" {topic:{width}}  {title}\n" for topic, title in topics.items()), output)
        return
    if kernel is None and (page := _page_or_rule(path)):
        write([page], output)
        return
    if kernel is not None and (both := [*map(_rule, (path, kernel))])[0] and both[1]:
        write(["\n".join(both)], output)
        return
    path, kernel = in_order(path, kernel)
    product = None
    asked: list[str | None] = [*separate(run_as)] or [None]
    check_readable_again([path], separate(run_as))
    if device is not None:
        if asked[1:]:
            raise OptionError("--device names one target; give one --as, or none")
        run_target, product = devices.choose(asked[0], device)
        asked = [run_target.name]
    if (grid is not None and product is None) or (product is not None and format != "text"):
        raise OptionError(
            "--grid needs --device, and both need --format text; calc has them as data"
        )
    project = configuration(select, ignore, severity, config)

    problems = Problems()
    wanted = choosing(path, kernel, wanted, problems)._replace(
        one_kernel=True, selection=project.selection, workgroup_sizes=project.workgroup_sizes
    )

    def is_chosen(of: Kernel) -> bool:
        return wanted.asks_for(of.name, of.symbol)

    detailed = wanted._replace(locate=is_chosen, arguments=is_chosen)
    found = (item for one in asked for item in analyse([path], detailed._replace(run_as=one)))
    items = problems.watch(found)
    if kernel is None:
        known, items = every_name(path, wanted, items)
        if where is None and len({one.name for one in known}) > 1:
            write(listed(known, path), output)
            problems.exit()
            return
    if format == "text":
        results = (item for item in items if isinstance(item, Result))
        ir = input_of(path)
        write(_explanations(results, view, product, grid, ir, wanted), output, color=view.color)
    elif format == "html":
        view = view._replace(selection=project.selection)
        write(_page([*items], view, wanted), output)
    else:
        write(renderer(format)(items, view), output, color=view.color)
    problems.exit()


def _rule(name: str) -> str:
    """The documentation of a rule; empty if no rule has the name."""
    rule = rules.find(name)
    if rule is None:
        return ""
    return f"{rule.number} {rule.name} ({rule.severity})\n\n{cleandoc(rule.documentation)}\n"


def _page_or_rule(name: str) -> str:
    """A page of the manual or the documentation of a rule; empty if the name could be a file.

    Raises `OptionError` if it is none of the three.
    """
    if name in manual.topics():
        return "".join(manual.page(name))
    if rule := _rule(name):
        return rule
    if os.path.exists(name) or not name.replace("-", "_").isidentifier():
        return ""
    every = rules.every_rule()
    known = (*manual.topics(), *(one.name for one in every), *(one.number for one in every))
    suggestion = did_you_mean(name, known) or "`kernelinfo explain` lists the topics"
    raise OptionError(f"{name}: neither a file nor a rule nor a topic; {suggestion}")


def _explanations(
    results: Iterator[Result],
    view: View,
    device: Device | None,
    grid: int | None,
    ir: str | None,
    wanted: Options,
) -> Iterator[str]:
    """The explanation of each kernel. `ir` is the path of the LLVM IR next to the assembly."""
    first = [*islice(results, 2)]
    is_alone = len(first) == 1
    measured = _with_code(chain(first, results), wanted, is_alone)
    for index, (result, one) in enumerate(measured):
        yield "\n" if index else ""
        further = [("ask", invitation(ir, result.kernel))] if ir is not None else []
        notes = _of_code(result, one)
        yield from render_kernel(result, view, device, grid, notes, further)
        if one:
            yield "\n"
            yield from loops_table(one.story, view)


def _with_code(
    results: Iterator[Result], wanted: Options, is_alone: bool
) -> Iterator[tuple[Result, Measured | None]]:
    """Each kernel with its code. None for a code object, unless it is alone and llvm-objdump is
    installed. A file is opened again once."""
    for origin, group in groupby(results, lambda result: result.kernel.code_object):
        kernels = [*group]
        if origin.kind == "code-object" and not is_alone:
            yield from ((one, None) for one in kernels)
            continue
        kind: Literal["assembly", "code-object"] = (
            "code-object" if origin.kind == "code-object" else "assembly"
        )
        measured = measure_again(kernels, Look(lds=True), wanted, kind)
        yield from zip(kernels, measured, strict=True)


def _of_code(result: Result, measured: Measured | None) -> Notes:
    """Live registers if vector registers limit, and LDS. In a code object, which states its LDS,
    only LDS that the host must add at launch."""
    if measured is None:
        return []
    if result.kernel.code_object.kind == "code-object":
        lds = measured.lds if _may_launch_lds(result) else None
        return [("LDS", shared(lds))] if lds else []
    registers = in_short(measured.story) if _is_limited(result) else []
    return [*registers, *([("LDS", shared(measured.lds))] if measured.lds else [])]


def _is_limited(result: Result) -> bool:
    """True if vector registers limit the occupancy."""
    return result.occupancy is not None and "vgpr" in result.occupancy.limiters


def _may_launch_lds(result: Result) -> bool:
    """True for a kernel that reserves no LDS and whose launch states none."""
    traits, occupancy = result.kernel.traits, result.occupancy
    launched = occupancy.launch.dynamic_lds_bytes if occupancy else 0
    return traits.numbers.lds_bytes == 0 and not (traits.numbers.dynamic_lds or launched)


def _page(items: list[Item], view: View, wanted: Options) -> Iterator[str]:
    """The HTML page. A single kernel of an assembly has its curve of live registers."""
    results = [item for item in items if isinstance(item, Result)]
    one = results[0] if len(results) == 1 else None
    measured = next(measure_again([one], Look(curve=True), wanted)) if one else None
    pressure = {"pressure": {0: dataset(measured)}} if measured else None
    page: Iterator[str] = format_module("html").render(items, view, pressure)
    return page
