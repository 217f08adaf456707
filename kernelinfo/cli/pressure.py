"""`kernelinfo pressure PATH [KERNEL]`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Annotated, Literal

import typer

from kernelinfo.cli import console, naming, options, project
from kernelinfo.cli.messages import say
from kernelinfo.errors import OptionError
from kernelinfo.kernel import Kernel
from kernelinfo.pressure.debug_information import SourceText
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.measure import Look, Measured, MeasureItem, measure
from kernelinfo.render import Renderer
from kernelinfo.render.pressure import text

_STREAMED = {
    "jsonl": console.late("pressure.data", "render_jsonl"),
    "csv": console.late("pressure.data", "render_csv"),
}
"""Outputs that write each kernel when it is measured."""
OUTPUTS: Mapping[str, Renderer] = {
    "text": text.render,
    "json": console.late("pressure.data", "render_json"),
    **_STREAMED,
    "html": console.late("pressure.html"),
}


def command(
    *,
    path: str = typer.Argument(
        metavar="PATH", help="Assembly, or a code object, bare or in a container."
    ),
    kernel: str | None = typer.Argument(
        None,
        metavar="KERNEL",
        autocompletion=naming.kernels,
        help="A kernel's name, with or without parameters, or a glob, else a device function's; "
        "by default a line for each kernel.",
    ),
    position: str | None = typer.Option(
        None,
        "--at",
        metavar="LINE|FILE:LINE",
        help="List the values live at this line of the assembly or the source, not at the peak.",
    ),
    register_class: Literal["vgpr", "agpr", "sgpr"] | None = typer.Option(
        None, "--class", help="List live registers of this class only."
    ),
    source: bool = typer.Option(
        False,
        "--source",
        help="Show source lines with live registers and instructions; in html, both side by side.",
    ),
    source_root: options.SourceRoot = None,
    archs: options.Archs = None,
    target: options.Targets = None,
    member: options.Members = None,
    where: options.Where = None,
    workgroup_size: options.WorkgroupSize = None,
    no_trap_handler: options.NoTrapHandler = False,
    kernels: options.Kernels = None,
    exclude: options.Exclude = None,
    compiler: options.Compiler = None,
    compile_commands: options.CompileCommands = None,
    flags: options.Flags = None,
    bound: options.Bound = None,
    deep: options.Deep = False,
    jobs: options.Jobs = 0,
    format: Annotated[str, options.format_option(OUTPUTS)] = "text",
    output: options.Output = None,
    names: options.FittingNames = None,
    color: options.Color = "auto",
    width: options.Width = None,
    top: int = typer.Option(
        8, "--top", metavar="N", min=0, help="Show N rows of each table; 0 shows all."
    ),
) -> None:
    """Show which values hold the registers, and where.

    Shows the peak of live registers with its instruction, source line and loop; the values live
    there, those untouched for longest first; and pressure, spills and copies for each source line
    and loop. Assembly needs no other program; a code object needs llvm-objdump.

    Examples:
      kernelinfo pressure kernels.s                  # one line per kernel
      kernelinfo pressure kernels.s vgprbound        # which values hold registers
      kernelinfo pressure kernels.s vgprbound --at 511 --class sgpr
      kernelinfo pressure kernels.s --source --format html -o pressure.html
      kernelinfo pressure kernels.s 'v*' --format json -o vgprbound.json
    """
    path, kernel = naming.in_order(path, kernel)
    query = options.choice(kernels, exclude, target, member, where, bound, deep=deep)
    query = options.with_launch(query, workgroup_size, no_trap=no_trap_handler)
    settings = project.settings_of(archs, compiler, compile_commands, flags)
    (path, *_), query = project.with_sources([path], query, settings)
    view = console.make_view(names=names, color=color, width=width, output=output, top=top)
    view = view._replace(whole=kernel is not None, register_class=register_class)
    problems = console.Problems()
    asks_source = source or source_root is not None
    is_page = format == "html"
    look = Look(
        curve=is_page,
        code=is_page and asks_source,
        blocks=format == "json" or (is_page and asks_source),
        lds=kernel is not None,
        most_loops=top or None if format == "text" else None,
        at=None if position is None else _instruction(position),
        function=kernel,
    )
    if asks_source:
        if format not in ("text", "html") or (format == "text" and kernel is None):
            raise OptionError(say("source-of-pressure"))
        view = view._replace(source=SourceText(source_root, [path]))
    query = naming.choosing(path, kernel, query, problems)
    items = console.shown(
        problems.watch(measure(path, query, look, jobs)),
        [path],
        lambda item: console.read_with(item.result if isinstance(item, Measured) else item),
        streams=output is None and (format in _STREAMED or view.whole),
    )
    items = naming.chosen_when_read(path, kernel, query, items, _kernel)
    before = [*_to_the_first_kernel(items)]
    if format == "json" or (before and isinstance(before[-1], Measured)):
        pieces = OUTPUTS[format](chain(before, items), view)
        console.write(pieces, output, color=view.color)
    problems.exit()


def _kernel(item: MeasureItem) -> Kernel | None:
    return item.result.kernel if isinstance(item, Measured) else None


def _to_the_first_kernel(items: Iterator[MeasureItem]) -> Iterator[MeasureItem]:
    """The first kernel, and the problems and notes before it."""
    for item in items:
        yield item
        if isinstance(item, Measured):
            return


def _instruction(position: str) -> Callable[[LiveFunction], int | None]:
    """A function that finds the first instruction of a line, as an index into a kernel's code.

    `position` is a line of the assembly or `FILE:LINE` of the source. Raises `OptionError` for
    another text; the function raises it for a line without an instruction.
    """
    named = re.fullmatch(r"(?:(.+):)?(\d{1,9})", position)
    if named is None:
        raise OptionError(say("at-malformed", at=position))
    return partial(_instruction_of, position, named[1], int(named[2]))


def _instruction_of(
    position: str, file: str | None, line: int, function: LiveFunction
) -> int | None:
    index = function.at_source(file, line) if file else function.at_line(line)
    if index is None:
        near = None if file else function.line_near(line)
        mend = say("at-see-top") if near is None else say("at-nearest", near=near)
        if not file and (files := function.files_with_line(line)):
            mend = say("at-of-source", places=" or ".join(f"{name}:{line}" for name in files))
        raise OptionError(say("at-without-instruction", at=position, mend=mend))
    return index
