"""`kernelinfo explain PATH KERNEL` and `kernelinfo explain RULE`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from inspect import cleandoc
from typing import Annotated, Any

import typer

import kernelinfo.manual as manual
import kernelinfo.rules as rules
from kernelinfo.analysis import analyse
from kernelinfo.cli import console, naming, options, project, write_report
from kernelinfo.cli.messages import say
from kernelinfo.compile import input_of
from kernelinfo.errors import OptionError, did_you_mean
from kernelinfo.hardware import products
from kernelinfo.kernel import Item, Kernel, Result
from kernelinfo.opening import check_below
from kernelinfo.pressure import code_for_rules, code_of_one
from kernelinfo.reading.containers.files import STANDARD_INPUT
from kernelinfo.render import Renderer, View, paint


def _of_kernels(
    render: Renderer, items: Iterable[Item], view: View, **request: Any
) -> Iterator[str]:
    return render(items, view)


def _text(items: Iterable[Item], view: View, **request: Any) -> Iterator[str]:
    from kernelinfo.render.explanations import explanations

    results = (item for item in items if isinstance(item, Result))
    return explanations(results, view, **request)


def _html(items: Iterable[Item], view: View, **request: Any) -> Iterator[str]:
    from kernelinfo.render.pressure.html import with_curve

    return with_curve(items, view, request["options"], request["tell"])


OUTPUTS: Mapping[str, Renderer] = {
    **{name: partial(_of_kernels, render) for name, render in write_report.OUTPUTS.items()},
    "text": _text,
    "html": _html,
}
"""A format without a function of its own is the report's."""


def command(
    *,
    path: str | None = typer.Argument(
        None,
        metavar="PATH|RULE|TOPIC",
        autocompletion=naming.subjects,
        help="A file, a rule such as KI101, or a page of the manual; by default the list of pages.",
    ),
    kernel: str | None = typer.Argument(
        None,
        metavar="KERNEL",
        autocompletion=naming.kernels,
        help="A kernel's name, with or without parameters, or a glob.",
    ),
    archs: options.Archs = None,
    target: options.Targets = None,
    member: options.Members = None,
    where: options.Where = None,
    compiler: options.Compiler = None,
    compile_commands: options.CompileCommands = None,
    flags: options.Flags = None,
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
    format: Annotated[str, options.format_option(OUTPUTS)] = "text",
    output: options.Output = None,
    names: options.Names = "full",
    color: options.Color = "auto",
    width: options.Width = None,
    verbose: Annotated[
        bool,
        typer.Option(
            "-v",
            "--verbose",
            help="Also show the source of each number, counters, arguments and loops.",
        ),
    ] = False,
) -> None:
    """Explain one kernel, one rule, or a topic of the manual.

    A kernel: the resources that it uses, the hardware's allocation, the next steps, launch bounds,
    findings, the peak of live registers and what the code does. A rule: what it finds, why it
    matters and what to do.

    Examples:
      kernelinfo explain kernels.s vgprbound
      kernelinfo explain kernels.s vgprbound -v       # with sources and counters
      kernelinfo explain kernels.s vgprbound --device MI250 --grid 1000
      kernelinfo explain KI106                        # one rule
      kernelinfo explain --format html -o manual      # the manual as pages
    """
    query = options.choice(None, None, target, member, where, bound, deep=deep)
    query = options.with_launch(query, workgroup_size, dynamic_lds, no_trap=no_trap_handler)
    view = console.make_view(names=names, color=color, width=width, output=output, whole=verbose)
    if path is None and format == "html":
        _write_manual(output)
        return
    if path is None:
        rows = [*manual.topics().items(), ("", f"Parts of these: {', '.join(manual.sections())}")]
        console.write(paint.painted(paint.table_lines(rows, "td", view), view), output)
        return
    if kernel is None and (page := _page_or_rule(path)):
        _show(page, view, output)
        return
    if kernel is not None and (both := [*map(_rule, (path, kernel))])[0] and both[1]:
        _show("\n".join(both), view, output)
        return
    path, kernel = naming.in_order(path, kernel)
    settings = project.settings_of(archs, compiler, compile_commands, flags)
    (path, *_), query = project.with_sources([path], query, settings)
    product = None
    run_targets: list[str | None] = [*options.separate(run_as)] or [None]
    write_report.check_readable_again([path], options.separate(run_as))
    if device is not None:
        if run_targets[1:]:
            raise OptionError(say("device-one-target"))
        run_target, product = products.choose(run_targets[0], device)
        run_targets = [run_target.name]
    if (grid is not None and product is None) or (product is not None and format != "text"):
        raise OptionError(say("grid-without-device"))
    configured = project.configuration(select, ignore, severity, config)

    problems = console.Problems()
    query = naming.choosing(path, kernel, query, problems)._replace(one_kernel=True)
    query = project.with_project(query, configured)

    def is_chosen(candidate: Kernel) -> bool:
        return query.asks_for(candidate.name, candidate.symbol)

    detailed = query._replace(
        locate=is_chosen,
        arguments=is_chosen if verbose or format != "text" else None,
        # The text measures the code itself.
        **{"read_for_rules": code_for_rules}
        if format == "text"
        else {"count_instructions": code_of_one},
    )
    analysed = (
        item for each in run_targets for item in analyse([path], detailed._replace(run_as=each))
    )
    streams = output is None and format == "text"
    items = console.shown(problems.watch(analysed), [path], streams=streams)
    items = naming.chosen_when_read(path, kernel, query, items, _kernel)
    if kernel is None:
        every, items = naming.every_name(path, query, items, problems)
        if where is None and len({entry.name for entry in every}) > 1:
            console.write(naming.listed(every, path), output)
            problems.exit()
            return
    view = view._replace(selection=configured.selection)
    asked_for = {"device": product, "grid": grid, "ir": input_of(path)}
    pieces = OUTPUTS[format](items, view, options=query, tell=problems.print, **asked_for)
    console.write(pieces, output, color=view.color)
    problems.exit()


def _kernel(item: Item) -> Kernel | None:
    return item.kernel if isinstance(item, Result) else None


def _show(page: str, view: View, output: str | None) -> None:
    """Show a page. A terminal gets it formatted and in a pager; a pipe or file gets its
    Markdown."""
    if not (view.fold or view.color):
        console.write([page], output)
        return
    from kernelinfo.render import manual as pages  # rich

    text = pages.drawn(page, view)
    if output is None and sys.stdout.isatty():
        pages.show(paint.harmless(text, color=view.color))
    else:
        console.write([text], output, color=view.color)


def _write_manual(folder: str | None) -> None:
    """Write the manual's pages to a folder. Raises `OptionError` without one."""
    if folder is None:
        raise OptionError(say("manual-without-folder"))
    try:
        check_below(folder)
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise OptionError(say("manual-unwritable", folder=folder, error=error.strerror)) from None
    from kernelinfo.render.manual import html_pages  # markdown_it

    for name, page in html_pages():
        console.write([page], os.path.join(folder, name))


def _rule(name: str) -> str:
    """The documentation of a rule; empty if no rule has the name."""
    rule = rules.find(name)
    if rule is None:
        return ""
    severity = rule.severity if rule.on else f"{rule.severity}, off by default"
    return f"{rule.number} {rule.name} ({severity})\n\n{cleandoc(rule.documentation)}\n"


def _page_or_rule(name: str) -> str:
    """A page of the manual or the documentation of a rule; empty if the name could be a file.

    Raises `OptionError` if it is none of the three.
    """
    if name in manual.topics():
        return "".join(manual.page(name))
    if section := manual.sections().get(name.replace(" ", "-")):
        return section
    if rule := _rule(name):
        return rule
    may_be_file = name == STANDARD_INPUT or os.path.exists(name)
    if may_be_file or not name.replace("-", "_").isidentifier():
        return ""
    every = rules.every_rule()
    # Without the sections, whose names are words that names of kernels contain.
    names = (*manual.topics(), *(entry.name for entry in every), *(entry.number for entry in every))
    if name.casefold().startswith("gfx") or name in products.names():
        raise OptionError(say("target-explained", name=name))
    suggestion = (
        did_you_mean(name, names)
        or f"{say('topics-listed')}, {say('kernel-without-file', name=name)}"
    )
    raise OptionError(say("topic-unknown", name=name, suggestion=suggestion))
