"""`kernelinfo extract PATH... -o DIR`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count

import typer

from kernelinfo.analysis.contents import Extracted, extract
from kernelinfo.atomic_write import atomic_write
from kernelinfo.cli import options
from kernelinfo.cli.console import Problems, shown, write
from kernelinfo.cli.messages import say
from kernelinfo.errors import OptionError
from kernelinfo.kernel import counted
from kernelinfo.kernel.code_object import member_file
from kernelinfo.opening import check_below
from kernelinfo.reading.blob import Blob, Note, Problem
from kernelinfo.reading.facts import Module
from kernelinfo.reading.target_id import target_id

_LONGEST_STEM = 80
_UNSAFE = re.compile(r"[^\w.+-]+", re.ASCII)


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
    code_objects = shown(extract(paths, query), paths, streams=True)
    write(problems.reported(_written(code_objects, output, force)), None)
    problems.exit()


def _written(
    items: Iterable[Extracted | Problem | Note], folder: str, force: bool
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
    """Unique file name of a code object, of letters, digits and `._+-`, from the member that it is
    in, or the file: `librocrand.so.1.1-003-gfx90a-xnack+.co`."""
    stem = os.path.basename(member_file(blob.member) or blob.path)
    stem = _UNSAFE.sub("_", stem)[:_LONGEST_STEM].lstrip(".-") or "stdin"
    what = _UNSAFE.sub("_", target_id(module.target, module.features).replace(":", "-"))
    return f"{stem}-{number:03}-{what}.co"
