"""`kernelinfo extract PATH... -o DIR`."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from kernelinfo import targets
from kernelinfo.cli import options
from kernelinfo.cli.output import CANNOT_ANSWER, tell
from kernelinfo.errors import OptionError
from kernelinfo.extraction import extract
from kernelinfo.model import Problem
from kernelinfo.render.words import plural

EXAMPLES = """\
Examples:
  kernelinfo extract libapp.so -o objects
  kernelinfo extract build/ -o objects --force
  kernelinfo extract libapp.so -o objects-gfx90a --arch gfx90a
"""


def command(
    paths: options.Paths,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="DIR", help="The folder to write to.")
    ],
    arch: options.Arch = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite files that are there already.")
    ] = False,
) -> None:
    """Write the code objects inside containers as files.

    Each is named after its container and target, and is as the compiler wrote it: compressed ones
    are unpacked. Nothing that is there is overwritten without --force.
    """
    if arch is not None:
        targets.find(arch)
    try:
        os.makedirs(output, exist_ok=True)
    except OSError as error:
        raise OptionError(f"{output}: {error.strerror}; give another folder") from None
    complete = True
    for item in extract(paths, arch):
        if isinstance(item, Problem):
            tell(item)
            complete = False
            continue
        path = os.path.join(output, item.name)
        try:
            _write(path, item.blob.data, force)
        except FileExistsError:
            tell(Problem(path, "exists already; --force overwrites it"))
            complete = False
        except OSError as error:
            raise OptionError(f"{path}: {error.strerror}; give another folder") from None
        else:
            size = f"{len(item.blob.data)} B"
            print(f"{path}  {item.target or '?'}  {size}  {plural(item.kernels, 'kernel')}")
    if not complete:
        raise typer.Exit(CANNOT_ANSWER)


def _write(path: str, data: memoryview, force: bool) -> None:
    """Never through a link that is there already."""
    if force and os.path.lexists(path):
        os.unlink(path)
    with open(path, "xb") as file:
        file.write(data)
