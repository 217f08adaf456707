"""`kernelinfo extract PATH... -o DIR`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

import typer

from kernelinfo.analysis.contents import Extract, extract
from kernelinfo.atomic_write import atomic_write
from kernelinfo.cli import options
from kernelinfo.cli.console import Problems, ReadSoFar, shown, write
from kernelinfo.cli.messages import say
from kernelinfo.errors import OptionError
from kernelinfo.kernel import counted
from kernelinfo.opening import check_below
from kernelinfo.reading.blob import Note, Problem


def command(
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
    wrote; compressed code objects are unpacked. With -k or --where code objects with such a kernel
    are written. Only --force overwrites existing files.

    Examples:
      kernelinfo extract libapp.so -o objects
      kernelinfo extract build/ -o objects --force
      kernelinfo extract libapp.so -o objects-gfx90a --target gfx90a
      kernelinfo extract libapp.so -o objects-of-first -k 'first*'
    """
    query = options.choice(kernels, exclude, target, member, where, bound, deep=deep)
    problems = Problems()
    code_objects = shown(extract(paths, query), paths, _so_far, streams=True)
    write(problems.reported(_written(code_objects, output, force)), None)
    problems.exit()


def _so_far(item: Extract | Problem | Note) -> ReadSoFar | None:
    if not isinstance(item, Extract):
        return None
    blob = item.blob
    return ReadSoFar(blob.path, (blob.offset or 0) + len(blob.data), item.kernels)


def _written(
    items: Iterable[Extract | Problem | Note], folder: str, force: bool
) -> Iterator[str | Problem | Note]:
    """Write code objects into a folder and yield a line per file, and problems.

    The folder is created for the first file. Raises `OptionError` if the folder or a file cannot be
    written.
    """
    is_new = not os.path.lexists(folder)
    for item in items:
        if not isinstance(item, Extract):
            yield item
            continue
        path = os.path.join(folder, item.name)
        if not force and os.path.lexists(path):
            yield Problem(path, say("extract-exists"))
            continue
        try:
            check_below(folder)
            os.makedirs(folder, exist_ok=True)
            with atomic_write(path) as file:
                file.writelines(item.blob.data.pieces())
        except OSError as error:
            if is_new:
                with suppress(OSError):  # not empty
                    os.rmdir(folder)
            where = folder if error.filename == folder else path
            raise OptionError(
                say("extract-unwritable", where=where, error=error.strerror)
            ) from None
        size = f"{len(item.blob.data)} B"
        yield f"{path}  {item.target or '?'}  {size}  {counted(item.kernels, 'kernel')}\n"
