"""`kernelinfo extract PATH... -o DIR`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from kernelinfo.analysis.extraction import Extract, extract
from kernelinfo.atomic_write import atomic_write
from kernelinfo.cli import options
from kernelinfo.cli.output import Problems, write
from kernelinfo.errors import OptionError
from kernelinfo.reading.blob import Problem
from kernelinfo.render.words import plural

EXAMPLES = """\
Examples:
  kernelinfo extract libapp.so -o objects
  kernelinfo extract build/ -o objects --force
  kernelinfo extract libapp.so -o objects-gfx90a --target gfx90a
"""


def command(
    paths: options.Paths,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="DIR", help="Write to this folder.")
    ],
    target: options.Targets = None,
    bound: options.Bound = None,
    deep: options.Deep = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Write the code objects inside containers as files.

    Each is named after its container and target, and is as the compiler wrote it: compressed ones
    are unpacked. Nothing that is there is overwritten without --force.
    """
    try:
        os.makedirs(output, exist_ok=True)
    except OSError as error:
        raise OptionError(f"{output}: {error.strerror}; give another folder") from None
    problems = Problems()
    write(
        problems.reported(
            _written(
                extract(paths, tuple(target or ()), options.chosen_bounds(bound, deep)),
                output,
                force,
            )
        ),
        None,
    )
    problems.exit()


def _written(
    items: Iterable[Extract | Problem], folder: str, force: bool
) -> Iterator[str | Problem]:
    """Write each and say so. Raises `OptionError` where the folder takes no more."""
    for item in items:
        if isinstance(item, Problem):
            yield item
            continue
        path = os.path.join(folder, item.name)
        if not force and os.path.lexists(path):
            yield Problem(path, "exists already; --force overwrites it")
            continue
        try:
            with atomic_write(path) as file:
                file.write(item.blob.data)
        except OSError as error:
            raise OptionError(f"{path}: {error.strerror}; give another folder") from None
        size = f"{len(item.blob.data)} B"
        yield f"{path}  {item.target or '?'}  {size}  {plural(item.kernels, 'kernel')}\n"
