"""`kernelinfo report PATH...` and `kernelinfo extract PATH... -o DIR`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Annotated, Any, TypeVar

import typer

from kernelinfo.analysis import contents
from kernelinfo.atomic_write import atomic_write
from kernelinfo.cli import console, naming, options, project
from kernelinfo.cli.messages import say
from kernelinfo.cli.write_report import OUTPUTS, ROWS, write_report
from kernelinfo.errors import OptionError
from kernelinfo.kernel import Item, Kernel, counted
from kernelinfo.kernel.code_object import member_file
from kernelinfo.kernel.columns import NamedColumn, check_counted, named_columns, reads_code
from kernelinfo.kernel.columns import sort as sorted_by
from kernelinfo.model.limits import RESOURCES, Resource
from kernelinfo.opening import check_below
from kernelinfo.pressure import with_instructions
from kernelinfo.reading.blob import Blob, Note, Problem
from kernelinfo.reading.facts import Module
from kernelinfo.reading.target_id import named_target_id, target_id
from kernelinfo.render import View, matrix, rows
from kernelinfo.render.bytes import BYTES_BY, render_bytes

_RESOURCES = "|".join(RESOURCES)
ByKey = TypeVar("ByKey", bound=str)


def _resource(name: str) -> Resource:
    """The resource with this name, ignoring case."""
    for resource in RESOURCES:
        if name.casefold() == resource:
            return resource
    raise typer.BadParameter(say("resource-unknown", name=name, names=", ".join(RESOURCES)))


def _keys(text: str) -> tuple[str, ...]:
    """The one or two keys of a comma-separated list."""
    keys = tuple(name.strip() for name in text.split(","))
    return _among(keys, (*rows.BY, "family"))


def _among(keys: tuple[str, ...], offered: tuple[ByKey, ...]) -> tuple[ByKey, ...]:
    """The keys, without repeats. Raises `BadParameter` for a key that `offered` does not have."""
    chosen = tuple(name for key in keys for name in offered if key == name)
    if len(chosen) != len(keys) or len({*keys}) != len(keys) or len(keys) > 2:
        text, names = ",".join(keys), ", ".join(offered)
        raise typer.BadParameter(say("by-unknown", text=text, names=names))
    return chosen


def _device(text: str) -> tuple[str, str]:
    """(name, target id) of a device: a target or product as typed, with its features."""
    target = named_target_id(text)
    return (target if text.lower().startswith("gfx") else text.strip()), target


def command(
    *,
    paths: options.Paths,
    archs: options.Archs = None,
    target: options.Targets = None,
    member: options.Members = None,
    where: options.Where = None,
    run_as: options.RunAs = None,
    workgroup_size: options.WorkgroupSize = None,
    dynamic_lds: options.DynamicLds = None,
    no_trap_handler: options.NoTrapHandler = False,
    kernels: options.Kernels = None,
    exclude: options.Exclude = None,
    limited_by: list[Any] | None = typer.Option(
        None,
        metavar=_RESOURCES,
        parser=_resource,
        autocompletion=lambda: [*RESOURCES.items()],
        help="Keep kernels that this resource limits. Repeatable.",
    ),
    spilling: bool = typer.Option(False, "--spilling", help="Keep kernels that spill registers."),
    compiler: options.Compiler = None,
    compile_commands: options.CompileCommands = None,
    flags: options.Flags = None,
    bound: options.Bound = None,
    deep: options.Deep = False,
    select: options.Select = None,
    ignore: options.Ignore = None,
    severity: options.Severity = None,
    config: options.Config = None,
    format: Annotated[str, options.format_option(OUTPUTS)] = "text",
    output: options.Output = None,
    names: options.FittingNames = None,
    color: options.Color = "auto",
    width: options.Width = None,
    top: options.Top = 50,
    sort: Any = typer.Option(
        None,
        metavar="COLUMN,...",
        parser=lambda text: named_columns("--sort", text),
        autocompletion=naming.columns,
        help="Sort by columns: amounts from the largest, waves and names from the smallest.",
    ),
    columns: Any = typer.Option(
        None,
        metavar="COLUMN,...",
        parser=lambda text: named_columns("--columns", text),
        autocompletion=naming.columns,
        help="Show these columns: headings of the table, or columns of csv.",
    ),
    by: Any = typer.Option(
        None,
        metavar="KEY[,KEY]",
        parser=_keys,
        autocompletion=lambda: [*rows.BY, "family"],
        help="Count kernels, spills, scratch, lost waves and code by library, member, target, "
        "file, limiter or waves; by two of them, such as library,target, as a matrix. With "
        "--bytes also by family, the names without arguments.",
    ),
    owned_bytes: bool = typer.Option(
        False, "--bytes", help="Show what the bytes of device code are for, all of them."
    ),
    devices: list[Any] | None = typer.Option(
        None,
        "--device",
        metavar="GFX|PRODUCT",
        parser=_device,
        autocompletion=naming.gfx,
        help="Show which kernels this device loads, in --by library,target. Repeatable.",
    ),
    jobs: options.Jobs = 0,
    unique: bool = typer.Option(False, "--unique", help="Count equal code objects once."),
    all_copies: options.AllCopies = False,
    arguments: bool = typer.Option(
        False, "--arguments", help="Add each kernel's arguments to json: names, sizes, offsets."
    ),
    source_lines: bool = typer.Option(
        False,
        "--source-lines",
        help="Read debug information of code objects, for jsonl and json; slow for many kernels.",
    ),
    instructions: options.Instructions = False,
    source: bool = typer.Option(
        False,
        "--source",
        help="Add source and instructions, side by side, to the kernels' pages of html.",
    ),
    source_root: options.SourceRoot = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    group: bool = typer.Option(False, "--group", help="Put the targets of one kernel together."),
) -> None:
    """Show what limits each kernel, one row per kernel.

    Each row shows the allocated registers and LDS, the waves that fit and their limits. The next
    steps and the findings follow. The kernels of a library are sorted, worst first, and equal rows
    are merged.

    Examples:
      kernelinfo kernels.s
      kernelinfo build/ -k 'vgpr*' -k 'lds*'          # some kernels of a folder
      kernelinfo build/ --target MI210 --sort vgpr    # a target, the largest first
      kernelinfo kernels.s --block 256 --as gfx942    # what if it ran there
      kernelinfo libapp.so --format jsonl -o kernels.jsonl
    """
    for option, given in (("--columns", columns), ("--sort", sort)):
        if by and given:
            raise OptionError(say("by-excludes", by=",".join(by), option=option))
    if owned_bytes:
        excluded = {
            "-k": kernels, "--exclude": exclude, "--where": where, "--limited-by": limited_by,
            "--spilling": spilling, "--as": run_as, "--sort": sort, "--columns": columns,
            "--device": devices, "--unique": unique, "--instructions": instructions,
            "--source": source, "--group": group, "--jobs": jobs,
        }  # fmt: skip
        if given_too := next((option for option, given in excluded.items() if given), None):
            raise OptionError(say("bytes-excludes", option=given_too))
    by = _among(by or (), BYTES_BY if owned_bytes else rows.BY)
    if devices and (not by or by[1:] != ("target",)):
        raise OptionError(say("devices-without-targets"))
    query = options.choice(
        kernels, exclude, target, member, where, bound, deep=deep, all_copies=all_copies
    )
    query = options.with_launch(query, workgroup_size, dynamic_lds, no_trap=no_trap_handler)
    if instructions:
        query = with_instructions(query)
    settings = project.settings_of(archs, compiler, compile_commands, flags)
    paths, query = project.with_sources(paths, query, settings, quiet=quiet)
    configured = project.configuration(
        select=select, ignore=ignore, severity=severity, config=config
    )
    view = console.make_view(
        names=names, color=color, width=width, output=output, top=top, group=group, quiet=quiet
    )
    query = project.with_project(query, configured)._replace(
        locate=_every if source_lines else None,
        arguments=_every if arguments else None,
        limited_by=tuple(limited_by or ()),
        spilling=spilling,
        unique=unique,
        spirv=bool(by),
    )
    if owned_bytes:
        problems = console.Problems(verbose=verbose)
        parts = problems.watch(console.shown(contents.own_bytes(paths, query), paths))
        console.write(render_bytes(parts, by, format, view), output, color=view.color)
        problems.exit()
        return
    reads = [name for column in (*(columns or ()), *(sort or ())) for name in column.reads]
    check_counted(reads, instructions)
    reads += query.where.reads if query.where else ()
    if instructions and format not in (*ROWS, "json") and not reads_code(reads):
        raise OptionError(say("instructions-of-report"))
    view = view._replace(instructions=instructions, is_sorted=sort is not None, also=sort or ())
    answer = _answer(by, dict(devices or ()), columns or (), format, view)
    problems = console.Problems(verbose=verbose)
    if source or source_root is not None:
        if format != "html" or answer:
            raise OptionError(say("source-of-report"))
        page = view._replace(selection=configured.selection)
        from kernelinfo.render.pressure.html import with_source  # jinja2

        answer = with_source(page, source_root, paths, query, problems.print)
    write_report(
        paths,
        query,
        view,
        format,
        output,
        jobs=jobs,
        problems=problems,
        verbose=verbose,
        arrange=partial(sorted_by, by=sort) if sort else None,
        answer=answer,
        run_as=options.separate(run_as),
    )


def _answer(
    by: tuple[rows.CountedBy, ...],
    devices: Mapping[str, str],
    columns: Sequence[NamedColumn],
    format: str,
    view: View,
) -> Callable[[Iterable[Item]], Iterator[str]] | None:
    """The renderer of counts or of chosen columns; None for the format's own report."""
    match by:
        case (row, column):
            pair = row, column
            return partial(matrix.render_matrix, by=pair, devices=devices, format=format, view=view)
        case (key,):
            return partial(rows.render_counts, by=key, format=format, view=view)
    if columns:
        return partial(rows.render_columns, columns=columns, format=format, view=view)
    return None


def _every(kernel: Kernel) -> bool:
    return True


_LONGEST_STEM = 80
_UNSAFE = re.compile(r"[^\w.+-]+", re.ASCII)


def extract(
    *,
    paths: options.Paths,
    output: str = typer.Option(..., "-o", "--output", metavar="DIR", help="Write to this folder."),
    target: options.Targets = None,
    member: options.Members = None,
    where: options.Where = None,
    kernels: options.Kernels = None,
    exclude: options.Exclude = None,
    bound: options.Bound = None,
    deep: options.Deep = False,
    force: bool = typer.Option(False, "--force", help="Overwrite existing files."),
) -> None:
    """Write the code objects inside containers as files.

    Each file is named after its container, member and target. It has the bytes that the compiler
    wrote; compressed code objects are unpacked. With -k or --where, only code objects with such a
    kernel are written. Only --force overwrites existing files.

    Examples:
      kernelinfo extract libapp.so -o objects
      kernelinfo extract build/ -o objects --force
      kernelinfo extract libapp.so -o objects-gfx90a --target gfx90a
      kernelinfo extract libapp.so -o objects-of-first -k 'first*'
    """
    query = options.choice(kernels, exclude, target, member, where, bound, deep=deep)
    problems = console.Problems()
    code_objects = console.shown(contents.extract(paths, query), paths, streams=True)
    console.write(problems.reported(_written(code_objects, output, force)), None)
    problems.exit()


def _written(
    items: Iterable[contents.Extracted | Problem | Note], folder: str, force: bool
) -> Iterator[str | Problem | Note]:
    """Write code objects into a folder and yield a line per file, and problems.

    The folder is created for the first file. Raises `OptionError` if the folder or a file cannot be
    written.
    """
    is_new, numbers = not os.path.lexists(folder), count(1)
    for item in items:
        if isinstance(item, Problem | Note):
            yield item
            continue
        blob, module = item
        path = os.path.join(folder, _file_name(blob, next(numbers), module))
        if not force and os.path.lexists(path):
            yield Problem(path, say("extract-exists"))
            continue
        try:
            check_below(folder)
            os.makedirs(folder, exist_ok=True)
            with atomic_write(path) as file:
                file.writelines(blob.data.pieces())
        except OSError as error:
            if is_new:
                with suppress(OSError):  # not empty
                    os.rmdir(folder)
            where = folder if error.filename == folder else path
            raise OptionError(
                say("extract-unwritable", where=where, error=error.strerror)
            ) from None
        size, kernels = f"{len(blob.data)} B", counted(len(module.kernels), "kernel")
        yield f"{path}  {module.target or '?'}  {size}  {kernels}\n"


def _file_name(blob: Blob, number: int, module: Module) -> str:
    """A unique file name for a code object, made of the name of its member or file, a number and
    the target: `librocrand.so.1.1-003-gfx90a-xnack+.co`. It has only letters, digits and `._+-`."""
    stem = os.path.basename(member_file(blob.member) or blob.path)
    stem = _UNSAFE.sub("_", stem)[:_LONGEST_STEM].lstrip(".-") or "stdin"
    what = _UNSAFE.sub("_", target_id(module.target, module.features).replace(":", "-"))
    return f"{stem}-{number:03}-{what}.co"
